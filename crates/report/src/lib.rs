//! Analysis to terminal text, one-file HTML with SVG, and JSON. Everything here is a pure function
//! that returns text: the same run gives the same bytes, and nothing is printed.

mod page;
pub mod quantity;
mod terminal;
mod text;
mod view;

pub use page::{Colour, Look};
pub use terminal::{table, text};
