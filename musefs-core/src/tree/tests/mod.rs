//! The tree as its users see it.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::HashMap;

use super::{Tree, TreeBuilder, TreeFile, TreeOptions};
use crate::vfs::{Attributes, Caching, Cookie, ListSink, Lookup, NodeId, Time};

mod edits;
mod kernel;
mod names;

/// A file of a track, with facts that derive from it.
fn file(track: i64, path: &str) -> TreeFile<'_> {
    let mtime = Time { secs: -track, nanos: 7 };
    TreeFile { track, revision: 0, path, extension: "mp3", size: 1000, mtime, root: 3, changed_ms: 1000 * track }
}

fn build<'a>(options: TreeOptions, files: impl IntoIterator<Item = TreeFile<'a>>) -> Tree {
    let mut builder = TreeBuilder::new(options);
    for file in files {
        builder.file(&file);
    }
    builder.finish(&HashMap::new())
}

#[derive(Default)]
struct Listing {
    children: Vec<(String, Attributes)>,
    room: usize,
}

impl ListSink for Listing {
    fn child(&mut self, attributes: &Attributes, name: &[u8], cookie: Cookie, caching: Caching) -> bool {
        assert_eq!((cookie.0, caching), (attributes.node.id.0, Caching::UntilTold));
        if self.children.len() == self.room {
            return false;
        }
        self.children.push((String::from_utf8(name.to_vec()).unwrap(), *attributes));
        true
    }
}

fn list(tree: &Tree, directory: NodeId) -> Vec<(String, Attributes)> {
    let mut listing = Listing { room: usize::MAX, ..Listing::default() };
    assert!(tree.list(directory, Cookie(0), &mut listing).unwrap());
    listing.children
}

/// All paths of files, in order, with their tracks.
fn paths(tree: &Tree) -> Vec<(String, i64)> {
    let mut paths = Vec::new();
    let mut waiting = vec![NodeId::ROOT];
    while let Some(directory) = waiting.pop() {
        for (_, attributes) in list(tree, directory) {
            let id = attributes.node.id;
            match super::track_of(id) {
                Some(track) => paths.push((tree.path_of(id).unwrap(), track)),
                None => waiting.push(id),
            }
        }
    }
    paths.sort();
    paths
}

fn found(tree: &Tree, directory: NodeId, name: &str) -> Option<(NodeId, Caching)> {
    match tree.lookup(directory, name.as_bytes()).unwrap() {
        Lookup::Found(attributes, caching) => Some((attributes.node.id, caching)),
        Lookup::Absent(_) => None,
    }
}
