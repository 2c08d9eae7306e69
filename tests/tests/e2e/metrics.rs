//! The metrics files: consistent, and what Prometheus' own tool likes.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt as _, path::Path, process::Command, thread};

use musefs_tests::{compare, mount::Mount, oracle, sandbox::Sandbox, tools, wait};

use crate::fixture;

fn mounted() -> Option<(Sandbox, Mount)> {
    let sandbox = fixture::small()?;
    let mount = sandbox.mount_command().args(["--template", fixture::TEMPLATE, "--expose-metrics"]).start();
    Some((sandbox, mount))
}

/// The samples of a text, by name with labels.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// The sum over all labels of a name.
fn total(samples: &BTreeMap<String, f64>, name: &str) -> f64 {
    samples.iter().filter(|(sample, _)| sample.starts_with(name)).map(|(_, value)| value).sum()
}

fn read(mount: &Mount) -> BTreeMap<String, f64> {
    samples(&fs::read_to_string(mount.join(".musefs-metrics/metrics")).unwrap())
}

#[test]
fn promtool_likes_both_files() {
    if !tools::have(&["promtool"]) {
        return;
    }
    let Some((_sandbox, mount)) = mounted() else { return };
    for (path, _) in compare::files(&compare::walk(mount.path())) {
        fs::read(mount.join(path)).unwrap();
    }
    for name in ["metrics", "musefs.prom"] {
        let said = oracle::promtool(&mount.join(".musefs-metrics").join(name));
        assert!(
            said.status.success(),
            "{}{}",
            String::from_utf8_lossy(&said.stdout),
            String::from_utf8_lossy(&said.stderr)
        );
    }
    mount.unmount();
}

#[test]
fn without_the_option_there_are_none() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    assert!(!mount.join(".musefs-metrics").exists());
    assert!(!fs::read_dir(mount.path()).unwrap().any(|entry| entry.unwrap().file_name() == ".musefs-metrics"));
    mount.unmount();
}

#[test]
fn every_copying_client_gets_a_whole_file() {
    let Some((sandbox, mount)) = mounted() else { return };
    let metrics = mount.join(".musefs-metrics/metrics");
    let copies = sandbox.root().join("copies");
    fs::create_dir(&copies).unwrap();
    let commands = [
        "cat \"$1\" > \"$2/cat\"",
        "cp \"$1\" \"$2/cp\"",
        "cp -a \"$1\" \"$2/cpa\"",
        "dd if=\"$1\" of=\"$2/dd\" bs=512 status=none",
        "head -c 100000000 \"$1\" > \"$2/head\"",
        "tail -c +1 \"$1\" > \"$2/tail\"",
    ];
    for command in commands {
        tools::succeed(Command::new("sh").arg("-c").arg(command).arg("sh").arg(&metrics).arg(&copies));
    }
    for (path, seen) in compare::files(&compare::walk(&copies)) {
        let text = fs::read_to_string(copies.join(path)).unwrap();
        assert!(seen.size > 1000 && text.ends_with('\n'), "{path:?}");
        assert_eq!(total(&samples(&text), "musefs_tracks"), 5.0, "{path:?}");
    }
    mount.unmount();
}

#[test]
fn a_snapshot_has_the_size_that_stat_says_and_never_changes() {
    let Some((_sandbox, mount)) = mounted() else { return };
    let metrics = mount.join(".musefs-metrics/metrics");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| assert_snapshot(&metrics)));
        }
    });
    mount.unmount();
}

fn assert_snapshot(metrics: &Path) {
    let file = fs::File::open(metrics).unwrap();
    let size = file.metadata().unwrap().size();
    let first = std::io::read_to_string(&file).unwrap();
    assert_eq!(first.len() as u64, size);
    assert!(first.ends_with('\n') && first.contains("musefs_uptime_seconds"), "{first}");
}

#[test]
fn counters_follow_what_is_done() {
    let Some((sandbox, mount)) = mounted() else { return };
    let before = read(&mount);
    let bytes = fs::read(mount.join("Ann/First/One.flac")).unwrap().len() as f64;
    wait::until("the bytes that were read", || {
        let now = read(&mount);
        total(&now, "musefs_read_bytes_total") - total(&before, "musefs_read_bytes_total") >= bytes
    });
    sandbox.sql(
        "INSERT INTO edits(track, key, position, value) SELECT min(track), 'title', 0, 'Counted' FROM track_paths",
    );
    wait::until("the refresh", || {
        let now = read(&mount);
        total(&now, "musefs_refresh_total") > total(&before, "musefs_refresh_total")
            && now["musefs_catalog_sequence"] > before["musefs_catalog_sequence"]
    });
    mount.unmount();
}
