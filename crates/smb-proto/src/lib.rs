//! SMB 2 and 3 as a state machine on bytes: no socket, file, clock or random source.
