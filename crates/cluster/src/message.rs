//! What hosts tell each other: the first host (rank 0) leads, the others tell it and are told.
//!
//! Messages are documents in MPI's own messages; MPI finds the hosts, carries what is sent, and starts and ends the processes.

use fathom_record::Record;
use serde::{Deserialize, Serialize};

/// From any host to another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Message {
    /// To the first and back: it is there, and nothing else is new.
    Alive,
    /// To the first: nothing stands in the way of a run here.
    Ready(Box<Ready>),
    /// To the first: it cannot run here.
    Refused(Refused),
    /// To the first: this stage of its own is opened, laid out and armed.
    Armed(usize),
    /// To the first: its run is over.
    Ended(Box<Ended>),
    /// From the first: all hosts are ready; open and lay out.
    Go,
    /// From the first: the stage that is armed begins at this moment of the receiver's own clock, in ns.
    Begin(u64),
    /// From the first: end what runs, and begin no more.
    Stop,
    /// From the first: all is told; leave.
    Leave,
}

/// What a host would do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ready {
    /// Its name.
    pub host: String,
    /// Its workload as it was read, but for what chance gave: the same on all hosts.
    pub workload: String,
    /// Names of the stages and repeats that it has a part in, in order.
    pub stages: Vec<String>,
    /// What its user should know.
    pub told: Vec<String>,
    /// Of a file that names hosts: labels that it does the work of.
    pub labels: Vec<String>,
    /// All that have any work.
    pub labels_all: Vec<String>,
}

/// Why a host cannot run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// Its name.
    pub host: String,
    /// The exit code that says so.
    pub code: u8,
    /// What a person reads.
    pub message: String,
}

/// What came of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ended {
    /// Its record; none where it failed before it measured anything.
    pub record: Option<Record>,
    /// What it is called among the host's own stored runs.
    pub stored: Option<String>,
    /// What it failed with.
    pub failed: Option<Refused>,
}
