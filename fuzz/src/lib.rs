//! What the fuzz targets share with a test of `musefs-format` that needs no fuzzer.

pub mod checks;
pub mod seeds;
