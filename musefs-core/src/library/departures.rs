//! When something last left a directory: the one part of its modification time that no row tells.
//!
//! Kept in a small text file, a line a directory (`node milliseconds`), replaced as a whole after a
//! change. A lost or damaged file costs nothing but directory times that move back.

use std::{
    collections::HashMap,
    fs,
    io::{self, Write as _},
    path::Path,
};

use crate::{
    limits::{DEPARTURES_FILE_BYTES_MAX, DEPARTURES_MAX},
    vfs::NodeId,
};

/// The departure times in milliseconds since 1970 that `file` holds.
pub(super) fn load(file: &Path) -> HashMap<NodeId, i64> {
    let readable = fs::metadata(file).is_ok_and(|metadata| metadata.len() <= DEPARTURES_FILE_BYTES_MAX);
    let text = if readable { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    let entry = |line: &str| {
        let (node, at_ms) = line.split_once(' ')?;
        Some((NodeId(node.parse().ok()?), at_ms.parse().ok()?))
    };
    text.lines().filter_map(entry).take(DEPARTURES_MAX).collect()
}

/// Replaces `file` by one of these times, at most [`DEPARTURES_MAX`] of them, the newest.
///
/// # Errors
/// Those of writing it.
pub(super) fn save(file: &Path, times: impl Iterator<Item = (NodeId, i64)>) -> io::Result<()> {
    let mut times: Vec<(NodeId, i64)> = times.collect();
    if times.len() > DEPARTURES_MAX {
        times.sort_unstable_by_key(|(_, at_ms)| std::cmp::Reverse(*at_ms));
        times.truncate(DEPARTURES_MAX);
    }
    let unfinished = file.with_extension("new");
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut out = io::BufWriter::new(fs::File::create(&unfinished)?);
    for (node, at_ms) in times {
        writeln!(out, "{} {at_ms}", node.0)?;
    }
    out.into_inner()?.sync_data()?;
    fs::rename(unfinished, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_loaded_and_a_damaged_line_is_skipped() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("state/departures");
        let times = HashMap::from([(NodeId(9), 1_000), (NodeId(4), -3)]);
        save(&file, times.clone().into_iter()).expect("saving");
        fs::write(&file, fs::read_to_string(&file).expect("the file") + "nonsense\n7 x\n").expect("damaging it");
        assert_eq!(load(&file), times);
    }

    #[test]
    fn one_past_the_limit_drops_the_oldest() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("departures");
        save(&file, (0..=DEPARTURES_MAX as u64).map(|id| (NodeId(id), id as i64))).expect("saving");
        let times = load(&file);
        assert_eq!(times.len(), DEPARTURES_MAX);
        assert!(!times.contains_key(&NodeId(0)));
    }
}
