//! Lists of children, kept in order of node ids.

use super::{
    columns::{Columns, Slot},
    edit::Edit,
};

/// Children that come to a directory and go from it.
#[derive(Default)]
pub(super) struct ListEdit {
    pub(super) come: Vec<Slot>,
    pub(super) gone: Vec<Slot>,
}

impl Edit<'_, '_> {
    /// Brings the lists of children up to date.
    pub(super) fn edit_lists(&mut self) {
        for &(directory, _) in &self.moved {
            let parent = self.tree.columns.parent(Slot::directory(directory));
            self.lists.entry(parent).or_default();
        }
        // Where an id moved the old order is of no use.
        let is_ordered = self.moved.iter().all(|&(_, old)| old.0 == 0);
        for (&directory, edit) in self.lists.iter_mut().filter(|(directory, _)| !self.vanished.contains(directory)) {
            let columns = &mut self.tree.columns;
            let mut children = std::mem::take(&mut columns.directories[directory].children);
            let edits = edit.come.len() + edit.gone.len();
            if is_ordered && edits * 16 < children.len() {
                insert_and_remove(columns, &mut children, edit);
            } else {
                rewrite(columns, &mut children, edit);
            }
            let subdirectories = |slots: &[Slot]| slots.iter().filter(|slot| slot.is_directory()).count() as u32;
            let row = &mut columns.directories[directory];
            row.children = children;
            row.subdirectories = row.subdirectories + subdirectories(&edit.come) - subdirectories(&edit.gone);
        }
    }
}

fn insert_and_remove(columns: &Columns, children: &mut Vec<Slot>, edit: &ListEdit) {
    for &slot in &edit.gone {
        if let Ok(at) = children.binary_search_by_key(&columns.id(slot), |&child| columns.id(child)) {
            children.remove(at);
        }
    }
    for &slot in &edit.come {
        let at = children.partition_point(|&child| columns.id(child) < columns.id(slot));
        children.insert(at, slot);
    }
}

fn rewrite(columns: &Columns, children: &mut Vec<Slot>, edit: &mut ListEdit) {
    edit.gone.sort_unstable();
    children.retain(|slot| edit.gone.binary_search(slot).is_err());
    children.reserve_exact(edit.come.len());
    children.extend(&edit.come);
    // Stable, for it makes use of what is in order.
    children.sort_by_key(|&slot| columns.id(slot));
}
