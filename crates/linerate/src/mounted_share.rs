//! A share that is named by the folder at which the client's system has it mounted.

use std::path::Path;

use locale::say;
use record::{ShareAddress, ShareMount};

use crate::args::PathArguments;
use crate::failure::{CommandError, Kind};
use crate::share::{self, TypedShare};
use crate::{ctrl_c, hosts};

/// Part of the path of what file managers show through gvfs.
const GVFS: &str = "/gvfs/smb-share:";

/// A mount of the share that is measured.
#[derive(Clone, Debug)]
pub struct Mounted {
    /// The folder that is measured: that of the mount, or one below it.
    pub folder: String,
    /// The mount.
    pub mount: ShareMount,
}

/// The share that somebody named, by its address or by the folder of a mount of the client, and that mount.
///
/// # Errors
/// When it is neither, or the client does not answer.
pub fn named(
    typed: &str,
    arguments: &PathArguments,
    stop: &measure::Stop,
) -> Result<(TypedShare, Option<Mounted>), CommandError> {
    if share::is_share_address(typed) || !is_folder(typed, &arguments.client) {
        return Ok((share::parse(typed)?, None));
    }
    let folder = match arguments.client.as_str() {
        // Nothing is asked of the file system: a mount whose server is gone may not answer.
        "local" => std::path::absolute(typed).map_err(|source| {
            let sentence = say("error-check.no-folder").with("folder", typed);
            CommandError::caused(Kind::Usage, sentence, &source)
        })?,
        _ => Path::new(typed).to_owned(),
    };
    let folder = folder.display().to_string();
    let (client, asked) = (arguments.client.clone(), folder.clone());
    let found = ctrl_c::unless_asked(stop, move || {
        let client = hosts::open(&hosts::parse(&client)?)?;
        Ok(host::share_mount(&client, &asked)?)
    })?;
    let nothing = || {
        let sentence = say("error-check.no-mount").with("folder", &folder);
        let hint = match folder.contains(GVFS) {
            true => "hint-check.gvfs",
            false => "hint-check.no-mount",
        };
        CommandError::new(Kind::Usage, sentence).hint(say(hint))
    };
    let (mount, below) = found.ok_or_else(nothing)?;
    let (server, name, inside) = mount.place().ok_or_else(nothing)?;
    let parts = inside.split('/').chain(below.split('/'));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let port = mount.option("port").and_then(|port| port.parse().ok());
    let address = ShareAddress {
        server: server.to_owned(),
        port: port.unwrap_or(445),
        share: name.to_owned(),
        path: parts.join("/"),
    };
    // A file of credentials names a user of its own.
    let has_file =
        arguments.login.credentials.is_some() || Path::new(lab::CREDENTIALS_IN_HOST).exists();
    let user = user_of(&mount).filter(|_| !has_file && !arguments.client.starts_with("lab://"));
    Ok((
        TypedShare { address, user },
        Some(Mounted { folder, mount }),
    ))
}

/// Whether a word is meant as a folder: it begins as a path, or is there.
fn is_folder(typed: &str, client: &str) -> bool {
    typed.starts_with(['/', '.']) || (client == "local" && Path::new(typed).is_dir())
}

/// Who is logged in at a mount, as a share is typed with its user.
fn user_of(mount: &ShareMount) -> Option<String> {
    let user = mount.option("username").filter(|user| !user.is_empty())?;
    Some(match mount.option("domain") {
        Some(domain) if !domain.is_empty() => format!("{domain};{user}"),
        _ => user.to_owned(),
    })
}
