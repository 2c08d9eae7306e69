//! What the tree is asked: names, attributes, listings. Nothing here allocates for an entry of a listing or a look-up.

use super::{
    Tree,
    columns::{Entry, NONE, Slot},
    ids,
};
use crate::{
    error::Error,
    limits::QUERY_BYTES_MAX,
    names,
    vfs::{Attributes, Caching, Changes, Cookie, Generation, ListSink, Lookup, Node, NodeId, NodeKind, Time},
};

impl Tree {
    /// Looks a name up.
    ///
    /// It is found in any normal form and, where the tree folds, in any case. Transports are told of changes of the
    /// listed spelling only: other spellings hold briefly, and so does the absence of names that have others.
    ///
    /// # Errors
    ///
    /// `parent` is no directory of the tree.
    pub fn lookup(&self, parent: NodeId, name: &[u8]) -> Result<Lookup, Error> {
        let directory = self.directory(parent)?;
        let Some(name) = std::str::from_utf8(name).ok().filter(|name| name.len() <= QUERY_BYTES_MAX) else {
            return Ok(Lookup::Absent(Caching::UntilTold));
        };
        let Some(slot) = self.find(directory, name) else {
            let has_others = self.columns.fold_case || !names::is_normal(name);
            return Ok(Lookup::Absent(if has_others { Caching::Briefly } else { Caching::UntilTold }));
        };
        let is_listed = self.columns.name(slot) == name;
        let caching = if is_listed { Caching::UntilTold } else { Caching::Briefly };
        Ok(Lookup::Found(self.attributes_of(slot), caching))
    }

    /// What `stat` tells of a node.
    pub fn attributes(&self, id: NodeId) -> Option<Attributes> {
        Some(self.attributes_of(self.slot(id)?))
    }

    /// Lists the children behind `after` in the order of their ids. False: the sink had no room for all.
    ///
    /// # Errors
    ///
    /// `parent` is no directory of the tree.
    pub fn list(&self, parent: NodeId, after: Cookie, sink: &mut dyn ListSink) -> Result<bool, Error> {
        let children = &self.columns.directories[self.directory(parent)?].children;
        let first = children.partition_point(|&slot| self.columns.id(slot).0 <= after.0);
        for &slot in &children[first..] {
            let attributes = self.attributes_of(slot);
            let cookie = Cookie(attributes.node.id.0);
            if !sink.child(&attributes, self.columns.name(slot).as_bytes(), cookie, Caching::UntilTold) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name under which a node is listed; empty for the root.
    pub fn name(&self, id: NodeId) -> Option<&str> {
        Some(self.columns.name(self.slot(id)?))
    }

    /// The directory in which a node is listed; the root's is itself.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        Some(match self.columns.parent(self.slot(id)?) {
            NONE => NodeId::ROOT,
            parent => self.columns.directories[parent].id,
        })
    }

    /// The names from the top down to a node, between `/`; empty for the root.
    pub fn path_of(&self, id: NodeId) -> Option<String> {
        let mut slot = self.slot(id)?;
        let mut levels = Vec::new();
        while self.columns.parent(slot) != NONE {
            levels.push(self.columns.name(slot));
            slot = Slot::directory(self.columns.parent(slot));
        }
        levels.reverse();
        Some(levels.join("/"))
    }

    /// The files of a track.
    pub fn nodes_of(&self, track: i64) -> impl Iterator<Item = NodeId> {
        let id = ids::file(self.columns.ids.view, track);
        self.file_index(id).filter(|&file| self.columns.files[file].track() == track).map(|_| id).into_iter()
    }

    /// The index of the root of a file.
    pub fn root_of(&self, id: NodeId) -> Option<u16> {
        Some(self.columns.files[self.file_index(id)?].root)
    }

    /// All names and directories: what a transport drops when it does not know what it missed.
    pub fn everything(&self) -> Changes {
        let mut changes = Changes::default();
        for (_, directory) in self.columns.directories.iter() {
            changes.directories.push(directory.id);
            let names =
                directory.children.iter().map(|&child| (directory.id, self.columns.name(child).as_bytes().into()));
            changes.names.extend(names);
        }
        changes
    }

    fn directory(&self, id: NodeId) -> Result<u32, Error> {
        match self.slot(id).ok_or(Error::NotFound)?.entry() {
            Entry::Directory(directory) => Ok(directory),
            Entry::File(_) => Err(Error::NotADirectory),
        }
    }

    pub(super) fn attributes_of(&self, slot: Slot) -> Attributes {
        let id = self.columns.id(slot);
        match slot.entry() {
            Entry::File(file) => {
                let row = &self.columns.files[file];
                let node = Node { id, generation: row.generation };
                Attributes { node, kind: NodeKind::File, size: row.size, mtime: row.mtime(), links: 1 }
            }
            Entry::Directory(directory) => {
                let row = &self.columns.directories[directory];
                let node = Node { id, generation: Generation::default() };
                let links = row.subdirectories.saturating_add(2);
                Attributes { node, kind: NodeKind::Directory, size: 0, mtime: time_of(row.mtime_ms), links }
            }
        }
    }
}

/// An empty tree has a time, too.
fn time_of(ms: i64) -> Time {
    if ms == i64::MIN {
        return Time::default();
    }
    Time { secs: ms.div_euclid(1000), nanos: ms.rem_euclid(1000) as u32 * 1_000_000 }
}
