//! What can go wrong with the catalogue, and what to do about it.

use std::{io, path::PathBuf};

use crate::{TrackId, busy};

/// The result of asking the catalogue.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the catalogue did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such file.
    #[error("there is no catalogue {}", .path.display())]
    Absent {
        /// Of the catalogue.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{} is not a catalogue of musefs", .path.display())]
    NotACatalog {
        /// Of the file.
        path: PathBuf,
    },
    /// A later release has written to it.
    #[error("{} has schema {found}; this release knows schemas up to {known}", .path.display())]
    Newer {
        /// Of the catalogue.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest schema of this release.
        known: i64,
    },
    /// An earlier release wrote it, and it cannot be brought up to date from here.
    #[error("{} has schema {found}, which is older than schema {known} of this release", .path.display())]
    Older {
        /// Of the catalogue.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The latest schema of this release.
        known: i64,
    },
    /// It cannot be written.
    #[error("{} cannot be written: {reason}", .path.display())]
    ReadOnly {
        /// Of the catalogue.
        path: PathBuf,
        /// Why, in words.
        reason: &'static str,
    },
    /// It could not be opened.
    #[error("opening {}: {source}", .path.display())]
    Open {
        /// Of the catalogue.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// Something else had it for too long.
    #[error("{purpose} waited {} s for {holder}", .waited_ms / 1000)]
    Busy {
        /// Who waited.
        purpose: String,
        /// For how long, in milliseconds.
        waited_ms: u64,
        /// Who has it, in words.
        holder: String,
    },
    /// A row breaks a rule of the schema.
    #[error("the catalogue refuses it: {reason}")]
    Refused {
        /// Which rule, in words.
        reason: String,
    },
    /// There is no such track.
    #[error("there is no track {}", .0.0)]
    NoSuchTrack(TrackId),
    /// There is no such change.
    #[error("there is no change {0} in the log")]
    NoSuchChange(i64),
    /// A key was changed again after the change that is to be undone.
    #[error("{key} of track {} was changed again by change {later}", .track.0)]
    ChangedAgain {
        /// The track.
        track: TrackId,
        /// The key.
        key: String,
        /// The later change.
        later: i64,
    },
    /// A file operation failed.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite failed.
    #[error("asking the catalogue: {0}")]
    Sql(rusqlite::Error),
    /// No connection was to be had.
    #[error("asking the catalogue: {0}")]
    Pool(r2d2::Error),
}

/// The kinds of [`Error`] that exit codes tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No catalogue, or none that this release can use.
    Unusable,
    /// Something else had it for too long; trying again may help.
    Busy,
    /// What was asked for does not exist or is not allowed.
    Refused,
    /// The machine failed.
    Failed,
}

impl Error {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Absent { .. }
            | Self::NotACatalog { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::ReadOnly { .. }
            | Self::Open { .. } => Kind::Unusable,
            Self::Busy { .. } | Self::Pool(_) => Kind::Busy,
            Self::Refused { .. } | Self::NoSuchTrack(_) | Self::NoSuchChange(_) | Self::ChangedAgain { .. } => {
                Kind::Refused
            }
            Self::Io { .. } | Self::Sql(_) => Kind::Failed,
        }
    }

    /// What to do now, if that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Absent { .. } => "scan a music directory first: `musefs scan PATH`".into(),
            Self::NotACatalog { .. } => "name another file with `--db FILE`".into(),
            Self::Newer { .. } => "use the release of musefs that wrote it, or a later one".into(),
            Self::Older { .. } => "open it once where it can be written, for example with `musefs scan`".into(),
            Self::ReadOnly { .. } => "run it where the catalogue and its folder can be written".into(),
            Self::Busy { .. } => "let the other program finish or end it, then try again".into(),
            Self::NoSuchTrack(_) => "`musefs list` shows all tracks".into(),
            Self::NoSuchChange(_) => "`musefs log` shows all changes".into(),
            Self::ChangedAgain { later, .. } => format!("undo change {later} first, or both together"),
            Self::Sql(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) => {
                "make room on the catalogue's disk".into()
            }
            _ => return None,
        };
        Some(hint)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked, ReadOnly};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => busy::given_up(),
            Some(ConstraintViolation) => Self::Refused { reason: error.to_string() },
            Some(ReadOnly) => {
                Self::ReadOnly { path: PathBuf::from("the catalogue"), reason: "it is only open for reading" }
            }
            _ => Self::Sql(error),
        }
    }
}
