//! A world of its own for one test: home, catalogue, music, mount points. All of it goes when the test ends.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    mount::{Mount, MountCommand},
    program::{self, Ran},
    tools,
};

/// A folder with everything that one run of the program may touch.
#[derive(Debug)]
pub struct Sandbox {
    dir: TempDir,
    db: PathBuf,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// An empty one.
    ///
    /// # Panics
    /// When the temporary folder cannot be made.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("musefs-test-").tempdir().expect("a temporary folder can be made");
        for name in ["home", "run", "music"] {
            fs::create_dir(dir.path().join(name)).expect("a new folder is empty");
        }
        let db = dir.path().join("catalog.db");
        Self { dir, db }
    }

    /// The same with a copy of a catalogue that was scanned before.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn with_catalog(scanned: &Path) -> Self {
        let sandbox = Self::new();
        // VACUUM INTO copies what is still in the write-ahead log too.
        tools::sqlite3(scanned, &format!("VACUUM INTO '{}'", sandbox.db.display()));
        sandbox
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Where tests put sources.
    pub fn music(&self) -> PathBuf {
        self.dir.path().join("music")
    }

    /// The catalogue that all commands of this sandbox use.
    pub fn db(&self) -> &Path {
        &self.db
    }

    /// Writes a source below the music folder, with the folders that it needs.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn put(&self, name: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.music().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
        fs::write(&path, bytes).expect("a source can be written");
        path
    }

    /// A command of the program in this world, with none of the caller's settings.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program::binary());
        self.isolate(&mut command);
        command.args(arguments);
        command
    }

    /// Gives a command the environment of this world.
    pub fn isolate(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", self.dir.path().join("home"))
            .env("XDG_RUNTIME_DIR", self.dir.path().join("run"))
            .env("MUSEFS_DB", &self.db)
            .current_dir(self.dir.path());
    }

    /// Runs the program to its end.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        tools::run(&mut self.command(arguments)).into()
    }

    /// Scans the music folder.
    ///
    /// # Panics
    /// When anything at all was wrong with it.
    #[track_caller]
    pub fn scan(&self) -> Ran {
        self.run([OsStr::new("scan"), self.music().as_os_str()]).code(0)
    }

    /// A mount of this world's catalogue, to be given options and started.
    pub fn mount_command(&self) -> MountCommand {
        MountCommand::new(self, "mnt")
    }

    /// Mounts the catalogue and waits until it is there.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn mount(&self) -> Mount {
        self.mount_command().start()
    }

    /// Runs SQL on the catalogue in the `sqlite3` shell.
    ///
    /// # Panics
    /// When the shell reports an error.
    #[track_caller]
    pub fn sql(&self, sql: &str) -> String {
        tools::sqlite3(&self.db, sql)
    }

    /// The source of each track, from the catalogue's view for people.
    ///
    /// # Panics
    /// When the view gives something else.
    pub fn sources(&self) -> Vec<(u64, PathBuf)> {
        let rows = self.sql("SELECT track || ' ' || hex(CAST(path AS BLOB)) FROM track_paths ORDER BY track");
        rows.lines()
            .map(|row| {
                let (track, path) = row.split_once(' ').expect("two columns");
                (track.parse().expect("a track number"), unhex(path))
            })
            .collect()
    }

    /// The number of the track of a source below the music folder.
    ///
    /// # Panics
    /// When no track has that source.
    #[track_caller]
    pub fn track_of(&self, name: impl AsRef<Path>) -> u64 {
        let path = self.music().join(name);
        let sources = self.sources();
        let found = sources.iter().find(|(_, source)| *source == path);
        found.unwrap_or_else(|| panic!("no track for {} among {sources:?}", path.display())).0
    }
}

fn unhex(text: &str) -> PathBuf {
    let nibble = |c: u8| (c as char).to_digit(16).expect("hexadecimal digits") as u8;
    let bytes = text.as_bytes().chunks(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])).collect();
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}
