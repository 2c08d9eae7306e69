//! What operators see of a running library.

pub mod io;
