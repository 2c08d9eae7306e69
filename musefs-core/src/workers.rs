//! A pool of threads that does what may block, so that one dead disk starves nobody.
//!
//! Knows nothing of what a request is: a [`Service`] does the work and gives the answer. A request
//! waits in the queue of its [`Device`]; a device has at most half of the workers; a request that
//! is not done within the deadline is answered by a watchdog, while the worker that is stuck in the
//! kernel is left alone and keeps its slot until it comes back.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    error::Error,
    limits::{WORKER_QUEUE_MAX, WORKERS_MAX},
    vfs::Device,
};

/// What a pool does with requests.
pub trait Service: Send + Sync + 'static {
    /// What is to be done: small and copied.
    type Request: Copy + Send;
    /// Who waits for it. Given back exactly once, or dropped when the pool is.
    type Reply: Send;

    /// Does it; may block. The buffer is the worker's own and holds anything; returns how many bytes
    /// at its beginning are the answer.
    fn serve(&self, request: Self::Request, buffer: &mut [u8]) -> Result<usize, Error>;

    /// Gives the answer: on the worker, or on the watchdog after the deadline.
    fn answer(&self, request: Self::Request, reply: Self::Reply, outcome: Result<&[u8], Error>);
}

/// The size of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads, 1–[`WORKERS_MAX`].
    pub workers: usize,
    /// From submission to the answer.
    pub deadline: Duration,
    /// Of each worker's buffer. Untouched pages cost nothing.
    pub buffer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { workers: 16, deadline: Duration::from_secs(30), buffer_bytes: 1 << 20 }
    }
}

/// What the workers are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Workers that wait for requests.
    pub idle: usize,
    /// Workers on a request that is still waited for.
    pub busy: usize,
    /// Workers on a request whose deadline has passed.
    pub stuck: usize,
    /// Requests that no worker has taken yet.
    pub queued: usize,
}

/// The threads and their queues. Dropping it ends idle workers at once and the others when they are
/// done; requests that still wait are dropped with their replies.
pub struct Pool<S: Service> {
    shared: Arc<Shared<S>>,
}

impl<S: Service> Pool<S> {
    /// Starts the workers and the watchdog. Fails when threads cannot be made.
    pub fn start(service: S, options: Options) -> io::Result<Self> {
        let workers = options.workers.clamp(1, WORKERS_MAX);
        let shared = Arc::new(Shared {
            service,
            deadline: options.deadline,
            slots_per_device: (workers / 2).max(1),
            state: Mutex::new(State {
                lanes: Vec::new(),
                turn: 0,
                running: (0..workers).map(|_| None).collect(),
                blocked: 0,
                stopping: false,
            }),
            work: Condvar::new(),
            space: Condvar::new(),
            watch: Condvar::new(),
        });
        let pool = Self { shared };
        for worker in 0..workers {
            let shared = Arc::clone(&pool.shared);
            let bytes = options.buffer_bytes;
            thread::Builder::new()
                .name(format!("musefs-read-{worker}"))
                .spawn(move || shared.work(worker, &mut vec![0; bytes]))?;
        }
        let shared = Arc::clone(&pool.shared);
        thread::Builder::new().name("musefs-watchdog".into()).spawn(move || shared.watch())?;
        Ok(pool)
    }

    /// Hands in a request. Waits while the queue of its device is full, which is the back-pressure on
    /// clients; a full queue of a device that is stuck answers [`Error::Deadline`] at once.
    pub fn submit(&self, device: Device, request: S::Request, reply: S::Reply) {
        let shared = &*self.shared;
        let deadline = Instant::now() + shared.deadline;
        let mut state = shared.lock();
        let lane = state.lane(device);
        while state.lanes[lane].waiting.len() >= WORKER_QUEUE_MAX {
            if state.is_stuck(lane) {
                drop(state);
                return shared.answer(request, reply, Err(Error::Deadline));
            }
            state.blocked += 1;
            state = shared.space.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.blocked -= 1;
        }
        state.lanes[lane].waiting.push_back(Waiting { request, reply, deadline });
        let runnable = state.lanes[lane].running < shared.slots_per_device;
        drop(state);
        if runnable {
            shared.work.notify_one();
        }
    }

