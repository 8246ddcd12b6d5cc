//! What a machine cannot do. Alone in its program: it takes what other tests need.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Told, job, workload};
use fathom_engine::{ExitClass, RunOptions, StopFlag, run};
use fathom_units::Bytes;
use fathom_workload::{Backend, Mix};

#[test]
fn too_much_for_the_machine_is_said_and_nothing_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let mut many = job(&directory.path().join("file"), Bytes::mib(2));
    (many.backend, many.depth, many.workers) = (Backend::Libaio, 32_768, 4);
    many.mix = Mix::READ;
    let planned = workload(vec![many]);
    let result = run(
        &planned,
        &RunOptions::default(),
        &StopFlag::new(),
        &mut Told::default(),
    );
    // The machine may have room for that many (fs.aio-max-nr); what matters is an end, and a class of it.
    if let Err(error) = result {
        assert_eq!(error.exit_class(), ExitClass::Unsupported, "{error}");
    }
}
