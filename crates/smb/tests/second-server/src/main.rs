//! `second-server FOLDER USER PASSWORD`: serves a folder on a free port of the loopback, as `data` and,
//! a little at a time, as `little` to its user and as `public` to everybody. It prints its address and
//! ends with its standard input.

mod short_transfers;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use smb_server::{Access, LocalFsBackend, Share, SmbServer};
use tokio::io::AsyncReadExt;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, user, password] = &arguments[..] else {
        return Err("usage: second-server FOLDER USER PASSWORD".into());
    };
    let backend = || LocalFsBackend::new(folder);
    let data = Share::new("data", backend()?).user(user, Access::ReadWrite);
    let little = Share::new("little", short_transfers::Little(backend()?)).user(user, Access::ReadWrite);
    let server = SmbServer::builder()
        .listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .user(user, password)
        .share(data)
        .share(little)
        .share(Share::new("public", backend()?).public_read_only())
        .build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        println!("{}", server.bind().await?);
        tokio::spawn(server.serve());
        tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
        // A read of standard input keeps a thread, which a runtime would wait for.
        std::process::exit(0)
    })
}
