//! A line chart as SVG: readable without scripts, in print, and by those who do not see colours (each line has its own
//! dashes as well).
//!
//! The page's style has the colours of light and dark. What a chart needs to be seen stands in its own attributes as well,
//! which the style goes before: for readers of mail, and converters to other formats.

use std::fmt::Write as _;

use super::axis::{Axis, Scale};
use super::labels::{Label, Labels};
use super::text::escaped;

/// Size of a chart in its own units; it grows and shrinks with the page.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 260.0;
/// Room for the figures beside the axes.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 34.0;
/// Most points of a line: more than the width could show.
const POINTS_MAX: usize = 1_200;
/// How many kinds of lines the style knows.
pub(super) const LINES: usize = 6;
/// Colour and dashes of each, as the style has them on white paper.
const STROKES: [(&str, &str); LINES] = [
    ("#1f6fb4", "none"),
    ("#c8541c", "7 3"),
    ("#2c8a57", "2 3"),
    ("#8a4fb0", "9 3 2 3"),
    ("#9a7a12", "4 4"),
    ("#b02f6b", "12 4"),
];
/// The same of what is around them.
const GRID: &str = "#d9dee6";
const INK: &str = "#5c6675";

/// What is drawn along one side.
pub(super) struct Side {
    /// What its figures are, with their unit.
    pub(super) label: &'static str,
    /// How they are laid.
    pub(super) scale: Scale,
    /// A figure in words.
    pub(super) figure: fn(f64) -> String,
    /// Ticks of its own, where round figures are not what a reader looks for.
    pub(super) ticks: Option<Vec<f64>>,
}

/// One line.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Whether each point is marked, and how.
    pub(super) marks: Option<Vec<Mark>>,
}

/// The mark of a point.
pub(super) struct Mark {
    /// Words beside it, where there is room for them.
    pub(super) words: String,
    /// Whether others make way for it.
    pub(super) is_first: bool,
}

/// A chart: what it shows, its sides, its lines.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) across: Side,
    pub(super) up: Side,
    pub(super) lines: Vec<Line>,
    /// Points that have room in it and are not drawn: those of charts that it is to be laid beside, so that all of them have
    /// one scale.
    pub(super) others: Vec<(f64, f64)>,
}

impl Chart {
    /// The chart as a figure of a page; empty where there is nothing to draw.
    pub(super) fn to_html(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let own = || self.lines.iter().flat_map(|line| &line.points);
        let points = || own().chain(&self.others);
        let across = Axis::holding(self.across.scale, points().map(|point| point.0));
        let up = Axis::holding(self.up.scale, points().map(|point| point.1));
        let (Some(across), Some(up)) = (across, up) else {
            return String::new();
        };
        let title = escaped(&self.title);
        let mut svg = format!(
            "<figure>\n<figcaption>{title}</figcaption>\n{}<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{title}\" fill=\"none\" font-size=\"11\" font-family=\"sans-serif\">\n",
            self.legend(&across, &up)
        );
        self.write_axes(&mut svg, &across, &up);
        for (index, line) in self.lines.iter().enumerate() {
            write_line(&mut svg, index % LINES, line, &across, &up);
        }
        // Over all lines, so that none of them strikes a word out.
        self.write_marks(&mut svg, &across, &up);
        svg.push_str("</svg>\n</figure>\n");
        svg
    }

    /// The names of the lines that have a place; a kind of its own for each, so that it is the same in every chart.
    fn legend(&self, across: &Axis, up: &Axis) -> String {
        let has_place = |(x, y): &(f64, f64)| across.place(*x).and(up.place(*y)).is_some();
        let mut legend = String::from("<p class=\"legend\">");
        for (index, line) in self.lines.iter().enumerate() {
            if !line.points.iter().any(has_place) {
                continue;
            }
            let _ = write!(
                legend,
                "<span><svg class=\"key\" viewBox=\"0 0 28 8\" aria-hidden=\"true\" fill=\"none\">{}</svg>{}</span> ",
                path_of(index % LINES, "M0 4H28"),
                escaped(&line.name)
            );
        }
        legend.push_str("</p>\n");
        legend
    }

