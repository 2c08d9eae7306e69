//! What is mounted where, as the kernel tells it; no mount is touched to find out.

use std::{
    fs, io,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

/// File-system type of our mounts.
pub const FS_TYPE: &str = "fuse.musefs";

/// One line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Id of the mount, unique while it exists.
    pub id: u64,
    /// Major number of its device; 0 for FUSE.
    pub major: u32,
    /// Minor number; for FUSE also the number of the connection.
    pub minor: u32,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Type, with the subtype behind a dot.
    pub fs_type: String,
}

impl Entry {
    /// Served by a program.
    pub fn is_fuse(&self) -> bool {
        self.fs_type == "fuse" || self.fs_type.starts_with("fuse.")
    }

    /// Made by musefs, this process or another.
    pub fn is_ours(&self) -> bool {
        self.fs_type == FS_TYPE
    }
}

/// The mounts that this process sees, oldest first.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn read() -> io::Result<Vec<Entry>> {
    Ok(parse(&fs::read("/proc/self/mountinfo")?))
}

/// The entries of a mountinfo text. Lines that are not understood are left out.
pub fn parse(text: &[u8]) -> Vec<Entry> {
    text.split(|byte| *byte == b'\n').filter_map(entry).collect()
}

/// What a path that is a mount point shows: the newest mount there.
pub fn top_at<'a>(entries: &'a [Entry], path: &Path) -> Option<&'a Entry> {
    entries.iter().rev().find(|entry| entry.mount_point == path)
}

fn entry(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = number(fields.next()?)?;
    let mut device = fields.nth(1)?.split(|byte| *byte == b':');
    let (major, minor) = (number(device.next()?)?, number(device.next()?)?);
    let mount_point = PathBuf::from(std::ffi::OsString::from_vec(unescape(fields.nth(1)?)));
    // Between the options and the type stand any number of further fields, then a dash.
    let fs_type = fields.skip_while(|field| *field != b"-").nth(1)?;
    let fs_type = String::from_utf8_lossy(fs_type).into_owned();
    Some(Entry { id, major, minor, mount_point, fs_type })
}

fn number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Space, tab, line feed and backslash are written as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.first_chunk::<3>().filter(|_| first == b'\\').and_then(octal);
        out.push(octal.unwrap_or(first));
        rest = if octal.is_some() { &behind[3..] } else { behind };
    }
    out
}

fn octal(digits: &[u8; 3]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 22 0:35 / /mnt/a\\040b\\134c ro,nosuid,nodev,noatime shared:7 master:2 - fuse.musefs musefs ro,user_id=0
41 40 0:36 / /mnt/a\\040b\\134c rw - tmpfs tmpfs rw
nonsense
42 22 0:37 /x /mnt/\xff rw - fuse.sshfs host:/x rw
";

    #[test]
    fn entries_of_a_text() {
        let entries = parse(TEXT);
        let ids: Vec<_> = entries.iter().map(|entry| (entry.id, entry.minor)).collect();
        assert_eq!(ids, [(22, 0), (40, 35), (41, 36), (42, 37)]);
        let kinds: Vec<_> = entries.iter().map(|entry| (entry.is_fuse(), entry.is_ours())).collect();
        assert_eq!(kinds, [(false, false), (true, true), (false, false), (true, false)]);
        assert_eq!(entries[1].mount_point, Path::new("/mnt/a b\\c"));
        assert_eq!(entries[3].mount_point.as_os_str().as_encoded_bytes(), b"/mnt/\xff");
    }

    #[test]
    fn the_newest_mount_of_a_path_is_on_top() {
        let entries = parse(TEXT);
        assert_eq!(top_at(&entries, Path::new("/mnt/a b\\c")).map(|top| top.id), Some(41));
        assert_eq!(top_at(&entries, Path::new("/mnt")), None);
    }

    #[test]
    fn this_machine_has_a_root() {
        assert!(read().is_ok_and(|entries| top_at(&entries, Path::new("/")).is_some()));
    }

    #[test]
    fn escapes() {
        for (field, wanted) in
            [("a", "a"), ("\\040", " "), ("\\04", "\\04"), ("\\999", "\\999"), ("\\", "\\"), ("\\134040", "\\040")]
        {
            assert_eq!(unescape(field.as_bytes()), wanted.as_bytes(), "{field}");
        }
    }
}
