//! Every limit of the catalogue, in one place. Those on rows stand in the schema too; a test compares them.

use std::time::Duration;

/// Most bytes of a key of a tag or an edit.
pub const KEY_BYTES_MAX: usize = 1024;

/// Most bytes of a value of a tag or an edit.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// Highest position of an edited value: a key holds at most one value more.
pub const EDIT_POSITION_MAX: usize = 999;

/// Most rows of `edits` that a track holds.
pub const EDITS_PER_TRACK_MAX: usize = 1000;

/// Most bytes of the name of who made an edit.
pub const WHO_BYTES_MAX: usize = 255;

/// Most bytes of the reason for an edit.
pub const WHY_BYTES_MAX: usize = 4096;

/// Most bytes of a directory's path.
pub const PATH_BYTES_MAX: usize = 32_768;

/// Most bytes of a file's name.
pub const NAME_BYTES_MAX: usize = 1024;

/// Most bytes of a source's structure.
pub const STRUCTURE_BYTES_MAX: usize = 32 << 20;

/// Most bytes of a piece of art.
pub const ART_BYTES_MAX: usize = 32 << 20;

/// Seconds that a splice version may add to a file's time, with room.
pub const SPLICE_SECONDS_MAX: i64 = 60;

/// Most entries of the log that one query returns.
pub const LOG_ENTRIES_MAX: usize = 10_000;

/// Most connections that read at once. A reader beyond them waits for one.
pub const READERS_MAX: u32 = 16;

/// Page cache of one connection, in KiB.
pub const PAGE_CACHE_KIB: i64 = 512;

/// Prepared statements that a connection keeps.
pub const STATEMENTS_MAX: usize = 64;

/// The write-ahead log is cut back to this size once it has been taken over, in bytes.
pub const JOURNAL_BYTES_MAX: i64 = 64 << 20;

/// How long anything waits for another process before it gives up.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// After this long a wait is told of.
pub const WAIT_QUIET: Duration = Duration::from_secs(1);
