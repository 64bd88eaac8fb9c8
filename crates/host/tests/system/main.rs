//! Tests of the crate from outside. Those in `real_interfaces` need root and network namespaces.

mod changes;
mod facts;
mod journals;
mod knob_ids;
mod knobs;
mod lease;
mod linux_model;
mod macos;
mod profiles;
mod real_interfaces;
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
