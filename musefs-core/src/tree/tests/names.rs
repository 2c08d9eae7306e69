//! Names, collisions, look-ups, listings and attributes of a built tree.

use super::*;
use crate::{error::Error, vfs::NodeKind};

/// The paths of files with these rendered paths, whose tracks are 16, 17, …
fn rendered(fold_case: bool, given: &[&str]) -> Vec<String> {
    let files = || (16..).zip(given).map(|(track, path)| file(track, path));
    let forward = paths(&build(TreeOptions::new(fold_case), files()));
    let backward = paths(&build(TreeOptions::new(fold_case), files().collect::<Vec<_>>().into_iter().rev()));
    assert_eq!(forward, backward, "the order of files makes no difference");
    let mut by_track: Vec<_> = forward.into_iter().map(|(path, track)| (track, path)).collect();
    by_track.sort();
    by_track.into_iter().map(|(_, path)| path).collect()
}

#[test]
fn equal_names_are_numbered() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["a/x", "a/x", "b/x", "a/x"], &["a/x.mp3", "a/x (2).mp3", "b/x.mp3", "a/x (3).mp3"]),
        // Who has a name by itself keeps it.
        (&["x", "x", "x", "x (2)"], &["x.mp3", "x (3).mp3", "x (4).mp3", "x (2).mp3"]),
        (&["x (2)", "x", "x (2)", "x"], &["x (2).mp3", "x.mp3", "x (2) (2).mp3", "x (3).mp3"]),
        (&["x", "x (1)", "x", "x (02)"], &["x.mp3", "x (1).mp3", "x (2).mp3", "x (02).mp3"]),
        // Directories come before files, those that look numbered too.
        (&["x", "x.mp3/y"], &["x (2).mp3", "x.mp3/y.mp3"]),
        (&["x", "x", "x (2).mp3/y"], &["x.mp3", "x (3).mp3", "x (2).mp3/y.mp3"]),
        (&["X", "x"], &["X.mp3", "x.mp3"]),
        (&["Rose\u{301}/x", "Ros\u{e9}/x"], &["Ros\u{e9}/x.mp3", "Ros\u{e9}/x (2).mp3"]),
        (&["..", "../.", "a//b"], &["__.mp3", "__/_.mp3", "a/_/b.mp3"]),
        (&[".musefs-metrics/metrics", ".MUSEFS-metrics/x"], &["_musefs-metrics/metrics.mp3", "_MUSEFS-metrics/x.mp3"]),
        (&["a/.musefs-metrics/x", ".musefs-metrics"], &["a/.musefs-metrics/x.mp3", ".musefs-metrics.mp3"]),
    ];
    for (given, expected) in cases {
        assert_eq!(&rendered(false, given), expected);
    }
}

#[test]
fn case_is_folded_on_demand() {
    let given = ["BOREDOMS/Super/x", "Boredoms/super/x", "boredoms/Super/Y", "Boredoms/z", "ÀÉ/ß", "àé/SS"];
    let expected = [
        "Boredoms/Super/x.mp3",
        "Boredoms/Super/x (2).mp3",
        "Boredoms/Super/Y.mp3",
        "Boredoms/z.mp3",
        "àé/ß.mp3",
        "àé/SS (2).mp3",
    ];
    assert_eq!(rendered(true, &given), expected);
    assert_eq!(rendered(false, &given)[0], "BOREDOMS/Super/x.mp3");
}

#[test]
fn long_names_stay_apart() {
    let (a, b) = ("x".repeat(299) + "a", "x".repeat(299) + "b");
    let exact = "x".repeat(251);
    let names = rendered(false, &[&a, &b, &exact]);
    assert_eq!(names[0], exact.clone() + ".mp3");
    assert_eq!(names[1], "x".repeat(238) + " (2).mp3");
    assert_eq!(names[2], "x".repeat(238) + " (3).mp3");
    // Cut differently by themselves, but alike to make room for a number.
    let (a, b) = ("y".repeat(245), "y".repeat(246));
    let names = rendered(true, &[&a, &b, &a, &b]);
    assert_eq!(names[2], "y".repeat(238) + " (2).mp3");
    assert_eq!(names[3], "y".repeat(238) + " (3).mp3");
    for names in [rendered(false, &[&*"ж".repeat(120); 3]), rendered(true, &[&*"👩‍👩‍👧".repeat(90); 3])] {
        assert!(names.iter().all(|name| name.len() <= 255 && name.ends_with(".mp3")));
        assert!(names[2].ends_with(" (3).mp3") && names[0] != names[1]);
    }
}

#[test]
fn depth_is_limited() {
    let levels = crate::limits::LEVELS_MAX;
    let at = "d/".repeat(levels - 1) + "x";
    let past = "d/".repeat(levels) + "x";
    assert_eq!(rendered(false, &[&at, &past]), [at.clone() + ".mp3", at + " (2).mp3"]);
}

#[test]
fn tracks_are_limited() {
    let bounds = [crate::limits::TRACK_MIN, crate::limits::TRACK_MAX];
    let tree =
        build(TreeOptions::new(false), [bounds[0] - 1, bounds[0], bounds[1], bounds[1] + 1, -1].map(|t| file(t, "x")));
    assert_eq!(paths(&tree).into_iter().map(|(_, track)| track).collect::<Vec<_>>(), [bounds[1], bounds[0]]);
    assert_eq!(tree.nodes_of(bounds[1]).next(), Some(NodeId(bounds[1] as u64)));
    assert_eq!(tree.nodes_of(bounds[1] + 1).next(), None);
}

