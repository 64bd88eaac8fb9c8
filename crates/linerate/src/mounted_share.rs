//! A share that is named by the folder at which the client's system has it mounted.

use std::net::IpAddr;
use std::path::{Component, Path};

use host::{Host, journal};
use locale::say;
use measure::Stop;
use os::file::{Folder, Readers};
use record::{Demands, Dialect, SecondMount, ShareAddress, ShareMount, Signing};
use smb::Login;

use crate::args::{PathArguments, Through};
use crate::client_to_share_path::{SharePath, addresses, resolve};
use crate::failure::{CommandError, Kind};
use crate::share::{self, Mounted, TypedShare};
use crate::{ctrl_c, hosts};

/// Part of the path of what file managers show through gvfs.
const GVFS: &str = "/gvfs/smb-share:";

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
    let here = (arguments.client == "local").then_some(Path::new(typed));
    if let Some(share) = here.and_then(os::file_system::share_behind_drive) {
        return Ok((share::parse(&share)?, None));
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
            false if here.is_some() && !os::HAS_POSIX_FILES => "hint-check.no-drive",
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

/// Finds a share that is measured by trials that mount it again where it is named by a folder of a mount or the system's
/// client is asked for, and who logs in. Of several addresses of a server that is mounted for it, that one is taken.
///
/// # Errors
/// When there is no such share or mount, or this user may not mount.
pub fn open(
    typed: &str,
    arguments: &PathArguments,
    (through, address): (Option<Through>, Option<IpAddr>),
    stop: &Stop,
) -> Result<SharePath, CommandError> {
    let (typed, mounted) = named(typed, arguments, stop)?;
    match (&mounted, through) {
        (Some(_), _) => may_mount_again(&arguments.client)?,
        (None, Some(Through::System)) => may_mount(&arguments.client)?,
        (None, None) => {}
    }
    let mut path = SharePath::open(typed, arguments, stop)?;
    if let Some(Mounted { mount, .. }) = &mounted
        && !is_protected_so(mount, &path.demands)
    {
        let text = say("error-check.mounted-unprotected").with("folder", &mount.folder);
        let error = CommandError::new(Kind::Usage, text);
        return Err(error.hint(say("hint-check.mounted-unprotected")));
    }
    let mounted = match (mounted, through) {
        (None, Some(Through::System)) => {
            let server = &path.share.address.server;
            let address = address_of_server(&path.client, server, address)?;
            Some(mount(&path, address, stop)?)
        }
        (mounted, _) => mounted,
    };
    path.take_mount(mounted);
    if path.is_mounted_read_only() {
        let error = CommandError::new(Kind::Usage, say("error-check.mounted-read-only"));
        return Err(error.hint(say("hint-check.mounted-read-only")));
    }
    Ok(path)
}

/// The address of a server: the one that a run began with while its name has that, since a resolver lists several in
/// changing order.
fn address_of_server(
    client: &Host,
    name: &str,
    began_with: Option<IpAddr>,
) -> Result<IpAddr, CommandError> {
    match began_with {
        Some(address) if addresses(client, name)?.contains(&address) => Ok(address),
        _ => resolve(client, name),
    }
}

/// Whether a mount is protected at least as is asked for.
fn is_protected_so(mount: &ShareMount, demands: &Demands) -> bool {
    let is_signed = mount.is_encrypted() || mount.signed == Some(true) || mount.asks_to_sign();
    (mount.is_encrypted() || !demands.encrypted)
        && (is_signed || demands.signing != Signing::Required)
}

/// Whether a check may mount a share of its own, before anybody is asked for a password.
///
/// # Errors
/// When the client is another machine, or this user may not mount.
pub fn may_mount(client: &str) -> Result<(), CommandError> {
    let (id, hint) = match (client, os::is_root()) {
        ("local", true) => return Ok(()),
        ("local", false) => ("error-measure.second-mount-root", "hint-check.mount-root"),
        _ => ("error-check.mount-elsewhere", "hint-check.mount-there"),
    };
    Err(CommandError::new(Kind::Usage, say(id)).hint(say(hint)))
}

/// Whether trials may mount a share again that is mounted on the client, as far as that can be told before the first one.
///
/// # Errors
/// When this user may not mount here.
fn may_mount_again(client: &str) -> Result<(), CommandError> {
    if client != "local" || os::is_root() {
        return Ok(());
    }
    let error = CommandError::new(Kind::Usage, say("error-measure.second-mount-root"));
    Err(error.hint(say("hint-check.mount-again-root")))
}

/// Mounts a share from this address as `mount -t cifs` does by default, where only this process sees it and what it starts
/// from now on, and for as long as that lives: over a folder for linerate's state, which holds nothing.
///
/// # Errors
/// When the share cannot be mounted.
pub fn mount(path: &SharePath, address: IpAddr, stop: &Stop) -> Result<Mounted, CommandError> {
    let folder = Folder::make(&journal::state_folder()?, Readers::All)
        .and_then(|state| state.make_folder("mount", Readers::Owner))?;
    let ShareAddress {
        server,
        port,
        share,
        path: below,
    } = &path.share.address;
    let below = match below.trim_matches('/') {
        "" => String::new(),
        below => format!("/{below}"),
    };
    let login = measure::login(Some(&path.credentials));
    let other_port = (*port != share::PORT_DEFAULT).then(|| format!("port={port}"));
    let mut options = options_for(&path.demands, &login);
    options.extend(other_port.clone());
    options.push(format!("ip={address}"));
    options.push(SecondMount::OWN_SESSION.to_owned());
    let wanted = SecondMount {
        source: format!("//{server}/{share}{below}"),
        folder: folder.path().display().to_string(),
        options: options.join(","),
    };
    let failed = |error: CommandError| error.hint(say("hint-check.mount"));
    let mounted = measure::mount_for_this_thread(&wanted, &login, stop);
    mounted.map_err(|error| failed(error.into()))?;
    // The thread that asks is begun by this one, and sees it.
    let (host, asked) = (path.client.clone(), wanted.folder.clone());
    let found = ctrl_c::unless_asked(stop, move || Ok(host::share_mount(&host, &asked)?))?;
    let unlisted = || {
        failed(CommandError::new(
            Kind::Internal,
            say("error-check.not-mounted"),
        ))
    };
    let (mut mount, _) = found.ok_or_else(unlisted)?;
    // What is ours alone is no advice, and of the port the system says nothing.
    let is_asked_for =
        |option: &&str| *option != SecondMount::OWN_SESSION && !measure::UNTRUSTED.contains(option);
    let shown = mount.options.split(',').filter(is_asked_for);
    let shown: Vec<&str> = shown.chain(other_port.as_deref()).collect();
    mount.options = shown.join(",");
    mount.own = true;
    Ok(Mounted {
        folder: wanted.folder,
        mount,
    })
}

/// The options by which a mount is protected as our own engine is, and no newer than that.
fn options_for(demands: &Demands, login: &Login) -> Vec<String> {
    let security = match (login, demands.signing) {
        (Login::Ticket { .. }, Signing::Required) => Some("sec=krb5i"),
        (Login::Ticket { .. }, _) => Some("sec=krb5"),
        (_, Signing::Required) => Some("sec=ntlmsspi"),
        _ => None,
    };
    let dialect = match demands.dialect_max {
        Dialect::Smb202 => Some("vers=2.0"),
        Dialect::Smb210 => Some("vers=2.1"),
        Dialect::Smb300 => Some("vers=3.0"),
        Dialect::Smb302 => Some("vers=3.02"),
        Dialect::Smb311 => None,
    };
    let encryption = demands.encrypted.then_some("seal");
    let options = [security, dialect, encryption].into_iter().flatten();
    options.map(str::to_owned).collect()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::exec::{Output, Replay};

    use super::*;

    #[test]
    fn a_run_goes_on_with_the_address_it_began_with_in_whatever_order_a_name_has_several() {
        let said = |text: &str| {
            Ok(Output {
                status: 0,
                stdout: text.into(),
                stderr: Vec::new(),
            })
        };
        let mut is_first = false;
        let exec = Replay::model(move |command| match command.argv[0].as_str() {
            "uname" => said("Linux\n"),
            _ => {
                is_first = !is_first;
                said(match is_first {
                    true => "10.0.0.1 STREAM nas\n10.0.0.2 STREAM\n",
                    false => "10.0.0.2 STREAM nas\n10.0.0.1 STREAM\n",
                })
            }
        });
        let client = Host::new(record::HostName::new("client"), Arc::new(exec)).unwrap();
        let address = |began_with: Option<&str>| {
            let began_with = began_with.map(|it| it.parse().unwrap());
            let found = address_of_server(&client, "nas", began_with);
            found.unwrap().to_string()
        };
        for own in ["10.0.0.1", "10.0.0.2"] {
            assert_eq!([address(Some(own)), address(Some(own))], [own, own]);
        }
        // What is none of the name's is a stranger's.
        assert!(address(Some("10.0.0.9")).starts_with("10.0.0."));
        assert_ne!(address(Some("10.0.0.9")), "10.0.0.9");
        assert_eq!([address(None), address(None)].concat().len(), 16);
    }

    #[test]
    fn a_mount_is_protected_as_our_own_engine_and_no_newer() {
        let options = |change: fn(&mut Demands), login: &Login| {
            let mut demands = Demands::default();
            change(&mut demands);
            options_for(&demands, login).join(",")
        };
        let (nobody, ticket) = (
            Login::Anonymous,
            Login::Ticket {
                user: "ann@EXAMPLE".to_owned(),
            },
        );
        assert_eq!(options(|_| (), &nobody), "");
        assert_eq!(options(|_| (), &ticket), "sec=krb5");
        let signed = |it: &mut Demands| it.signing = Signing::Required;
        assert_eq!(options(signed, &nobody), "sec=ntlmsspi");
        assert_eq!(options(signed, &ticket), "sec=krb5i");
        assert_eq!(options(|it| it.encrypted = true, &nobody), "seal");
        assert_eq!(
            options(|it| it.dialect_max = Dialect::Smb302, &nobody),
            "vers=3.02"
        );
    }
}
