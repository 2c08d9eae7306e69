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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    /// Long lists are edited in place, and the text is rewritten when much of it is of no use.
    #[test]
    fn edits_of_a_long_listing_equal_building(steps in prop::collection::vec(step(), 1..4), fold_case: bool) {
        let mut model = Model::new(fold_case, 52);
        let rename = |prefix: &str| -> Step {
            (16..216).map(|track| (track, Some((format!("w/{prefix}{}", track % 150), "mp3", 1)))).collect()
        };
        model.step(&rename("before "), 0);
        for mut step in steps {
            step.iter_mut().filter_map(|(_, change)| change.as_mut()).for_each(|(path, ..)| path.insert_str(0, "w/"));
            model.step(&step, 10);
        }
        let before = model.tree.heap_bytes();
        for round in 0..4 {
            model.step(&rename(&format!("{round} {}", "z".repeat(100))), 10);
        }
        prop_assert!(model.tree.heap_bytes() < before + 2 * 200 * 2 * 130, "names that went are kept");
    }
}

fn mtime(tree: &Tree, path: &str) -> i64 {
    let levels = path.split('/').filter(|level| !level.is_empty());
    let directory = levels.fold(NodeId::ROOT, |above, name| found(tree, above, name).unwrap().0);
    tree.attributes(directory).unwrap().mtime.secs
}

#[test]
fn directories_are_as_new_as_what_changed_below() {
    let at = |track, path, changed_s: i64| TreeFile { changed_ms: 1000 * changed_s, ..file(track, path) };
    let files = [at(16, "a/b/x", 100), at(17, "a/c/y", 200), at(18, "d/z", 300)];
    let mut tree = build(TreeOptions::new(false), files);
    let times = |tree: &Tree| ["", "a", "a/b", "a/c", "d"].map(|path| mtime(tree, path));
    assert_eq!(times(&tree), [300, 200, 100, 200, 300]);
    // One that comes: its folder and those above.
    let _ = tree.apply([at(19, "a/b/new", 400)], [], 400_000);
    assert_eq!(times(&tree), [400, 400, 400, 200, 300]);
    // One that goes leaves its time; it is known after a restart.
    let _ = tree.apply([], [19], 500_000);
    assert_eq!(times(&tree), [500, 500, 500, 200, 300]);
    let departures: HashMap<_, _> = tree.departures().collect();
    assert_eq!(departures.values().collect::<Vec<_>>(), [&500_000]);
    let mut builder = TreeBuilder::new(TreeOptions::new(false));
    files.iter().for_each(|file| builder.file(file));
    assert_eq!(times(&builder.finish(&departures)), [500, 500, 500, 200, 300]);
    // A clock that went back is no reason to go back.
    let _ = tree.apply([], [17], 1000);
    assert_eq!(["", "a", "a/b", "d"].map(|path| mtime(&tree, path)), [501, 501, 500, 300]);
    // Nothing changed, nothing is told.
    assert_eq!(tree.apply([files[0]], [17, 99], 600_000), Changes::default());
}

#[test]
fn changes_are_no_more_than_what_changed() {
    let mut tree = build(TreeOptions::new(false), [file(16, "a/x"), file(17, "a/x"), file(18, "b/y"), file(19, "a/z")]);
    let id = |tree: &Tree, name: &str| found(tree, NodeId::ROOT, name).unwrap().0;
    let (a, b) = (id(&tree, "a"), id(&tree, "b"));
    let name = |parent: NodeId, name: &str| (parent, Box::from(name.as_bytes()));
    let changes = tree.apply([TreeFile { revision: 1, changed_ms: 50_000, ..file(18, "b/y") }], [], 50_000);
    assert_eq!(changes, Changes { names: vec![name(b, "y.mp3")], directories: vec![NodeId::ROOT, b] });
    // The second of a name becomes the first.
    let changes = tree.apply([], [16], 60_000);
    let names = vec![name(a, "x (2).mp3"), name(a, "x.mp3")];
    assert_eq!(changes, Changes { names, directories: vec![NodeId::ROOT, a] });
    // The last file takes its directory along.
    let changes = tree.apply([TreeFile { revision: 1, ..file(18, "a/y") }], [], 70_000);
    let mut names = vec![name(NodeId::ROOT, "b"), name(b, "y.mp3"), name(a, "y.mp3")];
    names.sort();
    let mut directories = vec![NodeId::ROOT, a, b];
    directories.sort();
    assert_eq!(changes, Changes { names, directories });
}

#[test]
fn equal_hashes_are_resolved_in_the_order_of_paths() {
    let options = TreeOptions { hash_bits: 0, ..TreeOptions::new(false) };
    let mut tree = build(options, [file(16, "c/x"), file(17, "a/x"), file(18, "b/x")]);
    let ids = |tree: &Tree| -> Vec<_> {
        list(tree, NodeId::ROOT).into_iter().map(|(name, a)| (name, a.node.id.0 & 0xff)).collect()
    };
    let expected = |names: &[&str]| (0..).zip(names).map(|(id, name)| (name.to_string(), id)).collect::<Vec<_>>();
    assert_eq!(ids(&tree), expected(&["a", "b", "c"]));
    let _ = tree.apply([file(19, "aa/x")], [17], 0);
    assert_eq!(ids(&tree), expected(&["aa", "b", "c"]));
}

#[test]
fn adding_music_to_a_folded_tree_keeps_its_spelling() {
    let mut tree =
        build(TreeOptions::new(true), [file(16, "Boredoms/x"), file(17, "boredoms/y"), file(18, "Boredoms/z")]);
    let boredoms = found(&tree, NodeId::ROOT, "Boredoms").unwrap();
    assert_eq!(boredoms.1, Caching::UntilTold);
    let changes = tree.apply([file(19, "BOREDOMS/v")], [], 0);
    assert!(changes.names.iter().all(|(parent, _)| *parent == boredoms.0));
    // When most are spelled otherwise, the directory is, and stays the same one.
    let changes = tree.apply([file(20, "BOREDOMS/u"), file(21, "BOREDOMS/t")], [], 0);
    assert_eq!(list(&tree, NodeId::ROOT)[0].0, "BOREDOMS");
    assert_eq!(found(&tree, NodeId::ROOT, "Boredoms"), Some((boredoms.0, Caching::Briefly)));
    assert!(changes.names.contains(&(NodeId::ROOT, Box::from(&b"Boredoms"[..]))));
    assert!(changes.names.contains(&(NodeId::ROOT, Box::from(&b"BOREDOMS"[..]))));
}
