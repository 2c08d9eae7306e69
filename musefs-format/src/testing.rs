//! What tests of several modules share.

use std::cell::Cell;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::{ReadAt, Splice};

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

/// A file of the corpus with its row of the index.
pub(crate) struct CorpusFile {
    /// As in the index.
    pub(crate) name: String,
    /// Format of the index.
    pub(crate) format: String,
    /// Seconds, as ffprobe tells them, or `-`.
    pub(crate) duration: String,
    /// What ffmpeg made of it: `ok`, `errors:N` or `fail`.
    pub(crate) decode: String,
    /// The file.
    pub(crate) bytes: Vec<u8>,
}

/// All files of the corpus; none without a corpus.
pub(crate) fn corpus_files() -> impl Iterator<Item = CorpusFile> {
    let corpus = corpus();
    let index =
        corpus.as_ref().map(|corpus| fs::read_to_string(corpus.join("INDEX.tsv")).expect("the index is readable"));
    let rows: Vec<_> = index.unwrap_or_default().lines().skip(1).map(str::to_owned).collect();
    rows.into_iter().map(move |row| {
        let columns: Vec<_> = row.split('\t').map(str::to_owned).collect();
        let path = corpus.as_ref().expect("rows come from a corpus").join("files").join(&columns[0]);
        let bytes = fs::read(&path).expect("files of the index are readable");
        let decode = columns.last().expect("rows have columns").clone();
        CorpusFile {
            name: columns[0].clone(),
            format: columns[7].clone(),
            duration: columns[14].clone(),
            decode,
            bytes,
        }
    })
}

/// The bytes of a served file.
pub(crate) fn materialise(splice: &Splice, source: &[u8]) -> Vec<u8> {
    materialise_range(splice, source, 0, splice.len())
}

/// The bytes of a range of a served file.
pub(crate) fn materialise_range(splice: &Splice, source: &[u8], offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; splice.len().saturating_sub(offset).min(len) as usize];
    let copy = |at: u64, buf: &mut [u8]| -> Result<(), Infallible> {
        buf.copy_from_slice(&source[at as usize..][..buf.len()]);
        Ok(())
    };
    let Ok(_) = splice.read(offset, &mut bytes, copy);
    bytes
}

/// A source that counts the bytes that are read.
pub(crate) struct Counted<'a> {
    bytes: &'a [u8],
    /// Sum over all reads.
    pub(crate) read: Cell<u64>,
}

impl<'a> Counted<'a> {
    /// Nothing is read yet.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read: Cell::new(0) }
    }
}

impl ReadAt for Counted<'_> {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.bytes.read_at(buf, offset)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Runs a foreign program; `None` if it is not installed, which fails with `CI=true`.
pub(crate) fn foreign(program: &str, args: &[&str]) -> Option<Output> {
    match Command::new(program).args(args).output() {
        Ok(output) => Some(output),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{program} does not run: {error}");
            eprintln!("skipped: {program} does not run: {error}");
            None
        }
    }
}
