//! Analysis to terminal text, one-file HTML with SVG, and JSON. Everything here is a pure function
//! that returns text, or what JSON is made of: the same run gives the same bytes, and nothing is printed.

mod bench_recipe_results;
mod check_details;
mod column_widths;
pub mod factorial_experiment;
mod html;
pub mod json;
mod ladder_svg;
mod plot;
pub mod quantity;
mod shareable;
pub mod table_analysis;
mod terminal;
mod terminal_layout;
mod text_sanitizing;
mod view;

pub use check_details::details;
pub use column_widths::wrap;
pub use html::{Content, Section, html, html_story};
pub use json::{DemoSummary, Report, demo_summary, json, session as session_json};
pub use ladder_svg::picture;
pub use shareable::Shareable;
pub use terminal::{page, table};
pub use terminal_layout::{Colour, Style};
pub use text_sanitizing::width;
pub use view::{own_command, session as session_text, task as task_text};
