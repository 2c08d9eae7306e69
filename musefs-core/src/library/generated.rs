//! The metrics as files of the tree: a directory at its top whose files are snapshots.

use std::time::Instant;

use crate::{
    Error,
    metrics::files::{DIRECTORY, DIRECTORY_ID, MetricsFile, Snapshot, Snapshots, is_snapshot},
    vfs::{Attributes, Caching, Cookie, Generation, ListSink, Lookup, Node, NodeId, NodeKind, Time},
};

/// The directory of metrics.
#[derive(Debug)]
pub(super) struct Generated {
    snapshots: Snapshots,
    since: Time,
}

/// Whether a node is the directory of metrics or one of its snapshots.
pub(super) fn is_generated(id: NodeId) -> bool {
    id == DIRECTORY_ID || is_snapshot(id)
}

impl Generated {
    /// The directory of a library that was opened at `since`.
    pub(super) fn new(since: Time) -> Self {
        Self { snapshots: Snapshots::new(), since }
    }

    /// A look-up in the root: `None` for every other name.
    pub(super) fn lookup_directory(&self, name: &[u8]) -> Option<Lookup> {
        (name == DIRECTORY.as_bytes()).then(|| Lookup::Found(self.directory(), Caching::UntilTold))
    }

    /// A look-up in the directory; `render` makes the text of a new snapshot.
    pub(super) fn lookup(&self, name: &[u8], render: impl FnOnce() -> String) -> Lookup {
        match MetricsFile::named(name) {
            Some(file) => {
                let snapshot = self.snapshots.look_up(file, Instant::now(), render);
                Lookup::Found(attributes_of(snapshot), Caching::Never)
            }
            None => Lookup::Absent(Caching::UntilTold),
        }
    }

    /// What `stat` tells of the directory or a snapshot.
    ///
    /// # Errors
    /// [`Error::Stale`] for a snapshot that was forgotten.
    pub(super) fn attributes(&self, id: NodeId) -> Result<Attributes, Error> {
        if id == DIRECTORY_ID {
            return Ok(self.directory());
        }
        self.snapshots.get(id).map(attributes_of).ok_or(Error::Stale)
    }

    /// The directory as the first child of the root. False: the sink had no room.
    pub(super) fn list_directory(&self, after: Cookie, sink: &mut dyn ListSink) -> bool {
        let cookie = Cookie(DIRECTORY_ID.0);
        after >= cookie || sink.child(&self.directory(), DIRECTORY.as_bytes(), cookie, Caching::UntilTold)
    }

    /// The files of the directory. Their ids come and go, so their cookies are their places in it, behind those
    /// that belong to transports.
    pub(super) fn list(&self, after: Cookie, sink: &mut dyn ListSink, render: impl Fn() -> String) {
        for (place, file) in (3..).map(Cookie).zip(MetricsFile::ALL) {
            if place <= after {
                continue;
            }
            let attributes = attributes_of(self.snapshots.look_up(file, Instant::now(), &render));
            if !sink.child(&attributes, file.name().as_bytes(), place, Caching::Never) {
                return;
            }
        }
    }

    /// Bytes of a snapshot.
    ///
    /// # Errors
    /// [`Error::Stale`] when it was forgotten, [`Error::IsADirectory`] for the directory.
    pub(super) fn read(&self, id: NodeId, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        if id == DIRECTORY_ID {
            return Err(Error::IsADirectory);
        }
        self.snapshots.read(id, offset, buffer).ok_or(Error::Stale)
    }

    /// Drops a snapshot that no client knows any more.
    pub(super) fn forget(&self, id: NodeId) {
        self.snapshots.forget(id);
    }

    fn directory(&self) -> Attributes {
        let node = Node { id: DIRECTORY_ID, generation: Generation::default() };
        Attributes { node, kind: NodeKind::Directory, size: 0, mtime: self.since, links: 2 }
    }
}

fn attributes_of(snapshot: Snapshot) -> Attributes {
    let node = Node { id: snapshot.id, generation: Generation::default() };
    Attributes { node, kind: NodeKind::File, size: snapshot.size, mtime: snapshot.mtime, links: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct One(Option<Cookie>);

    impl ListSink for One {
        fn child(&mut self, _: &Attributes, _: &[u8], cookie: Cookie, _: Caching) -> bool {
            self.0.is_none() && self.0.replace(cookie).is_none()
        }
    }

    /// A listing that is continued entry by entry came to no end where a cookie was that of "..".
    #[test]
    fn a_listing_of_one_entry_at_a_time_ends() {
        let generated = Generated::new(Time::default());
        let mut after = Cookie(2);
        for _ in MetricsFile::ALL {
            let mut one = One::default();
            generated.list(after, &mut one, || "text".to_owned());
            let next = one.0.expect("another file");
            assert!(next > after);
            after = next;
        }
        let mut one = One::default();
        generated.list(after, &mut one, || "text".to_owned());
        assert_eq!(one.0, None);
        assert!(Cookie(DIRECTORY_ID.0) > Cookie(2));
    }
}
