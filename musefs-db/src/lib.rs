//! The catalogue: the only crate that says SQL.

/// To come.
#[derive(Debug, thiserror::Error)]
#[error("to come")]
pub struct Error;
