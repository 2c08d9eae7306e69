//! Starting, ending and crashing; and what is said when a mount cannot be made.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use musefs_tests::{
    compare,
    mount::{Mount, MountCommand, is_mount_point},
    program, tools, wait,
};
use rustix::process::Signal;

use crate::fixture;

/// The exit code of a mount that could not be made.
const MOUNT_FAILED: i32 = 5;

#[test]
fn after_a_crash_the_next_start_mounts_again() {
    let Some(sandbox) = fixture::small() else { return };
    let mut crashed = fixture::mount(&sandbox);
    let before = compare::walk(crashed.path());
    crashed.crash();
    assert!(crashed.is_mounted(), "a crash leaves a dead mount");
    assert!(
        fs::metadata(crashed.join("what the kernel has not cached"))
            .is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
    );
    let again = fixture::mount(&sandbox);
    assert_eq!(compare::walk(again.path()), before);
    again.unmount();
    assert!(!crashed.is_mounted(), "one mount too many is left");
}

#[test]
fn sigterm_and_sigint_unmount_although_a_file_is_open() {
    for signal in [Signal::TERM, Signal::INT] {
        let Some(sandbox) = fixture::small() else { return };
        let mut mount = fixture::mount(&sandbox);
        let mut open = File::open(mount.join("Ann/First/One.flac")).unwrap();
        open.read_exact(&mut [0; 10]).unwrap();
        let start = Instant::now();
        mount.signal(signal);
        let status = mount.ends();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(!mount.is_mounted());
        assert_eq!(status.code(), Some(0), "{}", mount.log());
    }
}

#[test]
fn a_second_signal_ends_the_patience_with_open_files() {
    let Some(sandbox) = fixture::small() else { return };
    let mut mount = sandbox.mount_command().args(["--unmount-timeout-ms", "60000"]).start();
    let path = mount.join(compare::paths(mount.path()).first().unwrap());
    let open = File::open(path).unwrap();
    mount.signal(Signal::TERM);
    wait::until("the unmount", || !mount.is_mounted());
    assert!(mount.poll().is_none(), "it waits for the reader: {}", mount.log());
    let start = Instant::now();
    mount.signal(Signal::TERM);
    mount.ends();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(open);
}

#[test]
fn an_unmount_from_outside_ends_the_daemon() {
    let Some(sandbox) = fixture::small() else { return };
    let mut mount = fixture::mount(&sandbox);
    compare::walk(mount.path());
    tools::succeed(Command::new("umount").arg(mount.path()));
    assert_eq!(mount.ends().code(), Some(0), "{}", mount.log());
}

#[test]
fn two_mounts_of_one_catalogue_show_the_same() {
    let Some(sandbox) = fixture::small() else { return };
    let first = fixture::mount(&sandbox);
    let second = MountCommand::new(&sandbox, "other").args(["--template", fixture::TEMPLATE]).start();
    assert_eq!(compare::walk(first.path()), compare::walk(second.path()));
    first.unmount();
    assert!(second.is_mounted());
    assert_eq!(compare::files(&compare::walk(second.path())).count(), 5);
    second.unmount();
}

#[test]
fn a_mount_point_that_is_missing_or_in_use_is_refused_with_advice() {
    let Some(sandbox) = fixture::small() else { return };
    let missing = MountCommand::new(&sandbox, "missing");
    fs::remove_dir(sandbox.root().join("missing")).unwrap();
    missing.fail().code(MOUNT_FAILED).says(&["missing", "hint: "]);

    let file = MountCommand::new(&sandbox, "file");
    fs::remove_dir(sandbox.root().join("file")).unwrap();
    fs::write(sandbox.root().join("file"), "").unwrap();
    file.fail().code(MOUNT_FAILED).says(&["not a directory"]);

    let full = MountCommand::new(&sandbox, "full");
    fs::write(sandbox.root().join("full/something"), "").unwrap();
    full.fail().code(MOUNT_FAILED).says(&["not empty", "hint: "]);
    assert!(sandbox.root().join("full/something").exists());
    assert!(!is_mount_point(&sandbox.root().join("full")));

    let busy = fixture::mount(&sandbox);
    sandbox.mount_command().fail().code(MOUNT_FAILED).says(&["mounted", "hint: "]);
    assert_eq!(compare::files(&compare::walk(busy.path())).count(), 5, "the first mount is well");
    busy.unmount();
}

#[test]
fn a_foreign_mount_is_never_touched() {
    let Some(sandbox) = fixture::small() else { return };
    let Some(slowfs) = musefs_tests::slow::program(fixture::process_folder()) else { return };
    let point = sandbox.root().join("mnt");
    let none = Duration::ZERO;
    let mut foreign = musefs_tests::slow::mount(&slowfs, &sandbox.music(), &point, none, none);
    sandbox.mount_command().fail().code(MOUNT_FAILED).says(&["hint: "]);
    assert!(point.join("in/one.flac").exists());
    // Not even a dead one: it is not ours to clear.
    foreign.crash();
    sandbox.mount_command().fail().code(MOUNT_FAILED).says(&["hint: "]);
    assert!(foreign.is_mounted());
}

