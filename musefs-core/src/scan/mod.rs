//! To come.
mod file;
mod probe;
mod retry;
mod walk;
