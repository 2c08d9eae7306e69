//! The corpus of real audio files, and what foreign tools said about them.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use crate::{oracle::MD5_OF_NOTHING, program, tools};

/// The corpus, found.
#[derive(Debug)]
pub struct Corpus {
    root: PathBuf,
    rows: Vec<Row>,
}

/// One file of the index, by the columns that the tests use.
#[derive(Debug)]
pub struct Row {
    /// The path below `files`.
    pub path: PathBuf,
    columns: BTreeMap<String, String>,
}

impl Row {
    /// A column of the index, `-` where it says nothing.
    pub fn get(&self, column: &str) -> &str {
        self.columns.get(column).map_or("-", String::as_str)
    }

    /// Whether ffmpeg reads the audio packets of the file.
    pub fn ffmpeg_reads_it(&self) -> bool {
        !matches!(self.get("packet_md5"), "-" | MD5_OF_NOTHING)
    }
}

impl Corpus {
    /// The corpus in `MUSEFS_CORPUS`, or in `../shared/corpus` beside the workspace.
    ///
    /// # Panics
    /// When there is none and `CI=true`, or when its index cannot be read.
    pub fn find() -> Option<Self> {
        let default = || program::workspace().join("../shared/corpus");
        let root = env::var_os("MUSEFS_CORPUS").map_or_else(default, PathBuf::from);
        let Ok(root) = fs::canonicalize(&root) else {
            tools::skip("no corpus in MUSEFS_CORPUS or ../shared/corpus");
            return None;
        };
        let index = fs::read_to_string(root.join("INDEX.tsv")).expect("a corpus has an index");
        let mut lines = index.lines();
        let names: Vec<_> = lines.next().expect("an index has a head").split('\t').collect();
        let rows = lines.map(|line| row(&names, line)).collect();
        Some(Self { root, rows })
    }

    /// The folder of the files.
    pub fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    /// All rows of the index.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of a file below [`files`](Self::files).
    pub fn row(&self, path: &Path) -> Option<&Row> {
        let relative = path.strip_prefix(self.files()).unwrap_or(path);
        self.rows.iter().find(|row| row.path == relative)
    }
}

fn row(names: &[&str], line: &str) -> Row {
    let columns: BTreeMap<_, _> =
        names.iter().map(|name| (*name).to_owned()).zip(line.split('\t').map(str::to_owned)).collect();
    Row { path: PathBuf::from(&columns["path"]), columns }
}