    /// The marks of all lines, then the words beside them: those of special ones first, which others make way for.
    fn write_marks(&self, svg: &mut String, across: &Axis, up: &Axis) {
        let mut marks = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let own = line.marks.iter().flatten();
            for ((x, y), mark) in line.points.iter().zip(own) {
                let (Some(x), Some(y)) = (across.place(*x), up.place(*y)) else {
                    continue;
                };
                let at = (horizontal(x), vertical(y));
                write_mark(svg, index % LINES, at);
                marks.push((at, mark));
            }
        }
        let bounds = [LEFT, WIDTH, 0.0, HEIGHT - BOTTOM];
        let mut labels = Labels::beside(marks.iter().map(|(at, _)| *at), bounds);
        marks.sort_by_key(|(_, mark)| !mark.is_first);
        for (at, mark) in marks {
            if !mark.words.is_empty()
                && let Some(label) = labels.place(at, &mark.words)
            {
                write_words(svg, label, &mark.words);
            }
        }
    }

    fn write_axes(&self, svg: &mut String, across: &Axis, up: &Axis) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in up.ticks() {
            let Some(place) = up.place(tick) else {
                continue;
            };
            let y = vertical(place);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{GRID}\"/>\
                 <text class=\"tick end\" text-anchor=\"end\" fill=\"{INK}\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                escaped(&(self.up.figure)(tick))
            );
        }
        let own = self.across.ticks.clone();
        for tick in own.unwrap_or_else(|| across.ticks()) {
            let Some(place) = across.place(tick) else {
                continue;
            };
            let x = horizontal(place);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{GRID}\"/>\
                 <text class=\"tick middle\" text-anchor=\"middle\" fill=\"{INK}\" x=\"{x:.1}\" y=\"{}\">{}</text>",
                bottom + 15.0,
                escaped(&(self.across.figure)(tick))
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\" stroke=\"{INK}\"/>\
             <text class=\"side end\" text-anchor=\"end\" fill=\"{INK}\" x=\"{right}\" y=\"{}\">{}</text>\
             <text class=\"side\" fill=\"{INK}\" x=\"{}\" y=\"{}\">{}</text>",
            HEIGHT - 4.0,
            escaped(self.across.label),
            LEFT + 5.0,
            TOP + 9.0,
            escaped(self.up.label)
        );
    }
}

/// A mark at `at`, of a line's kind.
fn write_mark(svg: &mut String, kind: usize, (x, y): (f64, f64)) {
    let _ = writeln!(
        svg,
        "<circle class=\"mark l{kind}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#ffffff\" stroke=\"{}\"/>",
        STROKES[kind].0
    );
}

/// Words where their label is.
fn write_words(svg: &mut String, label: Label, words: &str) {
    let Label { anchor, x, y } = label;
    let _ = writeln!(
        svg,
        "<text class=\"tick {anchor}\" text-anchor=\"{anchor}\" fill=\"{INK}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        escaped(words)
    );
}

fn horizontal(place: f64) -> f64 {
    LEFT + place * (WIDTH - LEFT - RIGHT)
}

fn vertical(place: f64) -> f64 {
    HEIGHT - BOTTOM - place * (HEIGHT - TOP - BOTTOM)
}

fn write_line(svg: &mut String, kind: usize, line: &Line, across: &Axis, up: &Axis) {
    let place = |(x, y): (f64, f64)| Some((across.place(x)?, up.place(y)?));
    let places: Vec<Option<(f64, f64)>> = thinned(&line.points).into_iter().map(place).collect();
    let mut path = String::new();
    // What has no place leaves a gap: nothing was there.
    for stretch in places.split(Option::is_none) {
        for (index, (x, y)) in stretch.iter().flatten().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", horizontal(*x), vertical(*y));
        }
    }
    svg.push_str(&path_of(kind, &path));
    svg.push('\n');
    for stretch in places.split(Option::is_none) {
        // Between two gaps there is nothing to draw a line to.
        if let [Some((x, y))] = stretch {
            let _ = writeln!(
                svg,
                "<circle class=\"dot l{kind}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\" stroke=\"{}\" stroke-width=\"2\"/>",
                horizontal(*x),
                vertical(*y),
                STROKES[kind].0
            );
        }
    }
}

fn path_of(kind: usize, path: &str) -> String {
    let (colour, dashes) = STROKES[kind];
    format!(
        "<path class=\"line l{kind}\" d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\"/>"
    )
}

