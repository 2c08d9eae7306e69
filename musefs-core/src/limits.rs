//! Every limit on what files, clients and users can make this crate do, in one place.

/// Threads of a pool of workers: more cost memory and help no disk.
pub const WORKERS_MAX: usize = 256;

/// Requests of one device that wait for a worker. The kernel keeps 64 read-aheads in flight; the rest
/// is one for each thread of a client.
pub const WORKER_QUEUE_MAX: usize = 512;

/// Most source descriptors that are kept open; fewer where the process may open fewer.
pub const SOURCES_OPEN_MAX: usize = 512;

/// Most bytes of built headers that are kept.
pub const HEADER_CACHE_BYTES: u64 = 32 << 20;

/// Most bytes of a window that a sequential stream on a slow source reads at once.
pub const READ_AHEAD_WINDOW_MAX: usize = 8 << 20;

/// Bytes of the first window of such a stream.
pub const READ_AHEAD_WINDOW_MIN: usize = 512 << 10;

/// Most streams that are told apart at a time.
pub const READ_AHEAD_STREAMS_MAX: usize = 256;

// Scanning.

/// Attempts after the first at what failed by an error that passes by itself.
pub const RETRIES_MAX: u32 = 6;

/// The pause before the first of them; it doubles each time, so that all take about 0.6 s.
pub const RETRY_FIRST_WAIT: std::time::Duration = std::time::Duration::from_millis(10);

/// Bytes at the start of a source that each probe reads: what format detection wants.
pub const HEAD_WINDOW_BYTES: usize = 64 << 10;

/// Bytes at the end of a source that are read together when a reader asks for one of them.
pub const TAIL_WINDOW_BYTES: usize = 32 << 10;

/// Bytes in between that are read together.
pub const MIDDLE_WINDOW_BYTES: usize = 16 << 10;

/// Most bytes that a probe reads of a source, art included.
pub const PROBE_BYTES_MAX: u64 = 64 << 20;

/// Most levels of directories below a root.
pub const DEPTH_MAX: usize = 256;

/// Bytes at each end of the audio by which a moved file is known again.
pub const IDENTITY_BYTES: usize = 16 << 10;

/// Most problems of a scan that are kept with their words; further ones are counted.
pub const PROBLEMS_KEPT_MAX: usize = 10_000;

/// Most extensions of other files that are counted apart.
pub const OTHER_EXTENSIONS_MAX: usize = 256;

/// Found files that wait for a probe. So far may the walk run ahead.
pub const FOUND_QUEUE_MAX: usize = 1 << 16;

/// Probed files that wait for the writer.
pub const PROBED_QUEUE_MAX: usize = 256;

/// Files that are written in one transaction.
pub const BATCH_FILES_MAX: usize = 1000;

/// Bytes of structures that are written in one transaction, roughly.
pub const BATCH_BYTES_MAX: usize = 16 << 20;

/// How long a probed file waits to be written at most, so that mounts see what is there already.
pub const BATCH_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(2);

// Templates.

// Templates.

/// Most bytes of a template's text.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// Most functions and brackets inside each other in a template.
pub const TEMPLATE_DEPTH_MAX: usize = 16;

/// Most characters that `%left`, `%right` and `%pad` can be asked for; a name has at most 255 bytes.
pub const TEMPLATE_NUMBER_MAX: usize = 255;

/// Characters of a long template that an error shows around the place.
pub const TEMPLATE_EXCERPT_CHARS: usize = 100;

/// Most bytes of one value that go into a path. A name has at most 255 bytes; normalisation shortens to a third at most.
pub const TEMPLATE_VALUE_BYTES_MAX: usize = 1024;

/// Most bytes of a rendered path: Linux's PATH_MAX.
pub const TEMPLATE_OUTPUT_BYTES_MAX: usize = 4096;

/// Most albums of one name that `%aunique` tells apart; further ones share a directory with one of these.
pub const TEMPLATE_UNIQUE_ALBUMS_MAX: usize = 64;

/// Most bytes of a preset's file.
pub const PRESET_BYTES_MAX: u64 = 64 * 1024;

// Tree.

/// Bytes of one name in the tree: what Linux and NFS clients accept.
pub const NAME_BYTES_MAX: usize = 255;

/// Bytes of an extension; what is longer is cut, and a longer tail of a name is none.
pub const EXTENSION_BYTES_MAX: usize = 32;

/// Levels of a path in the tree, its file included; a template joins further ones with `_`.
pub const LEVELS_MAX: usize = 128;

/// Bytes of a name that is looked up; a name of [`NAME_BYTES_MAX`] takes up to three times as many when decomposed.
pub const QUERY_BYTES_MAX: usize = 3 * NAME_BYTES_MAX;

/// Bytes of all names of a tree together: they are addressed by 32 bits.
pub const NAMES_BYTES_MAX: usize = u32::MAX as usize;

/// The lowest track id: node ids below have other meanings.
pub const TRACK_MIN: i64 = 16;

/// The highest track id that a node id can hold (38 bits).
pub const TRACK_MAX: i64 = (1 << 38) - 1;

// Metrics.

/// Most warnings of one class that are shown in a period; the rest is counted.
pub const WARNINGS_MAX: u32 = 10;

/// The period of warnings.
pub const WARNINGS_PERIOD: std::time::Duration = std::time::Duration::from_secs(30);

/// Most snapshots of the metrics that are kept for clients that hold them.
pub const SNAPSHOTS_MAX: usize = 256;
/// Most replaced generations of files that are remembered for clients that hold them open.
pub const PAST_GENERATIONS_MAX: usize = 65_536;

/// Most directories whose departures are remembered for their modification times.
pub const DEPARTURES_MAX: usize = 65_536;

/// Most bytes of the file that keeps them: anything longer is not ours.
pub const DEPARTURES_FILE_BYTES_MAX: u64 = 4 << 20;

/// Most requests to drop cached names that wait for a transport before the next refresh waits for it.
pub const CHANGES_QUEUE_MAX: usize = 64;
