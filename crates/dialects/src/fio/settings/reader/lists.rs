//! Values of several numbers: lists of decimals, of sizes with their shares, and ranges of sizes.

use fathom_diagnostics::Diagnostic;
use fathom_units::Bytes;

use super::{Counts, ValueReader};
use crate::fio::{decimal, table, values};

impl ValueReader<'_> {
    /// Two sizes with `-` or `:` between them, for reads, writes and trims. An empty part leaves what was there before.
    pub fn size_ranges(&mut self, most: u64) -> Option<[Option<(u64, u64)>; 3]> {
        let text = self.text()?;
        let mut ranges = Vec::new();
        let is_separator = |character| matches!(character, ',' | '/');
        for part in text.split(is_separator).take(3) {
            if part.is_empty() && !text.chars().all(is_separator) {
                ranges.push(None);
                continue;
            }
            let bounds = part.split_once(['-', ':']);
            let bound = |text: &str, base| {
                let number = values::number(text, base)?;
                let bytes = u64::try_from(number.value).ok()?;
                (1..=most).contains(&bytes).then_some((bytes, number))
            };
            let read = bounds.and_then(|(first, second)| {
                Some((bound(first, self.kb_base)?, bound(second, self.kb_base)?))
            });
            let Some(((first, number), (second, other))) = read else {
                self.not_parsed(part, "range of sizes, such as `4k-64k`,");
                return None;
            };
            self.warn(&number, Counts::Bytes);
            self.warn(&other, Counts::Bytes);
            ranges.push(Some((first.min(second), first.max(second))));
        }
        let last = ranges.last().copied().flatten();
        Some(std::array::from_fn(|way| {
            ranges.get(way).copied().unwrap_or(last)
        }))
    }

    /// Numbers with decimals in rising order, and how many decimals the longest has.
    ///
    /// fio refuses the list for its first number only; any later one that it cannot read ends the list in silence.
    pub fn decimals(&mut self, most: usize) -> Option<(Vec<f64>, usize)> {
        let text = self.text()?;
        let mut list = Vec::new();
        let mut precision = 0;
        for part in text.split(':') {
            let typed = part.trim();
            let (number, read) = decimal::leading(typed);
            let Some(value) = number.filter(|it| *it > 0.0 && *it <= 100.0 && list.len() < most)
            else {
                // A zero ends the list in fio, so that one at its beginning leaves nothing to show.
                if list.is_empty() && number != Some(0.0) {
                    self.not_parsed(part, "number above 0 and up to 100");
                    return None;
                }
                let message = format!("`{}` ends before `{part}`, as in fio", self.row.name);
                let hint = format!("write up to {most} numbers above 0 and up to 100");
                let warning = Diagnostic::warning(message).at(self.option.value_location());
                self.diagnostics.push(warning.hint(hint));
                break;
            };
            self.warn_rest(typed, read, value);
            list.push(value);
            let digits = read.split_once('.').map_or(0, |(_, digits)| digits.len());
            precision = precision.max(digits.min(6));
        }
        list.sort_by(f64::total_cmp);
        Some((list, precision))
    }

    /// The number with decimals that `text`, a part of the value, begins with.
    pub fn decimal(&mut self, text: &str) -> Option<f64> {
        let typed = text.trim();
        let (value, read) = decimal::leading(typed);
        let value = value?;
        self.warn_rest(typed, read, value);
        Some(value)
    }

    /// The first of a list of numbers, which is all that counts of it.
    pub fn first_decimal(&mut self) -> Option<f64> {
        let text = self.text()?;
        let first = text.split(':').next().unwrap_or_default();
        let number = self.decimal(first);
        if number.is_none() {
            self.not_parsed(first.trim(), "number");
        }
        if first.len() < text.len() {
            let message = format!(
                "`{}={text}` is read as `{first}`, as fio does",
                self.row.name
            );
            let warning = Diagnostic::warning(message).at(self.option.value_location());
            self.diagnostics.push(warning.hint("write one number"));
        }
        number
    }

    /// What stands behind a number of a list counts for nothing.
    fn warn_rest(&mut self, typed: &str, read: &str, value: f64) {
        if read == typed {
            return;
        }
        let message = format!("`{typed}` is read as {value}, as fio does");
        let warning = Diagnostic::warning(message).at(self.option.value_location());
        let hint = "write numbers alone, separated by `:`";
        self.diagnostics.push(warning.hint(hint));
    }

    /// Checks the first number of a list, which is the one that fio refuses a list for.
    pub(super) fn check_decimal(&mut self) {
        let Some(text) = self.text() else { return };
        let first = text.split(':').next().unwrap_or_default().trim();
        // fio finds no bound that what is no number at all would exceed.
        if first
            .trim_start_matches(['+', '-'])
            .get(..3)
            .is_some_and(|it| it.eq_ignore_ascii_case("nan"))
        {
            return;
        }
        let Some(value) = decimal::leading(first).0 else {
            return self.not_parsed(first, "number");
        };
        let (least, most) = table::bounds(self.row.name);
        if most < u64::MAX && !(least as f64..=most as f64).contains(&value) {
            self.out_of_range(text, least, most);
        }
    }

    /// `size/share:size/share,…` for reads, writes and trims.
    pub fn splits(&mut self) -> Option<[Vec<(u64, u32)>; 3]> {
        let text = self.text()?;
        let mut lists: [Vec<(u64, u32)>; 3] = Default::default();
        let mut count = 0;
        for (index, part) in text.split(',').take(3).enumerate() {
            // A part left empty leaves its direction with the sizes of `bs`, where another has some.
            if !part.is_empty() || text.bytes().all(|byte| byte == b',') {
                lists[index] = self.split(part)?;
            }
            count = index + 1;
        }
        for index in count..3 {
            let last = lists[count - 1].clone();
            lists[index].extend(last);
        }
        Some(lists)
    }

    fn split(&mut self, text: &str) -> Option<Vec<(u64, u32)>> {
        let mut list = Vec::new();
        for entry in text.split(':').filter(|entry| !entry.is_empty()) {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let size = values::number(size, self.kb_base)
                .and_then(|number| values::bytes(number.value))
                .filter(|size| *size > Bytes::ZERO && *size <= Bytes::mib(1024));
            // fio takes leading digits, and a share of 0 for none given.
            let digits = share.len() - share.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let share: u32 = share[..digits].parse().unwrap_or(0);
            let share = (share > 0).then_some(share.min(100));
            let Some(size) = size else {
                self.not_parsed(entry, "size with its share, such as `4k/60`,");
                return None;
            };
            list.push((size.get(), share));
        }
        if list.is_empty() || list.len() > 64 {
            self.not_parsed(text, "list of 1 to 64 sizes");
            return None;
        }
        let given: u32 = list
            .iter()
            .filter_map(|(_, share)| *share)
            .fold(0, u32::saturating_add);
        let blanks = list.iter().filter(|(_, share)| share.is_none()).count() as u32;
        let Some(rest) = 100u32.checked_sub(given).or((blanks == 0).then_some(0)) else {
            self.refuse("the shares add up to more than 100 %", None);
            return None;
        };
        // Sizes without a share divide the rest among them, in whole percents.
        let each = rest.checked_div(blanks).unwrap_or(0);
        let mut list: Vec<_> = list
            .into_iter()
            .map(|(size, share)| (size, share.unwrap_or(each)))
            .collect();
        settle_shares(&mut list);
        Some(list)
    }
}

/// Makes shares add up to 100 as fio does: they are used up from the smallest on, and the largest takes what is left.
fn settle_shares(list: &mut [(u64, u32)]) {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|index| list[*index].1);
    let mut left = 100;
    for (place, index) in order.iter().enumerate() {
        let share = &mut list[*index].1;
        let is_last = place + 1 == order.len();
        *share = if is_last { left } else { left.min(*share) };
        left -= *share;
    }
}
