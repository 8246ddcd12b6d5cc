//! The order in which hosts measure their stages together.
//!
//! All hosts read one workload, and some have no part in some of its stages: a run of Vdbench that is another host's, or its
//! writing of files that are there already. What each has is in the workload's order, so that the order of all follows.

/// A stage of all hosts: by rank, the index among that host's own stages; `None` where it has no part in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// Its name.
    pub name: String,
    /// By rank.
    pub own: Vec<Option<usize>>,
}

/// The stages of all hosts in order, from the names of each host's own; `None` where hosts have them in different orders.
pub fn together(hosts: &[Vec<String>]) -> Option<Vec<Together>> {
    let mut next = vec![0; hosts.len()];
    let mut order = Vec::new();
    let left = |next: &[usize]| hosts.iter().zip(next).any(|(own, at)| *at < own.len());
    while left(&next) {
        let heads = hosts.iter().zip(&next).filter_map(|(own, at)| own.get(*at));
        // A name that another host comes to later only would have to wait for that.
        let waits = |name: &String| {
            let mut others = hosts.iter().zip(&next);
            others.any(|(own, at)| {
                own.get(*at) != Some(name) && own.iter().skip(*at + 1).any(|later| later == name)
            })
        };
        let name = heads.into_iter().find(|name| !waits(name))?.clone();
        let has_part =
            |(own, at): (&Vec<String>, &usize)| (own.get(*at) == Some(&name)).then_some(*at);
        let own: Vec<Option<usize>> = hosts.iter().zip(&next).map(has_part).collect();
        for (at, part) in next.iter_mut().zip(&own) {
            *at += usize::from(part.is_some());
        }
        order.push(Together { name, own });
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each host the stages' names; and what comes of them, as `name:` and the hosts that take part.
    #[track_caller]
    fn check(hosts: &[&str], expected: Option<&str>) {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        let hosts: Vec<Vec<String>> = hosts.iter().map(|line| words(line)).collect();
        let told = together(&hosts).map(|order| {
            let lines = order.iter().map(|stage| {
                let taking = stage.own.iter().enumerate();
                let taking = taking.filter_map(|(rank, own)| own.map(|_| rank.to_string()));
                format!("{}:{}", stage.name, taking.collect::<String>())
            });
            lines.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(told.as_deref(), expected, "{hosts:?}");
    }

    #[test]
    fn stages_of_hosts_are_laid_beside_each_other() {
        check(&["a b c", "a b c"], Some("a:01 b:01 c:01"));
        check(&["a", ""], Some("a:0"));
        check(&[], Some(""));
        // One host has files to write first, another no part in a run.
        check(&["f a b", "a b", "a"], Some("f:0 a:012 b:01"));
        check(&["a b c", "b", "a c"], Some("a:02 b:01 c:02"));
        // Repeats bear the same name where nothing tells them apart.
        check(&["a a", "a a"], Some("a:01 a:01"));
        check(&["a b", "b a"], None);
    }
}
