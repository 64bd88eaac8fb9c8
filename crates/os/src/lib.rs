//! What needs care with the operating system: opening files that linerate keeps or that a person
//! names (`file`), folders of our own where others may write (`made`), and giving up rights before bytes of
//! strangers are parsed (`sandbox`).

pub mod file;
pub mod made;
pub mod sandbox;
