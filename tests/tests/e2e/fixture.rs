//! What several areas start from: the scanned corpus, and a small library of made files.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use musefs_tests::{
    compare,
    corpus::Corpus,
    make::{self, Id3},
    mount::Mount,
    program::Ran,
    sandbox::Sandbox,
    tools,
};

/// The corpus, scanned once for all tests of this process.
#[derive(Debug)]
pub(crate) struct ScannedCorpus {
    pub(crate) corpus: Corpus,
    /// The catalogue; tests that edit take a copy.
    pub(crate) db: PathBuf,
    pub(crate) scan: Ran,
    /// Of each source before the first scan.
    pub(crate) mtimes_ns: BTreeMap<PathBuf, i128>,
}

/// The scanned corpus, or none where tests that need it are skipped.
pub(crate) fn corpus() -> Option<&'static ScannedCorpus> {
    static SCANNED: OnceLock<Option<ScannedCorpus>> = OnceLock::new();
    SCANNED.get_or_init(scan_corpus).as_ref()
}

fn scan_corpus() -> Option<ScannedCorpus> {
    if !tools::have(&["sqlite3"]) {
        return None;
    }
    let corpus = Corpus::find()?;
    let mtimes_ns = mtimes_ns(&corpus);
    let db = process_folder().join("corpus.db");
    let sandbox = Sandbox::new();
    let scan = tools::run(sandbox.command(["scan", "--db"]).arg(&db).arg(corpus.files())).into();
    Some(ScannedCorpus { corpus, db, scan, mtimes_ns })
}

/// The mtimes of all files of the corpus, by path.
pub(crate) fn mtimes_ns(corpus: &Corpus) -> BTreeMap<PathBuf, i128> {
    let paths = corpus.rows().iter().map(|row| corpus.files().join(&row.path));
    paths.map(|path| (path.clone(), compare::mtime_ns(&fs::metadata(path).unwrap()))).collect()
}

/// A folder of this process in cargo's folder for tests. Those of processes that have ended are removed first.
pub(crate) fn process_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e");
        fs::create_dir_all(&parent).unwrap();
        for entry in fs::read_dir(&parent).unwrap() {
            let entry = entry.unwrap();
            if !Path::new("/proc").join(entry.file_name()).exists() {
                // Another process may be removing it as well.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let folder = parent.join(std::process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// A mount of the scanned corpus and its world.
pub(crate) fn mounted_corpus() -> Option<(&'static ScannedCorpus, Sandbox, Mount)> {
    if !tools::have_fuse() {
        return None;
    }
    let scanned = corpus()?;
    let sandbox = Sandbox::with_catalog(&scanned.db);
    let mount = sandbox.mount();
    Some((scanned, sandbox, mount))
}

/// The template of the small library's mounts: short, and with the title in the name.
pub(crate) const TEMPLATE: &str = "$albumartist/$album/$title";

/// A small library: two albums with FLAC, MP3 of both tag versions and WAV, scanned.
pub(crate) fn small() -> Option<Sandbox> {
    if !tools::have_fuse() || !tools::have(&["sqlite3"]) {
        return None;
    }
    let sandbox = Sandbox::new();
    let cover = make::png(1, 3000);
    sandbox.put("in/one.flac", &make::flac(1, 40, &make::tags("Ann", "First", "1", "One"), Some(&cover), 4096));
    sandbox.put("in/two.mp3", &make::mp3(2, 200, Id3::V23, &make::tags("Ann", "First", "2", "Two"), Some(&cover), 900));
    sandbox.put("in/three.mp3", &make::mp3(3, 200, Id3::V24, &make::tags("Bob", "Second", "1", "Three"), None, 0));
    sandbox.put("in/four.wav", &make::wav(4, 100_001, &make::tags("Bob", "Second", "2", "Four")));
    sandbox.put("in/five.flac", &make::flac(5, 40, &make::tags("Bob", "Second", "3", "Five"), None, 0));
    sandbox.scan();
    Some(sandbox)
}

/// Mounts a small library by [`TEMPLATE`].
pub(crate) fn mount(sandbox: &Sandbox) -> Mount {
    sandbox.mount_command().args(["--template", TEMPLATE]).start()
}

/// Asserts that the bytes below `music` are those that `before` says.
pub(crate) fn assert_untouched(before: &BTreeMap<PathBuf, (Vec<u8>, i64)>) {
    for (path, (bytes, mtime)) in before {
        assert_eq!(&fs::read(path).unwrap(), bytes, "{path:?} was changed");
        assert_eq!(fs::metadata(path).unwrap().mtime(), *mtime, "{path:?} was touched");
    }
}

/// All bytes and mtimes below a folder of sources.
pub(crate) fn remember(music: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64)> {
    let tree = compare::walk(music);
    let paths = compare::files(&tree).map(|(path, _)| music.join(path));
    paths.map(|path| (path.clone(), (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().mtime()))).collect()
}
