//! The catalogue from outside: through its public interface and through other programs.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod common;
mod concurrency;
mod documentation;
mod edits;
mod external_writers;
mod limits;
mod opening;
mod scans;
mod visits;
