//! Tests of the crate from outside. Those in `knobs_on_real_interfaces` need root and network namespaces.

mod catalogue_and_linux_knobs;
mod change_and_undo;
mod facts;
mod fstab_entries;
mod journals;
mod knob_ids;
mod knobs_on_real_interfaces;
mod lease_over_sshd;
mod macos_knobs_and_facts;
mod profiles;
mod simulated_linux_host;
mod simulated_windows_host;
mod ssh;
mod windows_knobs;
mod windows_lease;

/// What a message says in English.
fn english(message: &locale::Message) -> String {
    locale::Language::English.say(message)
}

/// What to do next about an error, in English.
fn hint(error: &host::Error) -> String {
    english(&error.hint().unwrap())
}
