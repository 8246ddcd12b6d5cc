//! `cargo xtask bench serve`: served storage beside the servers that come closest, as ratios and distances with their spread.
//!
//! fio's NBD engine is the client of all, over one connection to an export; block devices are read with io_uring. Rounds
//! go through a row's parties in turn, forwards and backwards, after a second of the same that is not counted. A witness
//! looks at the machine meanwhile ([`witness`]): a round in which it was elsewhere is named, and counts all the same.

mod job;
mod place;
mod rows;
mod servers;
mod told;
mod witness;

use std::path::Path;

use serde_json::{Value, json};

use self::job::Sample;
use self::place::Place;
use self::rows::{Kind, ROWS, Row};
use self::servers::Running;
use crate::command::{self, output};
use crate::{Failure, packages};

struct Options {
    rounds: usize,
    seconds: u64,
    /// Only rows whose name holds this.
    only: String,
}

/// Runs every row. Options: `--rounds N` (5), `--seconds N` (3), `--only PART-OF-A-NAME`.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let options = parse(options).map_err(Failure::Usage)?;
    let rows: Vec<&Row> = ROWS
        .iter()
        .filter(|row| row.name.contains(&options.only))
        .collect();
    if rows.is_empty() {
        let names = ROWS.map(|row| row.name).join("\n  ");
        let message = format!("no row has `{}` in its name:\n  {names}", options.only);
        return Err(Failure::Usage(message));
    }
    if output("id", &["-u"])?.trim() != "0" {
        return Err("block devices are attached: run `bench serve` as root".into());
    }
    packages::install(packages::Needed::ToTest)?;
    let fathom = command::release_binary()?;
    let place = Place::new()?;
    let (mut raw, mut table, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        // What else was measured is kept where a row fails.
        match rounds(row, &options, &fathom, &place) {
            Ok(rounds) => {
                let (document, lines) = told::report(row, &rounds);
                raw.push(document);
                table.extend(lines);
            }
            Err(why) => {
                println!("{}\n    FAILED: {why}", row.name);
                raw.push(json!({"case": row.name, "failed": why}));
                failures.push(row.name);
            }
        }
    }
    drop(place);
    told::table(&table);
    super::save(&versions()?, &raw)?;
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("not measured: {}", failures.join("; ")).into())
    }
}

fn parse(options: &[&str]) -> Result<Options, String> {
    let mut parsed = Options {
        rounds: 5,
        seconds: 3,
        only: String::new(),
    };
    for pair in options.chunks(2) {
        let number = |text: &str| match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("`{text}` is no number from 1 up")),
        };
        match pair {
            ["--rounds", value] => parsed.rounds = number(value)? as usize,
            ["--seconds", value] => parsed.seconds = number(value)?,
            ["--only", value] => (*value).clone_into(&mut parsed.only),
            other => {
                return Err(format!(
                    "unknown options {other:?}; known: --rounds N, --seconds N, --only NAME"
                ));
            }
        }
    }
    Ok(parsed)
}

/// The programs that took part.
fn versions() -> Result<Vec<(&'static str, Value)>, String> {
    let programs = ["fio", "nbdkit", "qemu-nbd", "qemu-storage-daemon"];
    let version = |program| {
        let said = output(program, &["--version"])?;
        let first = said.lines().next().unwrap_or_default();
        Ok((program, Value::from(first)))
    };
    programs.into_iter().map(version).collect()
}

/// A party that is ready.
enum Ready {
    Serving(Running),
    Predicted { design: &'static str, seconds: u64 },
}

/// Samples of each party, in order of the parties, a list for each round.
fn rounds(
    row: &Row,
    options: &Options,
    fathom: &Path,
    place: &Place,
) -> Result<Vec<Vec<Sample>>, String> {
    let ready = |party: &rows::Party| {
        Ok::<_, String>(match party.kind {
            Kind::Served(server) => Ready::Serving(server.start(party.name, fathom, place)?),
            Kind::Predicted { design, seconds } => Ready::Predicted { design, seconds },
        })
    };
    let parties: Vec<Ready> = row.parties.iter().map(ready).collect::<Result<_, _>>()?;
    let measure = |party: &Ready, seconds| match party {
        Ready::Serving(server) => job::measure(&row.job, seconds, server, place),
        Ready::Predicted { design, seconds } => {
            job::predict(fathom, design, &row.job, *seconds, place)
        }
    };
    for party in &parties {
        measure(party, 1)?;
    }
    let mut rounds = Vec::new();
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..parties.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut samples = Vec::new();
        for index in order {
            samples.push((index, measure(&parties[index], options.seconds)?));
        }
        samples.sort_by_key(|(index, _)| *index);
        rounds.push(samples.into_iter().map(|(_, sample)| sample).collect());
    }
    Ok(rounds)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn options_are_read_and_refused() {
        let read = |words: &[&str]| parse(words).map(|it| (it.rounds, it.seconds, it.only));
        assert_eq!(read(&[]), Ok((5, 3, String::new())));
        let all = ["--rounds", "2", "--seconds", "1", "--only", "tandem"];
        assert_eq!(read(&all), Ok((2, 1, "tandem".to_owned())));
        assert!(read(&["--rounds", "0"]).is_err());
        assert!(read(&["--rounds"]).is_err());
        assert!(read(&["--often", "3"]).is_err());
    }
}