#[test]
fn a_dry_run_mounts_nothing() {
    let Some(sandbox) = fixture::small() else { return };
    let point = sandbox.root().join("mnt");
    fs::create_dir(&point).unwrap();
    let said = tools::run(sandbox.command(["mount", "--dry-run", "--template", fixture::TEMPLATE]).arg(&point));
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(!is_mount_point(&point));
    let all = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(all.contains('5'), "it says how many tracks there are: {all}");
}

#[test]
fn a_wrong_template_is_refused_before_anything_is_done() {
    let Some(sandbox) = fixture::small() else { return };
    let wrong = sandbox.mount_command().args(["--template", "$albmartist/$title"]).fail();
    wrong.code(2).says(&["albmartist", "^", "albumartist"]);
    assert!(!is_mount_point(&sandbox.root().join("mnt")));
}

/// A world where a plain user may use FUSE: a node of the device that all may open, in a mount namespace of its own.
fn as_plain_user(script: &str, sandbox: &musefs_tests::sandbox::Sandbox) -> std::process::Output {
    let set_up = r#"
set -eu
mknod "$1/fuse" c 10 229
chmod 666 "$1/fuse"
mount --bind "$1/fuse" /dev/fuse
chmod -R a+rwX "$1"
cd "$1"
exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -eu -c "$2" sh "$3" "$1/mnt"
"#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", set_up, "sh"]);
    fs::create_dir_all(sandbox.root().join("mnt")).unwrap();
    // The program itself has to be within the user's reach too.
    let program = sandbox.root().join("musefs");
    fs::copy(program::binary(), &program).unwrap();
    command.arg(sandbox.root()).arg(script).arg(&program);
    sandbox.isolate(&mut command);
    tools::run(&mut command)
}

fn may_unshare() -> bool {
    let may = tools::have(&["unshare", "fusermount3"])
        && tools::run(Command::new("unshare").args(["--mount", "mount", "--bind", "/dev/null", "/dev/fuse"]))
            .status
            .success();
    if !may {
        tools::skip("no mount namespace can be made here");
    }
    may
}

#[test]
fn a_plain_user_mounts_through_fusermount3() {
    let Some(sandbox) = fixture::small() else { return };
    if !may_unshare() {
        return;
    }
    let script = r#"
"$1" mount "$2" --template '$albumartist/$album/$title' &
i=0
until mountpoint -q "$2"; do i=$((i + 1)); [ $i -lt 300 ]; sleep 0.1; done
find "$2" -type f | wc -l
cmp "$2/Ann/First/One.flac" music/in/one.flac
kill -TERM $!
wait $!
! mountpoint -q "$2"
echo over
"#;
    let output = as_plain_user(script, &sandbox);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said == "5\nover\n", "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_plain_user_is_told_what_allow_other_needs() {
    let Some(sandbox) = fixture::small() else { return };
    if !may_unshare() {
        return;
    }
    if fs::read_to_string("/etc/fuse.conf").is_ok_and(|text| text.lines().any(|line| line.trim() == "user_allow_other"))
    {
        tools::skip("/etc/fuse.conf allows it here");
        return;
    }
    let output = as_plain_user(r#""$1" mount "$2" --allow-other"#, &sandbox);
    assert_eq!(output.status.code(), Some(MOUNT_FAILED));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("user_allow_other") && said.contains("/etc/fuse.conf"), "{said}");
}

#[test]
fn a_machine_without_fuse_is_told_what_to_do() {
    let Some(sandbox) = fixture::small() else { return };
    if !may_unshare() {
        return;
    }
    fs::create_dir_all(sandbox.root().join("mnt")).unwrap();
    let hide = |hidden: &str, user: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", hidden, "sh"]);
        command.args(user).arg(program::binary()).arg("mount").arg(sandbox.root().join("mnt"));
        sandbox.isolate(&mut command);
        program::Ran::from(tools::run(&mut command))
    };
    hide("mount -t tmpfs none /dev; exec \"$@\"", &[]).code(MOUNT_FAILED).says(&["/dev/fuse", "hint: "]);
}

#[test]
fn a_loop_that_waits_for_the_daemon_ends_with_it() {
    let Some(sandbox) = fixture::small() else { return };
    let mut mount = fixture::mount(&sandbox);
    let path = mount.join("Ann/First/One.flac");
    let reader = std::thread::spawn(move || while fs::read(&path).is_ok() {});
    mount.crash();
    wait::until("the reader", || reader.is_finished());
}

/// Whatever is started in a test ends with it; this is about the guard itself.
#[test]
fn a_guard_leaves_nothing_mounted() {
    let Some(sandbox) = fixture::small() else { return };
    let point: &Path = &sandbox.root().join("mnt");
    let mount: Mount = fixture::mount(&sandbox);
    let _open = File::open(mount.join("Ann/First/One.flac")).unwrap();
    drop(mount);
    assert!(!is_mount_point(point));
}
