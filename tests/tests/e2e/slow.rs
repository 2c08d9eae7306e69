//! One disk that does not answer harms no other.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use musefs_tests::{compare, make, mount::Mount, sandbox::Sandbox, slow, wait};

use crate::fixture;

/// How long each read of the slow disk takes: for ever, as far as the rest of the test is concerned.
const READ_DELAY: Duration = Duration::from_secs(25);

/// Readers of the slow disk: more than all workers.
const READERS: usize = 12;

/// How long something quick may take on a loaded machine.
const QUICK: Duration = Duration::from_secs(5);

/// A small library plus one on a slow disk, both scanned while that was still fast.
fn two_disks() -> Option<(Sandbox, std::path::PathBuf)> {
    let sandbox = fixture::small()?;
    let slowfs = slow::program(fixture::process_folder())?;
    let far = sandbox.root().join("far");
    fs::create_dir(&far).unwrap();
    for at in 0..READERS as u64 {
        let title = format!("Far {at}");
        fs::write(
            far.join(format!("{at}.flac")),
            make::flac(50 + at, 30, &make::tags("Far", "Away", "1", &title), None, 0),
        )
        .unwrap();
    }
    let point = sandbox.root().join("nas");
    let fast = slow::mount(&slowfs, &far, &point, Duration::ZERO, Duration::ZERO);
    sandbox.run([std::ffi::OsStr::new("scan"), point.as_os_str()]).code(0);
    drop(fast);
    Some((sandbox, slowfs))
}

#[test]
fn other_disks_and_listings_go_on_while_one_is_stuck() {
    let Some((sandbox, slowfs)) = two_disks() else { return };
    let mut nas =
        slow::mount(&slowfs, &sandbox.root().join("far"), &sandbox.root().join("nas"), Duration::ZERO, READ_DELAY);
    let mount = sandbox.mount_command().args(["--template", fixture::TEMPLATE, "--workers", "4"]).start();
    let far = mount.join("Far/Away");
    let readers: Vec<_> = (0..READERS)
        .map(|at| far.join(format!("Far {at}.flac")))
        .map(|path| thread::spawn(move || fs::read(path)))
        .collect();
    wait::until("stuck readers", || stuck(&nas) >= 1);

    let start = Instant::now();
    assert_eq!(compare::files(&compare::walk(mount.path())).count(), 5 + READERS);
    for (source, served) in [("in/one.flac", "Ann/First/One.flac"), ("in/three.mp3", "Bob/Second/Three.mp3")] {
        assert!(compare::same_bytes(&sandbox.music().join(source), &mount.join(served)).unwrap());
    }
    edit_is_seen(&sandbox, &mount);
    assert!(start.elapsed() < QUICK, "{:?}", start.elapsed());
    assert!(readers.iter().all(|reader| !reader.is_finished()), "the slow disk was not slow");

    // The disk goes: its readers get errors, and soon.
    nas.crash();
    for reader in readers {
        assert!(reader.join().unwrap().is_err());
    }
    mount.unmount();
}

fn edit_is_seen(sandbox: &Sandbox, mount: &Mount) {
    let track = sandbox.track_of("in/five.flac");
    sandbox.sql(&format!("INSERT INTO edits(track, key, position, value) VALUES ({track}, 'title', 0, 'Meanwhile')"));
    wait::until("an edit", || mount.join("Bob/Second/Meanwhile.flac").exists());
    assert!(fs::read(mount.join("Bob/Second/Meanwhile.flac")).is_ok());
}

/// How many threads of a slow mount sleep in its delay.
fn stuck(nas: &Mount) -> usize {
    let tasks = format!("/proc/{}/task", nas.pid());
    let sleeps = |task: &Path| fs::read_to_string(task.join("wchan")).is_ok_and(|at| at.contains("nanosleep"));
    fs::read_dir(tasks).map_or(0, |tasks| tasks.flatten().filter(|task| sleeps(&task.path())).count())
}

#[test]
fn a_mount_can_be_ended_while_a_disk_is_stuck() {
    let Some((sandbox, slowfs)) = two_disks() else { return };
    let mut nas =
        slow::mount(&slowfs, &sandbox.root().join("far"), &sandbox.root().join("nas"), Duration::ZERO, READ_DELAY);
    let mut mount =
        sandbox.mount_command().args(["--template", fixture::TEMPLATE, "--unmount-timeout-ms", "2000"]).start();
    let path = mount.join("Far/Away/Far 1.flac");
    let reader = thread::spawn(move || fs::read(path));
    wait::until("a stuck reader", || stuck(&nas) >= 1);
    let start = Instant::now();
    mount.signal(rustix::process::Signal::TERM);
    mount.ends();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(!mount.is_mounted());
    nas.crash();
    assert!(reader.join().unwrap().is_err());
}