#[test]
fn names_are_found_in_other_spellings() {
    let folding = build(TreeOptions::new(true), [file(16, "Ros\u{e9}/Straße K")]);
    let rose = found(&folding, NodeId::ROOT, "Ros\u{e9}").unwrap();
    assert_eq!(rose.1, Caching::UntilTold);
    for spelling in ["ROSE\u{301}", "ros\u{e9}", "rosE\u{301}"] {
        assert_eq!(found(&folding, NodeId::ROOT, spelling), Some((rose.0, Caching::Briefly)));
    }
    assert_eq!(found(&folding, rose.0, "STRASSE \u{212a}.MP3"), Some((NodeId(16), Caching::Briefly)));
    assert_eq!(folding.lookup(rose.0, b"a").unwrap(), Lookup::Absent(Caching::Briefly));

    let exact = build(TreeOptions::new(false), [file(16, "Ros\u{e9}")]);
    assert_eq!(found(&exact, NodeId::ROOT, "Ros\u{e9}.mp3"), Some((NodeId(16), Caching::UntilTold)));
    assert_eq!(found(&exact, NodeId::ROOT, "Rose\u{301}.mp3"), Some((NodeId(16), Caching::Briefly)));
    assert_eq!(found(&exact, NodeId::ROOT, "ros\u{e9}.mp3"), None);
    assert_eq!(exact.lookup(NodeId::ROOT, b"a").unwrap(), Lookup::Absent(Caching::UntilTold));
    assert_eq!(exact.lookup(NodeId::ROOT, "e\u{301}".as_bytes()).unwrap(), Lookup::Absent(Caching::Briefly));
    assert_eq!(exact.lookup(NodeId::ROOT, b"\xff").unwrap(), Lookup::Absent(Caching::UntilTold));
}

#[test]
fn looked_up_names_are_limited() {
    let max = crate::limits::QUERY_BYTES_MAX;
    let hangul = "\u{ac01}".repeat(83); // 249 bytes, 747 when decomposed
    let tree = build(TreeOptions::new(false), [file(16, &hangul)]);
    let decomposed = "\u{1100}\u{1161}\u{11a8}".repeat(83) + ".mp3";
    assert!(decomposed.len() <= max && found(&tree, NodeId::ROOT, &decomposed).is_some());
    for len in [max, max + 1] {
        assert_eq!(found(&tree, NodeId::ROOT, &"a".repeat(len)), None);
    }
}

#[test]
fn listings_go_on_behind_a_cookie() {
    let tree = build(TreeOptions::new(false), ["b", "a", "d/e", "c", "f/g"].iter().zip(16..).map(|(p, t)| file(t, p)));
    let all = list(&tree, NodeId::ROOT);
    assert!(all.is_sorted_by_key(|(_, attributes)| attributes.node.id));
    assert_eq!(all.len(), 5);
    for taken in 0..=5 {
        let mut first = Listing { room: taken, ..Listing::default() };
        assert_eq!(tree.list(NodeId::ROOT, Cookie(0), &mut first).unwrap(), taken == 5);
        let cookie = first.children.last().map_or(0, |(_, attributes)| attributes.node.id.0);
        let mut rest = Listing { room: 5, ..Listing::default() };
        assert!(tree.list(NodeId::ROOT, Cookie(cookie), &mut rest).unwrap());
        assert_eq!([first.children, rest.children].concat(), all);
    }
    // Where the one that was listed last went meanwhile, too.
    let mut rest = Listing { room: 5, ..Listing::default() };
    tree.list(NodeId::ROOT, Cookie(NodeId::DERIVED - 1), &mut rest).unwrap();
    assert_eq!(rest.children, all[3..]);
}

#[test]
fn attributes_are_told() {
    let tree = build(TreeOptions::new(false), [file(16, "a/b/x"), file(18, "a/c/y"), file(17, "z")]);
    let x = tree.attributes(NodeId(16)).unwrap();
    assert_eq!((x.kind, x.size, x.links, x.mtime), (NodeKind::File, 1000, 1, Time { secs: -16, nanos: 7 }));
    let (a, _) = found(&tree, NodeId::ROOT, "a").unwrap();
    let attributes = tree.attributes(a).unwrap();
    assert_eq!((attributes.kind, attributes.size, attributes.links), (NodeKind::Directory, 0, 4));
    assert_eq!(attributes.mtime, Time { secs: 18, nanos: 0 });
    assert_eq!(tree.attributes(NodeId::ROOT).unwrap().links, 3);
    assert_eq!((tree.totals().files, tree.totals().directories, tree.totals().bytes), (3, 4, 3000));
    assert_eq!(tree.node_count(), 7);
    assert_eq!((tree.root_of(NodeId(16)), tree.root_of(a)), (Some(3), None));
    assert_eq!(tree.path_of(NodeId(18)).unwrap(), "a/c/y.mp3");
    assert_eq!((tree.path_of(NodeId::ROOT).unwrap(), tree.parent(a)), (String::new(), Some(NodeId::ROOT)));
    assert_eq!((tree.parent(NodeId(17)), tree.name(a)), (Some(NodeId::ROOT), Some("a")));
    assert_eq!(tree.attributes(NodeId(19)), None);
    assert!(matches!(tree.lookup(NodeId(16), b"x"), Err(Error::NotADirectory)));
    assert!(matches!(tree.lookup(NodeId(99), b"x"), Err(Error::NotFound)));
    let empty = build(TreeOptions::new(false), []);
    assert_eq!(empty.attributes(NodeId::ROOT).unwrap().mtime, Time::default());
    assert!(list(&empty, NodeId::ROOT).is_empty());
    assert_eq!(tree.everything().names.len(), 6);
    assert_eq!(tree.everything().directories.len(), 4);
}
