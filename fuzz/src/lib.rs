//! Fuzz targets: what is done with an input, and what must hold then. See README.md.

pub mod change_journal;
pub mod copied_file_names;
pub mod encrypted_channel_receive;
pub mod host_tool_outputs;
pub mod login_tokens;
pub mod measurement_results;
pub mod multichannel_plan;
pub mod ntlm_challenge;
pub mod profiles_labs_plans;
pub mod run_files;
pub mod smb_channel_receive;
pub mod smb_decoders;
pub mod ssh_command_output;
pub mod tables_and_benchmarks;

mod fake_smb_server;
