//! A library without a kernel, held against a simple model of what it promises: any sequence of edits gives files
//! that carry them, sizes that are true before a read, and old generations that stay what they were.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use musefs_core::{
    Kind,
    library::{Library, LibraryOptions, Mode, View},
    scan::{self, Observer, Progress},
    template::{RenderOptions, Template},
    vfs::{Attributes, Caching, Cookie, ListSink, Lookup, Node, NodeId, NodeKind, Vfs},
};
use musefs_db::{Access, Author, Catalog, TrackEdit, TrackId};
use musefs_format::{Format, container};
use proptest::prelude::*;

const TRACKS: usize = 4;
const TITLES: [&str; 4] = ["Alpha", "Beta", "Gamma", "Delta \u{e9}"];

/// What the catalogue should say of one track.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    title: String,
    mood: Option<String>,
    edited: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Title(usize, usize),
    Mood(usize, Option<usize>),
    Undo(usize),
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..TRACKS, 0..TITLES.len()).prop_map(|(track, title)| Step::Title(track, title)),
        3 => (0..TRACKS, prop::option::of(0..TITLES.len())).prop_map(|(track, mood)| Step::Mood(track, mood)),
        2 => (0..TRACKS).prop_map(Step::Undo),
        1 => Just(Step::Forget),
    ]
}

struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: Progress) {}
    fn problem(&mut self, problem: &scan::Problem) {
        panic!("the made files have no problems: {problem:?}");
    }
}

struct Setup {
    directory: tempfile::TempDir,
    catalog: Catalog,
    library: Arc<Library>,
    sources: Vec<Vec<u8>>,
}

fn block(kind: u8, last: bool, content: &[u8]) -> Vec<u8> {
    let mut block = vec![kind | u8::from(last) << 7];
    block.extend_from_slice(&(content.len() as u32).to_be_bytes()[1..]);
    block.extend_from_slice(content);
    block
}

/// A FLAC file of one field, some padding and bytes that stand for audio.
fn flac(title: &str, seed: u8) -> Vec<u8> {
    let mut info = vec![0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0xc4, 0x42, 0xf0, 0, 0, 0x10, 0];
    info.extend_from_slice(&[seed; 16]);
    let field = format!("TITLE={title}");
    let mut comment = vec![4, 0, 0, 0];
    comment.extend_from_slice(b"made");
    comment.extend_from_slice(&1u32.to_le_bytes());
    comment.extend_from_slice(&(field.len() as u32).to_le_bytes());
    comment.extend_from_slice(field.as_bytes());
    let mut file = b"fLaC".to_vec();
    file.extend(block(0, false, &info));
    file.extend(block(4, false, &comment));
    file.extend(block(1, true, &[0; 40]));
    file.extend([0xff, 0xf8]);
    file.extend((0..20_000u32).map(|i| (i as u8).wrapping_mul(seed | 1)));
    file
}

fn set_up() -> Setup {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path().join("music");
    fs::create_dir(&root).expect("a directory");
    let sources: Vec<_> = (0..TRACKS).map(|track| flac(&format!("Track {track}"), track as u8 + 3)).collect();
    let catalog = Catalog::open(&directory.path().join("catalog.db"), Access::Create).expect("a catalogue");
    for (track, bytes) in sources.iter().enumerate() {
        let path = root.join(format!("{track}.flac"));
        fs::write(&path, bytes).expect("a source");
        // One by one, so that track 16 + i has source i.
        scan_one(&catalog, &path);
    }
    let library = open(&catalog);
    Setup { directory, catalog, library, sources }
}

fn scan_one(catalog: &Catalog, path: &Path) {
    let options = scan::Options { paths: vec![path.to_owned()], excluded: Vec::new(), jobs: 1, follow_links: false };
    scan::scan(catalog, &options, &AtomicBool::new(false), &mut Silent).expect("a scan");
}

fn open(catalog: &Catalog) -> Arc<Library> {
    open_in(catalog, Mode::Overlay)
}

fn open_in(catalog: &Catalog, mode: Mode) -> Arc<Library> {
    let view =
        View { template: Template::parse("all/$title").expect("a template"), options: RenderOptions::new(), mode };
    let options = LibraryOptions {
        view,
        fold_case: false,
        read_ahead_budget_bytes: 1 << 20,
        poll_interval: Duration::from_secs(3600),
        expose_metrics: false,
        state_directory: None,
    };
    Library::open(catalog.clone(), options).expect("a library")
}