    /// What the workers are doing now.
    pub fn stats(&self) -> Stats {
        let state = self.shared.lock();
        let mut stats = Stats { queued: state.lanes.iter().map(|lane| lane.waiting.len()).sum(), ..Stats::default() };
        for running in &state.running {
            match running {
                None => stats.idle += 1,
                Some(Running { reply: Some(_), .. }) => stats.busy += 1,
                Some(Running { reply: None, .. }) => stats.stuck += 1,
            }
        }
        stats
    }
}

impl<S: Service> Drop for Pool<S> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stopping = true;
        let waiting: Vec<_> = state.lanes.iter_mut().map(|lane| std::mem::take(&mut lane.waiting)).collect();
        drop(state);
        self.shared.work.notify_all();
        self.shared.watch.notify_all();
        drop(waiting);
    }
}

struct Shared<S: Service> {
    service: S,
    deadline: Duration,
    slots_per_device: usize,
    state: Mutex<State<S>>,
    /// A request can be taken.
    work: Condvar,
    /// A full queue has room again.
    space: Condvar,
    /// The pool ends.
    watch: Condvar,
}

struct State<S: Service> {
    /// One for each device that was ever asked for: as many as there are roots.
    lanes: Vec<Lane<S>>,
    /// The lane that is asked first by the next idle worker: devices take turns.
    turn: usize,
    /// What each worker is on.
    running: Box<[Option<Running<S>>]>,
    /// Submitters that wait for room.
    blocked: usize,
    stopping: bool,
}

struct Lane<S: Service> {
    device: Device,
    /// In order of submission, so also of deadlines.
    waiting: VecDeque<Waiting<S>>,
    /// Workers on requests of this device, stuck ones included.
    running: usize,
}

struct Waiting<S: Service> {
    request: S::Request,
    reply: S::Reply,
    deadline: Instant,
}

struct Running<S: Service> {
    lane: usize,
    request: S::Request,
    /// None: the watchdog has answered, the worker is stuck.
    reply: Option<S::Reply>,
    deadline: Instant,
}

impl<S: Service> State<S> {
    fn lane(&mut self, device: Device) -> usize {
        self.lanes.iter().position(|lane| lane.device == device).unwrap_or_else(|| {
            self.lanes.push(Lane { device, waiting: VecDeque::new(), running: 0 });
            self.lanes.len() - 1
        })
    }

    fn is_stuck(&self, lane: usize) -> bool {
        self.running.iter().flatten().any(|running| running.lane == lane && running.reply.is_none())
    }

    /// Gives `worker` the next request of a device that has a slot left.
    fn take(&mut self, worker: usize, slots_per_device: usize) -> Option<S::Request> {
        let lanes = self.lanes.len();
        let lane = (self.turn..self.turn + lanes)
            .map(|turn| turn % lanes)
            .find(|&lane| !self.lanes[lane].waiting.is_empty() && self.lanes[lane].running < slots_per_device)?;
        self.turn = lane + 1;
        let Waiting { request, reply, deadline } = self.lanes[lane].waiting.pop_front()?;
        self.lanes[lane].running += 1;
        self.running[worker] = Some(Running { lane, request, reply: Some(reply), deadline });
        Some(request)
    }

    /// Frees the slot of `worker`; the reply, unless the watchdog was faster.
    fn finish(&mut self, worker: usize) -> Option<S::Reply> {
        let done = self.running[worker].take()?;
        self.lanes[done.lane].running -= 1;
        done.reply
    }

    /// Takes every reply whose deadline has passed into `expired`; the earliest deadline left.
    fn expire(&mut self, now: Instant, expired: &mut Vec<(S::Request, S::Reply)>) -> Option<Instant> {
        for lane in &mut self.lanes {
            while let Some(late) = lane.waiting.pop_front_if(|waiting| waiting.deadline <= now) {
                expired.push((late.request, late.reply));
            }
        }
        for running in self.running.iter_mut().flatten().filter(|running| running.deadline <= now) {
            expired.extend(running.reply.take().map(|reply| (running.request, reply)));
        }
        let waiting = self.lanes.iter().filter_map(|lane| lane.waiting.front()).map(|waiting| waiting.deadline);
        let running = self.running.iter().flatten().filter(|running| running.reply.is_some());
        waiting.chain(running.map(|running| running.deadline)).min()
    }
}

