//! How the kernel is asked to carry out a job's I/O: advice on files, flags of single requests, set-up of the ring.

/// Largest number of a processor.
pub const PROCESSOR_MAX: u32 = 4095;

/// What is said to the kernel with or before the I/O; nothing by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// What each worker says of its files before its first I/O (`posix_fadvise`; `madvise` of mapped files). It matters to the
    /// page cache alone.
    pub advice: Advice,
    /// Percent of the I/Os whose completion is polled for instead of awaited (`RWF_HIPRI`; `IORING_SETUP_IOPOLL`, where it is
    /// all or none), 0 to 100. It matters to direct I/O alone.
    pub polled: u8,
    /// Buffered I/O leaves nothing in the page cache (`RWF_DONTCACHE`).
    pub uncached: bool,
    /// An I/O that would block fails with `EAGAIN` (`RWF_NOWAIT`).
    pub no_wait: bool,
    /// A write is stored whole or not at all, whatever happens to the machine (`RWF_ATOMIC`). It is direct I/O's alone.
    pub atomic: bool,
    /// Each I/O of this number is handed to a kernel worker at once (`IOSQE_ASYNC`); 0: none is.
    pub async_every: u32,
    /// A kernel thread takes submissions out of the ring, so that no system call is needed (`IORING_SETUP_SQPOLL`).
    pub submitter: Option<Submitter>,
    /// How long what is written is expected to live (`F_SET_RW_HINT`), said of the job's files; `None`: nothing is said.
    pub lifetime: Option<Lifetime>,
}

impl Calls {
    /// Whether anything is asked for beside advice and what is said of the job's files.
    pub const fn has_flags(&self) -> bool {
        self.polled > 0
            || self.uncached
            || self.no_wait
            || self.atomic
            || self.async_every > 0
            || self.submitter.is_some()
    }
}

/// The kernel thread that takes submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Submitter {
    /// The processor it stays on, up to [`PROCESSOR_MAX`]; `None`: any.
    pub processor: Option<u32>,
}

/// How long written data is expected to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Nothing is known of it.
    Unknown,
    /// Short.
    Short,
    /// Longer.
    Medium,
    /// Longer still.
    Long,
    /// The longest.
    Extreme,
}

/// What the kernel is told of the order in which a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Advice {
    /// Nothing: it finds out by itself.
    #[default]
    None,
    /// [`Advice::Random`] where the job's access is random, else [`Advice::Sequential`].
    ByPattern,
    /// At random: nothing is read ahead.
    Random,
    /// In order: more is read ahead.
    Sequential,
    /// Once: what was read is let go of sooner.
    Once,
}
