//! Every file of the corpus goes through a probe.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::{Path, PathBuf};

use musefs_db::Stamp;

use super::probe::*;

/// The corpus, or `None` after saying that it is skipped.
fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("MUSEFS_CORPUS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus")), PathBuf::from);
    if path.join("INDEX.tsv").exists() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no corpus at {}", path.display());
    println!("skipped: no corpus at {}", path.display());
    None
}

/// A row of the index: path, format, duration in seconds, decode.
fn rows(corpus: &Path) -> Vec<(String, String, Option<f64>, String)> {
    let index = std::fs::read_to_string(corpus.join("INDEX.tsv")).unwrap();
    let mut lines = index.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|field| *field == name).unwrap();
    let (path, format, duration, decode) = (column("path"), column("format"), column("duration"), column("decode"));
    lines
        .map(|row| (row[path].to_owned(), row[format].to_owned(), row[duration].parse().ok(), row[decode].to_owned()))
        .collect()
}

#[test]
fn explore() {
    let Some(corpus) = corpus() else { return };
    for (name, format, duration, decode) in rows(&corpus) {
        let path = corpus.join("files").join(&name);
        let stamp = Stamp { size: 0, mtime_ns: 0, ctime_ns: 0 };
        let start = std::time::Instant::now();
        let probed = probe(&path, stamp);
        let ms = start.elapsed().as_millis();
        match probed.outcome {
            Outcome::Track(track) => {
                let d = track.properties.duration_ms.map(|ms| ms as f64 / 1000.0);
                let off = match (d, duration) {
                    (Some(a), Some(b)) => (a - b).abs() > 0.1,
                    (None, Some(_)) => true,
                    _ => false,
                };
                println!(
                    "T {name} | {format} -> {:?} {:?} | read {} {ms}ms | {} {d:?} {duration:?} {decode} | {:?} | tags {}",
                    track.format,
                    track.properties.codec,
                    probed.bytes_read,
                    if off { "DUR" } else { "" },
                    track.problems,
                    track.tags.iter().count()
                );
            }
            Outcome::NotAudio => println!("N {name} | {format}"),
            Outcome::Unreadable(error) => println!("U {name} {error}"),
            Outcome::Gone => println!("G {name}"),
        }
    }
}
