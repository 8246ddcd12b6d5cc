//! The native workload file, `*.workload.toml`.
//!
//! Every field of the model can be written in it, values with a unit as strings with that unit, and what is left out has
//! Fathom's own defaults: direct I/O by `io_uring`, one worker, one I/O outstanding, random reads of 4 KiB that visit
//! each block once, incompressible data, and no writing to files that Fathom has not made.
//!
//! | table | keys |
//! |---|---|
//! | (top) | `seed`; `target` or `targets`: those of jobs that name none |
//! | `[[stage]]` | `name`, `warmup`, `measure`, `cooldown`, `repeats`, `discard`, `rate_from` (`stage`, `percent`, `round`, `shares`): open rates in proportion to those of the jobs, together a share of what an earlier stage reached |
//! | `[[stage.job]]` | `name`, `group`, `host`, `target` or `targets`, `file_choice`, `workers`, `depth`, `mix`, `access`, `block`, `arrival`, `start_delay`, `warmup`, `measure`, `sync`, `contents`, `backend`, `caching`, `existing`, `split_latency`, `drop_cache`, `unlink`, `salt`; features: `log` (`each`, `window`, `histogram`), `priorities` (`read` and `write`, lists of `size`, `percent`, `class`, `hint`, `level`), `process` (`processors`, `split`, `nodes` of NUMA: a list, `all`, or a table of `all_but`, `memory`: `local`, or a table of `prefer`, `bind` or `interleave` with nodes, `locked_memory`, `user`, `user_group`, `scheduler`, `nice`, `io_class`, `io_level`, `io_hint`), `after`, `ends`, `ends_on_error`, `run_before`, `run_after`, `calls` (`advice`, `polled`, `uncached`, `no_wait`, `atomic`, `async_every`, `submitter`, `lifetime` of what is written: `unknown`, `short`, `medium`, `long`, `extreme`), `files` (`pre_read`, `must_exist`, `make_parents`, `grows` (`true`: the job writes all of a missing or short file; `nothing`, `allocate`, `keep-size`, `truncate`: how its space is reserved, and the job writes what it comes to), `made_anew`, `end_syncfs`, `sync_range`), `on_error` (`go_on`, `ignore`, `full_ends`, `latency_max`), `operation`, `trace` (a path, or `path`, `pace`, `scale`, `align`, `skip`, `redirected`, `plain_writes`, `merge`; the targets are its files in the order in which it names them), `trace_to`, `think`, `think_cycles`, `warmup_bytes`, `batches`, `rates`, `rates_min` (`read`, `write`, `trim`, and `cycle`: the job fails below them), `rate_steps` (`steps`, a list of `rate` and `length`, and `together`), `flow`, `latency_target`, `steady`, `validate` (`name`, `pre_read`, `read_after_write`), `overlaps`, `placement`, `filling` |
//! | `placement` | `distribution` (`uniform`, `zipf:1.1`, `zipf:1.1:0.25`, `pareto:0.2`, `normal:20`, `zoned:60/10:40/90`, `zoned_abs:60/20GiB:40/80GiB`, `sequence:2,0,1`, `sequence:2,0,1:stride`), `random`, `alignment` and `ranges` (`4KiB-64KiB`), each for all directions or as a table of `read`, `write`, `trim`; `unaligned`, `sequential_sizes`, `random_sizes`, `skip`, `between`, `trim_then_write`, `zones` (`size`, `range`, `skip`), `target_distribution`, `ios_per_target`, `targets_at_once`, `past_end`, `joined`, `stride`, `conditioning` (`over_provisioning`, `regions`, `cache`) |
//! | `lines` | a list of tables: `size`, and `weight` (1), `read`, `random` (100 %), `delay` (0), `burst` (1), `alignment` (512 B), `reply` (none), `target` (any: the number of one of the job's targets); `mix`, `access` and `block` are then what the lines come to |
//! | `filling` | `pattern` (`"text"`, numbers, `%o`), `anywhere` (each write begins anywhere in the pattern), `compress`, `chunk`, `dedupe` (`blocks`, `working_set`, `global`) |
//! | a target | `path` or `directory` (a fresh file in it), `offset`, `size`; or a file set: `tree` (its directory), `depth`, `width`, `files` (in each directory that has some), `spread` (`leaves`, `every-directory`), `sizes` (one, or a weighted list) or `mean_size`, `total`, `working_set` |
//! | `file_work` | what a job does on its file set: a task, or a table of `task` (`mkdir`, `rmdir`, `create`, `delete`, `open`, `close`, `read`, `write`, `read-write`, `access`, `getattr`, `setattr`, `copy`, `move`, `format`, `format-missing`, `format-directories`, `clean`), `choice` (`random`, `sequential`, `poisson` with `poisson_mean`), `once`, `stop_after` (I/Os or percent of a file), `delete_first`, `shared`, `rate` and `process` (over all workers). The backend is `sync` |
//!
//! Invariants: what [`write()`] gives, [`read`] gives back the same; an unknown key is an error; all errors are told at once.
//!
//! ```
//! let text = r#"
//! target = "/dev/nvme0n1"
//! [[stage]]
//! measure = "60s"
//! [[stage.job]]
//! name = "oltp"
//! mix = { read = "70%", write = "30%" }
//! block = "8KiB"
//! depth = 32
//! "#;
//! let (workload, warnings) = fathom_workload::native::read(text, "oltp.workload.toml").unwrap();
//! assert_eq!(workload.stages[0].jobs[0].depth, 32);
//! assert!(warnings.0.is_empty());
//! ```

mod calls;
mod features;
mod fields;
mod file_set;
#[cfg(test)]
mod file_set_tests;
mod foreign;
mod handling;
mod lines;
mod names;
mod pacing;
mod placement;
mod process;
mod processor_work;
mod rate_from;
mod reader;
mod syntax;
#[cfg(test)]
mod tests;
mod validate;
mod values;
mod verify;
mod words;
mod writer;

pub use names::{named, write_named};
pub(crate) use reader::read_with_targets;
pub use reader::{read, read_written};
pub use writer::{from_json, to_json, write};
