//! To come.

/// Threads of a pool of workers: more cost memory and help no disk.
pub const WORKERS_MAX: usize = 256;

/// Requests of one device that wait for a worker. The kernel keeps 64 read-aheads in flight; the rest
/// is one for each thread of a client.
pub const WORKER_QUEUE_MAX: usize = 512;
