//! How a mount is to be.

use std::time::Duration;

/// How a mount is to be. The default is what an ordinary user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Let users other than the one who mounts see the tree.
    pub allow_other: bool,
    /// Owner of all files and directories.
    pub owner: u32,
    /// Group of all files and directories.
    pub group: u32,
    /// Permission bits of files; write bits are taken away.
    pub file_mode: u16,
    /// Permission bits of directories; write bits are taken away.
    pub dir_mode: u16,
    /// How long the kernel may believe names and attributes. It is told of changes, so this is long.
    pub ttl: Duration,
    /// Keep the kernel's pages of a file between opens. Without it each open asks, and reads anew.
    pub keep_cache: bool,
    /// Threads that read `/dev/fuse` and answer metadata.
    pub loops: usize,
    /// Threads that read sources.
    pub workers: usize,
    /// After which a read of a source is answered with an error.
    pub deadline: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let cpus = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            allow_other: false,
            owner: rustix::process::getuid().as_raw(),
            group: rustix::process::getgid().as_raw(),
            file_mode: 0o444,
            dir_mode: 0o555,
            ttl: Duration::from_secs(3600),
            keep_cache: true,
            loops: cpus.clamp(2, 8),
            workers: 16,
            deadline: Duration::from_secs(30),
        }
    }
}
