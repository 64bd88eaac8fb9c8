//! The binary and the repository as users and newcomers see them.

mod architecture_rules;
mod demo;
mod dependencies_and_fuzz_targets;
mod file_sizes_and_import_cycles;
mod lab_and_program;
mod mounted_share;
mod path_mtu_probe;
mod scenarios;
mod tune_goal_interrupted;
mod tune_kill_and_undo;
mod windows_program;
#[path = "../../../smb/tests/system/wine.rs"]
mod wine;
/// Nothing is measured here that must be believed, so `make test` runs two of these at a time.
mod together {
    mod bad_input_and_interrupts;
    mod benchmark_recipes;
    mod copy_trees;
    mod exit_codes;
    mod experiments;
    mod hostile;
    mod json_schemas;
    mod kerberos;
    mod kerberos_ticket_cache;
    mod mounted_share_ends;
    mod panic_and_restore;
    mod profiles;
    mod random_settings_kill_and_undo;
    mod sandboxed_processes;
    mod session_requirements;
    mod set_changes_undo;
    mod set_persist;
    mod single_commands;
    mod untrusted_state_folders;
    mod windows_over_ssh;
}
