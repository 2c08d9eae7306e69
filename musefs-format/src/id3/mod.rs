//! ID3: the tags in front of MPEG audio and of much else, and their predecessor at the end.
//!
//! Versions are kept: an ID3v2.2 tag stays one. A tag is rewritten frame by frame; what no edit touches is
//! a range of the source.

pub mod genres;
pub mod text;
pub mod unsync;
pub mod v1;
pub mod v2;
