//! What audio files look like inside, and how to serve them with other tags: bytes only.
//!
//! A reader takes a source apart into [`Facts`]: tags, pictures as ranges, properties, the range of
//! the encoded audio, and a *structure*: a compact blob that says what each part of the file is and
//! where. From a structure and [`Edits`] alone, without the source, [`Container::splice`] builds a
//! [`Splice`]: the ordered segments of the file to serve, and so its exact length.
//!
//! Knows nothing of paths, files, SQL, clocks or threads. Broken input is normal: a reader gives what
//! it could read and a list of problems, never a panic.

pub mod adts;
pub mod aiff;
pub mod ape;
pub mod carrier;
pub mod container;
pub mod dff;
pub mod dsf;
pub mod edits;
pub mod envelope;
pub mod facts;
pub mod flac;
pub mod found;
pub mod id3;
pub mod limits;
pub mod monkey;
pub mod mp4;
pub mod mpeg;
pub mod musepack;
pub mod offsets;
pub mod ogg;
pub mod optimfrog;
pub mod picture;
pub mod served;
pub mod source;
pub mod splice;
pub mod table;
pub mod tags;
pub mod tak;
pub mod trial;
pub mod tta;
pub mod vorbis;
pub mod wav;
pub mod wavpack;

mod chunks;
mod numbers;
mod sniff;

pub use container::{Container, Refusal, container};
pub use edits::Edits;
pub use facts::{ByteRange, Editing, Facts, Picture, Problem, Properties, Structure};
pub use offsets::Offsets;
pub use served::{Given, Served};
pub use sniff::{Format, extension_format, sniff, sniff_source};
pub use source::ReadAt;
pub use splice::{Origin, Segment, Splice, SpliceBuilder};
pub use tags::Tags;

#[cfg(test)]
pub(crate) mod testing;
