//! What SQLite uses.

/// Bytes of heap that SQLite has in use, over all connections of this program.
pub fn memory_used_bytes() -> u64 {
    // SAFETY: takes no arguments and may be called at any time from any thread.
    let bytes = unsafe { rusqlite::ffi::sqlite3_memory_used() };
    u64::try_from(bytes).unwrap_or(0)
}

#[cfg(feature = "metrics")]
mod statements {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rusqlite::{
        Connection,
        trace::{TraceEvent, TraceEventCodes},
    };

    static STATEMENTS: AtomicU64 = AtomicU64::new(0);

    /// SQL statements that this program has run, those of triggers among them.
    pub fn statements_total() -> u64 {
        STATEMENTS.load(Ordering::Relaxed)
    }

    /// Counts the statements of a connection from now on.
    pub(crate) fn count_statements(connection: &mut Connection) -> rusqlite::Result<()> {
        let count = |_: TraceEvent<'_>| {
            STATEMENTS.fetch_add(1, Ordering::Relaxed);
        };
        connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(count))
    }
}

#[cfg(feature = "metrics")]
pub(crate) use statements::count_statements;
#[cfg(feature = "metrics")]
pub use statements::statements_total;

#[cfg(all(test, feature = "metrics"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    #[test]
    fn statements_are_counted() {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        count_statements(&mut connection).unwrap();
        let before = statements_total();
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1); SELECT a FROM t").unwrap();
        assert!(statements_total() >= before + 3);
    }
}
