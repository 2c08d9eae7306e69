//! The schema of the catalogue and the way to it from earlier ones.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::{Error, Result};

/// The steps, in order: the first makes schema 1 out of an empty file. Each runs in one transaction.
const MIGRATIONS: [&str; 1] = [include_str!("../migrations/0001.sql")];

/// The schema that this release reads and writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// SQLite's `application_id` of a catalogue: "muse".
const APPLICATION: i64 = 0x6d75_7365;

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing at all.
    Nothing,
    /// A catalogue of a schema up to [`VERSION`].
    Catalog(i64),
}

/// Looks what a file holds.
///
/// # Errors
/// [`Error::NotACatalog`] and [`Error::Newer`], besides those of reading.
pub(crate) fn look(connection: &Connection, path: &Path) -> Result<Found> {
    let not_a_catalog = || Error::NotACatalog { path: path.to_owned() };
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let application = match number("PRAGMA application_id") {
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(not_a_catalog());
        }
        other => other?,
    };
    let version = number("PRAGMA user_version")?;
    match (application, version) {
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(Found::Nothing),
        (APPLICATION, 1..=VERSION) => Ok(Found::Catalog(version)),
        (APPLICATION, found) if found > VERSION => Err(Error::Newer { path: path.to_owned(), found, known: VERSION }),
        _ => Err(not_a_catalog()),
    }
}

/// Brings a catalogue to [`VERSION`]. Two processes that do so at once take turns; the second finds it done.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = match look(&transaction, path)? {
            Found::Nothing => 0,
            Found::Catalog(version) => version,
        };
        let Some(step) = usize::try_from(done).ok().and_then(|done| MIGRATIONS.get(done)) else { return Ok(()) };
        transaction.execute_batch(step)?;
        transaction
            .execute_batch(&format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {};", done + 1))?;
        transaction.commit()?;
    }
}
