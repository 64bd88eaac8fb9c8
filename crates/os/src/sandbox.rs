//! Giving up rights before bytes of strangers are parsed.
