//! Analysis to terminal text, one-file HTML with SVG, and JSON. Everything here is a pure function
//! that returns text, or what JSON is made of: the same run gives the same bytes, and nothing is printed.

mod columns;
pub mod design;
mod detail;
mod html;
pub mod json;
mod ladder_svg;
mod page;
mod plot;
pub mod quantity;
mod recipe;
mod shareable;
pub mod table;
mod terminal;
mod text;
mod view;

pub use columns::wrap;
pub use detail::details;
pub use html::{Content, Section, html, html_story};
pub use json::{DemoSummary, Report, demo_summary, json, session as session_json};
pub use ladder_svg::picture;
pub use page::{Colour, Style};
pub use shareable::Shareable;
pub use terminal::{page, table};
pub use text::width;
pub use view::{own_command, session as session_text, task as task_text};
