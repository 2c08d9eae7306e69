//! Who has the catalogue: `/proc/locks` names the process behind each lock of a file.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use crate::disk::beside;

/// In words, the process that holds a write lock on the catalogue, as far as that can be seen from here.
pub(crate) fn of(catalog: &Path) -> String {
    let inodes: Vec<u64> = [catalog.to_owned(), beside(catalog, "-shm"), beside(catalog, "-wal")]
        .iter()
        .filter_map(|file| fs::metadata(file).ok())
        .map(|metadata| metadata.ino())
        .collect();
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    match writer_among(&locks, &inodes) {
        Some(pid) if pid == std::process::id() => "another task of this program".into(),
        Some(pid) => match fs::read_to_string(format!("/proc/{pid}/comm")) {
            Ok(name) => format!("{} (process {pid})", name.trim_end().escape_debug()),
            Err(_) => format!("process {pid}"),
        },
        None => "another program".into(),
    }
}

/// The process with a write lock on one of the inodes; another one than this if there is one.
///
/// Lines are as in proc_locks(5): `1: POSIX  ADVISORY  WRITE 4242 fe:01:131073 120 120`; a process that
/// waits has `->` behind the number.
fn writer_among(locks: &str, inodes: &[u64]) -> Option<u32> {
    let writers = locks.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[_, _, _, "WRITE", pid, file, ..] = fields.as_slice() else { return None };
        let inode = file.rsplit(':').next()?.parse().ok()?;
        inodes.contains(&inode).then(|| pid.parse().ok())?
    });
    writers.max_by_key(|&pid| pid != std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_found_by_inode() {
        let locks = "1: POSIX  ADVISORY  READ  11 fe:01:77 120 120\n\
                     2: POSIX  ADVISORY  WRITE 12 fe:01:78 120 120\n\
                     2: -> POSIX  ADVISORY  WRITE 13 fe:01:77 120 120\n\
                     3: FLOCK  ADVISORY  WRITE 14 fe:01:77 0 EOF\n\
                     rubbish\n";
        assert_eq!(writer_among(locks, &[78]), Some(12));
        assert_eq!(writer_among(locks, &[77]), Some(14));
        assert_eq!(writer_among(locks, &[79]), None);
        let ours = format!("{locks}4: POSIX ADVISORY WRITE {} fe:01:78 120 120\n", std::process::id());
        assert_eq!(writer_among(&ours, &[78]), Some(12));
    }
}
