//! A share that reads and writes less at once than it is asked to, as a server may.

use async_trait::async_trait;
use smb_server::{
    BackendCapabilities, Bytes, DirEntry, FileInfo, FileTimes, Handle, LocalFsBackend, OpenAction,
    OpenOptions, ShareBackend, SmbPath, SmbResult, VolumeInfo,
};

const BYTES_MAX: usize = 10_000;

pub struct Little(pub LocalFsBackend);

struct Open(Box<dyn Handle>);

#[async_trait]
impl ShareBackend for Little {
    async fn open(
        &self,
        path: &SmbPath,
        options: OpenOptions,
    ) -> SmbResult<(Box<dyn Handle>, OpenAction)> {
        let (handle, action) = self.0.open(path, options).await?;
        Ok((Box::new(Open(handle)), action))
    }

    async fn unlink(&self, path: &SmbPath) -> SmbResult<()> {
        self.0.unlink(path).await
    }

    async fn rename(&self, from: &SmbPath, to: &SmbPath, replace: bool) -> SmbResult<()> {
        self.0.rename(from, to, replace).await
    }

    fn capabilities(&self) -> BackendCapabilities {
        self.0.capabilities()
    }

    async fn volume_info(&self) -> SmbResult<VolumeInfo> {
        self.0.volume_info().await
    }
}

#[async_trait]
impl Handle for Open {
    async fn read(&self, offset: u64, length: u32) -> SmbResult<Bytes> {
        self.0.read(offset, length.min(BYTES_MAX as u32)).await
    }

    async fn write(&self, offset: u64, bytes: &[u8]) -> SmbResult<u32> {
        let little = &bytes[..bytes.len().min(BYTES_MAX)];
        self.0.write(offset, little).await
    }

    async fn flush(&self) -> SmbResult<()> {
        self.0.flush().await
    }

    async fn stat(&self) -> SmbResult<FileInfo> {
        self.0.stat().await
    }

    async fn set_times(&self, times: FileTimes) -> SmbResult<()> {
        self.0.set_times(times).await
    }

    async fn set_attributes(&self, attributes: u32) -> SmbResult<()> {
        self.0.set_attributes(attributes).await
    }

    async fn truncate(&self, length: u64) -> SmbResult<()> {
        self.0.truncate(length).await
    }

    async fn list_dir(&self, pattern: Option<&str>) -> SmbResult<Vec<DirEntry>> {
        self.0.list_dir(pattern).await
    }

    async fn close(self: Box<Self>) -> SmbResult<()> {
        self.0.close().await
    }
}
