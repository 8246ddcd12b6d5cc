//! Points on a grid of plain characters, with axes.

use std::fmt::Write as _;

use crate::format::{rate, short_mean};

/// Rows of the grid.
const ROWS: usize = 12;
/// Columns of the labels left of it.
const LABEL: usize = 8;

/// A point: I/Os a second and a latency in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// I/Os a second.
    pub x: f64,
    /// A latency in ns.
    pub y: f64,
    /// What stands there.
    pub character: char,
    /// Whether it hides others of its place.
    pub in_front: bool,
}

/// The grid with its axes: I/Os a second from 0 to the right, latency upwards, by its logarithm where it spans more than a
/// factor of 8, within `width` columns. `None` for fewer than three points that have both.
pub(crate) fn plot(marks: &[Mark], width: usize) -> Option<String> {
    let columns = width - LABEL - 2;
    let drawn = marks.iter().filter(|mark| mark.x > 0.0 && mark.y > 0.0);
    let drawn: Vec<&Mark> = drawn.collect();
    if drawn.len() < 3 {
        return None;
    }
    let most = |figure: fn(&Mark) -> f64| drawn.iter().map(|mark| figure(mark)).fold(0.0, f64::max);
    let (right, top) = (most(|mark| mark.x), most(|mark| mark.y));
    let bottom = drawn.iter().map(|mark| mark.y).fold(top, f64::min);
    let scale = Scale::new(bottom, top);
    let mut grid = vec![vec![' '; columns]; ROWS];
    let mut ordered = drawn;
    ordered.sort_by_key(|mark| mark.in_front);
    for mark in ordered {
        let column = (mark.x / right * (columns - 1) as f64).round() as usize;
        let row = ROWS - 1 - scale.row(mark.y);
        grid[row.min(ROWS - 1)][column.min(columns - 1)] = mark.character;
    }
    Some(with_axes(&grid, &scale, right))
}

fn with_axes(grid: &[Vec<char>], scale: &Scale, right: f64) -> String {
    let columns = grid[0].len();
    let mut text = String::new();
    for (index, row) in grid.iter().enumerate() {
        let labelled = index.is_multiple_of(4) || index + 1 == ROWS;
        let value = scale.value(ROWS - 1 - index);
        let label = if labelled {
            short_mean(value)
        } else {
            String::new()
        };
        let row: String = row.iter().collect();
        let _ = writeln!(text, "{label:>LABEL$} |{}", row.trim_end());
    }
    let _ = writeln!(text, "{:LABEL$} +{}", "", "-".repeat(columns));
    let label = format!("{} IOPS", rate(right));
    let gap = columns.saturating_sub(1);
    let _ = writeln!(text, "{:LABEL$}  0{label:>gap$}", "");
    text
}

/// Latencies to rows, from the lowest (0).
struct Scale {
    bottom: f64,
    top: f64,
    logarithmic: bool,
}

impl Scale {
    fn new(bottom: f64, top: f64) -> Self {
        let logarithmic = top > bottom * 8.0;
        Self {
            bottom: if logarithmic { bottom } else { 0.0 },
            top,
            logarithmic,
        }
    }

    fn row(&self, value: f64) -> usize {
        let share = if self.logarithmic {
            libm::log(value / self.bottom) / libm::log(self.top / self.bottom)
        } else {
            value / self.top
        };
        (share * (ROWS - 1) as f64).round() as usize
    }

    /// The value in the middle of a row.
    fn value(&self, row: usize) -> f64 {
        let share = row as f64 / (ROWS - 1) as f64;
        if self.logarithmic {
            self.bottom * libm::pow(self.top / self.bottom, share)
        } else {
            self.top * share
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_are_met() {
        let mark = |x, y, character| Mark {
            x,
            y,
            character,
            in_front: character == '*',
        };
        let marks = [
            mark(1.0, 1e6, 'o'),
            mark(10_000.0, 64e6, 'o'),
            mark(5000.0, 8e6, '*'),
            mark(5000.0, 8e6, 'o'),
        ];
        let text = plot(&marks, 80).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
        assert!(lines[0].ends_with('o') && lines[0].starts_with("    64ms |"));
        assert!(lines[ROWS - 1].starts_with("     1ms |o"));
        assert_eq!(text.matches('*').count(), 1);
        assert!(lines[ROWS + 1].ends_with("10,000 IOPS"));
        let narrow = plot(&marks, 40).unwrap_or_default();
        assert!(narrow.lines().all(|line| line.chars().count() <= 40));
        assert!(narrow.lines().next().unwrap_or_default().ends_with('o'));
        assert_eq!(plot(&marks[..2], 80), None);
    }
}
