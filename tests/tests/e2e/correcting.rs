//! Correcting tracks that are named by where they appear in a mount.

use std::{fs, os::unix::fs::MetadataExt as _};

use musefs_tests::wait;

use crate::fixture;

#[test]
fn a_track_is_edited_shown_and_undone_by_its_place_in_a_mount() {
    let Some(sandbox) = fixture::small() else { return };
    let mount = fixture::mount(&sandbox);
    let old = mount.join("Ann/First/One.flac");
    let track = sandbox.track_of("in/one.flac");
    let shown = sandbox.run(["show".as_ref(), "--json".as_ref(), old.as_os_str()]).code(0).json();
    assert_eq!(shown[0]["track"], track);
    assert_eq!(shown[0]["appears"][0], old.to_str().unwrap());

    sandbox.run(["edit".as_ref(), old.as_os_str(), "--set".as_ref(), "title=Uno".as_ref()]).code(0);
    let new = mount.join("Ann/First/Uno.flac");
    wait::until("the new name is there", || new.exists());
    assert!(fs::metadata(&new).unwrap().ino() > 1 << 53, "another revision is another inode");
    let shown = sandbox.run(["show".as_ref(), "--json".as_ref(), new.as_os_str()]).code(0).json();
    assert_eq!(shown[0]["tags"]["title"][0], "Uno");
    assert_eq!(shown[0]["appears"][0], new.to_str().unwrap());
    let log = sandbox.run(["log".as_ref(), "--json".as_ref(), new.as_os_str()]).code(0).json();
    assert_eq!(log[0]["track"], track);

    sandbox.run(["undo".as_ref(), "--track".as_ref(), new.as_os_str()]).code(0);
    wait::until("the old name is back", || old.exists());
    assert_eq!(fs::read(&old).unwrap(), fs::read(sandbox.music().join("in/one.flac")).unwrap());
    sandbox.run(["show".as_ref(), mount.path().as_os_str()]).code(6);
    mount.unmount();
}
