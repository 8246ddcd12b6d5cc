//! What `-?` prints.

/// The options that are spoken, in Fathom's own words.
pub fn usage() -> &'static str {
    "\
Usage: fathom diskspd [options] target1 [target2 ...]
Each option and its value are one word: -b4K, never -b 4K. Options come before targets.
Sizes are whole numbers with K, M, G, T, or b for blocks of -b.

  -b<size>        size of an I/O (64K)
  -B<base>[:<n>]  first byte used, and how many
  -c<size>        make the targets of this size where they are missing or shorter
  -C<s> -d<s> -W<s>  cool-down (0), measured time (10), warm-up (5)
  -D[<ms>]        deviation of IOPS over buckets (1000)
  -f<size>        first byte not used;  -f[rst]  hints
  -F<n>           threads that each work on all targets;  -t<n>  threads per target (1)
  -g<n>[i]        bytes per ms, or IOPS, per thread and target
  -i<n> -j<ms>    bursts, and the time between them
  -I<1..3>        I/O priority: very low, low, normal (3)
  -L              latencies
  -n, -a<list>    leave threads where they are, or place them
  -p              each I/O outstanding goes its own way from the same start
  -R[text|xml]    format of the results;  -Rp[text|xml]  the profile alone;  -Rs  the system alone
  -o<n>           I/Os outstanding per thread and target (2);  -O<n>  per thread of -F
  -r[<align>]     random;  -rs<percent>  partly;  -rd<pct|abs><io>/<range>:...  unevenly
  -s[i][<size>]   stride; i: one position for all threads;  -T<size>  stride between threads
  -S[bhmruw]      caches: u without software cache, w write-through, h both (also -h), m mapped
  -v              full output
  -N<vni>         flush mapped files
  -w<percent>     writes (0)
  -X<file>        a profile in XML; -d, -W, -C, -z, -v, -R and targets may stand beside it
  -z[<seed>]      seed (0; the clock)
  -Z[r|<size>]    written data: zeroes, random for each write, random from a source

Beside these: --map FROM=TO for paths of Windows, --destroy-data=NAME, --record.
"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The letters of the options that stand in `text`.
    fn letters(text: &str) -> BTreeSet<char> {
        let ends = |one: char| !(one.is_alphanumeric() || one == '-');
        let words = text.split(ends).filter_map(|word| word.strip_prefix('-'));
        words.filter_map(|word| word.chars().next()).collect()
    }

    #[test]
    fn every_option_that_is_carried_is_listed() {
        let page = include_str!("../../../../../docs/dialects/diskspd.md");
        let table = page
            .lines()
            .skip_while(|line| *line != "## What is carried");
        let rows = table.skip_while(|line| !line.starts_with('|'));
        let rows = rows.take_while(|line| line.starts_with('|'));
        let options: String = rows.filter_map(|row| row.split(" | ").next()).collect();
        let (carried, listed) = (letters(&options), letters(usage()));
        assert!(carried.len() > 20, "{carried:?}");
        let missing: Vec<_> = carried.difference(&listed).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
