//! The binary and the repository as users and newcomers see them.

mod demo;
mod dependencies_and_fuzz_targets;
mod file_sizes_and_import_cycles;
mod path_mtu_probe;
mod scenarios;
mod structure;
mod support;
mod tune_goal_interrupted;
mod tune_kill_and_undo;
/// Nothing is measured here that must be believed, so `make test` runs two of these at a time.
mod together {
    mod benchmark_recipes;
    mod commands;
    mod confined;
    mod copy;
    mod errors;
    mod exit_codes;
    mod experiments;
    mod hostile;
    mod kerberos;
    mod kerberos_ticket_cache;
    mod panic_and_restore;
    mod persist;
    mod profiles;
    mod random_settings_kill_and_undo;
    mod schemas;
    mod session_demands;
    mod set;
    mod untrusted_state_folders;
    mod windows_over_ssh;
}
