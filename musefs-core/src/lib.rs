//! The library behind every transport: scan, templates, tree, reading, following changes, metrics.
//!
//! Transports ask a [`Library`](library::Library) for names, attributes and bytes in the words of
//! [`vfs`]. Nothing here names FUSE, NFS, a command line or the environment.

pub mod correct;
pub mod error;
pub mod library;
pub mod limits;
pub mod metrics;
pub mod names;
pub mod reading;
pub mod scan;
pub mod template;
pub mod tree;
pub mod vfs;
pub mod workers;

pub use error::{Error, Kind};
