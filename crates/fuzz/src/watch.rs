//! Panics and time: what a reader must not do, and must not take.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}
static HOOK: Once = Once::new();

/// Runs `work`: what it gave, or the place and message of its panic; and how long it took.
#[expect(
    clippy::disallowed_methods,
    reason = "no workload is timed here, but a reader; `rawio` has no part in it"
)]
pub fn watched<T>(work: impl FnOnce() -> T) -> (Result<T, String>, Duration) {
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string().replace('\n', " ");
            PANIC.with(|panic| *panic.borrow_mut() = text);
        }));
    });
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(work));
    let taken = start.elapsed();
    let result = result.map_err(|_| PANIC.with(|panic| panic.borrow().clone()));
    (result, taken)
}

/// The calling thread's time on a processor so far, user and system, by `/proc/thread-self/schedstat` (ns); none where the
/// kernel does not tell.
pub fn on_processor() -> Option<Duration> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let first = line.split_ascii_whitespace().next()?;
    Some(Duration::from_nanos(first.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{on_processor, watched};

    #[test]
    fn a_waiting_thread_is_not_on_a_processor() {
        let before = on_processor().unwrap();
        let (_held, never) = std::sync::mpsc::channel::<()>();
        assert!(never.recv_timeout(Duration::from_millis(50)).is_err());
        let waited = on_processor().unwrap().saturating_sub(before);
        assert!(waited < Duration::from_millis(25), "{waited:?}");
    }

    #[test]
    fn a_panic_is_told_with_its_place() {
        let (result, _) = watched(|| assert!(std::hint::black_box(false), "broken"));
        let message = result.unwrap_err();
        assert!(
            message.contains("watch.rs") && message.contains("broken"),
            "{message}"
        );
    }
}
