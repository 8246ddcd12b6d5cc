//! Whether all hosts can run, and would run the same: what is told before anything is written.

use fathom_session::{Code, Console, Failure};

use crate::lead::{Known, Lead};

/// The hosts' names by rank, each once: `vm1`, or `vm1#1` and `vm1#2` where two processes run on one host.
pub fn names(hosts: &[Known]) -> Vec<String> {
    let own: Vec<String> = hosts.iter().enumerate().map(own_name).collect();
    let named = own.iter().enumerate().map(|(rank, name)| {
        let same = |until: usize| own[..until].iter().filter(|other| *other == name).count();
        if same(own.len()) == 1 {
            name.clone()
        } else {
            format!("{name}#{}", same(rank) + 1)
        }
    });
    named.collect()
}

fn own_name((rank, host): (usize, &Known)) -> String {
    let ready = host.ready.as_ref().map(|ready| ready.host.as_str());
    let refused = host.refused.as_ref().map(|refused| refused.host.as_str());
    let name = ready.or(refused);
    name.map_or_else(|| format!("the host of rank {rank}"), str::to_owned)
}

/// Tells what stands in the way of the run, each thing with the hosts that it is about; gives the exit code where there is any.
pub fn tell_complaints(lead: &mut Lead<'_>, names: &[String], console: &dyn Console) -> Option<u8> {
    let complaints = refusals(lead, names);
    let complaints = if complaints.is_empty() {
        differences(lead, names)
    } else {
        complaints
    };
    let said: Vec<(usize, String)> = (complaints.iter())
        .map(|(rank, complaint)| (*rank, complaint.message.clone()))
        .collect();
    tell_together(&said, names, console);
    if !complaints.is_empty() {
        console.tell("nothing was run on any host");
    }
    complaints.first().map(|(_, first)| first.code)
}

/// An error with its exit code.
#[derive(Clone)]
struct Complaint {
    code: u8,
    message: String,
}

impl From<Failure> for Complaint {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code.number(),
            message: failure.message,
        }
    }
}

/// What is no one host's matter.
fn of_all(names: &[String], failure: Failure) -> Vec<(usize, Complaint)> {
    let complaint = Complaint::from(failure);
    let ranks = 0..names.len();
    ranks.map(|rank| (rank, complaint.clone())).collect()
}

/// By rank: why a host cannot run.
fn refusals(lead: &Lead<'_>, names: &[String]) -> Vec<(usize, Complaint)> {
    let refused = |(rank, host): (usize, &Known)| {
        if let Some(refused) = &host.refused {
            let message = refused.message.clone();
            let code = refused.code;
            return Some((rank, Complaint { code, message }));
        }
        if host.ready.is_some() {
            return None;
        }
        let message = format!("{} is not heard of", names[rank]);
        let hint =
            "look whether the program runs there; `--lost-after` says how long it is waited for";
        Some((
            rank,
            Failure::new(Code::Unexpected, message).hint(hint).into(),
        ))
    };
    if lead.asked.stop.is_requested() {
        let stopped = Failure::new(Code::Interrupted, "stopped before the run began");
        return of_all(names, stopped);
    }
    lead.hosts()
        .iter()
        .enumerate()
        .filter_map(refused)
        .collect()
}

/// By rank: how a host's workload differs from that of the first.
fn differences(lead: &mut Lead<'_>, names: &[String]) -> Vec<(usize, Complaint)> {
    let workload = |host: &Known| {
        let ready = host.ready.as_ref();
        ready
            .map(|ready| ready.workload.clone())
            .unwrap_or_default()
    };
    let mut found = Vec::new();
    let first = lead.hosts().first().map(workload).unwrap_or_default();
    for (rank, host) in lead.hosts().iter().enumerate().skip(1) {
        if let Some((here, there)) = first_difference(&first, &workload(host)) {
            let message = format!(
                "its workload is not that of {}, which has {here} where it has {there}",
                names[0]
            );
            let hint = "all hosts read the same: copy the file to each, or name one on a shared file system";
            found.push((rank, Failure::new(Code::Input, message).hint(hint).into()));
        }
    }
    if found.is_empty()
        && let Some(failure) = shares(lead.hosts(), names)
    {
        found = of_all(names, failure);
    }
    if found.is_empty() && !lead.put_in_order() {
        let message = "the hosts' stages cannot be put in one order";
        let hint = "leave out what each host has of its own (`--map`, `--here`), or run each by itself and `fathom merge`";
        found = of_all(names, Failure::new(Code::Input, message).hint(hint));
    }
    found
}

