//! The section `MANAGER LIST`: machines, their workers, and what each works on.

use super::config::{Manager, Settings, Worker};
use super::read::{begins_section, unknown};
use super::source::{Line, Source, shortened};

/// Reads the section.
pub(super) fn section<'t>(source: &mut Source<'t>, managers: &mut Vec<Manager<'t>>) {
    while let Some(key) = source.take_filled() {
        if key.is_key("END manager list") {
            return;
        }
        if begins_section(key) {
            source.back();
            return;
        }
        if key.is_key("Manager ID") {
            if let Some(line) = source.filled_value(key) {
                let manager = manager(source, line);
                managers.push(manager);
            }
        } else if !key.is_key("End manager") {
            unknown(source, key);
        }
    }
}

/// A manager from the line with its name on.
fn manager<'t>(source: &mut Source<'t>, line: Line<'t>) -> Manager<'t> {
    let text = line.text();
    let (id, name) = text.split_once(',').unwrap_or(("", text));
    if id.trim().parse::<i64>().is_err() {
        let message = "a manager's line is its number, a comma and its name";
        source.error(line, text, message, "write it like `1,HOST`");
    }
    let mut manager = Manager {
        name: name.trim().to_owned(),
        line,
        workers: Vec::new(),
    };
    while let Some(key) = source.take_filled() {
        // `'END manager list` begins like the end of a manager.
        let ends_list = key.is_key("End manager list");
        if ends_list || begins_section(key) || key.is_key("Manager ID") {
            source.back();
            break;
        }
        if key.is_key("End manager") {
            break;
        }
        if key.is_key("Manager network address") {
            let _ = source.value();
        } else if key.is_key("Worker") && !key.is_key("Worker type") {
            manager.workers.extend(worker(source, key));
        } else {
            unknown(source, key);
        }
    }
    manager
}

/// A worker from its key on; `None` where it is one of networks.
fn worker<'t>(source: &mut Source<'t>, key: Line<'t>) -> Option<Worker<'t>> {
    let name = source.value();
    let mut worker = Worker {
        name: name.map_or("Worker", Line::text).to_owned(),
        line: name.unwrap_or(key),
        settings: Settings::default(),
        specs: None,
        targets: Vec::new(),
    };
    let mut is_disk = true;
    while let Some(key) = source.take_filled() {
        let ends = ["End manager", "Manager ID"];
        let next_worker = key.is_key("Worker") && !key.is_key("Worker type");
        if next_worker || begins_section(key) || ends.iter().any(|end| key.is_key(end)) {
            source.back();
            break;
        }
        if key.is_key("End worker") {
            break;
        }
        if key.is_key("Worker type") {
            is_disk = worker_type(source, key);
        } else if key.is_key("Default target settings") {
            settings(source, &mut worker.settings);
        } else if key.is_key("Assigned access specs") {
            worker.specs = Some(assigned(source));
        } else if key.is_key("Target assignments") {
            targets(source, &mut worker.targets, is_disk);
        } else {
            unknown(source, key);
        }
    }
    if !is_disk {
        let message = format!(
            "`{}` is a worker of networks, which are not measured here; it is left out",
            shortened(&worker.name)
        );
        source.warn(worker.line, message, "keep the workers of disks alone");
    }
    is_disk.then_some(worker)
}

/// Whether it is one of disks.
fn worker_type<'t>(source: &mut Source<'t>, key: Line<'t>) -> bool {
    let Some(line) = source.filled_value(key) else {
        return true;
    };
    let word = line.words().next().unwrap_or("");
    if word.eq_ignore_ascii_case("NETWORK") {
        return false;
    }
    if !word.eq_ignore_ascii_case("DISK") {
        let message = format!("`{}` is no type of worker", shortened(word));
        source.error(line, word, message, "write DISK");
    }
    true
}

