//! Where the words beside marks of a chart stand, so that none lies over another or over a mark.
//!
//! Words are wanted above their mark; where others are, they go below it or to a side, and where all of these are taken they
//! are left out: a number that cannot be read says less than none.

/// Width of a letter and height of words of the charts' size, rounded up.
const LETTER: f64 = 6.4;
const ABOVE_LINE: f64 = 9.0;
const BELOW_LINE: f64 = 3.0;
/// From a mark's middle to its edge.
const MARK: f64 = 4.0;

/// Words that have found a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Label {
    /// SVG's `text-anchor`, which is the style's class too.
    pub(super) anchor: &'static str,
    /// Where the anchor is.
    pub(super) x: f64,
    /// Where the line that the words stand on is.
    pub(super) y: f64,
}

/// What of a chart is taken.
#[derive(Debug)]
pub(super) struct Labels {
    /// Left, right, top and bottom of what words stand in.
    bounds: [f64; 4],
    taken: Vec<[f64; 4]>,
}

impl Labels {
    /// Only `marks` are there; words stand within `bounds` (left, right, top and bottom).
    pub(super) fn beside(marks: impl Iterator<Item = (f64, f64)>, bounds: [f64; 4]) -> Self {
        let taken = marks.map(|(x, y)| [x - MARK, x + MARK, y - MARK, y + MARK]);
        Self {
            bounds,
            taken: taken.collect(),
        }
    }

    /// A place for `words` beside the mark at `x` and `y`.
    pub(super) fn place(&mut self, (x, y): (f64, f64), words: &str) -> Option<Label> {
        let width = words.chars().count() as f64 * LETTER;
        let places = [
            ("middle", x, y - 7.0, x - width / 2.0),
            ("middle", x, y + 15.0, x - width / 2.0),
            ("start", x + 7.0, y + 4.0, x + 7.0),
            ("end", x - 7.0, y + 4.0, x - 7.0 - width),
        ];
        places.into_iter().find_map(|(anchor, x, y, left)| {
            let own = [left, left + width, y - ABOVE_LINE, y + BELOW_LINE];
            self.has_room(own).then(|| {
                self.taken.push(own);
                Label { anchor, x, y }
            })
        })
    }

    fn has_room(&self, [left, right, top, bottom]: [f64; 4]) -> bool {
        let [least_x, most_x, least_y, most_y] = self.bounds;
        let within = left >= least_x && right <= most_x && top >= least_y && bottom <= most_y;
        let is_free =
            |[l, r, t, b]: &[f64; 4]| right <= *l || left >= *r || bottom <= *t || top >= *b;
        within && self.taken.iter().all(is_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: [f64; 4] = [0.0, 200.0, 0.0, 100.0];

    #[track_caller]
    fn check(marks: &[(f64, f64)], expected: &[Option<(&str, f64)>]) {
        let mut labels = Labels::beside(marks.iter().copied(), BOUNDS);
        let found = marks.iter().map(|mark| labels.place(*mark, "64"));
        let found: Vec<_> = found
            .map(|label| label.map(|label| (label.anchor, label.y)))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_make_way_for_each_other() {
        check(&[(50.0, 50.0), (100.0, 50.0)], &[Some(("middle", 43.0)); 2]);
        // Beside the first there is no room above, and at the edge there is none below.
        check(
            &[(50.0, 50.0), (60.0, 50.0)],
            &[Some(("middle", 43.0)), Some(("middle", 65.0))],
        );
        check(
            &[(50.0, 93.0), (60.0, 93.0)],
            &[Some(("middle", 86.0)), Some(("start", 97.0))],
        );
    }

    #[test]
    fn words_without_room_are_left_out() {
        let mark = (50.0, 50.0);
        let all = [
            ("middle", 43.0),
            ("middle", 65.0),
            ("start", 54.0),
            ("end", 54.0),
        ];
        let all = all.map(Some).into_iter().chain([None]);
        check(&[mark; 5], &all.collect::<Vec<_>>());
    }
}
