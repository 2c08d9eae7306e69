//! What tests of several modules share.

use std::path::PathBuf;

/// The folder of real files, if there is one; without it a test prints that it is skipped, with `CI=true` it fails.
pub(crate) fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("MUSEFS_CORPUS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus")), PathBuf::from);
    if path.join("INDEX.tsv").is_file() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "no corpus at {}", path.display());
    eprintln!("skipped: no corpus at {}", path.display());
    None
}
