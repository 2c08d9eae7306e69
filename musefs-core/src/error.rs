//! What can go wrong when a library is asked something.

use std::io;

/// An answer that could not be given.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No node of that name or id.
    #[error("no such file or directory")]
    NotFound,
    /// A directory was needed.
    #[error("not a directory")]
    NotADirectory,
    /// A file was needed.
    #[error("is a directory")]
    IsADirectory,
    /// The node is no longer served in that generation.
    #[error("the file was replaced since it was opened")]
    Stale,
    /// The source could not be read.
    #[error("reading {path}: {source}")]
    Source {
        /// Of the source.
        path: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The source is not what was catalogued; a scan takes it in.
    #[error("{path} changed since it was scanned")]
    SourceChanged {
        /// Of the source.
        path: std::path::PathBuf,
    },
    /// No answer from the disk in time.
    #[error("the disk did not answer in time")]
    Deadline,
    /// A fault of musefs itself, kept to one request.
    #[error("an internal error; the log has its place")]
    Panicked,
    /// A thread could not be started.
    #[error("starting the thread {name}: {source}")]
    Thread {
        /// What it is for.
        name: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The catalogue could not be asked.
    #[error(transparent)]
    Catalog(#[from] musefs_db::Error),
}

/// The kinds of [`Error`] that transports and exit codes tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ENOENT.
    NotFound,
    /// ENOTDIR.
    NotADirectory,
    /// EISDIR.
    IsADirectory,
    /// ESTALE.
    Stale,
    /// EIO.
    Io,
}

impl Error {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::NotFound => Kind::NotFound,
            Self::NotADirectory => Kind::NotADirectory,
            Self::IsADirectory => Kind::IsADirectory,
            Self::Stale | Self::SourceChanged { .. } => Kind::Stale,
            Self::Source { .. } | Self::Deadline | Self::Panicked | Self::Thread { .. } | Self::Catalog(_) => Kind::Io,
        }
    }
}
