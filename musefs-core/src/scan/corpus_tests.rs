//! The whole corpus is scanned: nothing is lost, nothing is read whole, and play times are those of ffprobe.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use musefs_db::{Access, Catalog, Keys, Stamp, Which};
use musefs_format::extension_format;

use super::{
    Observer, Options, Problem, Progress,
    probe::{Outcome, Probed, extension, probe},
    scan,
};

/// Most bytes that may be read of a file besides its tags: art, lyrics and long comments are tags.
const BYTES_READ_MAX: u64 = 256 << 10;

/// Most milliseconds that a play time may differ from ffprobe's.
const DIFFERENCE_MS_MAX: u64 = 100;

/// The corpus, or `None` after saying that it is skipped.
fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("MUSEFS_CORPUS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus")), PathBuf::from);
    if path.join("INDEX.tsv").exists() {
        return Some(path.canonicalize().unwrap());
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no corpus at {}", path.display());
    println!("skipped: no corpus at {}", path.display());
    None
}

/// A row of the index.
struct Row {
    path: String,
    format: String,
    /// As ffprobe tells it.
    duration_ms: Option<u64>,
    decodes: bool,
}

fn rows(corpus: &Path) -> Vec<Row> {
    let index = std::fs::read_to_string(corpus.join("INDEX.tsv")).unwrap();
    let mut lines = index.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|field| *field == name).unwrap();
    let columns = ["path", "format", "duration", "decode"].map(column);
    let row = |fields: Vec<&str>| {
        let [path, format, duration, decode] = columns.map(|column| fields[column].to_owned());
        let duration_ms = duration.parse().ok().map(|seconds: f64| (seconds * 1000.0) as u64);
        Row { path, format, duration_ms, decodes: decode == "ok" }
    };
    lines.map(row).collect()
}

fn probed(corpus: &Path, row: &Row) -> Probed {
    probe(&corpus.join("files").join(&row.path), Stamp::default())
}

/// Those of some lines that begin with the name of a file that is no known exception to a rule.
fn unexpected<'a>(rule: &str, lines: &'a [String]) -> Vec<&'a str> {
    let exceptions = include_str!("corpus_exceptions.txt");
    let known = |name: &str| exceptions.lines().any(|line| line == format!("{rule}: {name}"));
    let name = |line: &'a str| line.rsplit_once(": ").map_or(line, |(name, _)| name);
    lines.iter().map(String::as_str).filter(|line| !known(name(line))).collect()
}

struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: Progress) {}
    fn problem(&mut self, _: &Problem) {}
}

#[test]
fn every_audio_file_is_catalogued() {
    let Some(corpus) = corpus() else { return };
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(&folder.path().join("catalog.db"), Access::Create).unwrap();
    let options = Options { paths: vec![corpus.join("files")], excluded: Vec::new(), jobs: 4, follow_links: false };
    let report = scan(&catalog, &options, &AtomicBool::new(false), &mut Silent).unwrap();
    let mut tracks = BTreeMap::new();
    catalog
        .read(|reader| {
            reader.visit_tracks(Which::All, &Keys::All, &mut |row| {
                let path = [row.dir, b"/", row.name].concat();
                tracks.insert(String::from_utf8(path).unwrap(), row.id);
                Ok(())
            })
        })
        .unwrap();
    let (mut lost, mut others) = (Vec::new(), Vec::new());
    for row in rows(&corpus) {
        let path = corpus.join("files").join(&row.path);
        if tracks.contains_key(path.to_str().unwrap()) {
            continue;
        }
        let promised = extension(path.file_name().unwrap()).is_some_and(|it| extension_format(&it).is_some());
        if promised { &mut lost } else { &mut others }.push(format!("{}: {}", row.path, row.format));
    }
    assert_eq!(lost, [""; 0]);
    insta::assert_snapshot!("others", others.join("\n"));
    assert_eq!(report.new, tracks.len() as u64);
    let again = scan(&catalog, &options, &AtomicBool::new(false), &mut Silent).unwrap();
    assert_eq!((again.unchanged, again.opened, again.bytes_read), (report.new, 0, 0));
}

#[test]
fn files_are_not_read_whole() {
    let Some(corpus) = corpus() else { return };
    let read: Vec<_> = rows(&corpus)
        .iter()
        .map(|row| (row.path.clone(), probed(&corpus, row).bytes_read))
        .filter(|(_, bytes)| *bytes > BYTES_READ_MAX)
        .map(|(path, bytes)| format!("{path}: {} KiB", bytes >> 10))
        .collect();
    assert_eq!(unexpected("much read", &read), [""; 0]);
}

#[test]
fn play_times_are_those_of_ffprobe() {
    let Some(corpus) = corpus() else { return };
    let mut odd = Vec::new();
    for row in rows(&corpus).iter().filter(|row| row.decodes) {
        let Outcome::Track(track) = probed(&corpus, row).outcome else { continue };
        let (ours, theirs) = (track.properties.duration_ms, row.duration_ms);
        let differ = match (ours, theirs) {
            (Some(ours), Some(theirs)) => ours.abs_diff(theirs) > DIFFERENCE_MS_MAX,
            (None, Some(theirs)) => theirs > DIFFERENCE_MS_MAX,
            _ => false,
        };
        if differ {
            let told = |ms: Option<u64>| ms.map_or("none".to_owned(), |ms| format!("{ms} ms"));
            odd.push(format!("{}: {}, ffprobe {}", row.path, told(ours), told(theirs)));
        }
    }
    assert_eq!(unexpected("play time", &odd), [""; 0]);
}
