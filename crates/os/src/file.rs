//! Files that linerate keeps, and files that a person names. Each is checked after it was opened:
//! what was read is checked, not what was named.
