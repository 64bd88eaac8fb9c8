//! Records as others see them.

mod run_file;
