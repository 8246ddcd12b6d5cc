//! NUMA nodes of a job: on whose processors its workers run, and where their memory lies.
//!
//! Nodes are looked up on the machine that runs the job. What it does not have is told before anything is written.

use std::collections::BTreeSet;
use std::io;

use fathom_rawio::{self as rawio, MemoryMode};
use fathom_workload::{Job, MemoryPolicy, NodeSet};

use crate::{About, Capability, EngineError};

/// What a job asks for, in this machine's nodes.
#[derive(Debug, Default)]
struct Places {
    /// Nodes on whose processors its workers run; empty: any.
    nodes: Vec<u32>,
    /// Where their memory lies; `None`: where the program's does.
    memory: Option<(MemoryMode, Vec<u32>)>,
}

/// Looks whether this machine has the nodes that a job asks for.
///
/// # Errors
/// [`EngineError::Unsupported`] where it has not.
pub(crate) fn check(job: &Job) -> Result<(), EngineError> {
    places(job).map(drop)
}

/// Puts the calling thread, and the memory that it will touch, where its job wants them.
///
/// # Errors
/// What this machine does not have, or does not allow.
pub(crate) fn place(job: &Job) -> Result<(), EngineError> {
    let Places { nodes, memory } = places(job)?;
    if !nodes.is_empty() {
        run_on_nodes(&nodes).map_err(|why| {
            let what = format!("running on the processors of NUMA nodes {nodes:?}");
            refused(job, &what, why.to_string())
        })?;
    }
    if let Some((mode, nodes)) = memory {
        rawio::place_memory(mode, &nodes).map_err(|why| {
            let what = format!("memory of NUMA nodes {nodes:?}");
            refused(job, &what, why.to_string())
        })?;
    }
    Ok(())
}

fn run_on_nodes(nodes: &[u32]) -> io::Result<()> {
    let mut processors = Vec::new();
    for node in nodes {
        processors.extend(rawio::processors_of_node(*node)?);
    }
    if processors.is_empty() {
        return Err(io::Error::other("they have no processors"));
    }
    rawio::run_on(&processors)
}

fn places(job: &Job) -> Result<Places, EngineError> {
    let process = &job.features.process;
    let mut places = Places::default();
    if process.nodes.is_none() && process.memory == MemoryPolicy::Default {
        return Ok(places);
    }
    let present = rawio::memory_nodes().map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "the kernel has no NUMA".to_owned(),
            _ => format!("the kernel does not say which nodes there are: {error}"),
        };
        refused(job, "a placement on NUMA nodes", why)
    })?;
    let found =
        |what: &str, set: &NodeSet| resolve(set, &present).map_err(|why| refused(job, what, why));
    if let Some(set) = &process.nodes {
        places.nodes = found("running on NUMA nodes", set)?;
    }
    places.memory = match &process.memory {
        MemoryPolicy::Default => None,
        MemoryPolicy::Local => Some((MemoryMode::Local, Vec::new())),
        MemoryPolicy::Prefer(node) => {
            let set = NodeSet::Only(BTreeSet::from([*node]));
            let nodes = found("memory of a preferred NUMA node", &set)?;
            Some((MemoryMode::Prefer, nodes))
        }
        MemoryPolicy::Bind(set) => {
            let nodes = found("memory bound to NUMA nodes", set)?;
            Some((MemoryMode::Bind, nodes))
        }
        MemoryPolicy::Interleave(set) => {
            let nodes = found("memory interleaved over NUMA nodes", set)?;
            Some((MemoryMode::Interleave, nodes))
        }
    };
    Ok(places)
}

/// The nodes of `set` among those present, at least one; or why there are none.
fn resolve(set: &NodeSet, present: &[u32]) -> Result<Vec<u32>, String> {
    let (NodeSet::Only(named) | NodeSet::AllBut(named)) = set;
    let have = || format!("the nodes with memory that it may use are {present:?}");
    if let Some(missing) = named.iter().find(|node| !present.contains(node)) {
        return Err(format!("node {missing} is not there; {}", have()));
    }
    let wanted = matches!(set, NodeSet::Only(_));
    let nodes = present.iter().copied();
    let nodes: Vec<u32> = nodes
        .filter(|node| named.contains(node) == wanted)
        .collect();
    if nodes.is_empty() {
        return Err(format!("no node is left; {}", have()));
    }
    Ok(nodes)
}

fn refused(job: &Job, what: &str, why: String) -> EngineError {
    EngineError::Unsupported {
        capability: Capability::NumaNodes,
        about: About::Job(job.name.clone()),
        what: format!("job `{}`: {what}", job.name),
        why,
        remedy: "leave it out, or name nodes that are there; \
                 /sys/devices/system/node/has_memory lists those of this machine"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_resolved_among_the_nodes_present() {
        let only = |nodes: &[u32]| NodeSet::Only(nodes.iter().copied().collect());
        let but = |nodes: &[u32]| NodeSet::AllBut(nodes.iter().copied().collect());
        for (set, expected) in [
            (only(&[0]), Ok(&[0][..])),
            (only(&[0, 8]), Ok(&[0, 8])),
            (NodeSet::ALL, Ok(&[0, 1, 8])),
            (but(&[1]), Ok(&[0, 8])),
            (only(&[0, 2]), Err("node 2 is not there")),
            (but(&[9]), Err("node 9 is not there")),
            (but(&[0, 1, 8]), Err("no node is left")),
            (only(&[]), Err("no node is left")),
        ] {
            match (resolve(&set, &[0, 1, 8]), expected) {
                (Ok(nodes), Ok(expected)) => assert_eq!(nodes, expected, "{set:?}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{set:?}: {why}"),
                (found, expected) => panic!("{set:?}: {found:?}, not {expected:?}"),
            }
        }
    }
}
