//! Reads of sources, on workers.

use std::sync::Arc;

use fuser::{Errno, ReplyData};
use musefs_core::{
    Error,
    vfs::{Node, Vfs},
    workers::Service,
};

use crate::attributes::inode_errno;

/// A READ that lies within the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) node: Node,
    pub(crate) offset: u64,
    pub(crate) len: usize,
}

impl Read {
    /// Answers with the bytes. Too few are an error: the kernel would fill up with zeros to the size
    /// that it knows, and call that the file.
    pub(crate) fn answer(self, reply: ReplyData, outcome: Result<&[u8], Error>) {
        match outcome {
            Ok(bytes) if bytes.len() == self.len => reply.data(bytes),
            Ok(bytes) => {
                tracing::debug!(read = ?self, got = bytes.len(), "a source ended early");
                reply.error(Errno::EIO);
            }
            Err(error) => {
                tracing::debug!(read = ?self, %error, "a read failed");
                reply.error(inode_errno(&error));
            }
        }
    }
}

/// What the workers do.
pub(crate) struct Reads(pub(crate) Arc<dyn Vfs>);

impl Service for Reads {
    type Request = Read;
    type Reply = ReplyData;

    fn serve(&self, read: Read, buffer: &mut [u8]) -> Result<usize, Error> {
        self.0.read(read.node, read.offset, &mut buffer[..read.len])
    }

    fn answer(&self, read: Read, reply: ReplyData, outcome: Result<&[u8], Error>) {
        read.answer(reply, outcome);
    }
}
