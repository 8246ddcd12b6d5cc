//! What cannot be done with exports of NBD servers.

use crate::{Backend, Caching, Job};

use super::Found;

/// Exports go with one backend, and that with exports alone.
pub(super) fn check(job: &Job, found: &mut Found) {
    for target in &job.targets {
        let path = target.place.path();
        match (target.place.is_export(), job.backend) {
            (true, Backend::Nbd | Backend::Null) => {}
            (true, other) => {
                let name = other.name();
                let message = format!(
                    "`{path}` is an export of an NBD server, which the backend `{name}` cannot reach"
                );
                found.add(
                    "backend",
                    message,
                    "use the backend `nbd` (fio: `ioengine=nbd`)",
                );
            }
            (false, Backend::Nbd) => {
                let message = format!(
                    "the backend `nbd` does I/O on exports of NBD servers, and `{path}` is none"
                );
                let hint = "name an export, such as `nbd://HOST/EXPORT` or `nbd+unix:///EXPORT?socket=PATH`, or use another backend";
                found.add("target", message, hint);
            }
            (false, _) => {}
        }
    }
    if job.backend == Backend::Nbd {
        for (key, what) in unknown_to_exports(job) {
            let message = format!("it has {what}, which exports of NBD servers do not know");
            found.add(
                key,
                message,
                "leave it out, or use a file or a block device",
            );
        }
    }
}

/// What a job asks for that exports of NBD servers do not know, with the native key that it stands under.
pub fn unknown_to_exports(job: &Job) -> impl Iterator<Item = (&'static str, &'static str)> {
    let features = &job.features;
    let files = &features.files;
    let all = [
        (job.caching == Caching::Buffered, "caching", "buffered I/O"),
        (
            features.operation.is_some(),
            "operation",
            "an operation on files",
        ),
        (
            features.file_work.is_some(),
            "file_work",
            "work on a file set",
        ),
        (
            files.made_anew,
            "files",
            "files that each pass makes anew (`made_anew`)",
        ),
        (
            files.pre_read,
            "files",
            "files that are read beforehand (`pre_read`)",
        ),
        (
            files.end_syncfs,
            "files",
            "a sync of file systems (`end_syncfs`)",
        ),
        (
            files.sync_range.is_some(),
            "files",
            "syncs of ranges (`sync_range`)",
        ),
    ];
    let asked = all.into_iter().filter(|(is_asked, ..)| *is_asked);
    asked.map(|(_, key, what)| (key, what))
}

#[cfg(test)]
mod tests {
    use fathom_units::Bytes;

    use crate::Backend::{self, IoUring, Nbd, Null};
    use crate::{BlockSizes, Caching, Job, Mix, Place, preset, validate};

    #[track_caller]
    fn check(backend: Backend, path: &str, change: impl FnOnce(&mut Job), expected: &[&str]) {
        let mut workload = preset("quick", path).unwrap();
        workload.stages.truncate(1);
        let job = &mut workload.stages[0].jobs[0];
        job.backend = backend;
        job.targets[0].place = Place::Path(path.to_owned());
        change(job);
        let found = validate(&workload)
            .err()
            .map(|found| found.0)
            .unwrap_or_default();
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        let told: Vec<_> = (messages.iter())
            .map(|it| it.trim_start_matches("job `random read 4k qd32`: "))
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn exports_and_their_backend_go_together() {
        let uri = "nbd+unix:///data?socket=/run/s";
        check(Nbd, uri, |_| {}, &[]);
        check(Null, uri, |_| {}, &[]);
        check(IoUring, "/mnt/data", |_| {}, &[]);
        check(
            IoUring,
            uri,
            |_| {},
            &[
                "`nbd+unix:///data?socket=/run/s` is an export of an NBD server, which the backend `io_uring` cannot reach",
            ],
        );
        check(
            Nbd,
            "/mnt/data",
            |_| {},
            &["the backend `nbd` does I/O on exports of NBD servers, and `/mnt/data` is none"],
        );
    }

    #[test]
    fn blocks_are_the_servers_to_judge() {
        let odd = |job: &mut Job| job.block = BlockSizes::uniform(Bytes::new(100));
        check(Nbd, "nbd://a/b", odd, &[]);
    }

    #[test]
    fn trims_are_the_servers_to_judge() {
        check(Nbd, "nbd://a/b", |job| job.mix = Mix::TRIM, &[]);
    }

    #[test]
    fn what_exports_do_not_know_is_refused() {
        let refuse = |job: &mut Job| {
            job.caching = Caching::Buffered;
            job.features.files.pre_read = true;
        };
        let expected = [
            "buffered I/O",
            "files that are read beforehand (`pre_read`)",
        ]
        .map(|what| format!("it has {what}, which exports of NBD servers do not know"));
        check(
            Nbd,
            "nbd://a/b",
            refuse,
            &expected.each_ref().map(String::as_str),
        );
    }
}
