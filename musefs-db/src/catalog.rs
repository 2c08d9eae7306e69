//! A catalogue that is open: the door to everything else in this crate.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{
    ChangeProbe, Error, Reader, Result, Writer,
    connection::{self, Mode, Open, Place, Pool},
    disk,
    schema::{self, Found},
    snapshot::{self, Snapshot},
};

/// What a catalogue is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; it is made if it is not there.
    Create,
    /// Reading and writing.
    ReadWrite,
    /// Reading. Nothing is ever written to it.
    ReadOnly,
}

/// An open catalogue. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Catalog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pool: Pool,
    place: Place,
    uuid: String,
    writable: bool,
    network: bool,
    /// The copy that is read instead; dropped last.
    snapshot: Option<Snapshot>,
}

impl Catalog {
    /// Opens a catalogue.
    ///
    /// On a network disk it is kept with a rollback journal, with a warning. On a disk that nobody can write,
    /// it is read as it is, or from a private copy when its write-ahead log has content.
    ///
    /// # Errors
    /// A file that is absent, something else, of a later schema, or not to be written; those of the disk.
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        let path = std::path::absolute(path).map_err(|source| io_error("finding", path, source))?;
        let network = prepare(&path, access)?;
        let place = Place { catalog: path.clone(), file: path, immutable: false, opened: Arc::new(AtomicU32::new(0)) };
        match access {
            Access::Create | Access::ReadWrite => Self::open_for_writing(place, access, network.is_some()),
            Access::ReadOnly => Self::open_for_reading(place, network.is_some()),
        }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.0.place.catalog
    }

    /// The name that it got when it was made; no other catalogue has it.
    pub fn uuid(&self) -> &str {
        &self.0.uuid
    }

    /// Whether [`Catalog::writer`] can be had.
    pub fn is_writable(&self) -> bool {
        self.0.writable
    }

    /// Whether its disk cannot tell of changes.
    pub fn on_network_disk(&self) -> bool {
        self.0.network
    }

    /// Whether it is a copy that later changes do not reach.
    pub fn is_snapshot(&self) -> bool {
        self.0.snapshot.is_some() || self.0.place.immutable
    }

    /// Runs `read` over one consistent state of the catalogue.
    ///
    /// # Errors
    /// Those of `read`, and [`Error::Pool`] when no connection became free in time.
    pub fn read<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.0.pool.get().map_err(Error::Pool)?;
        // Dropping it ends the transaction; there is nothing to commit.
        let transaction = connection.transaction()?;
        read(&Reader::new(&transaction))
    }

    /// A connection that writes. It waits for other writers in the name of `purpose`.
    ///
    /// # Errors
    /// [`Error::ReadOnly`].
    pub fn writer(&self, purpose: &str) -> Result<Writer> {
        if !self.0.writable {
            let reason = "it is only open for reading";
            return Err(Error::ReadOnly { path: self.path().to_owned(), reason });
        }
        let connection = self.0.place.open(Mode::Write, purpose)?;
        Writer::new(connection, self.clone())
    }

    /// A connection that tells whether others wrote.
    ///
    /// # Errors
    /// Those of opening a connection.
    pub fn change_probe(&self) -> Result<ChangeProbe> {
        ChangeProbe::new(self.0.place.open(Mode::Read, "following the catalogue")?)
    }

    /// How many connections to it this program has open.
    pub fn connections(&self) -> u32 {
        self.0.place.opened.load(Ordering::Relaxed)
    }

    fn open_for_writing(place: Place, access: Access, network: bool) -> Result<Self> {
        let mode = if access == Access::Create { Mode::Create } else { Mode::Write };
        let mut first = place.open(mode, "opening the catalogue")?;
        // SQLite opens a file that may not be written for reading, without a word.
        if first.is_readonly("main")? {
            return Err(Error::ReadOnly { path: place.catalog, reason: "permission denied" });
        }
        let found = schema::look(&first, &place.catalog).map_err(|error| about(&place.catalog, error))?;
        if found == Found::Nothing && access != Access::Create {
            return Err(Error::NotACatalog { path: place.catalog });
        }
        choose_journal(&first, &place.catalog, network)?;
        schema::migrate(&mut first, &place.catalog).map_err(|error| about(&place.catalog, error))?;
        Self::finish(place, &first, true, network, None)
    }

    fn open_for_reading(mut place: Place, network: bool) -> Result<Self> {
        let mut snapshot = None;
        if disk::is_read_only(&place.catalog) {
            place.immutable = !snapshot::has_unmerged_log(&place.catalog);
            if !place.immutable {
                snapshot = Some(Snapshot::of(&place.catalog)?);
            }
        } else if let Err(error) = place.connect(Mode::Read, "opening the catalogue").and_then(|it| touch(&it)) {
            // The files beside it can neither be used nor be made: without them SQLite cannot share it.
            if !snapshot::may_help(&error) {
                return Err(connection::open_error(&place.catalog, error));
            }
            tracing::warn!(
                "no permission to write beside {}: reading a copy of it; later changes will not be seen",
                place.catalog.display()
            );
            snapshot = Some(Snapshot::of(&place.catalog)?);
        }
        if let Some(snapshot) = &snapshot {
            place.file = snapshot.file().to_owned();
        }
        let mode = if snapshot.is_some() { Mode::Write } else { Mode::Read };
        let first = place.open(mode, "opening the catalogue")?;
        match schema::look(&first, &place.catalog).map_err(|error| about(&place.catalog, error))? {
            Found::Catalog(schema::VERSION) => Self::finish(place, &first, false, network, snapshot),
            Found::Catalog(found) => Err(Error::Older { path: place.catalog, found, known: schema::VERSION }),
            Found::Nothing => Err(Error::NotACatalog { path: place.catalog }),
        }
    }

    fn finish(place: Place, first: &Open, writable: bool, network: bool, snapshot: Option<Snapshot>) -> Result<Self> {
        let uuid = first.query_row("SELECT uuid FROM catalog", [], |row| row.get(0))?;
        let mode = if writable { Mode::Query } else { Mode::Read };
        let pool = connection::pool(place.clone(), mode)?;
        Ok(Self(Arc::new(Inner { pool, place, uuid, writable, network, snapshot })))
    }
}

