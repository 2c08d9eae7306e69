//! Limits of what a client or the kernel can ask for.

/// Bytes of one READ: 256 pages, the most that the kernel asks for unless its own limit was raised.
/// The connection is set up so that larger ones do not come.
pub(crate) const READ_BYTES_MAX: u32 = 1 << 20;

/// Requests that the kernel sends without a client that waits, mostly read-ahead.
pub(crate) const BACKGROUND_MAX: u16 = 64;

/// Names whose push failed and is repeated one by one. Behind that, only what is in the tree now is.
pub(crate) const OWED_NAMES_MAX: usize = 65_536;

/// What `statfs` says of names; names are cut to it.
pub(crate) const NAME_BYTES_MAX: u32 = 255;
