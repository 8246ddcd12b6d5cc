//! A run's way from the words of an input to a record.
//!
//! What every verb that runs or predicts has in common: reading its input, showing its progress, keeping its events and
//! making its record. What is to be shown goes to a [`Console`] that the program supplies.

mod args;
mod characters;
mod compare;
mod console;
mod exit;
mod files;
mod finish;
mod frame;
mod input;
mod live;
mod marked;
mod merge;
mod names;
mod need;
mod number;
mod page;
mod places;
mod probe;
mod replay;
mod screen;
mod spoken;
mod start;
mod start_at;
mod stored;
mod waiting;

pub use args::{OutputArgs, SafetyArgs, SweepArgs, WorkloadArgs};
pub use characters::Characters;
pub use compare::CompareArgs;
pub use console::Console;
pub use exit::{Code, Failure, engine_failure};
pub use files::{NewFile, read_text, refuse_device, unread, unread_hint, unwritten};
pub use finish::{PeerView, finish, how_much, print_json, show_need};
pub use input::{
    Input, Layout, Replaced, Words, load, load_to_predict, map_paths, map_to_this_machine, renamer,
    tell_warnings,
};
pub use marked::{Mark, MarkedFile};
pub use merge::MergeArgs;
pub use names::one_of;
pub use need::{NeedArgs, Needed, need_code};
pub use number::{any_whole_number, whole_number};
pub use page::Page;
pub use places::{failure_of, in_words_of, located};
pub use probe::ProbeArgs;
pub use replay::{ReplayArgs, file_name, open_trace};
pub use screen::{Fan, Screen, Show};
pub use spoken::{
    PatientFiles, Spoken, dialects, is_dialect, make_folder, prepare_diskperformance, processors,
    read_context, refuse_windows, settle_iometer, settle_paths, settle_vdbench,
};
pub use start::{Keep, Outcome, Start, measured, not_stored, tool, watch};
pub use start_at::StartAt;
pub use stored::{check_limits, named_record, store_failure, user_store};
pub use waiting::Waiting;
