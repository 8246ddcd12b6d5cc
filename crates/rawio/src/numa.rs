//! NUMA nodes: which there are, their processors, and from which of them a thread gets its memory.
//!
//! Nodes and their processors are files of sysfs (`Documentation/ABI/stable/sysfs-devices-node` of Linux), and those that
//! a thread may use stand in its `status` (`proc_pid_status(5)`, `cpuset(7)`).

use std::fs;
use std::io;

const NODES: &str = "/sys/devices/system/node";

/// Bits of a mask of nodes: as many as Linux is built for at most (`CONFIG_NODES_SHIFT` is 10 at most).
const MASK_BITS: usize = 1024;
const WORD_BITS: usize = libc::c_ulong::BITS as usize;

/// From where a thread gets its memory; the modes of `set_mempolicy(2)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryMode {
    /// From the node on which it runs; takes no nodes.
    Local,
    /// From one node, and from others where it has none left.
    Prefer,
    /// From some nodes alone.
    Bind,
    /// From some nodes in turn.
    Interleave,
}

/// Numbers of the nodes with memory that the calling thread may use, in rising order.
///
/// # Errors
/// `NotFound` where the kernel has no NUMA; others of reading its files.
pub fn memory_nodes() -> io::Result<Vec<u32>> {
    let mut nodes = list(&fs::read_to_string(format!("{NODES}/has_memory"))?)?;
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Mems_allowed_list:"));
    // A kernel without cpusets has no such line, and keeps nobody from a node.
    if let Some(allowed) = allowed {
        let allowed = list(allowed)?;
        nodes.retain(|node| allowed.contains(node));
    }
    Ok(nodes)
}

/// Numbers of the processors of a node that are online, in rising order; a node may have none.
///
/// # Errors
/// `NotFound` where there is no such node; others of reading its file.
pub fn processors_of_node(node: u32) -> io::Result<Vec<u32>> {
    list(&fs::read_to_string(format!("{NODES}/node{node}/cpulist"))?)
}

/// Says from where the calling thread gets the memory that it touches first from now on.
///
/// # Errors
/// Those of `set_mempolicy`: `ENOSYS` where the kernel has no NUMA, `EINVAL` where none of the nodes may be used.
pub fn place_memory(mode: MemoryMode, nodes: &[u32]) -> io::Result<()> {
    let mut mask = [0; MASK_BITS / WORD_BITS];
    for node in nodes {
        let node = *node as usize;
        let word = mask.get_mut(node / WORD_BITS);
        *word.ok_or(io::ErrorKind::InvalidInput)? |= 1 << (node % WORD_BITS);
    }
    let mode = match mode {
        MemoryMode::Local => libc::MPOL_LOCAL,
        MemoryMode::Prefer => libc::MPOL_PREFERRED,
        MemoryMode::Bind => libc::MPOL_BIND,
        MemoryMode::Interleave => libc::MPOL_INTERLEAVE,
    };
    set_policy(mode, &mask)
}

fn set_policy(mode: libc::c_int, mask: &[libc::c_ulong; MASK_BITS / WORD_BITS]) -> io::Result<()> {
    // The kernel takes one off the number of bits that it is given (`get_nodes` of `mm/mempolicy.c`).
    let bits: libc::c_ulong = MASK_BITS as libc::c_ulong + 1;
    // SAFETY: the kernel reads `MASK_BITS` bits of the mask, which has as many and outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), bits) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Numbers of the processors of this machine that are online, in rising order.
///
/// # Errors
/// Where the kernel does not tell.
pub fn online_processors() -> io::Result<Vec<u32>> {
    list(&fs::read_to_string("/sys/devices/system/cpu/online")?)
}

/// The kernel's lists of numbers: `0-3,8`, or nothing.
fn list(text: &str) -> io::Result<Vec<u32>> {
    let number = |text: &str| {
        let number = text.parse::<u32>();
        number.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
    };
    let mut numbers = Vec::new();
    for entry in text.trim().split(',').filter(|entry| !entry.is_empty()) {
        let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
        numbers.extend(number(first)?..=number(last)?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Slots;

    #[test]
    fn lists_of_the_kernel_are_read() {
        for (text, expected) in [
            ("\n", &[][..]),
            ("0\n", &[0]),
            ("\t0-2,8,10-11\n", &[0, 1, 2, 8, 10, 11]),
        ] {
            assert_eq!(list(text).unwrap(), expected, "{text:?}");
        }
        assert!(list("0-x").is_err());
    }

    /// What the kernel says of the policy of the calling thread's memory at `address`.
    fn policy_at(address: usize) -> String {
        let maps = fs::read_to_string("/proc/thread-self/numa_maps").unwrap();
        // A mapping may be one with another below it.
        let starts = maps.lines().filter_map(|line| {
            let (start, rest) = line.split_once(' ')?;
            Some((usize::from_str_radix(start, 16).ok()?, rest))
        });
        let around = starts.filter(|(start, _)| *start <= address).max().unwrap();
        around.1.split(' ').next().unwrap().to_owned()
    }

    #[test]
    fn buffers_lie_where_memory_is_placed() {
        let Ok(nodes) = memory_nodes() else {
            let error = place_memory(MemoryMode::Bind, &[0]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ENOSYS));
            return;
        };
        let node = nodes[0];
        for (mode, nodes, expected) in [
            (MemoryMode::Local, &[][..], "local".to_owned()),
            (MemoryMode::Prefer, &[node], format!("prefer:{node}")),
            (MemoryMode::Bind, &[node], format!("bind:{node}")),
            (
                MemoryMode::Interleave,
                &[node],
                format!("interleave:{node}"),
            ),
        ] {
            let buffers = || {
                place_memory(mode, nodes).unwrap();
                let mut buffers = Slots::new(64, 1 << 16).unwrap();
                policy_at(buffers.buffer(0).as_ptr() as usize)
            };
            let found = std::thread::scope(|scope| scope.spawn(buffers).join().unwrap());
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn nodes_that_do_not_exist_are_an_error() {
        assert!(place_memory(MemoryMode::Bind, &[1023]).is_err());
        assert!(place_memory(MemoryMode::Bind, &[1024]).is_err());
        assert!(place_memory(MemoryMode::Bind, &[]).is_err());
        assert!(processors_of_node(1024).is_err());
    }

    #[test]
    fn every_processor_belongs_to_one_node() {
        let Ok(nodes) = memory_nodes() else { return };
        let mut all: Vec<u32> = nodes
            .iter()
            .flat_map(|node| processors_of_node(*node).unwrap())
            .collect();
        all.sort_unstable();
        let online = online_processors().unwrap();
        // A node without memory may have some of them.
        assert!(
            !all.is_empty() && all.iter().all(|it| online.contains(it)),
            "{all:?}"
        );
        let many = all.len();
        all.dedup();
        assert_eq!(all.len(), many);
    }
}
