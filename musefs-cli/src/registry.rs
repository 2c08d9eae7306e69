//! The record of our own mounts: what may be cleared after a crash, and what a path is mounted from.
//!
//! One JSON file a mount, written before the mount is made and removed when it is verified to be gone.
//! Only what is recorded here is ever unmounted by anyone but its own daemon; the mounts of others,
//! and those of musefs daemons that live, are never touched.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Component, Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use etcetera::BaseStrategy as _;
use musefs_fuse::mountinfo;
use serde::{Deserialize, Serialize};

/// A mount of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Absolute.
    #[serde(with = "as_bytes")]
    pub(crate) mount_point: PathBuf,
    /// Absolute path of the catalogue.
    #[serde(with = "as_bytes")]
    pub(crate) catalog: PathBuf,
    /// Of the daemon.
    pub(crate) pid: u32,
    /// When the daemon started, in clock ticks after boot: a process number is used again, this is not.
    pub(crate) started_ticks: u64,
    /// "fuse".
    pub(crate) transport: String,
    /// The options that it was given, in words.
    pub(crate) options: Vec<String>,
    /// Seconds since 1970.
    pub(crate) since: u64,
}

impl Record {
    /// Of a mount that this process is about to make.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub(crate) fn of_this_process(mount_point: PathBuf, catalog: PathBuf, options: Vec<String>) -> io::Result<Self> {
        let pid = std::process::id();
        let started_ticks = started_ticks(pid).ok_or_else(|| io::Error::other("/proc/self/stat cannot be read"))?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(Self { mount_point, catalog, pid, started_ticks, transport: "fuse".into(), options, since })
    }

    fn file_name(&self) -> String {
        format!("{}-{}.json", self.pid, self.started_ticks)
    }
}

/// The directories with records.
#[derive(Clone, Debug)]
pub(crate) struct Registry {
    /// Ours to write.
    own: PathBuf,
    /// Others, which are only read: what root has mounted can be edited by a user.
    others: Vec<PathBuf>,
}

/// A record that stands until [`clear`](Self::clear) or the next start finds it stale.
#[derive(Debug)]
#[must_use = "the record has to be cleared after the mount is gone"]
pub(crate) struct Registered(PathBuf);

impl Registered {
    /// The mount is verified to be gone.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub(crate) fn clear(self) -> io::Result<()> {
        fs::remove_file(self.0)
    }
}

impl Registry {
    /// The records of this user: in the runtime directory, or where there is none, the state directory.
    ///
    /// # Errors
    /// When neither is known.
    pub(crate) fn of_this_user() -> anyhow::Result<Self> {
        let system = PathBuf::from("/run/musefs");
        let base = etcetera::choose_base_strategy()?;
        let own = match base.runtime_dir() {
            Some(runtime) => runtime.join("musefs"),
            None if rustix::process::geteuid().is_root() => system.clone(),
            None => base.state_dir().unwrap_or_else(|| base.data_dir()).join("musefs").join("mounts"),
        };
        let others = if own == system { Vec::new() } else { vec![system] };
        Ok(Self { own, others })
    }