#[derive(Default)]
struct Names(BTreeMap<String, Attributes>);

impl ListSink for Names {
    fn child(&mut self, attributes: &Attributes, name: &[u8], _: Cookie, _: Caching) -> bool {
        self.0.insert(String::from_utf8(name.to_vec()).expect("names are UTF-8"), *attributes);
        true
    }
}

fn files(library: &Library) -> BTreeMap<String, Attributes> {
    let Lookup::Found(all, _) = library.lookup(NodeId::ROOT, b"all").expect("the directory") else {
        panic!("the directory of all tracks is there")
    };
    let mut names = Names::default();
    library.list(all.node.id, Cookie::default(), &mut names).expect("its listing");
    for (name, listed) in &names.0 {
        let found = library.lookup(all.node.id, name.as_bytes()).expect("a look-up");
        assert_eq!(found, Lookup::Found(*listed, Caching::UntilTold), "{name}");
        assert_eq!(listed.kind, NodeKind::File);
    }
    names.0
}

fn whole(library: &Library, node: Node) -> Vec<u8> {
    let size = library.attributes(node).expect("attributes").size;
    let mut bytes = vec![0; size as usize + 10];
    let read = library.read(node, 0, &mut bytes).expect("the bytes");
    assert_eq!(read as u64, size, "stat told the truth");
    bytes.truncate(read);
    bytes
}

impl Setup {
    fn path(&self, track: usize) -> PathBuf {
        self.directory.path().join(format!("music/{track}.flac"))
    }

    fn edit(&self, track: usize, key: &str, values: Option<Vec<String>>) {
        let edit = TrackEdit { track: id(track), key: key.to_owned(), values };
        let mut writer = self.catalog.writer("a test").expect("a writer");
        writer.edit(&[edit], Author { who: "test", why: None }).expect("an edit");
    }

    /// Compares all that is listed, sized and read with the model.
    ///
    /// Bytes are read by another library, so that this one has to build old generations from the log later.
    fn check(&self, models: &[Model]) {
        let reader = open(&self.catalog);
        let listed = files(&self.library);
        assert_eq!(listed, files(&reader), "equal after a restart");
        assert_eq!(listed.len(), TRACKS);
        for (track, model) in models.iter().enumerate() {
            let is_it = |attributes: &&Attributes| attributes.node.id.0 == id(track).0 as u64;
            let name = listed.iter().find(|(_, attributes)| is_it(attributes)).map(|(name, _)| name);
            assert!(name.is_some_and(|name| name.starts_with(&model.title)), "{name:?} is of {model:?}");
            self.check_bytes(&reader, track, model, *listed.values().find(is_it).expect("every track is listed"));
        }
    }

    fn check_bytes(&self, reader: &Library, track: usize, model: &Model, attributes: Attributes) {
        let bytes = whole(reader, attributes.node);
        let source = &self.sources[track];
        if !model.edited {
            assert!(bytes == *source, "unedited means untouched");
            return;
        }
        let facts = container(Format::Flac).expect("FLAC is edited").read(&bytes).expect("reading from memory");
        assert_eq!(facts.problems, []);
        assert_eq!(facts.tags.get("title"), std::slice::from_ref(&model.title));
        assert_eq!(facts.tags.first("mood"), model.mood.as_deref());
        assert!(bytes.ends_with(&source[source.len() - 20_002..]), "audio is byte-identical");
        let mut part = [0; 97];
        for offset in [0, 1, facts.audio.offset - 50, facts.audio.offset, attributes.size - 97, attributes.size - 1] {
            let read = reader.read(attributes.node, offset, &mut part).expect("a range");
            assert_eq!(part[..read], bytes[offset as usize..][..read]);
            assert_eq!(read as u64, (attributes.size - offset).min(97));
        }
    }
}

fn id(track: usize) -> TrackId {
    TrackId(16 + track as i64)
}

fn original(track: usize) -> Model {
    Model { title: format!("Track {track}"), mood: None, edited: false }
}

/// The node of a track as it is listed now.
fn node(library: &Library, track: usize) -> Node {
    let nodes = files(library).into_values().map(|attributes| attributes.node);
    nodes.into_iter().find(|node| node.id.0 == id(track).0 as u64).expect("every track is listed")
}