/// At most so many points: of each stretch its smallest and its largest, in their order, so that no peak is lost.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(POINTS_MAX / 2);
    let mut kept = Vec::with_capacity(POINTS_MAX);
    for part in points.chunks(stretch) {
        let order = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let least = (0..part.len()).min_by(order).unwrap_or(0);
        let most = (0..part.len()).max_by(order).unwrap_or(0);
        kept.push(part[least.min(most)]);
        if least != most {
            kept.push(part[least.max(most)]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(words: &str, is_first: bool) -> Mark {
        Mark {
            words: words.to_owned(),
            is_first,
        }
    }

    fn side(scale: Scale) -> Side {
        Side {
            label: "side",
            scale,
            figure: |figure| figure.to_string(),
            ticks: None,
        }
    }

    #[test]
    fn a_long_line_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|x| (f64::from(x), 10.0)).collect();
        points[54_321].1 = 99.0;
        points[12_345].1 = 1.0;
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS_MAX, "{}", kept.len());
        assert!(kept.contains(&(54_321.0, 99.0)) && kept.contains(&(12_345.0, 1.0)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn what_has_no_place_leaves_a_gap() {
        let chart = Chart {
            title: "a < b".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::Log),
            lines: vec![Line {
                name: "reads".to_owned(),
                points: vec![(0.0, 1.0), (1.0, 2.0), (2.0, 0.0), (3.0, 3.0), (4.0, 4.0)],
                marks: None,
            }],
            others: Vec::new(),
        };
        let html = chart.to_html();
        assert!(html.contains("a &lt; b") && !html.contains("a < b"));
        let drawn = html.split("class=\"line l0\" d=\"").nth(2).unwrap();
        let drawn = drawn.split('"').next().unwrap();
        assert_eq!(drawn.matches('M').count(), 2, "{drawn}");
        assert_eq!(drawn.matches('L').count(), 2, "{drawn}");
    }

    #[test]
    fn a_point_between_gaps_is_a_dot_and_no_line_is_named_without_one() {
        let line = |name: &str, points: Vec<(f64, f64)>| Line {
            name: name.to_owned(),
            points,
            marks: None,
        };
        let chart = Chart {
            title: "served".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::Log),
            lines: vec![
                line("reads", vec![(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN)]),
                line("writes", vec![(1.0, f64::NAN), (2.0, 2.0), (3.0, f64::NAN)]),
                line("trims", vec![(1.0, 0.0), (2.0, f64::NAN)]),
            ],
            others: Vec::new(),
        };
        let html = chart.to_html();
        assert_eq!(html.matches("class=\"dot ").count(), 1, "{html}");
        assert!(html.contains("class=\"dot l1\""), "{html}");
        assert!(html.contains("</svg>writes"), "{html}");
        assert!(!html.contains("trims"), "{html}");
    }

    #[test]
    fn words_of_marks_lie_over_all_lines() {
        let line = |name: &str| Line {
            name: name.to_owned(),
            points: vec![(1.0, 1.0), (2.0, 2.0)],
            marks: Some(vec![
                marked("", false),
                marked(&format!("{name} knee"), false),
            ]),
        };
        let chart = Chart {
            title: "sweep".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::Log),
            lines: vec![line("a"), line("b")],
            others: Vec::new(),
        };
        let html = chart.to_html();
        let last_line = html.rfind("class=\"line").unwrap();
        assert!(last_line < html.find(">a knee<").unwrap(), "{html}");
    }

    #[test]
    fn charts_that_hold_the_same_have_one_scale() {
        let chart = |own, others| Chart {
            title: "mix".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::FromZero),
            lines: vec![Line {
                name: "reads".to_owned(),
                points: vec![own],
                marks: None,
            }],
            others: vec![others],
        };
        let grid = |chart: Chart| {
            let html = chart.to_html();
            let lines = html.lines().filter(|line| line.contains("class=\"grid\""));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (one, two) = ((3.0, 40.0), (10.0, 7.0));
        assert_eq!(grid(chart(one, two)), grid(chart(two, one)));
        assert_ne!(grid(chart(one, two)), grid(chart(one, one)));
    }

    #[test]
    fn what_is_special_has_its_words_before_others() {
        let chart = Chart {
            title: "sweep".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::Log),
            lines: vec![Line {
                name: "a".to_owned(),
                points: (0..9).map(|nth| (100.0 + f64::from(nth), 1.0)).collect(),
                marks: Some(
                    (0..9)
                        .map(|nth| marked(&format!("point {nth}"), nth == 8))
                        .collect(),
                ),
            }],
            others: Vec::new(),
        };
        let html = chart.to_html();
        assert_eq!(html.matches("class=\"mark").count(), 9, "{html}");
        assert!(html.contains(">point 8<"), "{html}");
        assert!(html.matches(">point ").count() < 9, "{html}");
    }

    #[test]
    fn a_narrow_screen_has_charts_that_can_be_read() {
        let style = super::super::STYLE;
        let (_, rest) = style.split_once("figure > svg {").unwrap();
        let (_, rest) = rest.split_once("min-width: ").unwrap();
        let least: f64 = rest.split_once("rem").unwrap().0.parse().unwrap();
        // Figures of 11 units, where 1rem is 16 pixels.
        let figures = 11.0 * least * 16.0 / WIDTH;
        assert!(figures >= 7.5, "{figures} pixels");
        assert!(style.contains("figure { margin: 1rem 0; overflow-x: auto; }"));
    }

    #[test]
    fn lines_look_as_in_the_style() {
        for (kind, (colour, dashes)) in STROKES.into_iter().enumerate() {
            assert!(super::super::STYLE.contains(&format!("--l{kind}: {colour};")));
            let dashed = match dashes {
                "none" => String::new(),
                dashes => format!("stroke-dasharray: {dashes}; "),
            };
            let rule = format!(".l{kind} {{ stroke: var(--l{kind}); {dashed}}}");
            assert!(super::super::STYLE.contains(&rule), "{rule}");
        }
        for (name, colour) in [("rule", GRID), ("soft", INK)] {
            assert!(super::super::STYLE.contains(&format!("--{name}: {colour};")));
        }
    }

    #[test]
    fn nothing_to_draw_is_no_chart() {
        let chart = Chart {
            title: "none".to_owned(),
            across: side(Scale::FromZero),
            up: side(Scale::Log),
            lines: Vec::new(),
            others: vec![(1.0, 1.0)],
        };
        assert_eq!(chart.to_html(), "");
    }
}
