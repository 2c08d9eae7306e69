//! MPEG audio layer I, II and III: frames between tags.

pub mod header;
