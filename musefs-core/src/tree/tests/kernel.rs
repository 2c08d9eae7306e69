//! What a kernel remembers of a tree: everything, until it is told of a change.

use std::collections::{BTreeSet, HashMap};

use super::*;
use crate::vfs::{Changes, NodeKind};

#[derive(Default)]
pub(super) struct Kernel {
    /// By directory and name; `None` is a name that does not exist.
    dentries: HashMap<(NodeId, String), Option<Attributes>>,
    listings: HashMap<NodeId, Vec<(String, crate::vfs::Node)>>,
    directories: HashMap<NodeId, Attributes>,
    /// Names that somebody asks for in each directory.
    asked: BTreeSet<String>,
}

impl Kernel {
    pub(super) fn told(&mut self, changes: &Changes) {
        for (parent, name) in &changes.names {
            self.dentries.remove(&(*parent, String::from_utf8(name.to_vec()).unwrap()));
        }
        for directory in &changes.directories {
            self.listings.remove(directory);
            self.directories.remove(directory);
        }
    }

    /// Everything that is remembered still holds.
    pub(super) fn check(&self, tree: &Tree) {
        for ((parent, name), remembered) in &self.dentries {
            let truth = match tree.lookup(*parent, name.as_bytes()) {
                Ok(Lookup::Found(attributes, _)) => Some(attributes),
                _ => None,
            };
            // Attributes of directories are remembered by id, and are checked there.
            let told = |attributes: Attributes| match attributes.kind {
                NodeKind::File => (attributes.node, Some(attributes)),
                NodeKind::Directory => (attributes.node, None),
            };
            assert_eq!(remembered.map(told), truth.map(told), "{name} in {parent:?}");
        }
        for (directory, listing) in &self.listings {
            assert_eq!(listing, &nodes(list(tree, *directory)));
        }
        for (directory, attributes) in &self.directories {
            assert_eq!(tree.attributes(*directory).as_ref(), Some(attributes));
        }
    }

    /// Looks at everything there is, and at names that there might be.
    pub(super) fn look(&mut self, tree: &Tree) {
        let mut waiting = vec![NodeId::ROOT];
        let mut seen = Vec::new();
        while let Some(directory) = waiting.pop() {
            let children = list(tree, directory);
            waiting
                .extend(children.iter().map(|(_, a)| a).filter(|a| a.kind == NodeKind::Directory).map(|a| a.node.id));
            self.asked.extend(children.iter().map(|(name, _)| name.clone()));
            self.listings.insert(directory, nodes(children));
            self.directories.insert(directory, tree.attributes(directory).unwrap());
            seen.push(directory);
        }
        for directory in seen {
            for name in &self.asked {
                let key = (directory, name.clone());
                match tree.lookup(directory, name.as_bytes()).unwrap() {
                    Lookup::Found(attributes, Caching::UntilTold) => self.dentries.insert(key, Some(attributes)),
                    Lookup::Absent(Caching::UntilTold) => self.dentries.insert(key, None),
                    _ => None,
                };
            }
        }
    }
}

fn nodes(children: Vec<(String, Attributes)>) -> Vec<(String, crate::vfs::Node)> {
    children.into_iter().map(|(name, attributes)| (name, attributes.node)).collect()
}
