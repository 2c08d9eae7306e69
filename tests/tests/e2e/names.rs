//! Names made from tags: valid, distinct, stable.

use std::{fs, path::Path};

use musefs_tests::{
    compare,
    make::{self, Id3},
    sandbox::Sandbox,
    tools,
};

use crate::fixture::TEMPLATE;

/// A library of MP3 files with these tags, one each.
fn library<'a>(tracks: impl IntoIterator<Item = Vec<(&'a str, &'a str)>>) -> Option<Sandbox> {
    if !tools::have_fuse() || !tools::have(&["sqlite3"]) {
        return None;
    }
    let sandbox = Sandbox::new();
    for (at, tags) in tracks.into_iter().enumerate() {
        sandbox.put(format!("{at:03}.mp3"), &make::mp3(at as u64, 4, Id3::V24, &tags, None, 0));
    }
    sandbox.scan();
    Some(sandbox)
}

/// The paths of a mount with these arguments; every file can be read, every name is valid.
#[track_caller]
fn paths(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let mount = sandbox.mount_command().args(arguments).start();
    let paths = compare::paths(mount.path());
    for path in &paths {
        fs::read(mount.join(path)).unwrap();
        for name in path.split('/') {
            assert!(name.len() <= 255 && !name.is_empty() && name != "." && name != "..", "{path}");
            assert!(!name.chars().any(char::is_control), "{path:?}");
        }
    }
    mount.unmount();
    paths
}

#[test]
fn long_names_are_cut_at_characters_and_stay_distinct() {
    let cyrillic = "Щ".repeat(200);
    let emoji = "👩‍👩‍👧‍👦".repeat(30);
    let (long_a, long_b) = ("x".repeat(300) + "a", "x".repeat(300) + "b");
    let Some(sandbox) = library([
        make::tags(&cyrillic, &emoji, "1", &cyrillic),
        make::tags("Ann", "First", "1", &long_a),
        make::tags("Ann", "First", "1", &long_b),
    ]) else {
        return;
    };
    let paths = paths(&sandbox, &["--template", TEMPLATE]);
    assert_eq!(paths.len(), 3);
    for path in &paths {
        assert!(path.ends_with(".mp3"), "{path}");
    }
    let family = paths.iter().find(|path| path.contains('👩')).unwrap().split('/').nth(1).unwrap().to_owned();
    assert!(family.split("👩‍👩‍👧‍👦").all(str::is_empty), "cut within a family: {family}");
}

#[test]
fn slashes_dots_and_controls_in_tags_make_no_levels() {
    let Some(sandbox) = library([
        make::tags("AC/DC", "Back / Black", "1", "I/O"),
        make::tags("..", ".", "1", "..."),
        make::tags("line\nbreak", "tab\there", "1", "bell\x07"),
        make::tags("Ann", "T.N.T.", "1", "trailing. "),
        make::tags("", "", "", ""),
    ]) else {
        return;
    };
    let paths = paths(&sandbox, &["--template", TEMPLATE]);
    assert_eq!(paths.len(), 5);
    for path in &paths {
        assert!(path.matches('/').count() <= 2, "{path}");
    }
    assert!(paths.iter().any(|path| path.starts_with("AC") && path.contains("DC/Back")), "{paths:?}");
}

#[test]
fn equal_names_get_numbers_in_a_stable_order() {
    let tags = || make::tags("Ann", "First", "1", "Same");
    let Some(sandbox) = library([tags(), tags(), tags()]) else { return };
    let first = paths(&sandbox, &["--template", TEMPLATE]);
    assert_eq!(first, ["Ann/First/Same (2).mp3", "Ann/First/Same (3).mp3", "Ann/First/Same.mp3"]);
    let mount = sandbox.mount_command().args(["--template", TEMPLATE]).start();
    let tree = compare::walk(&mount.join("Ann/First"));
    let mut tracks: Vec<u64> = sandbox.sources().into_iter().map(|(track, _)| track).collect();
    tracks.sort_unstable();
    let named = ["Same.mp3", "Same (2).mp3", "Same (3).mp3"].map(|name| tree[Path::new(name)].track());
    assert_eq!(named, *tracks, "in the order of track numbers");
    mount.unmount();
}

#[test]
fn discs_with_equal_numbers_and_titles_lose_no_track() {
    let mut tracks = Vec::new();
    for disc in ["1", "2"] {
        for number in ["1", "2", "3"] {
            let mut tags = make::tags("Ann", "Box", number, "Untitled");
            tags.push(("DISCNUMBER", disc));
            tracks.push(tags);
        }
    }
    let Some(sandbox) = library(tracks) else { return };
    let paths = paths(&sandbox, &[]);
    assert_eq!(paths.len(), 6, "{paths:?}");
    let folders: std::collections::BTreeSet<_> = paths.iter().map(|path| path.rsplit_once('/').unwrap().0).collect();
    assert_eq!(folders.len(), 1, "{paths:?}");
}

