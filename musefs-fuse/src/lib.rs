//! Serves a library over FUSE: words of the kernel on one side, [`Vfs`](musefs_core::vfs::Vfs) on the other.
//!
//! [`Mounted`] is a mount and its life. The `adapter` answers requests: metadata on the threads that
//! read `/dev/fuse`, file data on workers. The `notifier` tells the kernel what has changed; nothing
//! else does, and it holds no lock. Nothing in the process that serves a mount touches that mount.

mod adapter;
mod attributes;
mod connection;
mod error;
mod inode;
mod limits;
mod listing;
mod mounted;
pub mod mountinfo;
mod mounting;
mod notifier;
mod options;
mod reads;
mod trust;

pub use connection::{detach, is_dead};
pub use error::MountError;
pub use mounted::{Mounted, Stopped};
pub use options::Options;
