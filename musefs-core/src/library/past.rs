//! Generations that the tree no longer has but clients may still hold open.

use std::collections::{BTreeMap, HashMap};

use crate::{
    limits::PAST_GENERATIONS_MAX,
    vfs::{Attributes, Node},
};

/// Attributes of replaced generations, the newest [`PAST_GENERATIONS_MAX`] of them.
///
/// Their bytes are built again from the log of edits when somebody reads them.
#[derive(Debug, Default)]
pub(super) struct Past {
    nodes: HashMap<Node, (Attributes, u64)>,
    by_age: BTreeMap<u64, Node>,
    clock: u64,
}

impl Past {
    /// Keeps a generation that was replaced just now.
    pub(super) fn keep(&mut self, past: Attributes) {
        self.clock += 1;
        let node = past.node;
        if let Some((_, age)) = self.nodes.insert(node, (past, self.clock)) {
            self.by_age.remove(&age);
        }
        self.by_age.insert(self.clock, node);
        if self.nodes.len() > PAST_GENERATIONS_MAX
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.nodes.remove(&oldest);
        }
    }

    /// A kept generation.
    pub(super) fn get(&self, node: Node) -> Option<Attributes> {
        self.nodes.get(&node).map(|(past, _)| *past)
    }

    /// Drops a generation that nobody holds any more, or that is the current one again.
    pub(super) fn forget(&mut self, node: Node) {
        if let Some((_, age)) = self.nodes.remove(&node) {
            self.by_age.remove(&age);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vfs::{Generation, NodeId, NodeKind, Time};

    fn past(id: u64) -> Attributes {
        let node = Node { id: NodeId(id), generation: Generation(3) };
        Attributes { node, kind: NodeKind::File, size: id, mtime: Time::default(), links: 1 }
    }

    #[test]
    fn the_oldest_goes_when_there_is_one_too_many() {
        let mut all = Past::default();
        for id in 0..=PAST_GENERATIONS_MAX as u64 {
            all.keep(past(id));
        }
        assert_eq!(all.get(past(0).node), None);
        assert_eq!(all.get(past(1).node), Some(past(1)));
        assert_eq!(all.nodes.len(), PAST_GENERATIONS_MAX);
        assert_eq!(all.by_age.len(), PAST_GENERATIONS_MAX);
    }

    #[test]
    fn keeping_and_forgetting_again_leaves_nothing() {
        let mut all = Past::default();
        all.keep(past(7));
        all.keep(past(7));
        all.forget(past(7).node);
        assert!(all.nodes.is_empty() && all.by_age.is_empty());
    }
}