#[test]
fn a_compilation_is_one_folder() {
    let artists: Vec<_> = (0..10).map(|at| format!("Artist {at}")).collect();
    let tracks = artists.iter().map(|artist| {
        vec![("ARTIST", artist.as_str()), ("ALBUM", "Hits"), ("TITLE", artist.as_str()), ("COMPILATION", "1")]
    });
    let Some(sandbox) = library(tracks) else { return };
    let paths = paths(&sandbox, &[]);
    assert_eq!(paths.len(), 10);
    assert!(paths.iter().all(|path| path.starts_with("Various Artists/Hits")), "{paths:?}");
}

#[test]
fn unicode_forms_of_one_name_are_one_name() {
    let (composed, decomposed) = ("Ros\u{e9}", "Rose\u{301}");
    let Some(sandbox) = library([make::tags(composed, "A", "1", "One"), make::tags(decomposed, "A", "2", "Two")])
    else {
        return;
    };
    assert_eq!(paths(&sandbox, &["--template", TEMPLATE]), ["Ros\u{e9}/A/One.mp3", "Ros\u{e9}/A/Two.mp3"]);
}

#[test]
fn names_that_differ_by_case_are_merged_when_asked_for() {
    let Some(sandbox) = library([make::tags("Boredoms", "A", "1", "One"), make::tags("BOREDOMS", "A", "2", "Two")])
    else {
        return;
    };
    assert_eq!(paths(&sandbox, &["--template", TEMPLATE]), ["BOREDOMS/A/Two.mp3", "Boredoms/A/One.mp3"]);
    let merged = paths(&sandbox, &["--template", TEMPLATE, "--case-insensitive"]);
    assert_eq!(merged, ["Boredoms/A/One.mp3", "Boredoms/A/Two.mp3"]);
    let mount = sandbox.mount_command().args(["--template", TEMPLATE, "--case-insensitive"]).start();
    let by = |path: &str| std::os::unix::fs::MetadataExt::ino(&fs::metadata(mount.join(path)).unwrap());
    assert_eq!(by("bOREDOMS/a/oNE.MP3"), by("Boredoms/A/One.mp3"));
    mount.unmount();
}

#[test]
fn tracks_without_tags_have_a_place_or_are_skipped_when_asked_for() {
    let Some(sandbox) = library([vec![], make::tags("Ann", "First", "1", "One")]) else { return };
    assert_eq!(paths(&sandbox, &[]).len(), 2);
    assert_eq!(paths(&sandbox, &["--template", TEMPLATE, "--skip-on-missing"]), ["Ann/First/One.mp3"]);
    let fallback =
        paths(&sandbox, &["--template", TEMPLATE, "--default-fallback", "Nothing", "--fallback", "title=Nameless"]);
    assert_eq!(fallback, ["Ann/First/One.mp3", "Nothing/Nothing/Nameless.mp3"]);
}

#[test]
fn the_original_preset_shows_the_paths_of_the_sources() {
    let Some(sandbox) = library([make::tags("Ann", "First", "1", "One")]) else { return };
    sandbox.put("deep/er/song.mp3", &make::mp3(9, 4, Id3::V24, &make::tags("X", "Y", "1", "Z"), None, 0));
    sandbox.scan();
    let paths = paths(&sandbox, &["--preset", "original"]);
    assert!(paths.iter().any(|path| path.ends_with("deep/er/song.mp3")), "{paths:?}");
    assert!(paths.iter().any(|path| path.ends_with("000.mp3")), "{paths:?}");
}

#[test]
fn owners_and_modes_are_as_asked_for() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(sandbox) = library([make::tags("Ann", "First", "1", "One")]) else { return };
    let arguments =
        ["--template", TEMPLATE, "--owner", "1234", "--group", "2345", "--file-mode", "440", "--dir-mode", "550"];
    let mount = sandbox.mount_command().args(arguments).start();
    let file = fs::metadata(mount.join("Ann/First/One.mp3")).unwrap();
    assert_eq!((file.uid(), file.gid(), file.mode() & 0o7777), (1234, 2345, 0o440));
    let dir = fs::metadata(mount.join("Ann")).unwrap();
    assert_eq!((dir.uid(), dir.gid(), dir.mode() & 0o7777), (1234, 2345, 0o550));
    mount.unmount();
}
