//! Where a job's workers run, when they may begin, and what they do to other jobs.

use std::collections::BTreeSet;

use fathom_units::Bytes;

use super::IoPriority;

/// Highest number of a NUMA node that Linux is built for (`CONFIG_NODES_SHIFT` is 10 at most).
pub const NODE_MAX: u32 = 1023;

/// Placement and order of a job's workers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Processors that its workers may run on, by number; empty: any.
    pub processors: Vec<u32>,
    /// How the processors are shared out among the workers.
    pub sharing: ProcessorSharing,
    /// NUMA nodes on whose processors its workers run, instead of [`Self::processors`] where both are given; `None`: any.
    pub nodes: Option<NodeSet>,
    /// On which NUMA nodes the memory of its workers lies, that of their buffers above all.
    pub memory: MemoryPolicy,
    /// Memory that each of its workers keeps from everything else in the machine; zero: none.
    pub locked_memory: Bytes,
    /// Number of the user that its workers open their files and run as; `None`: as the program itself.
    pub user: Option<u32>,
    /// The same of the group.
    pub user_group: Option<u32>,
    /// Nice value of its workers; 0: as the program itself.
    pub nice: i32,
    /// I/O priority of its workers; `None`: as the kernel has it.
    pub io_priority: Option<ThreadPriority>,
    /// The kernel's I/O scheduler that the disks under its files are switched to before its first I/O, and left with.
    pub scheduler: Option<String>,
    /// Name of the job of the same stage whose end it waits for before it begins.
    pub after: Option<String>,
    /// What else ends when it ends.
    pub ends: EndsOthers,
    /// What else ends when one of its workers ends by an error, where that does not end the run anyway.
    pub ends_on_error: EndsOthers,
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

/// NUMA nodes, by number up to [`NODE_MAX`]. What a machine has is looked up where the job runs: it may be read on another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeSet {
    /// These, of which each must be there.
    Only(BTreeSet<u32>),
    /// All that the machine has but these; all, where there are none.
    AllBut(BTreeSet<u32>),
}

impl NodeSet {
    /// All nodes of the machine.
    pub const ALL: Self = Self::AllBut(BTreeSet::new());
}

/// From which NUMA nodes a thread gets its memory, as `set_mempolicy(2)` takes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MemoryPolicy {
    /// As the program itself has it.
    #[default]
    Default,
    /// From the node on which the thread runs, even where the program has it otherwise.
    Local,
    /// From this node, and from others where it has none left.
    Prefer(u32),
    /// From these nodes alone.
    Bind(NodeSet),
    /// From these nodes, page after page in turn.
    Interleave(NodeSet),
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

impl ThreadPriority {
    /// What the thread's I/Os have that are given none of their own; none where a part is out of range.
    pub fn of_ios(self) -> IoPriority {
        IoPriority::new(self.class.into(), self.hint, self.level.into()).unwrap_or_default()
    }
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
