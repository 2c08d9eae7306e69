//! How long the kernel may believe what it was told.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use musefs_core::vfs::Caching;

const BRIEFLY: Duration = Duration::from_secs(1);

/// Times to live. They are long because changes are pushed, and short while pushing fails.
#[derive(Debug)]
pub(crate) struct Trust {
    ttl: Duration,
    pushing_fails: AtomicBool,
}

impl Trust {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, pushing_fails: AtomicBool::new(false) }
    }

    /// Of a name, present or absent.
    pub(crate) fn name(&self, caching: Caching) -> Duration {
        match caching {
            Caching::UntilTold => self.attributes(),
            Caching::Briefly => self.ttl.min(BRIEFLY),
            Caching::Never => Duration::ZERO,
        }
    }

    /// Of the attributes of an inode. A file whose name is not kept has an inode that does not change.
    pub(crate) fn attributes(&self) -> Duration {
        if self.pushing_fails() { self.ttl.min(BRIEFLY) } else { self.ttl }
    }

    pub(crate) fn pushing_fails(&self) -> bool {
        self.pushing_fails.load(Ordering::Relaxed)
    }

    pub(crate) fn set_pushing_fails(&self, fails: bool) {
        self.pushing_fails.store(fails, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_to_live() {
        for (ttl, fails, caching, wanted) in [
            (3600, false, Caching::UntilTold, 3600),
            (3600, false, Caching::Briefly, 1),
            (3600, false, Caching::Never, 0),
            (3600, true, Caching::UntilTold, 1),
            (0, false, Caching::Briefly, 0),
            (0, true, Caching::UntilTold, 0),
        ] {
            let trust = Trust::new(Duration::from_secs(ttl));
            trust.set_pushing_fails(fails);
            assert_eq!(trust.name(caching), Duration::from_secs(wanted), "{ttl} {fails} {caching:?}");
        }
    }
}