fn settings(source: &mut Source<'_>, settings: &mut Settings) {
    while let Some(key) = source.take_filled() {
        if key.is_key("End default target settings") {
            return;
        }
        if key.is_key("End worker") || key.is_key("Assigned") || key.is_key("Target") {
            source.back();
            return;
        }
        if key.is_key("Number of outstanding IOs") {
            if let Some(line) = source.filled_value(key) {
                outstanding(source, line, settings);
            }
        } else if key.is_key("Disk maximum size") {
            if let Some(line) = source.filled_value(key) {
                disk(source, line, settings);
            }
        } else {
            unknown(source, key);
        }
    }
}

/// `depth,test connection rate,transactions per connection[,use fixed seed,fixed seed value]`.
fn outstanding<'t>(source: &mut Source<'t>, line: Line<'t>, settings: &mut Settings) {
    let mut fields = line.fields();
    let most = fathom_workload::DEPTH_MAX;
    let what = ("number of outstanding I/Os", 1, most.into());
    if let Some(depth) = source.number(line, fields.next(), what) {
        settings.depth = depth as u32;
    }
    if fields.next().is_some_and(is_on) {
        let message = "connections are not opened and closed here: targets stay open";
        source.warn(line, message, "disable the test of the connection rate");
    }
    let _transactions = fields.next();
    if fields.next().is_some_and(is_on) {
        let what = ("fixed seed", 0, u64::MAX);
        settings.seed = source.number(line, fields.next(), what);
    }
}

fn is_on(word: &str) -> bool {
    word.eq_ignore_ascii_case("ENABLED") || word == "1"
}

/// `maximum size,starting sector[,data pattern]`.
fn disk<'t>(source: &mut Source<'t>, line: Line<'t>, settings: &mut Settings) {
    let most = i64::MAX as u64 / super::config::SECTOR;
    let mut fields = line.fields();
    let size = source.number(line, fields.next(), ("number of sectors", 0, most));
    let start = source.number(line, fields.next(), ("starting sector", 0, most));
    settings.max_size = size.unwrap_or_default();
    settings.start = start.unwrap_or_default();
    let Some(word) = fields.next() else {
        return;
    };
    // A variant of Iometer has a switch of random data here.
    settings.pattern = match word.to_ascii_uppercase().as_str() {
        "DISABLED" => Some(1),
        "ENABLED" => Some(2),
        _ => {
            let what = ("data pattern", 0, 2);
            source.number(line, Some(word), what).map(|kind| kind as u8)
        }
    };
}

/// Names up to the end of the list.
fn assigned<'t>(source: &mut Source<'t>) -> Vec<Line<'t>> {
    let mut names = Vec::new();
    while let Some(line) = source.take_filled() {
        if line.is_key("End assigned access specs") {
            break;
        }
        if line.text().starts_with('\'') {
            source.back();
            break;
        }
        names.push(line);
    }
    names
}

fn targets<'t>(source: &mut Source<'t>, targets: &mut Vec<Line<'t>>, of_disks: bool) {
    while let Some(key) = source.take_filled() {
        if key.is_key("End target assignments") {
            return;
        }
        if key.is_key("End worker") || key.is_key("End manager") {
            source.back();
            return;
        }
        if key.is_key("End target") {
            continue;
        }
        if key.is_key("Target type") {
            let value = source.filled_value(key);
            let is_disk = |line: Line<'_>| {
                let word = line.words().next();
                word.is_some_and(|word| word.eq_ignore_ascii_case("DISK"))
            };
            if let Some(line) = value.filter(|line| of_disks && !is_disk(*line)) {
                let message = "networks are not measured here";
                source.error(
                    line,
                    line.text(),
                    message,
                    "name targets of type DISK alone",
                );
            }
        } else if key.is_key("Target manager") {
            let _ = source.value();
        } else if key.is_key("Target") {
            targets.extend(source.filled_value(key));
        } else {
            unknown(source, key);
        }
    }
}