    /// Writes a record, before the mount is made.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub(crate) fn register(&self, record: &Record) -> io::Result<Registered> {
        fs::create_dir_all(&self.own)?;
        let path = self.own.join(record.file_name());
        // Whoever reads sees a whole record or none; the name is unique to this process.
        let unfinished = path.with_extension("new");
        fs::write(&unfinished, serde_json::to_vec_pretty(record)?)?;
        fs::rename(&unfinished, &path)?;
        Ok(Registered(path))
    }

    /// The record of the mount that a path lies in, and the path below its mount point. Asks no mount
    /// about anything unless the path has to be resolved to be found.
    pub(crate) fn find_by_mount_path(&self, path: &Path) -> Option<(Record, PathBuf)> {
        let records = self.records();
        let written = lexically_absolute(path)?;
        find(&records, &written).or_else(|| find(&records, &fs::canonicalize(path).ok()?))
    }

    /// All records of mounts whose daemon lives.
    pub(crate) fn records(&self) -> Vec<Record> {
        let dirs = std::iter::once(&self.own).chain(&self.others);
        let records = dirs.flat_map(|dir| read_records(dir)).map(|(_, record)| record);
        records.filter(|record| lives(record.pid, record.started_ticks)).collect()
    }

    /// Clears what daemons of ours have left behind by dying: their mounts, then their records. What was
    /// unmounted is returned. A mount that cannot be cleared keeps its record and is warned of.
    pub(crate) fn clear_stale(&self) -> Vec<PathBuf> {
        self.clear_stale_in(&Machine)
    }

    fn clear_stale_in(&self, world: &impl World) -> Vec<PathBuf> {
        let (living, dead): (Vec<_>, Vec<_>) =
            read_records(&self.own).into_iter().partition(|(_, record)| world.lives(record.pid, record.started_ticks));
        let mut cleared = Vec::new();
        for (file, record) in dead {
            let served = living.iter().any(|(_, other)| other.mount_point == record.mount_point);
            match if served { Ok(false) } else { clear_mount(world, &record.mount_point) } {
                Ok(unmounted) => {
                    cleared.extend(unmounted.then_some(record.mount_point));
                    // Somebody else may have been faster.
                    let _ = fs::remove_file(file);
                }
                Err(error) => {
                    tracing::warn!(path = %record.mount_point.display(), %error, "a stale mount stays");
                }
            }
        }
        cleared
    }
}

/// What clearing needs to know of the machine, and may do to it.
trait World {
    fn mounts(&self) -> io::Result<Vec<mountinfo::Entry>>;
    fn lives(&self, pid: u32, started_ticks: u64) -> bool;
    fn is_dead(&self, mount_point: &Path) -> bool;
    fn unmount(&self, mount_point: &Path) -> io::Result<()>;
}

struct Machine;

impl World for Machine {
    fn mounts(&self) -> io::Result<Vec<mountinfo::Entry>> {
        mountinfo::read()
    }

    fn lives(&self, pid: u32, started_ticks: u64) -> bool {
        lives(pid, started_ticks)
    }

    fn is_dead(&self, mount_point: &Path) -> bool {
        musefs_fuse::is_dead(mount_point)
    }

    fn unmount(&self, mount_point: &Path) -> io::Result<()> {
        musefs_fuse::detach(mount_point)
    }
}

/// True: a dead mount of ours was there and was unmounted. What is on top decides: anything that is not
/// ours, or that answers, is left alone.
fn clear_mount(world: &impl World, mount_point: &Path) -> io::Result<bool> {
    let stale = |mounts: &[mountinfo::Entry]| {
        mountinfo::top_at(mounts, mount_point).is_some_and(mountinfo::Entry::is_ours) && world.is_dead(mount_point)
    };
    if !stale(&world.mounts()?) {
        return Ok(false);
    }
    world.unmount(mount_point)?;
    if stale(&world.mounts()?) {
        return Err(io::Error::other("it is still there after unmounting"));
    }
    Ok(true)
}

/// The records of a directory with their files. What is no record is left out.
fn read_records(dir: &Path) -> Vec<(PathBuf, Record)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let records = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    records
        .filter_map(|path| {
            let record = serde_json::from_slice(&fs::read(&path).ok()?);
            match record {
                Ok(record) => Some((path, record)),
                Err(error) => {
                    tracing::debug!(path = %path.display(), %error, "not a record of a mount");
                    None
                }
            }
        })
        .collect()
}

/// The innermost mount that holds a path.
fn find(records: &[Record], path: &Path) -> Option<(Record, PathBuf)> {
    let holding = records.iter().filter_map(|record| Some((record, path.strip_prefix(&record.mount_point).ok()?)));
    let (record, below) = holding.max_by_key(|(record, _)| record.mount_point.as_os_str().len())?;
    Some((record.clone(), below.to_owned()))
}

/// A path with ".." taken literally; None if it cannot be said without asking the disk.
fn lexically_absolute(path: &Path) -> Option<PathBuf> {
    let mut absolute = PathBuf::new();
    for component in std::path::absolute(path).ok()?.components() {
        match component {
            Component::ParentDir => drop(absolute.pop()),
            component => absolute.push(component),
        }
    }
    Some(absolute)
}

