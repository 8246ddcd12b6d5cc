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

#[cfg(test)]
mod tests {
    use super::watched;

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
