//! The values in force, and where each came from.

use std::fmt::Write as _;

use super::SqlioInput;
use super::settings::Order;

/// One comment line a value, for `fathom explain`.
pub fn origins(input: &SqlioInput) -> String {
    let it = &input.settings;
    let order = match it.order {
        Order::Random => "random".to_owned(),
        Order::Sequential => "sequential".to_owned(),
        Order::Stripes(blocks) => format!("stripes of {blocks} blocks"),
    };
    let depth = match it.outstanding {
        Some(depth) => format!("{depth} outstanding per thread and file"),
        None => "one I/O at a time".to_owned(),
    };
    let mut values = vec![
        (
            'k',
            if it.writes { "W writes" } else { "R reads" }.to_owned(),
        ),
        ('s', format!("{} s", it.seconds)),
        ('f', order),
        ('o', depth),
        ('b', format!("{} KiB", it.block_kib)),
        ('B', format!("{:?}", it.buffering)),
        ('S', format!("from block {}", it.first_block)),
    ];
    if it.parameters.is_none() {
        values.push(('t', format!("{} threads", it.threads)));
    }
    let mut text = String::from("# options in force, and where each came from\n");
    for (letter, value) in values {
        let option = format!("-{letter} {value}");
        let origin = it
            .origins
            .get(&letter)
            .map_or("SQLIO's default", String::as_str);
        let _ = writeln!(text, "#   {option:40} {origin}");
    }
    for target in &it.targets {
        let size = target.size_mib.map(|mib| format!(", {mib} MiB"));
        let option = format!(
            "file {}, {} threads{}",
            target.path,
            target.threads,
            size.unwrap_or_default()
        );
        let origin = it.parameters.as_deref().unwrap_or("command line");
        let _ = writeln!(text, "#   {option:40} {origin}");
    }
    text.push('\n');
    text
}