fn lives(pid: u32, ticks: u64) -> bool {
    started_ticks(pid) == Some(ticks)
}

/// Field 22 of `/proc/PID/stat` (proc_pid_stat(5)); the second is a name in brackets that may hold any
/// character. None also for a process that has ended but was not waited for.
fn started_ticks(pid: u32) -> Option<u64> {
    parse_started_ticks(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_started_ticks(stat: &[u8]) -> Option<u64> {
    let behind_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(stat.get(behind_name..)?).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let ticks = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ticks)
}

/// A path as text, or where it is none, as bytes.
mod as_bytes {
    use serde::{Deserializer, Serializer};

    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Raw {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = path.as_os_str().as_bytes();
        let raw = path.to_str().map_or_else(|| Raw::Bytes(bytes.to_vec()), |text| Raw::Text(text.into()));
        raw.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Raw::deserialize(deserializer)? {
            Raw::Text(text) => text.into(),
            Raw::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use std::{cell::RefCell, ffi::OsStr};

    use super::*;

    const LIVING: u32 = 1;
    const DEAD: u32 = 2;

    /// A machine of text: a mount goes when it is unmounted.
    #[derive(Default)]
    struct Faked {
        mountinfo: RefCell<String>,
        /// Answer ENOTCONN.
        dead: Vec<&'static str>,
        stubborn: bool,
        unmounted: RefCell<Vec<PathBuf>>,
    }

    impl World for Faked {
        fn mounts(&self) -> io::Result<Vec<mountinfo::Entry>> {
            Ok(mountinfo::parse(self.mountinfo.borrow().as_bytes()))
        }
        fn lives(&self, pid: u32, _: u64) -> bool {
            pid == LIVING
        }
        fn is_dead(&self, mount_point: &Path) -> bool {
            self.dead.iter().any(|dead| Path::new(dead) == mount_point)
        }
        fn unmount(&self, mount_point: &Path) -> io::Result<()> {
            self.unmounted.borrow_mut().push(mount_point.to_owned());
            if !self.stubborn {
                let gone = format!(" {} ", mount_point.display());
                let mut text = self.mountinfo.borrow_mut();
                let kept: Vec<_> = text.lines().filter(|line| !line.contains(&gone)).map(str::to_owned).collect();
                *text = kept.join("\n");
            }
            Ok(())
        }
    }

    fn mount(path: &str, fs_type: &str) -> String {
        format!("40 22 0:35 / {path} ro,nosuid - {fs_type} musefs ro\n")
    }

    fn record(mount_point: &str, pid: u32, started_ticks: u64) -> Record {
        Record {
            mount_point: mount_point.into(),
            catalog: "/c.db".into(),
            pid,
            started_ticks,
            transport: "fuse".into(),
            options: vec!["allow-other".into()],
            since: 7,
        }
    }

    fn registry() -> (tempfile::TempDir, Registry) {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry { own: dir.path().join("own"), others: vec![dir.path().join("other")] };
        (dir, registry)
    }

    fn files(registry: &Registry) -> usize {
        fs::read_dir(&registry.own).unwrap().count()
    }

    #[test]
    fn a_record_stands_until_it_is_cleared() {
        let (_dir, registry) = registry();
        let record = Record::of_this_process("/m".into(), "/c.db".into(), vec![]).unwrap();
        let registered = registry.register(&record).unwrap();
        assert_eq!(registry.records(), [record]);
        registered.clear().unwrap();
        assert_eq!((registry.records().len(), files(&registry)), (0, 0));
    }

    #[test]
    fn paths_that_are_no_text_survive() {
        let odd = Record { mount_point: OsStr::from_bytes(b"/m/\xff").into(), ..record("", LIVING, 1) };
        let json = serde_json::to_string(&odd).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), odd);
        assert!(serde_json::to_string(&record("/m", LIVING, 1)).unwrap().contains(r#""mount_point":"/m""#));
    }

    /// (what it is, mountinfo, dead paths, is it unmounted, does the record go)
    #[test]
    fn only_dead_mounts_of_our_own_are_cleared() {
        let ours = mount("/m", mountinfo::FS_TYPE);
        let table = [
            ("our own, dead", ours.clone(), vec!["/m"], true, true),
            ("a musefs that answers", ours.clone(), vec![], false, true),
            ("nothing is mounted", String::new(), vec!["/m"], false, true),
            ("somebody else's, dead", mount("/m", "fuse.sshfs"), vec!["/m"], false, true),
            ("somebody else's on top", ours + &mount("/m", "tmpfs"), vec!["/m"], false, true),
            ("elsewhere", mount("/n", mountinfo::FS_TYPE), vec!["/n"], false, true),
        ];
        for (what, mounts, dead, unmounted, removed) in table {
            let (_dir, registry) = registry();
            let _registered = registry.register(&record("/m", DEAD, 1)).unwrap();
            let world = Faked { mountinfo: mounts.into(), dead, ..Faked::default() };
            let expected: &[&Path] = if unmounted { &[Path::new("/m")] } else { &[] };
            assert_eq!(registry.clear_stale_in(&world), expected, "{what}");
            assert_eq!(*world.unmounted.borrow(), expected, "{what}");
            assert_eq!(files(&registry) == 0, removed, "{what}");
        }
    }

    #[test]
    fn what_a_living_daemon_serves_is_not_touched() {
        let (_dir, registry) = registry();
        let _dead = registry.register(&record("/m", DEAD, 1)).unwrap();
        let _living = registry.register(&record("/m", LIVING, 2)).unwrap();
        let world = Faked { mountinfo: mount("/m", mountinfo::FS_TYPE).into(), dead: vec!["/m"], ..Faked::default() };
        assert!(registry.clear_stale_in(&world).is_empty());
        assert_eq!((world.unmounted.borrow().len(), files(&registry)), (0, 1));
    }

    #[test]
    fn what_cannot_be_cleared_stays_recorded() {
        let (_dir, registry) = registry();
        let _registered = registry.register(&record("/m", DEAD, 1)).unwrap();
        let mountinfo = mount("/m", mountinfo::FS_TYPE).into();
        let world = Faked { mountinfo, dead: vec!["/m"], stubborn: true, ..Faked::default() };
        assert!(registry.clear_stale_in(&world).is_empty());
        assert_eq!(files(&registry), 1);
    }

    #[test]
    fn a_path_belongs_to_the_innermost_mount() {
        let records = [record("/m", 1, 1), record("/m/inner", 1, 2), record("/mm", 1, 3)];
        for (path, wanted) in [
            ("/m", Some((1, ""))),
            ("/m/a/b.flac", Some((1, "a/b.flac"))),
            ("/m/inner/c", Some((2, "c"))),
            ("/m/innermost", Some((1, "innermost"))),
            ("/other", None),
        ] {
            let found = find(&records, Path::new(path)).map(|(record, below)| (record.started_ticks, below));
            assert_eq!(found, wanted.map(|(ticks, below)| (ticks, PathBuf::from(below))), "{path}");
        }
    }

    #[test]
    fn paths_are_found_as_written_and_through_links() {
        let (dir, registry) = registry();
        let base = dir.path().canonicalize().unwrap();
        let mount_point = base.join("m");
        fs::create_dir(&mount_point).unwrap();
        fs::write(mount_point.join("x"), "").unwrap();
        std::os::unix::fs::symlink(&mount_point, base.join("link")).unwrap();
        let record = Record::of_this_process(mount_point, "/c.db".into(), vec![]).unwrap();
        let _registered = registry.register(&record).unwrap();
        for (path, wanted) in [("m/x", "x"), ("m/../m/x", "x"), ("link/x", "x"), ("m/absent", "absent")] {
            let found = registry.find_by_mount_path(&base.join(path)).map(|(_, below)| below);
            assert_eq!(found, Some(wanted.into()), "{path}");
        }
        assert_eq!(registry.find_by_mount_path(&base), None);
    }

    #[test]
    fn start_times_of_processes() {
        let stat = b"7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(parse_started_ticks(stat), Some(4711));
        let zombie = b"7 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(parse_started_ticks(zombie), None);
        assert_eq!(parse_started_ticks(b"7 (a) S 1 2"), None);
        assert!(lives(std::process::id(), started_ticks(std::process::id()).unwrap()));
        assert!(!lives(std::process::id(), 1));
    }
}
