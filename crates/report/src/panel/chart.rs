//! Columns of block characters: figures over time in a few rows of text.

/// From nothing to a full row, in eighths.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const EIGHTHS: usize = BLOCKS.len() - 1;

/// One column for each of `values`, from 0 to `most`, on so many `rows`, the topmost first. What is more than nothing
/// shows.
pub(super) fn chart(values: &[f64], most: f64, rows: usize) -> Vec<String> {
    let whole = rows * EIGHTHS;
    let height = |value: &f64| match *value {
        value if value > 0.0 && most > 0.0 => {
            ((value / most * whole as f64).round() as usize).clamp(1, whole)
        }
        _ => 0,
    };
    let heights: Vec<usize> = values.iter().map(height).collect();
    let row = |row: usize| -> String {
        let level = |height: &usize| height.saturating_sub(row * EIGHTHS).min(EIGHTHS);
        heights.iter().map(|height| BLOCKS[level(height)]).collect()
    };
    (0..rows).rev().map(row).collect()
}

/// How far something is, on so many columns; `share` is from 0 to 1.
pub(super) fn bar(share: f64, columns: usize) -> String {
    let percent = format!(" {:>3.0} %", (share.clamp(0.0, 1.0) * 100.0).floor());
    let room = columns.saturating_sub(percent.chars().count());
    let full = ((share * room as f64) as usize).min(room);
    "█".repeat(full) + &"░".repeat(room - full) + &percent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], most: f64, rows: &[&str]) {
        assert_eq!(chart(values, most, rows.len()), rows, "{values:?}");
    }

    #[test]
    fn heights_are_shares_of_the_highest() {
        check(&[0.0, 1.0, 4.0, 8.0], 8.0, &[" ▁▄█"]);
        check(&[0.0, 1.0, 4.0, 8.0, 6.0], 8.0, &["   █▄", " ▂███"]);
        // Little is more than nothing, and nothing at all has no scale.
        check(&[0.001, 1000.0], 1000.0, &["▁█"]);
        check(&[0.0, 0.0], 0.0, &["  ", "  "]);
        check(&[f64::NAN, 1.0], 1.0, &[" █"]);
        check(&[], 1.0, &[""]);
    }

    #[test]
    fn a_bar_is_full_at_the_end_alone() {
        assert_eq!(bar(0.0, 16), "░░░░░░░░░░   0 %");
        assert_eq!(bar(0.55, 16), "█████░░░░░  55 %");
        assert_eq!(bar(0.999, 16), "█████████░  99 %");
        assert_eq!(bar(1.0, 16), "██████████ 100 %");
        assert_eq!(bar(7.0, 16), "██████████ 100 %");
        assert_eq!(bar(0.5, 3), "  50 %");
    }
}
