//! A catalogue in a folder of its own, filled by a scan that never happened.

use std::{
    io::Write as _,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use musefs_db::{
    Access, Author, Batch, Catalog, Found, Keys, Properties, Put, RootId, SourceState, Stamp, TrackEdit, TrackId, Which,
};
use tempfile::TempDir;

pub(crate) const AUTHOR: Author<'_> = Author { who: "tester", why: Some("a test") };

/// Removed when dropped.
pub(crate) struct Library {
    pub(crate) catalog: Catalog,
    _folder: TempDir,
}

/// What a test wants to be found; the rest is made up.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    pub(crate) state: SourceState,
    pub(crate) hash: Option<[u8; 16]>,
    pub(crate) structure: Vec<u8>,
    pub(crate) tags: Vec<(&'static str, Vec<String>)>,
}

impl File {
    pub(crate) fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            stamp: Stamp { size: 1000, mtime_ns: 1_600_000_000_000_000_000, ctime_ns: 1 },
            state: SourceState::Ok,
            hash: None,
            structure: vec![1, 2, 3],
            tags: vec![("title", vec!["Old".into()]), ("artist", vec!["A".into(), "B".into()])],
        }
    }

    pub(crate) fn tag(mut self, key: &'static str, values: &[&str]) -> Self {
        self.tags.retain(|(it, _)| *it != key);
        self.tags.push((key, values.iter().map(|&value| value.to_owned()).collect()));
        self
    }

    pub(crate) fn audio(mut self, hash: u8) -> Self {
        self.hash = Some([hash; 16]);
        self
    }

    pub(crate) fn put(&self, batch: &mut Batch<'_>, root: RootId) -> musefs_db::Result<Put> {
        let properties = Properties {
            format: "flac".into(),
            codec: "flac".into(),
            duration_ms: Some(1000),
            audio_len: 900,
            ..Properties::default()
        };
        let tags: Vec<(&str, &[String])> = self.tags.iter().map(|(key, values)| (*key, values.as_slice())).collect();
        batch.put(&Found {
            root,
            dir: self.path.parent().expect("it has a folder").as_os_str().as_bytes(),
            name: self.path.file_name().expect("it has a name").as_bytes(),
            stamp: self.stamp,
            state: self.state,
            reason: None,
            properties: &properties,
            audio_hash: self.hash,
            structure: &self.structure,
            tags: &tags,
            pictures: &[],
        })
    }
}

impl Library {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let catalog = Catalog::open(&folder.path().join("catalog.db"), Access::Create).expect("a new catalogue");
        Self { catalog, _folder: folder }
    }

    /// With tracks 16… of `/music/0.flac`….
    pub(crate) fn with_tracks(count: usize) -> Self {
        let library = Self::new();
        let files: Vec<_> = (0..count).map(|number| File::new(format!("/music/{number}.flac"))).collect();
        library.scan(&files);
        library
    }

    pub(crate) fn path(&self) -> &Path {
        self.catalog.path()
    }

    /// Puts files in one batch.
    pub(crate) fn scan(&self, files: &[File]) -> Vec<Put> {
        let mut writer = self.catalog.writer("scan").expect("a writer");
        let root = writer.root(Path::new("/music")).expect("a root");
        let mut batch = writer.batch().expect("a batch");
        let puts = files.iter().map(|file| file.put(&mut batch, root).expect("a put")).collect();
        batch.commit().expect("a commit");
        puts
    }

    pub(crate) fn edit(&self, track: i64, key: &str, values: Option<&[&str]>) -> Option<musefs_db::ChangeId> {
        let values = values.map(|values| values.iter().map(|&value| value.to_owned()).collect());
        let edit = TrackEdit { track: TrackId(track), key: key.into(), values };
        self.catalog.writer("edit").expect("a writer").edit(&[edit], AUTHOR).expect("an edit")
    }

    /// Effective tags as `key=value`.
    pub(crate) fn tags(&self, track: i64) -> Vec<String> {
        self.row(track, |row| row.tags.iter().map(|tag| format!("{}={}", tag.key, tag.value)).collect())
    }

    pub(crate) fn revision(&self, track: i64) -> u64 {
        self.row(track, |row| row.revision)
    }

    /// Something about the row of a track.
    pub(crate) fn row<T>(&self, track: i64, tell: impl Fn(&musefs_db::TrackRow<'_>) -> T) -> T {
        let mut told = None;
        self.catalog
            .read(|reader| {
                reader.visit_tracks(Which::One(TrackId(track)), &Keys::All, &mut |row| {
                    told = Some(tell(row));
                    Ok(())
                })
            })
            .expect("a read");
        told.expect("the track exists")
    }

    /// Runs SQL in Debian's shell, which stops at the first error.
    pub(crate) fn shell(&self, sql: &str) -> Output {
        run(Command::new("sqlite3").arg("-bail").arg(self.path()), sql)
    }

    /// [`Library::shell`], which must succeed; its output.
    pub(crate) fn sql(&self, sql: &str) -> String {
        told(self.shell(sql))
    }

    /// Runs a program of Python with the catalogue as `sys.argv[1]`.
    pub(crate) fn python(&self, program: &str) -> Output {
        run(Command::new("python3").arg("-").arg(self.path()), program)
    }
}

/// Runs a command with an input.
pub(crate) fn run(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program is installed");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads its input");
    child.wait_with_output().expect("it ends")
}

/// The output of a program that succeeded.
pub(crate) fn told(output: Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    assert!(output.status.success(), "{} {}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The complaint of a program that failed.
pub(crate) fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "it succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits for a condition.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < limit, "never: {what}");
        std::thread::yield_now();
    }
}
