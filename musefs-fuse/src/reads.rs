//! Reads of sources, on workers.

use std::{sync::Arc, time::Instant};

use fuser::{Errno, ReplyData};
use musefs_core::{
    Error,
    metrics::{Op, Outcome, Warning},
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
    pub(crate) asked: Instant,
}

impl Read {
    /// Answers with the bytes. Too few are an error: the kernel would fill up with zeros to the size
    /// that it knows, and call that the file.
    pub(crate) fn answer(self, reply: ReplyData, outcome: Result<&[u8], Error>) -> Outcome {
        match outcome {
            Ok(bytes) if bytes.len() == self.len => {
                reply.data(bytes);
                Outcome::Ok
            }
            Ok(bytes) => {
                tracing::debug!(read = ?self, got = bytes.len(), "a source ended early");
                reply.error(Errno::EIO);
                Outcome::Failed
            }
            Err(error) => {
                reply.error(inode_errno(&error));
                Outcome::of(&error)
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
        let metrics = self.0.metrics();
        if let Err(error) = &outcome {
            let class = if matches!(error, Error::Panicked) { Warning::Request } else { Warning::Source };
            metrics.warn(class, format_args!("a read failed: {error}"));
        }
        let outcome = read.answer(reply, outcome);
        metrics.request(Op::Read, outcome, read.asked.elapsed());
    }
}
