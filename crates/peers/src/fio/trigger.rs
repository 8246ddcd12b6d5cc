//! What ends the jobs from outside (`--trigger-file`, `--trigger-timeout`), and the command that is run then.
//!
//! The jobs end as at a signal, so that states of verification are saved; the command comes after that, and may take the
//! machine's power away.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_dialects::fio::Trigger;
use fathom_engine::StopFlag;
use fathom_rawio::{Clock, sleep_until, uses_of_file};
use fathom_session::{Code, Console, Failure};
use fathom_units::Nanos;

/// How soon a file is seen, as in fio.
const LOOK_EVERY: Nanos = Nanos::from_millis(10);

/// The trigger, where neither a device nor the storage of something else stands in place of the file that it waits for: that is
/// removed once it is seen.
///
/// # Errors
/// [`Code::Refused`]: one of these is there.
pub fn usable(trigger: &Trigger) -> Result<&Trigger, Failure> {
    let file = trigger.file.as_deref().map(Path::new);
    match file.and_then(|path| Some((path, kept(path)?))) {
        None => Ok(trigger),
        Some((path, kept)) => {
            let message = format!(
                "`--trigger-file={}` is refused: {kept}, and the file is removed once it is seen",
                path.display()
            );
            let hint = "name a file that is not there yet; making it ends the jobs";
            Err(Failure::new(Code::Refused, message).hint(hint))
        }
    }
}

/// What at `path` is not removed, a device node or the storage of something else; a link to one goes alone.
fn kept(path: &Path) -> Option<String> {
    let found = path.symlink_metadata().ok()?;
    let kind = found.file_type();
    if kind.is_block_device() || kind.is_char_device() {
        return Some("it is a device".to_owned());
    }
    let used = uses_of_file(&found).into_iter().next();
    used.map(|used| used.to_string())
}

/// Does `work`, and meanwhile looks out for what `trigger` waits for, which ends it by `stop`. Returns what `work` did, and
/// whether the trigger was pulled.
pub fn watched<T>(
    trigger: &Trigger,
    began: Nanos,
    stop: &StopFlag,
    console: &dyn Console,
    work: impl FnOnce() -> T,
) -> (T, bool) {
    if !trigger.is_set() {
        return (work(), false);
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if is_pulled(trigger, began, console) {
                    stop.request();
                    return true;
                }
                sleep_until(Clock::now() + LOOK_EVERY);
            }
            false
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        let pulled = looking.join();
        let pulled = pulled.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, pulled)
    })
}

/// Whether the file is there, which is removed then, or the time over.
fn is_pulled(trigger: &Trigger, began: Nanos, console: &dyn Console) -> bool {
    if let Some(path) = trigger.file.as_deref().map(Path::new)
        && path.exists()
    {
        // One that was made meanwhile is as good a sign.
        if let Some(kept) = kept(path) {
            console.tell(&format!("fio: {} is not removed: {kept}", path.display()));
        } else if let Err(error) = std::fs::remove_file(path) {
            console.tell(&format!(
                "fio: failed to unlink {}: {error}",
                path.display()
            ));
        }
        return true;
    }
    (trigger.after).is_some_and(|after| Clock::now().saturating_sub(began) >= after)
}

/// Runs the command, if there is one; what comes of it changes nothing, as in fio.
pub fn run_command(trigger: &Trigger, console: &dyn Console) {
    let Some(command) = trigger.command.as_deref().filter(|text| !text.is_empty()) else {
        return;
    };
    let status = Command::new("/bin/sh").args(["-c", command]).status();
    if let Err(error) = status {
        console.tell(&format!("fio: failed executing {command} trigger: {error}"));
    }
}