fn kind_of_read(library: &Library, node: Node) -> Option<Kind> {
    library.read(node, 0, &mut [0; 4096]).err().map(|error| error.kind())
}

#[test]
fn a_source_that_changes_is_refused_until_it_is_scanned_and_its_old_generation_for_ever() {
    let setup = set_up();
    setup.edit(0, "title", Some(vec!["Edited".to_owned()]));
    setup.library.refresh().expect("a refresh");
    let (edited, unedited) = (node(&setup.library, 0), node(&setup.library, 1));
    whole(&setup.library, edited);
    whole(&setup.library, unedited);
    for track in [0, 1] {
        let path = setup.path(track);
        let changed = flac("Other", 99);
        fs::write(&path, &changed).expect("a change in place");
        let later = std::time::SystemTime::now() + Duration::from_secs(5);
        fs::File::open(&path).and_then(|file| file.set_modified(later)).expect("another time");
    }
    assert_eq!(kind_of_read(&setup.library, edited), Some(Kind::Stale), "no mix of old header and new audio");
    assert_eq!(kind_of_read(&setup.library, unedited), Some(Kind::Stale));
    setup.library.refresh().expect("a refresh");
    for track in [0, 1] {
        scan_one(&setup.catalog, &setup.path(track));
    }
    setup.library.refresh().expect("a refresh");
    assert_eq!(whole(&setup.library, node(&setup.library, 1)), flac("Other", 99));
    assert_ne!(node(&setup.library, 1), unedited);
    assert_eq!(kind_of_read(&setup.library, edited), Some(Kind::Stale), "the bytes of then are lost");
    assert_eq!(kind_of_read(&setup.library, unedited), Some(Kind::Stale));
}

#[test]
fn a_source_that_is_gone_stays_listed_and_gives_errors_until_it_is_back() {
    let setup = set_up();
    let before = files(&setup.library);
    let away = setup.path(2).with_extension("away");
    fs::rename(setup.path(2), &away).expect("moving it away");
    assert_eq!(files(&setup.library), before);
    assert_eq!(kind_of_read(&setup.library, node(&setup.library, 2)), Some(Kind::Io));
    fs::rename(&away, setup.path(2)).expect("moving it back");
    assert_eq!(whole(&setup.library, node(&setup.library, 2)), setup.sources[2]);
}

#[test]
fn structure_only_moves_tracks_and_leaves_every_byte() {
    let setup = set_up();
    setup.edit(3, "title", Some(vec!["Moved".to_owned()]));
    let library = open_in(&setup.catalog, Mode::StructureOnly);
    assert!(files(&library).keys().any(|name| name == "Moved.flac"));
    assert_eq!(whole(&library, node(&library, 3)), setup.sources[3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_sequence_of_edits_serves_what_the_catalogue_says(steps in prop::collection::vec(step(), 1..14)) {
        let setup = set_up();
        let mut models: Vec<Model> = (0..TRACKS).map(original).collect();
        let mut held: Vec<(Node, Vec<u8>)> = Vec::new();
        setup.check(&models);
        for step in steps {
            let reader = open(&setup.catalog);
            let nodes = files(&setup.library).into_values().map(|attributes| attributes.node);
            let opened: Vec<_> = nodes.map(|node| (node, whole(&reader, node))).collect();
            match step {
                Step::Title(track, title) => {
                    setup.edit(track, "title", Some(vec![TITLES[title].to_owned()]));
                    (models[track].title, models[track].edited) = (TITLES[title].to_owned(), true);
                }
                Step::Mood(track, mood) => {
                    let value = mood.map(|mood| TITLES[mood].to_owned());
                    setup.edit(track, "MOOD", Some(value.iter().cloned().collect()));
                    (models[track].mood, models[track].edited) = (value, true);
                }
                Step::Undo(track) => {
                    setup.edit(track, "title", None);
                    setup.edit(track, "mood", None);
                    models[track] = original(track);
                }
                Step::Forget => held.clear(),
            }
            setup.library.refresh().expect("a refresh");
            setup.check(&models);
            held.extend(opened);
        }
        for (node, bytes) in held {
            prop_assert!(whole(&setup.library, node) == bytes, "a generation never changes");
        }
    }
}
