//! Options of how the kernel is asked to do the I/O: advice on files, flags of single calls, the set-up of a ring.

use fathom_workload::{Advice, Backend, Calls, FileOperation, Lifetime, PROCESSOR_MAX, Submitter};

use super::reader::{Counts, ValueReader};
use super::{Settings, set, set_some};
use crate::fio::engine::backend;

/// fio's `fadvise_hint` and the engines' own options of this kind, with its defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct CallSettings {
    advice: Advice,
    polled: bool,
    polled_percent: u8,
    uncached: bool,
    no_wait: bool,
    atomic: bool,
    async_every: u32,
    submitter: Submitting,
    lifetime: Option<Lifetime>,
}

/// `sqthread_poll` and `sqthread_poll_cpu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Submitting {
    on: bool,
    processor: Option<u32>,
}

impl Default for CallSettings {
    fn default() -> Self {
        Self {
            advice: Advice::ByPattern,
            polled: false,
            polled_percent: 100,
            uncached: false,
            no_wait: false,
            atomic: false,
            async_every: 0,
            submitter: Submitting::default(),
            lifetime: None,
        }
    }
}

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_calls(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let calls = &mut self.calls;
        let most = u64::from(u32::MAX);
        match reader.name() {
            "fadvise_hint" => {
                let words = [
                    ("0", Advice::None),
                    ("1", Advice::ByPattern),
                    ("random", Advice::Random),
                    ("sequential", Advice::Sequential),
                    ("noreuse", Advice::Once),
                ];
                let word = reader.word(&words.map(|(word, _)| word));
                set(&mut calls.advice, word.map(|index| words[index].1));
            }
            "write_hint" => {
                let words = [
                    ("none", Lifetime::Unknown),
                    ("short", Lifetime::Short),
                    ("medium", Lifetime::Medium),
                    ("long", Lifetime::Long),
                    ("extreme", Lifetime::Extreme),
                ];
                let word = reader.word(&words.map(|(word, _)| word));
                set_some(&mut calls.lifetime, word.map(|index| words[index].1));
            }
            "hipri" => set(&mut calls.polled, reader.switch()),
            "hipri_percentage" => {
                let percent = reader.number(Counts::Things, 0, 100);
                set(&mut calls.polled_percent, percent.map(|it| it as u8));
            }
            "uncached" => {
                let number = reader.number(Counts::Things, 0, most);
                set(&mut calls.uncached, number.map(|number| number > 0));
            }
            "nowait" => set(&mut calls.no_wait, reader.switch()),
            "atomic" => set(&mut calls.atomic, reader.switch()),
            "force_async" => {
                let every = reader.number(Counts::Things, 0, most);
                set(&mut calls.async_every, every.map(|every| every as u32));
            }
            "sqthread_poll" => set(&mut calls.submitter.on, reader.switch()),
            "sqthread_poll_cpu" => {
                let number = reader.number(Counts::Things, 0, u64::from(PROCESSOR_MAX));
                if let Some(number) = number {
                    calls.submitter.processor = Some(number as u32);
                }
            }
            _ => return false,
        }
        true
    }
}

/// The option that the job's engine has not, if there is one, and what to do: fio's own rule.
pub fn problem(settings: &Settings) -> Option<(&'static str, String, &'static str)> {
    let has = match backend(settings) {
        Backend::Libaio => true,
        Backend::Sync | Backend::IoUring => ["pvsync2", "io_uring"].contains(&&*settings.engine),
        Backend::Mmap | Backend::Nbd | Backend::Null => false,
    };
    (settings.calls.atomic && !has).then(|| {
        let message = format!("engine `{}` has no atomic writes", settings.engine);
        ("atomic", message, "use `pvsync2`, `libaio` or `io_uring`")
    })
}

/// What of it the job's engine heeds. The page cache's part means nothing to direct I/O, which fio leaves out too.
pub fn calls(settings: &Settings) -> Calls {
    let CallSettings {
        advice,
        polled,
        polled_percent,
        uncached,
        no_wait,
        atomic,
        async_every,
        submitter,
        lifetime,
    } = settings.calls;
    let backend = backend(settings);
    let cached = !settings.direct && backend.opens_files();
    let is_ring = backend == Backend::IoUring;
    let has_flags = is_ring || backend == Backend::Sync;
    // What is done by a ring for other engines is not polled for: theirs go without where it cannot be.
    let polls = backend == Backend::Sync || settings.engine == "io_uring";
    let share = if is_ring { 100 } else { polled_percent };
    Calls {
        advice: if cached || backend == Backend::Mmap {
            advice
        } else {
            Advice::None
        },
        polled: if polls && polled { share } else { 0 },
        uncached: has_flags && cached && uncached,
        no_wait: (has_flags || backend == Backend::Libaio) && no_wait,
        atomic: atomic && settings.pattern.directions[1],
        async_every: if is_ring { async_every } else { 0 },
        submitter: (is_ring && submitter.on).then_some(Submitter {
            processor: submitter.processor,
        }),
        lifetime: lifetime.filter(|_| backend.opens_files()),
    }
}

/// The same of an engine that does operations on files in place of I/O.
pub fn calls_of_operation(settings: &Settings, operation: FileOperation) -> Calls {
    Calls {
        lifetime: (settings.calls.lifetime).filter(|_| !operation.is_of_names()),
        ..Calls::default()
    }
}
