//! Where a single track goes.

use std::collections::HashMap;

use musefs_db::{Catalog, TrackId, Which};

use super::{Devices, View, follow};
use crate::{
    Error,
    tree::{TreeBuilder, TreeOptions},
};

/// The path of a track in a view, if no other track has the same; `None` when the view leaves it out.
///
/// # Errors
/// Those of reading the catalogue.
pub fn place(catalog: &Catalog, view: &View, fold_case: bool, track: TrackId) -> Result<Option<String>, Error> {
    let devices = Devices::default();
    let mut builder = TreeBuilder::new(TreeOptions::new(fold_case));
    catalog.read(|reader| {
        follow::visit_rendered(reader, view, &devices, Which::One(track), &mut |_, file| {
            if let Some(file) = file {
                builder.file(&file.borrow());
            }
        })
    })?;
    let tree = builder.finish(&HashMap::new());
    Ok(tree.nodes_of(track.0).next().and_then(|node| tree.path_of(node)))
}
