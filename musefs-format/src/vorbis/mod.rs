//! Vorbis comments: the tags of FLAC and of most codecs in Ogg.
//!
//! A packet of comments (Vorbis I specification, section 5.2.1, without its header and framing bit) is taken
//! apart into a [`Layout`], which says where vendor and fields are; edits turn a layout into [`Piece`]s:
//! made bytes and ranges of the old packet. Where the packet lies in a file is the container's business.

mod base64;
mod edit;
mod layout;
mod picture;

pub use edit::{Piece, can_hold, edited};
pub use layout::{Field, Layout, read};

#[cfg(test)]
mod tests;
