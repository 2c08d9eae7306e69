//! What a tree costs in memory, counted by the allocator: at most 128 bytes a track.
//!
//! `MUSEFS_TREE_FOOTPRINT_TRACKS` gives another number of tracks than 200,000. What is printed with `--nocapture` tells
//! times, too, which mean something when optimised.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::{BTreeSet, HashMap},
    hint::black_box,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

use musefs_core::{
    tree::{Tree, TreeBuilder, TreeFile, TreeOptions},
    vfs::{Attributes, Caching, Cookie, ListSink, NodeId, Time},
};

const BYTES_PER_TRACK_MAX: usize = 128;

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The threads of the test's harness are left out.
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count(more: usize, less: usize) {
    if !IS_COUNTED.get() {
        return;
    }
    CALLS.fetch_add(1, Relaxed);
    let held = HELD.fetch_add(more, Relaxed) + more;
    HELD.fetch_sub(less, Relaxed);
    PEAK.fetch_max(held - less, Relaxed);
}

// SAFETY: everything is passed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tracks of twelve to an album, five albums to an artist; names of files have 30 bytes on average.
struct Library {
    tracks: i64,
}

impl Library {
    fn each(&self, step: usize, mut take: impl FnMut(&TreeFile<'_>)) {
        let mut path = String::new();
        for track in (16..16 + self.tracks).step_by(step) {
            write_path(track, &mut path);
            take(&TreeFile {
                track,
                revision: 0,
                path: &path,
                extension: "flac",
                size: 30_000_000,
                mtime: Time { secs: 1_700_000_000, nanos: 0 },
                root: 0,
                changed_ms: 1_700_000_000_000,
            });
        }
    }
}

fn write_path(track: i64, path: &mut String) {
    use std::fmt::Write;

    path.clear();
    let (album, artist, number) = (track / 12, track / 60, track % 12 + 1);
    let title = &"of a song with a long title"[..(track % 17) as usize];
    let written =
        write!(path, "Artist number {artist}/Album number {album} (1987)/{number:02} Song {track:08} {title}");
    written.expect("a string takes everything");
}

/// Counts and adds up, so that nothing is left out.
#[derive(Default)]
struct Sum {
    entries: usize,
    bytes: usize,
}

impl ListSink for Sum {
    fn child(&mut self, attributes: &Attributes, name: &[u8], _: Cookie, _: Caching) -> bool {
        self.entries += 1;
        self.bytes += name.len() + attributes.size as usize;
        true
    }
}

#[test]
fn a_track_costs_no_more_than_128_bytes() {
    let tracks = match std::env::var("MUSEFS_TREE_FOOTPRINT_TRACKS") {
        Ok(tracks) => tracks.parse().expect("MUSEFS_TREE_FOOTPRINT_TRACKS is a number"),
        Err(_) => 200_000,
    };
    let library = Library { tracks };
    IS_COUNTED.set(true);
    let tree = measure_building(&library);
    measure_asking(&library, &tree);
    measure_editing(&library, tree);
    IS_COUNTED.set(false);
}

fn measure_building(library: &Library) -> Tree {
    let start = Instant::now();
    let mut builder = TreeBuilder::new(TreeOptions::new(false));
    library.each(1, |file| builder.file(file));
    let tree = builder.finish(&HashMap::new());
    let elapsed = start.elapsed();
    let (held, peak) = (HELD.load(Relaxed), PEAK.load(Relaxed));

    assert_eq!(tree.totals().files, library.tracks as u64);
    assert_eq!(tree.heap_bytes(), held, "the tree knows what it holds");
    let mut name_bytes = 0;
    library.each(1, |file| name_bytes += name_of(&tree, file.track).1.len());
    let tracks = library.tracks as usize;
    let a_track = |bytes: usize| bytes as f64 / tracks as f64;
    println!("{tracks} tracks, names of {:.1} bytes, {} nodes", a_track(name_bytes), tree.node_count());
    println!("heap: {:.1} bytes a track, while building up to {:.1}", a_track(held), a_track(peak));
    println!("building: {} ns a track", elapsed.as_nanos() / tracks as u128);
    assert!(held <= BYTES_PER_TRACK_MAX * tracks, "{held} bytes for {tracks} tracks");
    assert!(peak <= held + held / 2, "{peak} bytes while building {held}");
    tree
}

fn name_of(tree: &Tree, track: i64) -> (NodeId, &str) {
    let id = tree.nodes_of(track).next().expect("each track is in the tree");
    (tree.parent(id).expect("it stands in a directory"), tree.name(id).expect("it has a name"))
}

fn measure_asking(library: &Library, tree: &Tree) {
    let mut asked = Vec::new();
    library.each(7, |file| asked.push(name_of(tree, file.track)));
    let directories: BTreeSet<NodeId> = asked.iter().map(|(parent, _)| *parent).collect();

    let calls = CALLS.load(Relaxed);
    let start = Instant::now();
    for (parent, name) in &asked {
        black_box(tree.lookup(*parent, name.as_bytes()).expect("the directory exists"));
    }
    let lookups = start.elapsed();
    let start = Instant::now();
    let mut sum = Sum::default();
    for &directory in &directories {
        tree.list(directory, Cookie(0), &mut sum).expect("the directory exists");
    }
    let listings = start.elapsed();
    assert_eq!(CALLS.load(Relaxed), calls, "look-ups and listings allocate nothing");
    assert!(sum.bytes > 0);
    println!("look-up: {} ns", lookups.as_nanos() / asked.len() as u128);
    println!("listing: {} ns an entry", listings.as_nanos() / sum.entries as u128);
}

/// Another title for every tenth track, and then for one.
fn measure_editing(library: &Library, mut tree: Tree) {
    for (step, title) in [(10, "live"), (library.tracks as usize, "encore")] {
        let mut paths = Vec::new();
        library.each(step, |file| paths.push((file.track, format!("{} ({title})", file.path))));
        let files = paths.iter().map(|(track, path)| TreeFile {
            track: *track,
            revision: 1,
            path,
            extension: "flac",
            size: 30_000_001,
            mtime: Time { secs: 1_700_000_001, nanos: 0 },
            root: 0,
            changed_ms: 1_700_000_001_000,
        });
        let start = Instant::now();
        let changes = tree.apply(files, [], 1_700_000_001_000);
        println!("{} changed tracks: {} µs", paths.len(), start.elapsed().as_micros());
        assert_eq!(changes.names.len(), 2 * paths.len());
    }
}
