//! The catalogue as a file: newer ones, locked ones, read-only ones.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use musefs_tests::{compare, tools, wait};

use crate::fixture;

/// The exit code for a catalogue that cannot be used.
const CATALOG: i32 = 4;

#[test]
fn a_newer_catalogue_is_refused() {
    let Some(sandbox) = fixture::small() else { return };
    sandbox.sql("PRAGMA user_version = 1000");
    let music = sandbox.music();
    for arguments in [vec!["list"], vec!["scan", music.to_str().unwrap()]] {
        sandbox.run(arguments).code(CATALOG).says(&["schema 1000", "hint: "]);
    }
    sandbox.mount_command().fail().code(CATALOG).says(&["schema 1000"]);
}

#[test]
fn what_is_no_catalogue_is_refused_and_left_alone() {
    let Some(sandbox) = fixture::small() else { return };
    let text = "dear diary".repeat(1000);
    fs::write(sandbox.root().join("text.db"), &text).unwrap();
    let ran = tools::run(&mut sandbox.command(["list", "--db", "text.db"]));
    assert_eq!(ran.status.code(), Some(CATALOG), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(fs::read_to_string(sandbox.root().join("text.db")).unwrap(), text);
    tools::sqlite3(&sandbox.root().join("foreign.db"), "CREATE TABLE recipes(name)");
    let music = sandbox.music();
    sandbox.run(["scan", "--db", "foreign.db", music.to_str().unwrap()]).code(CATALOG);
    assert_eq!(tools::sqlite3(&sandbox.root().join("foreign.db"), "SELECT name FROM sqlite_master").trim(), "recipes");
}

#[test]
fn a_missing_catalogue_is_said_to_be_missing() {
    let Some(sandbox) = fixture::small() else { return };
    for command in ["list", "log"] {
        sandbox.run([command, "--db", "nowhere.db"]).code(CATALOG).says(&["nowhere.db", "hint: ", "scan"]);
    }
    assert!(!sandbox.root().join("nowhere.db").exists(), "looking makes nothing");
}

#[test]
fn a_writer_that_holds_its_lock_blocks_no_reader_and_other_writers_wait() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let program = "import sqlite3, sys\n\
                   db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                   db.execute('BEGIN IMMEDIATE')\n\
                   print('locked', flush=True)\n\
                   sys.stdin.read()\n\
                   db.execute('COMMIT')";
    let mut holder = tools::python()
        .args(["-c", program])
        .arg(sandbox.db())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(holder.stdout.as_mut().unwrap()), &mut line).unwrap();
    assert_eq!(line, "locked\n");

    for (path, _) in compare::files(&compare::walk(mount.path())) {
        assert!(fs::read(mount.join(path)).is_ok());
    }
    sandbox.run(["list"]).code(0);
    let track = sandbox.track_of("in/one.flac").to_string();
    let mut waiting = sandbox.command(["edit", &track, "--set", "title=Waited"]);
    let mut waiting = waiting.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It is still there after the mount has been walked again: it waits.
    compare::walk(mount.path());
    assert!(waiting.try_wait().unwrap().is_none(), "{:?}", waiting.wait_with_output());
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    wait::until("the edit", || mount.join("Ann/First/Waited.flac").exists());
    mount.unmount();
}

#[test]
fn many_writers_at_once_all_succeed() {
    let Some(sandbox) = fixture::small() else { return };
    let track = sandbox.track_of("in/one.flac").to_string();
    let writers: Vec<_> = (0..8)
        .map(|at| {
            let mut command = sandbox.command(["edit", &track, "--set", &format!("key{at}=value")]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("locked"), "{said}");
    }
    assert_eq!(sandbox.sql("SELECT count(*) FROM edits").trim(), "8");
}

#[test]
fn a_read_only_catalogue_is_served() {
    let Some(sandbox) = fixture::small() else { return };
    if !tools::have(&["unshare"]) {
        return;
    }
    let folder = sandbox.root().join("sealed");
    fs::create_dir(&folder).unwrap();
    sandbox.sql(&format!("VACUUM INTO '{}'", folder.join("catalog.db").display()));
    let mount_read_only =
        Command::new("mount").args(["--bind", "-o", "ro"]).arg(&folder).arg(&folder).status().unwrap();
    if !mount_read_only.success() {
        tools::skip("no read-only bind mount can be made here");
        return;
    }
    let served = std::panic::catch_unwind(|| {
        let db = folder.join("catalog.db");
        let mount = sandbox.mount_command().args(["--template", fixture::TEMPLATE, "--db"]).args([db]).start();
        assert_eq!(compare::files(&compare::walk(mount.path())).count(), 5);
        mount.unmount();
    });
    assert!(Command::new("umount").arg(&folder).status().unwrap().success());
    served.unwrap();
}

#[test]
fn external_writers_are_held_to_the_contract() {
    let Some(sandbox) = fixture::small() else { return };
    let refused = |sql: &str| {
        let output = tools::run(Command::new("sqlite3").arg("-bail").arg(sandbox.db()).arg(sql));
        assert!(!output.status.success(), "{sql} was accepted");
    };
    refused("INSERT INTO edits(track, key, position, value) VALUES (999999, 'title', 0, 'no such track')");
    refused("INSERT INTO edits(track, key, position, value) VALUES (16, '', 0, 'no key')");
    refused("INSERT INTO edits(track, key, position, value) VALUES (16, 'title', -1, 'no place')");
    assert_eq!(sandbox.sql("SELECT count(*) FROM edits").trim(), "0");
}

#[test]
fn the_catalogue_of_a_user_is_in_the_data_folder() {
    let Some(sandbox) = fixture::small() else { return };
    let music = sandbox.music();
    let scan = |name: &str, value: &std::path::Path| {
        let mut command = sandbox.command(["scan"]);
        tools::succeed(command.arg(&music).env_remove("MUSEFS_DB").env(name, value));
    };
    let data = sandbox.root().join("data");
    scan("XDG_DATA_HOME", &data);
    assert!(data.join("musefs/catalog.db").is_file());
    scan("HOME", &sandbox.root().join("home"));
    assert!(sandbox.root().join("home/.local/share/musefs/catalog.db").is_file());
    let mode = fs::metadata(data.join("musefs/catalog.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o002, 0, "others cannot write it");
}
