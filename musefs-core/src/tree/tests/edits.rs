//! An edited tree equals one that is built anew, and tells enough of what it changed.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{kernel::Kernel, *};
use crate::vfs::Changes;

/// One change of a track; `None` removes it.
type Step = Vec<(i64, Option<(String, &'static str, u64)>)>;

#[derive(Clone)]
struct Owned {
    path: String,
    extension: &'static str,
    revision: u64,
    size: u64,
    changed_ms: i64,
}

impl Owned {
    fn file(&self, track: i64) -> TreeFile<'_> {
        let Self { path, extension, revision, size, changed_ms } = self;
        let (revision, size, changed_ms) = (*revision, *size, *changed_ms);
        TreeFile {
            track,
            revision,
            path,
            extension,
            size,
            mtime: Time { secs: 5, nanos: size as u32 },
            root: 0,
            changed_ms,
        }
    }
}

/// The files of a tree, the tree, and a kernel that looks at it.
struct Model {
    options: TreeOptions,
    files: BTreeMap<i64, Owned>,
    tree: Tree,
    kernel: Kernel,
    now_ms: i64,
}

impl Model {
    fn new(fold_case: bool, hash_bits: u32) -> Self {
        let options = TreeOptions { hash_bits, ..TreeOptions::new(fold_case) };
        let tree = build(options, []);
        Self { options, files: BTreeMap::new(), tree, kernel: Kernel::default(), now_ms: 1_000_000 }
    }

    fn step(&mut self, step: &Step, elapsed_ms: i64) -> Changes {
        self.kernel.look(&self.tree);
        self.now_ms += elapsed_ms;
        let mut changed = BTreeMap::new();
        let mut removed = Vec::new();
        for (track, change) in step {
            let old = self.files.get(track);
            if let Some((path, extension, size)) = change.clone() {
                let changed_ms = old.map_or(self.now_ms, |old| self.now_ms.max(old.changed_ms + 1000));
                // Not every change is one of bytes.
                let revision = old.map_or(0, |old| old.revision + size % 2);
                changed.insert(*track, Owned { path, extension, revision, size, changed_ms });
            } else {
                changed.remove(track);
                removed.push(*track);
            }
        }
        removed.retain(|track| !changed.contains_key(track));
        let files = changed.iter().map(|(&track, file)| file.file(track));
        let changes = self.tree.apply(files, removed.iter().copied(), self.now_ms);
        self.files.retain(|track, _| !removed.contains(track));
        self.files.extend(changed);
        self.kernel.told(&changes);
        self.kernel.check(&self.tree);
        self.compare();
        changes
    }

    fn compare(&self) {
        let mut builder = TreeBuilder::new(self.options);
        for (&track, file) in self.files.iter().rev() {
            builder.file(&file.file(track));
        }
        let rebuilt = builder.finish(&self.tree.departures().collect());
        assert_same(&self.tree, &rebuilt);
    }
}

fn assert_same(edited: &Tree, rebuilt: &Tree) {
    assert_eq!(edited.totals(), rebuilt.totals());
    assert_eq!(edited.attributes(NodeId::ROOT), rebuilt.attributes(NodeId::ROOT));
    let mut waiting = vec![NodeId::ROOT];
    let mut nodes = 0;
    while let Some(directory) = waiting.pop() {
        nodes += 1;
        let children = list(edited, directory);
        assert_eq!(children, list(rebuilt, directory));
        for (name, attributes) in children {
            let id = attributes.node.id;
            let found = edited.lookup(directory, name.as_bytes()).unwrap();
            assert_eq!(found, Lookup::Found(attributes, Caching::UntilTold));
            assert_eq!(edited.attributes(id), Some(attributes));
            assert_eq!((edited.name(id), edited.parent(id)), (Some(&*name), Some(directory)));
            match crate::tree::track_of(id) {
                Some(track) => {
                    nodes += 1;
                    assert_eq!(edited.nodes_of(track).collect::<Vec<_>>(), [id]);
                }
                None => waiting.push(id),
            }
        }
    }
    assert_eq!(edited.node_count(), nodes);
}

fn path() -> impl Strategy<Value = String> {
    let level = prop::sample::select(vec!["a", "A", "b", "a (2)", "x.mp3", "X.mp3", "x (2).mp3", "ß", "SS", "y (2)"]);
    let long = (240..250_usize).prop_map(|len| "y".repeat(len));
    let stem = prop_oneof![
        6 => prop::sample::select(vec!["x", "X", "x (2)", "x (3)", "X (2)", "x (2) (2)", "a", "é", "e\u{301}", "É"])
            .prop_map(str::to_owned),
        1 => long,
    ];
    (prop::collection::vec(level, 0..3), stem).prop_map(|(levels, stem)| {
        let mut path = levels.join("/");
        if !path.is_empty() {
            path.push('/');
        }
        path + &stem
    })
}

fn step() -> impl Strategy<Value = Step> {
    let extension = prop::sample::select(vec!["mp3", "mp3", "mp3", "MP3", ""]);
    let change = prop_oneof![3 => (path(), extension, 0..4_u64).prop_map(Some), 1 => Just(None)];
    prop::collection::vec((16..40_i64, change), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn edits_equal_building(
        steps in prop::collection::vec((step(), -5000..5000_i64), 1..8),
        fold_case: bool,
        hash_bits in prop::sample::select(vec![52, 4, 0]),
    ) {
        let mut model = Model::new(fold_case, hash_bits);
        for (step, elapsed_ms) in &steps {
            model.step(step, *elapsed_ms);
        }
        let everything = model.tree.everything();
        let all: Step = model.files.keys().map(|&track| (track, None)).collect();
        let mut changes = model.step(&all, 1000);
        prop_assert_eq!(model.tree.node_count(), 1);
        prop_assert!(everything.names.iter().all(|name| changes.names.contains(name)));
        changes.names.dedup();
        prop_assert_eq!(everything.names.len(), changes.names.len());
    }
}
