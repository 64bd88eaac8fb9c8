//! Tests of the crate from outside. Those in `scratch` need root and network namespaces.

mod changes;
mod facts;
mod ids;
mod journals;
mod knobs;
mod lease;
mod mac;
mod model;
mod profiles;
mod scratch;
mod ssh;
mod windows;
mod windows_lease;
mod windows_model;

/// What a message says in English.
fn english(message: &locale::Message) -> String {
    locale::Language::English.say(message)
}

/// What to do next about an error, in English.
fn hint(error: &host::Error) -> String {
    english(&error.hint().unwrap())
}
