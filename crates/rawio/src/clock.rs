//! Time: the run's clock, the wall clock, waiting, and what a thread used of the processor.
//!
//! Every duration in Fathom comes from [`Clock::now`], so that all of them share one source; waiting has its one home
//! here, so that `tidy` can find it.

use std::fs;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use fathom_units::Nanos;

/// The monotonic clock of the run (`CLOCK_MONOTONIC`): never set back, counted from an arbitrary start.
#[derive(Debug, Clone, Copy)]
pub struct Clock;

impl Clock {
    /// The present moment.
    #[inline]
    pub fn now() -> Nanos {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is a valid timespec; CLOCK_MONOTONIC always exists, so the call cannot fail.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

/// Nanoseconds since 1970-01-01 UTC by the wall clock; 0 where it stands before that.
#[expect(clippy::disallowed_methods, reason = "the one home of the wall clock")]
pub fn wall_clock() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}

/// What the clock of this number of Linux's is ahead of the wall clock, in ns; `None` where there is no such clock.
pub fn ahead_of_wall(clock: u32) -> Option<i64> {
    let read = |clock: libc::clockid_t| {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `time` is a valid timespec; a clock that does not exist is told by the result.
        let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
        (result == 0).then(|| time.tv_sec.saturating_mul(1_000_000_000) + time.tv_nsec)
    };
    let number = libc::clockid_t::try_from(clock).ok()?;
    Some(read(number)? - read(libc::CLOCK_REALTIME)?)
}

/// What the run's clock is ahead of the wall clock, in ns, from the quickest of a few readings of both. Whatever slews the wall
/// clock slews the other too, so that this changes where the wall clock is set, or the machine slept.
pub fn ahead_of_wall_clock() -> i64 {
    let tries = (0..8).map(|_| {
        let before = Clock::now();
        let wall = wall_clock();
        let span = Clock::now().saturating_sub(before);
        let at = before.get().saturating_add(span.get() / 2);
        (span, at.cast_signed().saturating_sub(wall.cast_signed()))
    });
    let quickest = tries.min_by_key(|(span, _)| *span);
    quickest.map_or(0, |(_, ahead)| ahead)
}

/// Sleeps until `moment` of [`Clock`], or until a signal is handled by this thread.
pub fn sleep_until(moment: Nanos) {
    let time = timespec(moment);
    // SAFETY: `time` is a valid timespec, and no remaining time is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

/// Lets this thread's sleeps end when they should: the kernel may otherwise be late by 50 µs to save wake-ups.
pub fn precise_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes one number and changes this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
}

/// Lets this thread go ahead of others soon after it wakes up, and be put aside for a short time: it asks the fair scheduler
/// for slices of 0.1 ms, which Linux gives since 6.12. Threads that it starts have the usual ones.
pub fn short_slices() {
    /// `struct sched_attr` of the kernel, in its first form.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    const RESET_ON_FORK: u64 = 1;
    const SLICE_NS: u64 = 100_000;
    // SAFETY: takes numbers alone; 0 is this thread.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_OTHER.cast_unsigned(),
        flags: RESET_ON_FORK,
        nice,
        priority: 0,
        runtime: SLICE_NS,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the attributes are as long as they say, and the kernel only reads them; 0 is this thread. Older kernels take no
    // notice of the slice, or refuse: then everything is as it was.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

pub(crate) fn timespec(time: Nanos) -> libc::timespec {
    libc::timespec {
        tv_sec: (time.get() / 1_000_000_000).cast_signed(),
        tv_nsec: (time.get() % 1_000_000_000).cast_signed(),
    }
}

/// What a thread used of the processor since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadUsage {
    /// User time.
    pub user: Nanos,
    /// System time.
    pub system: Nanos,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// For how long it could have run and other threads had the processors; nothing where the kernel does not tell.
    pub waited: Nanos,
}

/// Use of the processor by the calling thread (`getrusage(RUSAGE_THREAD)`); kernel threads that work for it do not show.
///
/// # Errors
/// Those of `getrusage`.
pub fn thread_usage() -> io::Result<ThreadUsage> {
    // SAFETY: all zeroes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writing.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let time = |time: libc::timeval| {
        Nanos::new(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000)
    };
    Ok(ThreadUsage {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        waited: waited_in(&fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default()),
    })
}

/// The second number of a `schedstat`: time spent waiting on a run queue, in ns (`Documentation/scheduler/sched-stats.rst` of
/// the kernel).
fn waited_in(schedstat: &str) -> Nanos {
    let number = schedstat.split_whitespace().nth(1);
    Nanos::new(number.and_then(|it| it.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_a_run_queue_is_the_second_number() {
        assert_eq!(waited_in("51000 3775199 17\n"), Nanos::new(3_775_199));
        assert_eq!(waited_in(""), Nanos::ZERO);
    }

    #[test]
    fn a_sleep_ends_after_its_moment() {
        let until = Clock::now() + Nanos::from_millis(2);
        while Clock::now() < until {
            sleep_until(until);
        }
        assert!(Clock::now() >= until);
    }

    #[test]
    fn clocks_are_told_by_the_wall_clock() {
        let ahead = ahead_of_wall(libc::CLOCK_MONOTONIC as u32).unwrap();
        let wall = wall_clock().saturating_add_signed(ahead);
        let apart = Clock::now().get().abs_diff(wall);
        assert!(apart < 1_000_000_000, "{apart} ns");
        let none = ahead_of_wall(0).unwrap();
        assert!(none.abs() < 1_000_000_000, "{none} ns");
        assert_eq!(ahead_of_wall(1000), None);
        let apart = ahead_of_wall_clock().abs_diff(ahead);
        assert!(apart < 1_000_000_000, "{apart} ns");
    }

    #[test]
    fn work_shows_in_the_usage_of_the_thread() {
        let before = thread_usage().unwrap();
        let until = Clock::now() + Nanos::from_millis(30);
        while Clock::now() < until {}
        let after = thread_usage().unwrap();
        assert!(after.user + after.system > before.user + before.system);
    }
}
