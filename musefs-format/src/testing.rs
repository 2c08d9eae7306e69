//! What tests of several modules share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::{ByteRange, ReadAt, Splice};

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

/// What ffprobe tells of a file: tags, with keys in lower case, and packets.
pub(crate) struct Probed {
    pub(crate) tags: BTreeMap<String, String>,
    packets: Vec<Value>,
}

/// Runs ffprobe; `None` if it is not installed or does not like the file.
pub(crate) fn ffprobe(path: &Path) -> Option<Probed> {
    let entries = "format_tags:packet=pos,size,data_hash";
    let args =
        ["-v", "error", "-select_streams", "a:0", "-show_data_hash", "md5", "-show_entries", entries, "-of", "json"];
    let Output { status, stdout, .. } =
        foreign("ffprobe", &[&args[..], &[path.to_str().expect("tests name their files")]].concat())?;
    let probed: Value = status.success().then(|| serde_json::from_slice(&stdout).expect("ffprobe writes JSON"))?;
    let tags = probed["format"]["tags"].as_object().cloned().unwrap_or_default();
    let lower = |(key, value): (String, Value)| (key.to_lowercase(), value.as_str().unwrap_or_default().to_owned());
    let packets = probed["packets"].as_array().cloned().unwrap_or_default();
    Some(Probed { tags: tags.into_iter().map(lower).collect(), packets })
}

impl Probed {
    /// Place behind the begin of the audio, and hash, of all packets that lie in the audio. (Behind a frame that is cut
    /// ffmpeg takes the tag that follows for its end.)
    pub(crate) fn packets(&self, audio: ByteRange) -> Vec<(u64, &str)> {
        let number = |value: &Value| value.as_str().unwrap_or_default().parse::<u64>().unwrap_or(0);
        let packet = |packet: &'_ Value| number(&packet["pos"]).checked_sub(audio.offset);
        let inside = |packet: &&Value| number(&packet["pos"]) + number(&packet["size"]) <= audio.end();
        let packets = self.packets.iter().filter(inside);
        packets.filter_map(|one| Some((packet(one)?, one["data_hash"].as_str()?))).collect()
    }
}
