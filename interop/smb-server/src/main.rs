//! `interop-smb-server ADDRESS USER PASSWORD SHARE FOLDER`: one share, one user, until it is ended.

use std::env;
use std::error::Error;

use smb_server::{Access, LocalFsBackend, Share, SmbServer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address, user, password, share, folder] = arguments.as_slice() else {
        return Err("ADDRESS USER PASSWORD SHARE FOLDER".into());
    };
    let folder = LocalFsBackend::new(folder)?;
    let server = SmbServer::builder()
        .listen(address.parse()?)
        .user(user, password)
        .share(Share::new(share, folder).user(user, Access::ReadWrite))
        .build()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        server.bind().await?;
        server.serve().await?;
        Ok(())
    })
}
