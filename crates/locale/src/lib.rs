//! What is said, as data: an id and arguments. The language is chosen where it is rendered, and the sentences are in the
//! files under `locale/`.

mod message;
mod message_rendering;
mod message_serialization;
pub mod quantity;

pub use message::{Argument, Message, PLAIN, say};
pub use message_rendering::{Language, UnknownLanguage, counted, list, said, text};
pub use message_serialization::Kept;
