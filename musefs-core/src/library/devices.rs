//! Which disk each root lies on, without asking any disk: a dead one would not answer.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use musefs_db::RootId;

use crate::vfs::Device;

/// Roots by the small numbers that the tree keeps of them, with their devices.
///
/// A disk that is mounted below a root counts as that root's.
#[derive(Debug, Default)]
pub(super) struct Devices(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<RootId, u16>,
    devices: Vec<Device>,
}

impl Devices {
    /// The number of a root, new ones included. Roots past the 65,536th share the last number.
    pub(super) fn number(&self, root: RootId, path: &[u8]) -> u16 {
        if let Some(number) = self.known().numbers.get(&root) {
            return *number;
        }
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let device = device_of(&mounts, Path::new(OsStr::from_bytes(path)));
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let number = u16::try_from(known.devices.len()).unwrap_or(u16::MAX);
        if known.devices.len() <= usize::from(u16::MAX) {
            // A root without a mount, for example in a chroot, counts as a disk of its own.
            known.devices.push(device.unwrap_or(Device(u64::MAX - u64::from(number))));
        }
        known.numbers.insert(root, number);
        number
    }

    /// The device of a numbered root.
    pub(super) fn device(&self, number: u16) -> Device {
        self.known().devices.get(usize::from(number)).copied().unwrap_or_default()
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The device of the mount with the longest mount point above `path` (proc(5), mountinfo: the third field is
/// `major:minor`, the fifth the mount point with octal escapes). The last of equals covers the others.
fn device_of(mounts: &[u8], path: &Path) -> Option<Device> {
    let mut best: Option<(usize, Device)> = None;
    for line in mounts.split(|byte| *byte == b'\n') {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let (Some(number), Some(point)) = (fields.next(), fields.nth(1)) else { continue };
        let point = unescape(point);
        if path.starts_with(&point)
            && let Some(device) = parse_number(number)
        {
            let depth = point.as_os_str().len();
            if best.is_none_or(|(deepest, _)| depth >= deepest) {
                best = Some((depth, device));
            }
        }
    }
    best.map(|(_, device)| device)
}

fn parse_number(text: &[u8]) -> Option<Device> {
    let (major, minor) = std::str::from_utf8(text).ok()?.split_once(':')?;
    Some(Device(major.parse::<u64>().ok()? << 32 | minor.parse::<u64>().ok()?))
}

fn unescape(point: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point;
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = (byte == b'\\').then(|| tail.get(..3)).flatten();
        let value = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = &tail[3..];
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &[u8] = b"\
22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:45 / /mnt/my\\040nas rw - nfs4 nas:/music rw
31 22 0:46 / /mnt/my\\040nas/new rw - nfs4 nas:/new rw
broken line";

    #[test]
    fn the_deepest_mount_above_a_root_is_its_device() {
        let table = [
            ("/home/music", (254, 0)),
            ("/mnt/my nas/rock", (0, 45)),
            ("/mnt/my nas/new", (0, 46)),
            ("/mnt/my nasty", (254, 0)),
        ];
        for (path, (major, minor)) in table {
            assert_eq!(device_of(MOUNTS, Path::new(path)), Some(Device(major << 32 | minor)), "{path}");
        }
    }
}
