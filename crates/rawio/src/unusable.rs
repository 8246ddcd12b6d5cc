//! Why a ring cannot be used here, and what would change that.
//!
//! The kernel says no with a number. What is behind it stands elsewhere: in a setting, in a limit of the process, in the
//! filter that a container has put over it. Those are looked up when it has said no, and not before.

use std::fs;
use std::io;

use fathom_units::Bytes;

/// Why a ring cannot be used here.
#[derive(Debug, thiserror::Error)]
pub enum RingUnusable {
    /// The kernel has none.
    #[error("this kernel has no {ring}")]
    Missing {
        /// `io_uring` or `libaio`.
        ring: &'static str,
    },
    /// Switched off by the administrator.
    #[error("io_uring is switched off here (kernel.io_uring_disabled is {setting})")]
    Disabled {
        /// Value of the setting.
        setting: String,
    },
    /// Forbidden to this process.
    #[error("io_uring is forbidden to this process (a seccomp filter, as containers have it)")]
    Forbidden,
    /// The memory of a ring is more than this process may lock.
    #[error(
        "io_uring with {slots} requests outstanding takes more locked memory than is left of this user's {limit} (`ulimit -l`)"
    )]
    LockedMemory {
        /// Requests asked for.
        slots: u32,
        /// What the processes of the user may lock, all together.
        limit: Bytes,
    },
    /// The machine's requests of libaio are taken.
    #[error(
        "libaio has no room for {slots} more requests: {taken} of this machine's {most} are taken (fs.aio-nr, fs.aio-max-nr)"
    )]
    NoRoom {
        /// Requests asked for.
        slots: u32,
        /// Those that programs have already.
        taken: String,
        /// Those that all programs may have together.
        most: String,
    },
    /// The kernel thread that takes submissions cannot be there.
    #[error(
        "io_uring's kernel thread on processor {processor}: there is no such processor, or this process may not run on it"
    )]
    NoProcessor {
        /// The number asked for.
        processor: u32,
    },
    /// Too old to be used.
    #[error("this kernel's io_uring is too old: it cannot wait with a time limit (Linux 5.11 can)")]
    TooOld,
    /// Anything else.
    #[error("{ring} with {slots} requests outstanding: {source}")]
    Other {
        /// `io_uring` or `libaio`.
        ring: &'static str,
        /// Requests asked for.
        slots: u32,
        /// What the kernel said.
        source: io::Error,
    },
}

impl RingUnusable {
    /// What would let the ring be used, where that is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Disabled { setting } if setting == "1" => Some(
                "run as root or in the group of `kernel.io_uring_group`, or have root run \
                 `sysctl kernel.io_uring_disabled=0`",
            ),
            Self::Disabled { .. } => Some("have root run `sysctl kernel.io_uring_disabled=0`"),
            Self::Forbidden => Some(
                "run outside the container, or with a filter that lets `io_uring_setup`, `io_uring_enter` and \
                 `io_uring_register` pass (docker: `--security-opt seccomp=PROFILE.json`)",
            ),
            Self::LockedMemory { .. } => Some(
                "raise the limit (`ulimit -l`, systemd's `LimitMEMLOCK=`, docker's `--ulimit memlock=`), \
                 run as root, or lower the depth",
            ),
            Self::NoRoom { .. } => {
                Some("have root raise `sysctl fs.aio-max-nr`, or lower the depth")
            }
            Self::Missing { ring: "libaio" } => Some(
                "choose plain reads and writes (`backend = \"sync\"`, fio's `psync`), which every kernel has; they are one at a time for each \
                 worker, so take more workers in place of depth",
            ),
            Self::NoProcessor { .. } => Some(
                "name one that `nproc` counts, from 0 on, or leave it to the kernel (`submitter = true`, fio: without \
                 `sqthread_poll_cpu`)",
            ),
            _ => None,
        }
    }

    /// What is behind an error of `io_setup`.
    pub(crate) fn libaio(slots: u32, source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::ENOSYS) => Self::Missing { ring: "libaio" },
            Some(libc::EAGAIN) => {
                let setting = |name| setting(name).unwrap_or_else(|| "?".to_owned());
                Self::NoRoom {
                    slots,
                    taken: setting("/proc/sys/fs/aio-nr"),
                    most: setting("/proc/sys/fs/aio-max-nr"),
                }
            }
            _ => Self::Other {
                ring: "libaio",
                slots,
                source,
            },
        }
    }

    /// What is behind an error of `io_uring_setup`.
    pub(crate) fn io_uring(slots: u32, processor: Option<u32>, source: io::Error) -> Self {
        Surroundings::look().explain(slots, processor, source)
    }
}

/// What a process may do about rings.
#[derive(Debug, Clone, Default)]
struct Surroundings {
    /// `kernel.io_uring_disabled`, which Linux 6.6 and later have.
    disabled: Option<String>,
    /// Whether a seccomp filter judges its system calls.
    filtered: bool,
    /// The memory that it may lock; `None` where that has no limit.
    lockable: Option<Bytes>,
}

