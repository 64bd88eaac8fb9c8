//! A share that is named by the folder at which the client's system has it mounted.

use std::net::IpAddr;
use std::path::{Component, Path};

use locale::say;
use measure::Stop;
use record::{SecondMount, ShareAddress, ShareMount, Signing};
use smb::Login;

use crate::args::PathArguments;
use crate::client_to_share_path::{SharePath, addresses};
use crate::failure::{CommandError, Kind};
use crate::share::{self, Mounted, TypedShare};
use crate::{ctrl_c, hosts};

/// Part of the path of what file managers show through gvfs.
const GVFS: &str = "/gvfs/smb-share:";
/// The option that makes a mount log in for itself (`mount.cifs(8)`).
const OWN_SESSION: &str = "nosharesock";
/// Folders of every Linux system that a mount may hide from a check (Filesystem Hierarchy Standard 3.0).
const FOLDERS: [&str; 3] = ["/mnt", "/media", "/srv"];

/// The share that was named by its address or by the folder of a mount of the client, and that mount.
///
/// # Errors
/// When it is neither, or the client does not answer.
pub fn named(
    typed: &str,
    arguments: &PathArguments,
    stop: &Stop,
) -> Result<(TypedShare, Option<Mounted>), CommandError> {
    if share::is_share_address(typed) || !is_folder(typed, &arguments.client) {
        return Ok((share::parse(typed)?, None));
    }
    let folder = folder_of(typed, &arguments.client)?;
    let (client, asked) = (arguments.client.clone(), folder.clone());
    let found = ctrl_c::unless_asked(stop, move || {
        let client = hosts::open(&hosts::parse(&client)?)?;
        let Some((mount, below)) = host::share_mount(&client, &asked)? else {
            return Ok(None);
        };
        let server = server_of(&client, &mount);
        Ok(Some((mount, below, server)))
    })?;
    let nothing = || {
        let sentence = say("error-check.no-mount").with("folder", &folder);
        let hint = match folder.contains(GVFS) {
            true => "hint-check.gvfs",
            false => "hint-check.no-mount",
        };
        CommandError::new(Kind::Usage, sentence).hint(say(hint))
    };
    let (mount, below, server) = found.ok_or_else(nothing)?;
    let address = address_of(&mount, &below, &server).ok_or_else(nothing)??;
    let folder = match below.as_str() {
        "" => mount.folder.clone(),
        below => format!("{}/{below}", mount.folder.trim_end_matches('/')),
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

/// Mounts a share as `mount -t cifs` does by default, where only this process sees it and what it starts from now on, and
/// for as long as that lives. `into` is a folder that must stay in sight.
///
/// # Errors
/// When the client is another machine, this user may not mount, or the share cannot be mounted.
pub fn mount(
    path: &SharePath,
    client: &str,
    into: Option<&str>,
    stop: &Stop,
) -> Result<Mounted, CommandError> {
    let refused = |id, hint| CommandError::new(Kind::Usage, say(id)).hint(say(hint));
    if client != "local" {
        return Err(refused(
            "error-check.mount-elsewhere",
            "hint-check.mount-there",
        ));
    }
    let is_free = |folder: &&&str| {
        let holds = |path: &str| Path::new(path).starts_with(folder);
        Path::new(folder).is_dir() && !into.is_some_and(holds)
    };
    let folder = FOLDERS.iter().find(is_free);
    let folder =
        folder.ok_or_else(|| refused("error-check.no-folder-to-mount", "hint-check.mount"))?;
    let address = &path.share.address;
    let server = record::host_in_url(&address.server);
    let below = match address.path.trim_matches('/') {
        "" => String::new(),
        below => format!("/{below}"),
    };
    let login = measure::login(Some(&path.credentials));
    let security = match (&login, path.demands.signing) {
        (Login::Ticket { .. }, Signing::Required) => Some("sec=krb5i"),
        (Login::Ticket { .. }, _) => Some("sec=krb5"),
        (_, Signing::Required) => Some("sec=ntlmsspi"),
        _ => None,
    };
    let port = (address.port != share::PORT_DEFAULT).then(|| format!("port={}", address.port));
    let options = [
        security.map(str::to_owned),
        path.demands.encrypted.then(|| "seal".to_owned()),
        port,
        // Otherwise it has the connections of whatever mount there is of that server.
        Some(OWN_SESSION.to_owned()),
    ];
    let options: Vec<String> = options.into_iter().flatten().collect();
    let wanted = SecondMount {
        source: format!("//{server}/{}{below}", address.share),
        folder: (*folder).to_owned(),
        options: options.join(","),
    };
    measure::mount_for_this_thread(&wanted, &login, stop)?;
    // The thread that asks is begun by this one, and sees it.
    let (host, asked) = (path.client.clone(), wanted.folder.clone());
    let found = ctrl_c::unless_asked(stop, move || Ok(host::share_mount(&host, &asked)?))?;
    let (mount, _) = found.ok_or_else(|| refused("error-check.not-mounted", "hint-check.mount"))?;
    Ok(Mounted {
        folder: wanted.folder,
        mount: ShareMount { own: true, ..mount },
    })
}

/// The whole path of a folder that was named, without asking its file system: a mount whose server is gone may not
/// answer.
fn folder_of(typed: &str, client: &str) -> Result<String, CommandError> {
    let folder = match client {
        "local" => std::path::absolute(typed).map_err(|source| {
            let sentence = say("error-check.no-folder").with("folder", typed);
            CommandError::caused(Kind::Usage, sentence, &source)
        })?,
        _ => Path::new(typed).to_owned(),
    };
    // What is above a folder is not what its name says where a part of it is a link.
    let goes_up = folder.components().any(|part| part == Component::ParentDir);
    if goes_up || !folder.is_absolute() {
        let id = match goes_up {
            true => "error-check.path-goes-up",
            false => "error-check.part-of-path",
        };
        let sentence = say(id).with("path", typed).with("host", client);
        return Err(CommandError::new(Kind::Usage, sentence).hint(say("hint-check.whole-path")));
    }
    Ok(folder.display().to_string())
}

/// Where a folder below a mount is on the share; none where the mount's source is no share. What a host says of its
/// mounts is checked like what is typed. The kernel does not tell the port.
fn address_of(
    mount: &ShareMount,
    below: &str,
    server: &str,
) -> Option<Result<ShareAddress, CommandError>> {
    let (_, name, inside) = mount.place()?;
    let parts = inside.split('/').chain(below.split('/'));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let server = record::host_in_url(server);
    let typed = format!("//{server}/{name}/{}", parts.join("/"));
    Some(share::parse(&typed).map(|share| share.address))
}

/// The server of a mount: by its name, or by the address that the mount uses where the name leads elsewhere or nowhere.
fn server_of(client: &host::Host, mount: &ShareMount) -> String {
    let name = mount.place().map_or("", |(server, ..)| server);
    let used: Option<IpAddr> = mount.option("addr").and_then(|it| it.parse().ok());
    let known = addresses(client, name).unwrap_or_default();
    match used.filter(|used| !known.contains(used)) {
        Some(used) => used.to_string(),
        None => name.to_owned(),
    }
}

/// Whether a word is meant as a folder: it begins as a path, or is there.
fn is_folder(typed: &str, client: &str) -> bool {
    typed.starts_with(['/', '.']) || (client == "local" && Path::new(typed).is_dir())
}

/// Who is logged in at a mount, as a share is typed with its user.
fn user_of(mount: &ShareMount) -> Option<String> {
    // A comma within it stays as the kernel writes it.
    let is_plain = |word: &&str| !word.is_empty() && !word.contains('\\');
    let user = mount.option("username").filter(is_plain)?;
    Some(match mount.option("domain") {
        Some(domain) if is_plain(&domain) => format!("{domain};{user}"),
        _ => user.to_owned(),
    })
}
