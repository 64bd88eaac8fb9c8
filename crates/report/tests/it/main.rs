//! What people read, kept as golden text, and what no name may do to it.

mod design;
mod fixtures;
mod html;
mod json;
mod runs;
mod shareable;
mod terminal;
