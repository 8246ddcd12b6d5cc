//! A terminal as far as the program needs one: text with its lines broken at the last column, the cursor, and erasing.
//!
//! Made narrower or wider, it breaks its lines anew, as most terminals do. What it does not know is a failure.

/// A row, and whether the text goes on in the next one.
#[derive(Debug, Clone, Default)]
struct Row {
    cells: Vec<char>,
    goes_on: bool,
}

/// What stands on the screen, and above it.
#[derive(Debug, Default)]
pub struct Vt {
    columns: usize,
    height: usize,
    rows: Vec<Row>,
    /// First row of the screen.
    top: usize,
    row: usize,
    column: usize,
    /// Bytes of a character or a sequence that is not whole yet.
    begun: Vec<u8>,
    /// Whether nothing was drawn since the rest of the screen was erased last: a frame ends so.
    is_whole: bool,
    /// Frames so far.
    frames: usize,
}

impl Vt {
    /// An empty one.
    pub fn new(columns: usize, height: usize) -> Self {
        Self {
            columns,
            height,
            rows: vec![Row::default()],
            ..Self::default()
        }
    }

    /// Takes what a program wrote.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        let text = std::mem::take(&mut self.begun);
        let mut rest = match std::str::from_utf8(&text) {
            Ok(text) => text,
            Err(error) => {
                assert_eq!(error.error_len(), None, "bytes that are no text");
                let (whole, begun) = text.split_at(error.valid_up_to());
                self.begun = begun.to_vec();
                std::str::from_utf8(whole).expect("looked at just now")
            }
        };
        while let Some(letter) = rest.chars().next() {
            let used = if letter == '\u{1b}' {
                let Some(length) = self.sequence(rest) else {
                    self.begun = [rest.as_bytes(), &self.begun].concat();
                    return;
                };
                length
            } else {
                self.letter(letter);
                letter.len_utf8()
            };
            rest = &rest[used..];
        }
    }

    /// Does what the sequence at the beginning of `text` says, and says how long it is; `None`: it is not whole.
    fn sequence(&mut self, text: &str) -> Option<usize> {
        let end = 2 + text.get(2..)?.find(|c: char| c.is_ascii_alphabetic())?;
        let number = text[2..end].parse().unwrap_or(1);
        match &text[end..=end] {
            _ if !text.starts_with("\u{1b}[") => panic!("not known: {:?}", &text[..=end]),
            "A" => {
                self.row = self.row.saturating_sub(number).max(self.top);
                self.is_whole = false;
            }
            "K" => self.erase_rest_of_line(),
            "J" => {
                self.erase_rest_of_line();
                self.rows.truncate(self.row + 1);
                self.is_whole = true;
                self.frames += 1;
            }
            _ => panic!("not known: {:?}", &text[..=end]),
        }
        Some(end + 1)
    }

    fn erase_rest_of_line(&mut self) {
        let column = self.column;
        let row = self.present();
        row.cells.truncate(column);
        row.goes_on = false;
    }

    fn letter(&mut self, letter: char) {
        match letter {
            '\r' => self.column = 0,
            '\n' => self.next_row(),
            letter => {
                assert!(!letter.is_control(), "not known: {letter:?}");
                if self.column == self.columns {
                    self.present().goes_on = true;
                    self.next_row();
                    self.column = 0;
                }
                let column = self.column;
                let cells = &mut self.present().cells;
                cells.resize(cells.len().max(column + 1), ' ');
                cells[column] = letter;
                self.column += 1;
            }
        }
    }

    fn next_row(&mut self) {
        self.row += 1;
        self.top = self.top.max((self.row + 1).saturating_sub(self.height));
        self.present();
    }

    fn present(&mut self) -> &mut Row {
        if self.rows.len() <= self.row {
            self.rows.resize(self.row + 1, Row::default());
        }
        &mut self.rows[self.row]
    }

    /// Is made smaller or larger: lines are broken anew, and what has no room leaves the screen above.
    pub fn resize(&mut self, columns: usize, height: usize) {
        let old = std::mem::take(&mut self.rows);
        let (row, column) = (self.row, self.column);
        (self.columns, self.height) = (columns, height);
        let mut line: Vec<char> = Vec::new();
        for (number, Row { cells, goes_on }) in old.into_iter().enumerate() {
            if number == row {
                let at = line.len() + column;
                (self.row, self.column) = (self.rows.len() + at / columns, at % columns);
            }
            line.extend(cells);
            if goes_on {
                continue;
            }
            let pieces = line.len().div_ceil(columns).max(1);
            for piece in 0..pieces {
                let from = piece * columns;
                let to = (from + columns).min(line.len());
                self.rows.push(Row {
                    cells: line[from..to].to_vec(),
                    goes_on: piece + 1 < pieces,
                });
            }
            line.clear();
        }
        self.top = self.rows.len().max(self.row + 1).saturating_sub(height);
    }

    /// The rows of the screen.
    pub fn screen(&self) -> Vec<String> {
        self.texts().skip(self.top).collect()
    }

    /// All rows, those that left the screen above too.
    pub fn all(&self) -> Vec<String> {
        self.texts().collect()
    }

    fn texts(&self) -> impl Iterator<Item = String> {
        let text = |row: &Row| row.cells.iter().collect::<String>();
        self.rows
            .iter()
            .map(move |row| text(row).trim_end().to_owned())
    }

    /// Whether no frame is half drawn.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How many frames there were.
    pub fn frames(&self) -> usize {
        self.frames
    }
}

#[test]
fn lines_break_at_the_last_column_and_anew_when_it_moves() {
    let mut vt = Vt::new(5, 3);
    vt.feed("ab\r\n1234567\r\nµ".as_bytes());
    assert_eq!(vt.screen(), ["12345", "67", "µ"]);
    assert_eq!(vt.all(), ["ab", "12345", "67", "µ"]);
    vt.resize(3, 3);
    assert_eq!(vt.all(), ["ab", "123", "456", "7", "µ"]);
    assert_eq!(vt.screen(), ["456", "7", "µ"]);
    vt.resize(9, 3);
    vt.feed(b"\r\x1b[2Axy\x1b[K\r\nz\x1b");
    assert!(!vt.is_whole());
    vt.feed(b"[J");
    assert_eq!(vt.all(), ["xy", "z"]);
    assert!(vt.is_whole() && vt.frames() == 1);
    // No further up than the screen goes.
    vt.feed(b"\r\n1\r\n2\r\x1b[9A!");
    assert_eq!(vt.all(), ["xy", "!", "1", "2"]);
}
