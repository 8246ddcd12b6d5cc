//! I/O priorities of single I/Os.
//!
//! The kernel takes a class, a hint and a level with each asynchronous I/O; its scheduler and the device may serve some
//! before others. Peers give a share of a job's I/O a priority of its own, and compare the latencies.

use fathom_units::Bytes;

/// A priority as the kernel has it (`linux/ioprio.h`): class in bits 13 to 15, hint in bits 3 to 12, level in bits 0 to 2.
/// Zero: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct IoPriority(u16);

impl IoPriority {
    /// Of its parts; `None` where one is out of range: classes are 0 to 3 (none, real time, best effort, idle), hints 0 to
    /// 1023, levels 0 to 7.
    pub fn new(class: u16, hint: u16, level: u16) -> Option<Self> {
        let fits = class <= 3 && hint <= 1023 && level <= 7;
        fits.then_some(Self(class << 13 | hint << 3 | level))
    }

    /// As the kernel takes it.
    pub fn get(self) -> u16 {
        self.0
    }

    /// 0 to 3.
    pub fn class(self) -> u16 {
        self.0 >> 13
    }

    /// 0 to 1023.
    pub fn hint(self) -> u16 {
        self.0 >> 3 & 1023
    }

    /// 0 to 7; 0 comes first.
    pub fn level(self) -> u16 {
        self.0 & 7
    }
}

/// A share of a job's I/Os, and their priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityShare {
    /// Size of the I/Os it is a share of; `None`: any.
    pub size: Option<Bytes>,
    /// Percent of them, 0 to 100; shares of one size are added up in order.
    pub percent: u32,
    /// What they get.
    pub priority: IoPriority,
}

/// Which I/Os get which priority; those of no share get none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Priorities {
    /// Of reads.
    pub read: Vec<PriorityShare>,
    /// Of writes.
    pub write: Vec<PriorityShare>,
}

impl Priorities {
    /// The priority of an I/O of `bytes` for which a number from 0 to 99 was drawn.
    pub fn pick(&self, is_write: bool, bytes: u64, drawn: u32) -> IoPriority {
        let shares = if is_write { &self.write } else { &self.read };
        let mut below = 0;
        for share in shares {
            if share.size.is_none_or(|size| size.get() == bytes) {
                below += share.percent;
                if drawn < below {
                    return share.priority;
                }
            }
        }
        IoPriority::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_added_up_by_size() {
        let (high, low) = (
            IoPriority::new(1, 0, 1).unwrap(),
            IoPriority::new(3, 5, 2).unwrap(),
        );
        assert_eq!((low.class(), low.hint(), low.level()), (3, 5, 2));
        assert_eq!(IoPriority::new(4, 0, 0), None);
        let share = |size, percent, priority| PriorityShare {
            size: Some(Bytes::kib(size)),
            percent,
            priority,
        };
        let priorities = Priorities {
            read: vec![share(64, 25, high), share(64, 75, low)],
            write: Vec::new(),
        };
        let pick = |is_write, kib: u64, drawn| priorities.pick(is_write, kib << 10, drawn);
        assert_eq!(
            [24, 25, 99].map(|drawn| pick(false, 64, drawn)),
            [high, low, low]
        );
        assert_eq!(pick(false, 4, 0), IoPriority::default());
        assert_eq!(pick(true, 64, 0), IoPriority::default());
    }
}
