//! What kind of disk a catalogue lies on: it decides how SQLite may open it.

use std::{
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

/// File systems over which SQLite's shared memory does not reach other machines, by the magic numbers of
/// statfs(2) and of Linux's `fs/*/` where that page has none.
const NETWORK_DISKS: [(u32, &str); 12] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
    (0x786f_4256, "VirtualBox"),
    (0x0116_1970, "GFS2"),
];

/// The name of a file that SQLite keeps beside a catalogue.
pub(crate) fn beside(catalog: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(catalog);
    name.push(suffix);
    name.into()
}

/// The kind of network disk that a path is on, `None` for a local disk.
pub(crate) fn network(path: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(path).ok()?.f_type;
    // The numbers have 32 bits; some architectures extend the sign.
    network_by_magic(kind as u32)
}

fn network_by_magic(magic: u32) -> Option<&'static str> {
    NETWORK_DISKS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

/// Whether nobody at all can write to the disk of a path: the file system itself is mounted read-only.
///
/// A read-only *mount point* of a writable file system (`docker run -v …:ro`) is something else: whoever
/// has it mounted elsewhere may write at any time.
pub(crate) fn is_read_only(path: &Path) -> bool {
    let Ok(device) = fs::metadata(path).map(|metadata| metadata.dev()) else { return false };
    let Ok(mounts) = fs::read("/proc/self/mountinfo") else { return false };
    is_read_only_among(&mounts, (rustix::fs::major(device), rustix::fs::minor(device)))
}

/// Reads lines as in proc_pid_mountinfo(5): the third field is the device, the last one has the options of
/// the file system itself.
fn is_read_only_among(mounts: &[u8], device: (u32, u32)) -> bool {
    let device = format!("{}:{}", device.0, device.1);
    let mut options = mounts
        .split(|&byte| byte == b'\n')
        .filter(|line| line.split(|&byte| byte == b' ').nth(2) == Some(device.as_bytes()))
        .filter_map(|line| line.rsplit(|&byte| byte == b' ').next())
        .peekable();
    options.peek().is_some() && options.all(|options| options.split(|&byte| byte == b',').any(|option| option == b"ro"))
}

/// The URI of a file for SQLite.
pub(crate) fn uri(path: &Path, query: &str) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_disks_are_known_by_number() {
        for (magic, expected) in [(0x6969, Some("NFS")), (0x6573_5546, Some("FUSE")), (0xef53, None)] {
            assert_eq!(network_by_magic(magic), expected);
        }
    }

    #[test]
    fn only_a_read_only_file_system_counts_as_read_only() {
        let mounts = b"30 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                       31 1 8:1 /music /srv ro,relatime - ext4 /dev/sda1 rw\n\
                       32 1 11:0 / /cd ro - iso9660 /dev/sr0 ro,nojoliet\n";
        assert!(!is_read_only_among(mounts, (8, 1)));
        assert!(is_read_only_among(mounts, (11, 0)));
        assert!(!is_read_only_among(mounts, (12, 0)));
    }

    #[test]
    fn a_uri_holds_any_name() {
        assert_eq!(uri(Path::new("/a b?#%.db"), "?immutable=1"), "file:/a%20b%3F%23%25.db?immutable=1");
    }
}
