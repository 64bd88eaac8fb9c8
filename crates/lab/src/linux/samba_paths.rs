//! Where the server of a lab keeps its files.

use super::namespace_holder::FOLDER;

/// All of them.
pub(crate) fn folder() -> String {
    format!("{FOLDER}/samba")
}

/// Those of the setting that says where some of them are.
pub(crate) fn own_folder(setting: &str) -> String {
    format!("{}/{}", folder(), setting.replace(' ', "-"))
}
