//! The musefs program.

fn main() {}