impl<S: Service> Shared<S> {
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Life of a worker.
    fn work(&self, worker: usize, buffer: &mut [u8]) {
        while let Some(request) = self.next(worker) {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.service.serve(request, buffer)));
            let reply = self.lock().finish(worker);
            let Some(reply) = reply else { continue };
            match outcome {
                Ok(outcome) => self.answer(request, reply, outcome.map(|len| &buffer[..len.min(buffer.len())])),
                Err(_) => self.answer(request, reply, Err(Error::Panicked)),
            }
        }
    }

    fn next(&self, worker: usize) -> Option<S::Request> {
        let mut state = self.lock();
        loop {
            if state.stopping {
                return None;
            }
            if let Some(request) = state.take(worker, self.slots_per_device) {
                if state.blocked > 0 {
                    self.space.notify_all();
                }
                return Some(request);
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Life of the watchdog. It needs no wake-up by a submission: nothing that is submitted while it
    /// sleeps for one deadline can be late before it looks again.
    fn watch(&self) {
        let mut expired = Vec::new();
        let mut state = self.lock();
        while !state.stopping {
            let now = Instant::now();
            let next = state.expire(now, &mut expired).unwrap_or(now + self.deadline);
            if expired.is_empty() {
                let pause = next.saturating_duration_since(now);
                state = self.watch.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if state.blocked > 0 {
                self.space.notify_all();
            }
            drop(state);
            for (request, reply) in expired.drain(..) {
                self.answer(request, reply, Err(Error::Deadline));
            }
            state = self.lock();
        }
    }

    /// A panic while answering drops the reply, which is an answer of its own kind; the thread lives on.
    fn answer(&self, request: S::Request, reply: S::Reply, outcome: Result<&[u8], Error>) {
        if catch_unwind(AssertUnwindSafe(|| self.service.answer(request, reply, outcome))).is_err() {
            tracing::error!("a panic while answering a request");
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);
    const DEAD: Device = Device(1);
    const ALIVE: Device = Device(2);

    #[derive(Clone, Copy)]
    enum Request {
        Byte(u8),
        Panic,
        /// Tells that it has started, then waits until the gate is opened.
        Gate,
    }

    struct Disk {
        started: Sender<()>,
        gate: Receiver<()>,
    }

    impl Service for Disk {
        type Request = Request;
        type Reply = Sender<Result<Vec<u8>, String>>;

        fn serve(&self, request: Request, buffer: &mut [u8]) -> Result<usize, Error> {
            match request {
                Request::Byte(byte) => {
                    buffer[0] = byte;
                    Ok(1)
                }
                Request::Panic => panic!("on purpose"),
                Request::Gate => {
                    self.started.send(()).unwrap();
                    let _ = self.gate.recv();
                    Ok(0)
                }
            }
        }

        fn answer(&self, _: Request, reply: Self::Reply, outcome: Result<&[u8], Error>) {
            // A test that no longer listens is no concern of the pool.
            let _ = reply.send(outcome.map(<[u8]>::to_vec).map_err(|error| error.to_string()));
        }
    }

    struct Rig {
        pool: Pool<Disk>,
        started: Receiver<()>,
        gate: Option<Sender<()>>,
    }

    impl Rig {
        fn new(workers: usize, deadline: Duration) -> Self {
            let (tell, started) = unbounded();
            let (open, gate) = bounded(0);
            let options = Options { workers, deadline, buffer_bytes: 16 };
            let pool = Pool::start(Disk { started: tell, gate }, options).unwrap();
            Self { pool, started, gate: Some(open) }
        }

        fn submit(&self, device: Device, request: Request) -> Receiver<Result<Vec<u8>, String>> {
            let (reply, answer) = bounded(1);
            self.pool.submit(device, request, reply);
            answer
        }

        fn ask(&self, device: Device, request: Request) -> Result<Vec<u8>, String> {
            self.submit(device, request).recv_timeout(LIMIT).unwrap()
        }

        fn wait(&self, wanted: impl Fn(Stats) -> bool) {
            let end = Instant::now() + LIMIT;
            while !wanted(self.pool.stats()) {
                assert!(Instant::now() < end, "{:?}", self.pool.stats());
                thread::yield_now();
            }
        }
    }

    #[test]
    fn answers_what_the_service_says() {
        let rig = Rig::new(2, LIMIT);
        let answers: Vec<_> = (0..200).map(|byte| rig.submit(ALIVE, Request::Byte(byte))).collect();
        for (byte, answer) in answers.iter().enumerate() {
            assert_eq!(answer.recv_timeout(LIMIT).unwrap(), Ok(vec![byte as u8]));
        }
        rig.wait(|stats| stats == Stats { idle: 2, ..Stats::default() });
    }

    #[test]
    fn a_panic_is_answered_and_the_worker_lives_on() {
        let rig = Rig::new(1, LIMIT);
        assert_eq!(rig.ask(ALIVE, Request::Panic), Err(Error::Panicked.to_string()));
        assert_eq!(rig.ask(ALIVE, Request::Byte(7)), Ok(vec![7]));
    }

    #[test]
    fn a_device_has_half_of_the_workers() {
        for (workers, slots) in [(1, 1), (2, 1), (3, 1), (4, 2), (9, 4)] {
            let mut rig = Rig::new(workers, LIMIT);
            let answers: Vec<_> = (0..slots + 3).map(|_| rig.submit(DEAD, Request::Gate)).collect();
            (0..slots).for_each(|_| rig.started.recv_timeout(LIMIT).unwrap());
            assert_eq!(rig.pool.stats(), Stats { idle: workers - slots, busy: slots, stuck: 0, queued: 3 });
            if workers > 1 {
                assert_eq!(rig.ask(ALIVE, Request::Byte(1)), Ok(vec![1]), "with {workers} workers");
            }
            rig.gate = None;
            answers.iter().for_each(|answer| assert_eq!(answer.recv_timeout(LIMIT).unwrap(), Ok(vec![])));
        }
    }

    #[test]
    fn a_late_request_is_answered_and_its_worker_stays_stuck_until_it_returns() {
        let mut rig = Rig::new(2, Duration::from_millis(20));
        let running = rig.submit(DEAD, Request::Gate);
        let waiting = rig.submit(DEAD, Request::Byte(1));
        let late = Err(Error::Deadline.to_string());
        assert_eq!(running.recv_timeout(LIMIT).unwrap(), late);
        assert_eq!(waiting.recv_timeout(LIMIT).unwrap(), late);
        assert_eq!(rig.pool.stats(), Stats { idle: 1, busy: 0, stuck: 1, queued: 0 });
        rig.gate = None;
        rig.wait(|stats| stats.idle == 2);
        assert!(running.recv_timeout(LIMIT).is_err(), "answered once only");
    }

    #[test]
    fn a_full_queue_holds_the_submitter_back_and_a_stuck_one_refuses() {
        let mut rig = Rig::new(2, LIMIT);
        let gate = rig.gate.take();
        let _running = rig.submit(DEAD, Request::Gate);
        rig.started.recv_timeout(LIMIT).unwrap();
        let queued: Vec<_> = (0..WORKER_QUEUE_MAX).map(|_| rig.submit(DEAD, Request::Byte(1))).collect();
        assert_eq!(rig.pool.stats().queued, WORKER_QUEUE_MAX);
        thread::scope(|scope| {
            let one_more = scope.spawn(|| rig.submit(DEAD, Request::Byte(2)));
            while rig.pool.shared.lock().blocked == 0 {
                thread::yield_now();
            }
            assert_eq!(rig.ask(ALIVE, Request::Byte(3)), Ok(vec![3]), "another device goes on");
            drop(gate);
            assert_eq!(one_more.join().unwrap().recv_timeout(LIMIT).unwrap(), Ok(vec![2]));
        });
        queued.iter().for_each(|answer| assert_eq!(answer.recv_timeout(LIMIT).unwrap(), Ok(vec![1])));

        let mut state = rig.pool.shared.lock();
        let lane = state.lane(DEAD);
        state.running[0] =
            Some(Running { lane, request: Request::Gate, reply: None, deadline: Instant::now() + LIMIT });
        state.lanes[lane].running = rig.pool.shared.slots_per_device;
        for _ in 0..WORKER_QUEUE_MAX {
            let (reply, _) = bounded(1);
            state.lanes[lane].waiting.push_back(Waiting {
                request: Request::Byte(0),
                reply,
                deadline: Instant::now() + LIMIT,
            });
        }
        drop(state);
        assert_eq!(rig.ask(DEAD, Request::Byte(4)), Err(Error::Deadline.to_string()));
    }

    #[test]
    fn a_dropped_pool_lets_go_of_those_who_wait() {
        let mut rig = Rig::new(2, LIMIT);
        let running = rig.submit(DEAD, Request::Gate);
        rig.started.recv_timeout(LIMIT).unwrap();
        let waiting = rig.submit(DEAD, Request::Byte(1));
        drop(rig.pool);
        assert!(waiting.recv_timeout(LIMIT).is_err());
        rig.gate = None;
        assert_eq!(running.recv_timeout(LIMIT).unwrap(), Ok(vec![]));
    }
}
