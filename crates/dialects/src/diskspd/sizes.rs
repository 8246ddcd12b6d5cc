//! DISKSPD's sizes: whole numbers with one letter.

/// Bytes of `text`, where `b` counts blocks of `block` bytes.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str, block: u64) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!("`{text}` is no size"));
    }
    let factor = match unit.to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        "B" => block,
        _ => return Err(format!("`{text}` is no size")),
    };
    let bytes = number.parse::<u64>().ok();
    bytes
        .and_then(|number| number.checked_mul(factor))
        .filter(|bytes| i64::try_from(*bytes).is_ok())
        .ok_or_else(|| format!("`{text}` is past 2^63 bytes"))
}

/// The same with its number six characters wide.
pub fn show_wide(bytes: u64) -> String {
    let shown = show(bytes);
    let digits = shown.find(|one: char| one.is_ascii_alphabetic());
    let (number, unit) = shown.split_at(digits.unwrap_or(shown.len()));
    if unit.is_empty() {
        return shown;
    }
    format!("{number:>6}{unit}")
}

/// `bytes` as DISKSPD 2.2 prints them: `4KiB`, `1.50MiB`, `512`.
pub fn show(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, bits)| bytes >> bits > 0) {
        None => bytes.to_string(),
        Some((unit, bits)) if bytes.is_multiple_of(1 << bits) => format!("{}{unit}", bytes >> bits),
        Some((unit, bits)) => {
            let size = 1u64 << bits;
            format!("{:.2}{unit}", bytes as f64 / size as f64)
        }
    }
}
