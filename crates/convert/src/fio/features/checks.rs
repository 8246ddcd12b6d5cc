//! How written data is checked, in fio's options.

use fathom_units::Bytes;
use fathom_workload::{
    Backlog, HeaderCheck, OnMismatch, Pattern, TrimmedData, Verify, VerifyPhase, VerifyRepeats,
    VerifyTrims, VerifyTrust,
};

use super::super::section::Section;
use super::super::size;

pub(super) fn checks(verify: Option<&Verify>, section: &mut Section) {
    let Some(verify) = verify else { return };
    let Verify {
        checksum,
        interval,
        header_offset,
        pattern,
        pattern_interval,
        phase,
        backlog,
        repeats,
        sequence,
        seed,
        on_mismatch,
        dump,
        trust,
        save_state,
        load_state,
        trims,
    } = verify;
    section.put("verify", checksum.name());
    check_layout(
        *interval,
        *header_offset,
        pattern.as_ref(),
        *pattern_interval,
        section,
    );
    let (only, reads) = match phase {
        VerifyPhase::AfterPass => (false, true),
        VerifyPhase::Never => (false, false),
        VerifyPhase::Only => (true, true),
        VerifyPhase::Nothing => (true, false),
    };
    section.put_if(only, "verify_only", "1");
    section.put_if(!reads, "do_verify", "0");
    if let Some(Backlog { writes, batch }) = backlog {
        section.put("verify_backlog", writes.to_string());
        section.put_if(batch != writes, "verify_backlog_batch", batch.to_string());
    }
    section.put_if(
        *repeats == VerifyRepeats::EachWrite,
        "experimental_verify",
        "1",
    );
    let switch = |check: HeaderCheck| {
        if check == HeaderCheck::Compared {
            "1"
        } else {
            "0"
        }
    };
    section.put("verify_write_sequence", switch(*sequence));
    section.put("verify_header_seed", switch(*seed));
    section.put_if(*on_mismatch == OnMismatch::EndAtOnce, "verify_fatal", "1");
    section.put_if(dump.is_some(), "verify_dump", "1");
    section.put_if(*trust == VerifyTrust::Synced, "verify_policy", "fsynced");
    section.put_if(save_state.is_none(), "verify_state_save", "0");
    section.put_if(load_state.is_some(), "verify_state_load", "1");
    if let Some(trims) = trims {
        check_trims(*trims, section);
    }
}

fn check_layout(
    interval: Option<Bytes>,
    header_offset: u32,
    pattern: Option<&Pattern>,
    pattern_interval: Option<Bytes>,
    section: &mut Section,
) {
    if let Some(interval) = interval {
        section.put("verify_interval", size(interval.get()));
    }
    section.put_if(
        header_offset > 0,
        "verify_offset",
        header_offset.to_string(),
    );
    if let Some(pattern) = pattern {
        section.put("verify_pattern", pattern.to_string());
    }
    if let Some(interval) = pattern_interval {
        section.put("verify_pattern_interval", size(interval.get()));
    }
}

fn check_trims(trims: VerifyTrims, section: &mut Section) {
    let VerifyTrims {
        share,
        writes,
        batch,
        zero,
    } = trims;
    let percent = ((share.basis_points() + 50) / 100).max(1);
    section.put("trim_percentage", percent.to_string());
    section.put("trim_backlog", writes.to_string());
    section.put_if(batch != writes, "trim_backlog_batch", batch.to_string());
    section.put_if(zero == TrimmedData::Anything, "trim_verify_zero", "0");
}
