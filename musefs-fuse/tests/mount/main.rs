//! Real mounts of a small library in memory.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod life;
mod serving;
mod shelf;
