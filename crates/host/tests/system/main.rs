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

/// What to do next about an error, in English.
fn hint(error: &host::Error) -> String {
    locale::Language::English.say(&error.hint().unwrap())
}
