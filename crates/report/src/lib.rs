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
mod shared_wording;
pub mod table_analysis;
mod terminal_layout;
mod terminal_report;
mod text_cleaning_and_width;

pub use check_details::details;
pub use column_widths::wrap;
pub use html::{Content, Section, html, html_story};
pub use json::{DemoSummary, Report, demo_summary, json, session as session_json};
pub use ladder_svg::picture;
pub use shareable::Shareable;
pub use shared_wording::{own_command, session as session_text, task as task_text};
pub use terminal_layout::{Colour, Style};
pub use terminal_report::{page, table};
pub use text_cleaning_and_width::width;
