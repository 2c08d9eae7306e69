//! The made files are what they claim to be, by foreign tools.

use std::fs;

use musefs_tests::{
    make::{self, Id3},
    oracle, tools,
};

#[test]
fn made_files_satisfy_foreign_readers() {
    if !tools::have(&["ffmpeg", "ffprobe", "flac", "metaflac"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let tags = make::tags("Zażółć", "Album", "3", "Tïtle");
    let cover = make::png(1, 2000);
    let files = [
        ("a.flac", make::flac(1, 5, &tags, Some(&cover), 500)),
        ("b.mp3", make::mp3(2, 20, Id3::V23, &tags, Some(&cover), 100)),
        ("c.mp3", make::mp3(3, 20, Id3::V24, &tags, None, 0)),
        ("d.wav", make::wav(4, 3001, &tags)),
        ("cover.png", cover.clone()),
    ];
    for (name, bytes) in &files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let path = |name: &str| dir.path().join(name);
    assert!(oracle::flac_test(&path("a.flac")));
    assert_eq!(oracle::metaflac_tag(&path("a.flac"), "title"), Some(vec!["Tïtle".to_owned()]));
    for name in ["a.flac", "b.mp3", "c.mp3", "d.wav"] {
        let tags = oracle::ffprobe_tags(&path(name));
        assert_eq!(tags["title"], "Tïtle", "{name}");
        assert_eq!(tags["artist"], "Zażółć", "{name}");
        assert!(oracle::packet_md5(&path(name)).is_some(), "{name}");
    }
    assert_ne!(oracle::packet_md5(&path("b.mp3")), oracle::packet_md5(&path("c.mp3")));
    assert!(!oracle::ffprobe_tags(&path("cover.png")).contains_key("title"));
    let pictures = oracle::mutagen_tags([path("a.flac").as_path(), path("b.mp3").as_path(), path("c.mp3").as_path()]);
    let count = |at: usize| pictures[at][" pictures"].as_array().unwrap().len();
    assert_eq!([count(0), count(1), count(2)], [1, 1, 0]);
}
