//! Copies that the server makes by itself: server-side copy by chunks, and storage that files share.

use std::ops::Range;

use smb_proto::FileKey;
use smb_proto::session::{Information, QueryInformation, Reply, Request};
use smb_proto::wire::{CopyChunk, CopyChunksDone};

use super::File;
use crate::blocking_request::ask;
use crate::error::Error;

/// What came of a copy on the server.
pub(crate) enum ChunksCopied {
    /// So many bytes are copied, from the begin of the first chunk on.
    Bytes(u64),
    /// None, because the server takes no more than this at once.
    TooMuch(CopyChunksDone),
}

impl File {
    /// The key by which the server finds this file when another one is to be copied from it.
    pub(crate) fn resume_key(&self) -> Result<[u8; 24], Error> {
        let request = Request::ResumeKey { file: self.key };
        match ask(self.shared(), request, &self.path)? {
            Reply::ResumeKey(key) => Ok(key),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Has the server copy into this file, from the one that it gave this key.
    pub(crate) fn copy_chunks(
        &self,
        key: &[u8; 24],
        chunks: Vec<CopyChunk>,
    ) -> Result<ChunksCopied, Error> {
        let request = Request::CopyChunks {
            to: self.key,
            key: *key,
            chunks,
        };
        match ask(self.shared(), request, &self.path)? {
            Reply::Copied(done) => Ok(ChunksCopied::Bytes(done.total_bytes.into())),
            Reply::CopyLimits(most) => Ok(ChunksCopied::TooMuch(most)),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Whether files of its file system can share storage.
    pub(crate) fn can_share_storage(&self) -> Result<bool, Error> {
        match self.query(QueryInformation::FsAttributes)? {
            Information::FsAttributes { clones, .. } => Ok(clones),
            _ => Err(self.shared().odd_answer()),
        }
    }

    /// Has it share the storage of a range with another file, whose key this is.
    pub(crate) fn clone_from(&self, from: FileKey, range: Range<u64>) -> Result<(), Error> {
        let to = self.key;
        self.done(Request::Clone { from, to, range })
    }
}
