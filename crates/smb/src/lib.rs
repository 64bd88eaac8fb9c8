//! A multichannel SMB client: sockets, threads and authentication for smb-proto.
