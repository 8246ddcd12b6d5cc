//! What is said of an I/O that failed and of a job that was too slow.

use std::io::{Error, ErrorKind};

use fathom_record::WRONG_DATA;
use fathom_units::Nanos;
use fathom_workload::{Backend, Direction, Job, Pacing};

use crate::EngineError;
use crate::exports::{SILENCE_MOST, SILENT};
use crate::worker::{FailedIo, Shortfall, TOO_SLOW};

/// `EPIPE`, `EPROTO` and `ECONNRESET`.
const BROKEN_PIPE: i32 = 32;
const PROTOCOL_ERROR: i32 = 71;
const CONNECTION_RESET: i32 = 104;

/// The error of an I/O of `job`.
pub(crate) fn io_error(job: &Job, failure: FailedIo) -> EngineError {
    let path = job.targets[failure.target as usize].place.path();
    if let Some(limit) = limit_of(job, &failure) {
        return EngineError::TooLong {
            job: job.name.clone(),
            path: path.to_owned(),
            direction: failure.direction,
            offset: failure.offset,
            length: failure.length,
            took: failure.took,
            limit,
        };
    }
    if failure.errno == WRONG_DATA && job.features.validate.is_some() {
        return EngineError::WrongData {
            job: job.name.clone(),
            path: path.to_owned(),
            offset: failure.offset,
            length: failure.length,
        };
    }
    if let Some(operation) = job.features.operation.filter(|_| failure.errno != 0)
        && failure.direction != "fsync"
    {
        return EngineError::Operation {
            job: job.name.clone(),
            path: path.to_owned(),
            operation: operation.name(),
            source: Error::from_raw_os_error(failure.errno),
        };
    }
    EngineError::Io {
        job: job.name.clone(),
        path: path.to_owned(),
        direction: failure.direction,
        offset: failure.offset,
        length: failure.length,
        caching: job.caching,
        source: if failure.errno == 0 {
            Error::other("nothing was transferred: the end of the target was reached")
        } else if job.backend == Backend::Nbd {
            nbd_error(failure.errno)
        } else {
            Error::from_raw_os_error(failure.errno)
        },
    }
}

/// What an error of a request to an NBD server means: those that no server answers with are of the connection.
fn nbd_error(errno: i32) -> Error {
    match errno {
        SILENT => {
            let text = format!("its server has answered nothing for {SILENCE_MOST}");
            Error::new(ErrorKind::TimedOut, text)
        }
        BROKEN_PIPE | CONNECTION_RESET => {
            let text = "its server has ended the connection, or has died";
            Error::new(ErrorKind::ConnectionReset, text)
        }
        PROTOCOL_ERROR => {
            let text = "its server has sent what is no answer, and the connection is given up";
            Error::new(ErrorKind::ConnectionAborted, text)
        }
        other => Error::from_raw_os_error(other),
    }
}

/// How long the I/O might have taken, where it has succeeded and took longer.
fn limit_of(job: &Job, failure: &FailedIo) -> Option<Nanos> {
    let ways = Direction::ALL.into_iter();
    let way = ways
        .into_iter()
        .find(|way| way.name() == failure.direction)?;
    let of_errors = job.features.errors.latency_max[way as usize];
    let of_target = job.features.latency_target.map(|target| target.most);
    let limits = [of_errors, of_target].into_iter().flatten();
    let limit = limits.filter(|limit| failure.took > *limit).min();
    limit.filter(|_| failure.errno == TOO_SLOW)
}

/// What a rate that was not kept up means to a native run, and what a peer's run says of it.
pub(crate) fn too_slow(job: &Job, shortfall: Shortfall) -> (EngineError, String) {
    let Shortfall {
        direction,
        least,
        got,
    } = shortfall;
    let text = |rate: Pacing| match rate {
        Pacing::Iops(iops) => format!("{} IOPS", iops.get()),
        Pacing::Bytes(bytes) => format!("{} B/s", bytes.get()),
    };
    let line = format!(
        "{}: {}s did not keep up {}: {}",
        job.name,
        direction.name(),
        text(least),
        text(got)
    );
    let error = EngineError::TooSlow {
        job: job.name.clone(),
        direction: direction.name(),
        least: text(least),
        got: text(got),
    };
    (error, line)
}

#[cfg(test)]
mod tests {
    use fathom_workload::preset;

    use super::*;

    #[test]
    fn a_silent_server_is_told_in_words() {
        let mut workload = preset("quick", "/d").unwrap();
        let job = &mut workload.stages[0].jobs[0];
        let failure = FailedIo {
            direction: "read",
            target: 0,
            offset: 0,
            length: 512,
            errno: SILENT,
            took: Nanos::from_secs(61),
        };
        let on_file = io_error(job, failure).to_string();
        assert!(on_file.contains("timed out"), "{on_file}");
        job.backend = Backend::Nbd;
        let told = io_error(job, failure).to_string();
        assert!(
            told.contains("its server has answered nothing for 60 s\n  hint: see"),
            "{told}"
        );
    }
}