impl Surroundings {
    fn look() -> Self {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        Self {
            disabled: setting("/proc/sys/kernel/io_uring_disabled"),
            filtered: status.lines().any(|line| line == "Seccomp:\t2"),
            lockable: lockable(),
        }
    }

    fn explain(self, slots: u32, processor: Option<u32>, source: io::Error) -> RingUnusable {
        match (source.raw_os_error(), self.disabled, self.lockable) {
            (Some(libc::EPERM | libc::EACCES), Some(setting), _) if setting != "0" => {
                RingUnusable::Disabled { setting }
            }
            (Some(libc::EPERM | libc::EACCES), ..) => RingUnusable::Forbidden,
            // Some filters say that there is no such call. A kernel that can switch io_uring off has it.
            (Some(libc::ENOSYS), Some(_), _) if self.filtered => RingUnusable::Forbidden,
            (Some(libc::ENOSYS), ..) => RingUnusable::Missing { ring: "io_uring" },
            (Some(libc::ENOMEM), _, Some(limit)) => RingUnusable::LockedMemory { slots, limit },
            (Some(libc::EINVAL), ..) if processor.is_some() => RingUnusable::NoProcessor {
                processor: processor.unwrap_or_default(),
            },
            _ => RingUnusable::Other {
                ring: "io_uring",
                slots,
                source,
            },
        }
    }
}

/// The value of a setting of the kernel, if it has it.
fn setting(path: &str) -> Option<String> {
    let value = fs::read_to_string(path).ok()?;
    Some(value.trim().to_owned())
}

/// Memory that this process may lock (`RLIMIT_MEMLOCK`); `None` where it has no limit.
pub fn lockable() -> Option<Bytes> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid rlimit to be written.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } == 0;
    (told && limit.rlim_cur != libc::RLIM_INFINITY).then(|| Bytes::new(limit.rlim_cur))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(errno: i32, around: &Surroundings, expected: &str, remedy: &str) {
        let error = io::Error::from_raw_os_error(errno);
        let reason = around.clone().explain(64, None, error);
        assert_eq!(reason.to_string(), expected);
        let told = reason.remedy().unwrap_or_default();
        assert!(
            told.contains(remedy) && told.is_empty() == remedy.is_empty(),
            "{told}"
        );
    }

    #[test]
    fn what_the_kernel_refuses_is_told_with_its_cause() {
        let plain = Surroundings {
            disabled: Some("0".to_owned()),
            ..Surroundings::default()
        };
        let old = Surroundings::default();
        let filtered = Surroundings {
            filtered: true,
            ..plain.clone()
        };
        let limited = Surroundings {
            lockable: Some(Bytes::kib(64)),
            ..plain.clone()
        };
        let disabled = |setting: &str| Surroundings {
            disabled: Some(setting.to_owned()),
            ..Surroundings::default()
        };
        let forbidden =
            "io_uring is forbidden to this process (a seccomp filter, as containers have it)";
        for around in [&plain, &old, &filtered] {
            check(libc::EPERM, around, forbidden, "--security-opt seccomp=");
        }
        check(libc::ENOSYS, &filtered, forbidden, "io_uring_enter");
        check(libc::ENOSYS, &plain, "this kernel has no io_uring", "");
        check(libc::ENOSYS, &old, "this kernel has no io_uring", "");
        let off = "io_uring is switched off here (kernel.io_uring_disabled is 1)";
        check(libc::EPERM, &disabled("1"), off, "kernel.io_uring_group");
        let off = "io_uring is switched off here (kernel.io_uring_disabled is 2)";
        check(libc::EPERM, &disabled("2"), off, "have root run `sysctl");
        let locked = "io_uring with 64 requests outstanding takes more locked memory than is left of this user's \
                      64 KiB (`ulimit -l`)";
        check(libc::ENOMEM, &limited, locked, "LimitMEMLOCK=");
        let memory = "io_uring with 64 requests outstanding: Cannot allocate memory (os error 12)";
        check(libc::ENOMEM, &plain, memory, "");
    }

    #[test]
    fn a_processor_that_is_not_there_may_be_left_to_the_kernel() {
        let reason = Surroundings::default().explain(
            64,
            Some(99),
            io::Error::from_raw_os_error(libc::EINVAL),
        );
        assert!(matches!(reason, RingUnusable::NoProcessor { .. }));
        assert!(reason.remedy().unwrap().contains("`submitter = true`"));
    }

    #[test]
    fn without_libaio_plain_reads_and_writes_are_named() {
        let reason = RingUnusable::libaio(64, io::Error::from_raw_os_error(libc::ENOSYS));
        assert_eq!(reason.to_string(), "this kernel has no libaio");
        assert!(reason.remedy().unwrap().contains("`psync`"));
    }

    #[test]
    fn requests_of_libaio_that_are_taken_are_counted() {
        let reason = RingUnusable::libaio(64, io::Error::from_raw_os_error(libc::EAGAIN));
        let most = setting("/proc/sys/fs/aio-max-nr").unwrap();
        let text = reason.to_string();
        assert!(
            text.contains(&format!("of this machine's {most}")),
            "{text}"
        );
        assert!(reason.remedy().unwrap().contains("fs.aio-max-nr"));
    }
}