/// Hosts of a file whose work nobody does, or several do.
fn shares(hosts: &[Known], names: &[String]) -> Option<Failure> {
    let ready = || hosts.iter().filter_map(|host| host.ready.as_ref());
    let all = ready().next().map(|ready| ready.labels_all.as_slice());
    for label in all.unwrap_or_default() {
        let does = ready()
            .zip(names)
            .filter(|(ready, _)| ready.labels.contains(label));
        let does: Vec<&str> = does.map(|(_, name)| name.as_str()).collect();
        let (message, hint) = match does.as_slice() {
            [_] => continue,
            [] => (
                format!("no host does the work of `hd={label}`"),
                "start one on that machine too, as `system=` names it",
            ),
            several => (
                format!("`hd={label}` is {} alike", listed(several)),
                "give each `hd=` the name or address of one machine as `system=`; start one process on each",
            ),
        };
        return Some(Failure::new(Code::Input, message).hint(hint));
    }
    None
}

/// The first line in which texts differ, as it is in each.
fn first_difference(one: &str, other: &str) -> Option<(String, String)> {
    if one == other {
        return None;
    }
    let quoted = |line: Option<&str>| match line.map(str::trim) {
        Some("") => "an empty line".to_owned(),
        Some(line) => format!("`{line}`"),
        None => "nothing more".to_owned(),
    };
    let (mut one, mut other) = (one.lines(), other.lines());
    loop {
        let (here, there) = (one.next(), other.next());
        if here != there || here.is_none() {
            return Some((quoted(here), quoted(there)));
        }
    }
}

/// Tells lines of hosts, each once: with the hosts that it comes from, where that is not all.
pub fn tell_together(lines: &[(usize, String)], names: &[String], console: &dyn Console) {
    let mut told: Vec<&str> = Vec::new();
    for (_, line) in lines {
        if told.contains(&line.as_str()) {
            continue;
        }
        told.push(line);
        let from = lines.iter().filter(|(_, other)| other == line);
        let from: Vec<&str> = from.map(|(rank, _)| names[*rank].as_str()).collect();
        if from.len() == names.len() {
            console.tell(line);
        } else {
            console.tell(&format!("{}: {line}", listed(&from)));
        }
    }
}

/// `a`, `a, b and c`, or the first few of many.
pub fn listed(names: &[&str]) -> String {
    const MOST: usize = 4;
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] if names.len() <= MOST => format!("{} and {last}", first.join(", ")),
        many => format!(
            "{} and {} more",
            many[..MOST - 1].join(", "),
            many.len() - (MOST - 1)
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::message::Refused;

    #[test]
    fn hosts_of_one_name_are_numbered() {
        let named = |host: &str| Known {
            refused: Some(Refused {
                host: host.to_owned(),
                code: 1,
                message: String::new(),
            }),
            ..Known::default()
        };
        let hosts = [named("vm1"), named("vm2"), named("vm1"), Known::default()];
        let expected = ["vm1#1", "vm2", "vm1#2", "the host of rank 3"];
        assert_eq!(names(&hosts), expected);
    }

    #[test]
    fn what_differs_is_shown() {
        assert_eq!(first_difference("a\nb", "a\nb"), None);
        let told = |here: &str, there: &str| Some((here.to_owned(), there.to_owned()));
        assert_eq!(
            first_difference("a\n b = 1\nc", "a\nb = 2"),
            told("`b = 1`", "`b = 2`")
        );
        assert_eq!(first_difference("a", "a\nb"), told("nothing more", "`b`"));
        assert_eq!(first_difference("\na", "a"), told("an empty line", "`a`"));
    }

    #[test]
    fn what_many_hosts_say_is_told_once() {
        struct Lines(Mutex<Vec<String>>);
        impl Console for Lines {
            fn print(&self, _: &str) {}
            fn tell(&self, line: &str) {
                self.0.lock().unwrap().push(line.to_owned());
            }
            fn draw(&self, _: &str) {}
            fn is_terminal(&self) -> bool {
                false
            }
            fn columns(&self) -> Option<usize> {
                None
            }
        }
        let names = ["a", "b", "c"].map(str::to_owned);
        let lines = [
            (0, "all"),
            (0, "two"),
            (1, "all"),
            (2, "all"),
            (2, "two"),
            (1, "one"),
        ];
        let lines = lines.map(|(rank, line)| (rank, line.to_owned()));
        let console = Lines(Mutex::default());
        tell_together(&lines, &names, &console);
        let told = console.0.into_inner().unwrap();
        assert_eq!(told, ["all", "a and c: two", "b: one"]);
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
