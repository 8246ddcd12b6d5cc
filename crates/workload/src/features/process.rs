//! Where a job's workers run, when they may begin, and what they do to other jobs.

/// Placement and order of a job's workers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Processors that its workers may run on, by number; empty: any.
    pub processors: Vec<u32>,
    /// How the processors are shared out among the workers.
    pub sharing: ProcessorSharing,
    /// Nice value of its workers; 0: as the program itself.
    pub nice: i32,
    /// I/O priority of its workers; `None`: as the kernel has it.
    pub io_priority: Option<ThreadPriority>,
    /// Name of the job of the same stage whose end it waits for before it begins.
    pub after: Option<String>,
    /// What else ends when it ends.
    pub ends: EndsOthers,
    /// Command of the shell that is run before its first I/O.
    pub command_before: Option<String>,
    /// Command of the shell that is run after its last I/O.
    pub command_after: Option<String>,
}

/// How processors are shared out among workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProcessorSharing {
    /// Every worker may run on all of them.
    #[default]
    Shared,
    /// Each worker gets one of them, in turn.
    Split,
}

/// A priority as `ioprio_set(2)` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadPriority {
    /// 0: none, 1: real time, 2: best effort, 3: idle.
    pub class: u8,
    /// Level within the class, 0 (first) to 7.
    pub level: u8,
    /// Hint for the device, 0 to 1,023; 0: none.
    pub hint: u16,
}

/// What ends when the first worker of a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndsOthers {
    /// Nothing.
    #[default]
    Nothing,
    /// Jobs of its reporting group.
    Group,
    /// All jobs of its stage.
    Stage,
    /// The whole run.
    Run,
}