/// Checks that there is a file or a place for one; tells the kind of network disk that it is on.
fn prepare(path: &Path, access: Access) -> Result<Option<&'static str>> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(Error::NotACatalog { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound && access == Access::Create => {
            fs::create_dir_all(folder).map_err(|source| io_error("making the folder", folder, source))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::Absent { path: path.to_owned() }),
        Err(source) => return Err(io_error("looking at", path, source)),
    }
    if access != Access::ReadOnly && disk::is_read_only(folder) {
        return Err(Error::ReadOnly { path: path.to_owned(), reason: "its disk is read-only" });
    }
    let network = disk::network(folder);
    if let Some(kind) = network {
        tracing::warn!(
            "{} is on a network disk ({kind}): slower, and changes by other programs are seen with a delay; \
             a local disk is the better place",
            path.display()
        );
    }
    Ok(network)
}

/// A write-ahead log on a local disk. It needs memory that all users of the catalogue share, so a rollback
/// journal on a network disk.
fn choose_journal(connection: &Open, path: &Path, network: bool) -> Result<()> {
    let journal = if network { "DELETE" } else { "WAL" };
    connection
        .query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(()))
        .map_err(|error| connection::open_error(path, error))
}

/// Reads something, so that what hinders reading shows.
fn touch(connection: &Open) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Names the catalogue in an error that came up while opening it.
fn about(path: &Path, error: Error) -> Error {
    match error {
        Error::Sql(source) => connection::open_error(path, source),
        Error::ReadOnly { .. } => Error::ReadOnly { path: path.to_owned(), reason: "permission denied" },
        other => other,
    }
}

fn io_error(doing: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { doing, path: PathBuf::from(path), source }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::{Author, RootId, TrackEdit, TrackId};

    fn on_network_disk(path: &Path) -> Catalog {
        let opened = Arc::new(AtomicU32::new(0));
        let place = Place { catalog: path.to_owned(), file: path.to_owned(), immutable: false, opened };
        Catalog::open_for_writing(place, Access::Create, true).unwrap()
    }

    #[test]
    fn a_network_disk_gets_a_rollback_journal_under_which_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        // One that was made on a local disk is turned.
        drop(Catalog::open(&path, Access::Create).unwrap());
        let catalogs = [on_network_disk(&path), on_network_disk(&path)];
        assert!(catalogs[0].on_network_disk());
        let mut writer = catalogs[0].writer("test").unwrap();
        let root: RootId = writer.root(Path::new("/music")).unwrap();
        drop(writer);
        std::thread::scope(|scope| {
            for (name, catalog) in ["a", "b"].iter().zip(&catalogs) {
                scope.spawn(move || {
                    for number in 0..20 {
                        put_and_edit(catalog, root, &format!("{name}{number}"));
                        catalog.read(|reader| reader.counts_by_state()).unwrap();
                    }
                });
            }
        });
        let first = Place { catalog: path.clone(), file: path.clone(), ..catalogs[0].0.place.clone() };
        let ask = |sql: &str| -> String {
            let connection = first.connect(Mode::Read, "test").unwrap();
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(ask("PRAGMA journal_mode"), "delete");
        assert_eq!(ask("SELECT format('%d %d', count(*), count(DISTINCT sequence)) FROM tracks"), "40 40");
        assert_eq!(ask("SELECT format('%d', count(*)) FROM edit_log"), "40");
    }

    fn put_and_edit(catalog: &Catalog, root: RootId, name: &str) {
        let mut writer = catalog.writer("test").unwrap();
        let mut batch = writer.batch().unwrap();
        let found = crate::Found {
            root,
            dir: b"/music",
            name: name.as_bytes(),
            stamp: crate::Stamp::default(),
            state: crate::SourceState::Opaque,
            reason: None,
            properties: &crate::Properties::default(),
            audio_hash: None,
            structure: &[],
            tags: &[],
            pictures: &[],
        };
        let crate::Put::New(track) = batch.put(&found).unwrap() else { panic!("it is new") };
        batch.commit().unwrap();
        let edit = TrackEdit { track: TrackId(track.0), key: "title".into(), values: Some(vec![name.into()]) };
        writer.edit(&[edit], Author { who: "test", why: None }).unwrap();
    }
}
