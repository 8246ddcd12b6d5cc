//! Inputs of a MiB that mean to take long or much.

use super::*;

const SIZE: usize = 1 << 20;

fn profile(bytes: impl Into<Vec<u8>>) {
    let files = Named::with("p.xml", bytes);
    let _ = read(&words("-Rp -Xp.xml"), 0, &files);
    let _ = read(&words("-Xp.xml a b"), 0, &files);
}

#[test]
fn profiles_of_a_mib_are_answered() {
    let within = |inner: &str| {
        let head = "<Profile><TimeSpans><TimeSpan><Targets><Target><Path>f</Path>";
        let tail = "</Target></Targets></TimeSpan></TimeSpans></Profile>";
        format!("{head}{}{tail}", inner.repeat(SIZE / inner.len()))
    };
    for part in [
        "<a>",
        "<",
        "<a ",
        "<a </ ",
        "<a a='1'><!--",
        "&lt;",
        "\u{fffd}",
        "<![CDATA[",
        "\n<",
        "</a>",
    ] {
        profile(part.repeat(SIZE / part.len()));
        profile(within(part));
    }
    for part in [
        "<a/>",
        "<BlockSize>x</BlockSize>",
        "<Weight>1</Weight>",
        "<ThreadTargets/>",
        "</Target><Target><Path>f</Path>",
        "</Target><Target><Path>f</Path><Random>0</Random>",
        "</Target></Targets></TimeSpan><TimeSpan><Targets><Target><Path>f</Path>",
    ] {
        profile(within(part));
    }
    let attributes: Vec<String> = (0..SIZE / 10).map(|at| format!("a{at}='1'")).collect();
    profile(format!("<Profile {}/>", attributes.join(" ")));
    let names = "x".repeat(SIZE);
    profile(format!("<Profile><{names}/></Profile>"));
    profile(format!("<Profile><Progress>{names}</Progress></Profile>"));
}

#[test]
fn lines_of_a_mib_are_answered() {
    for word in [
        "-b4K",
        "f",
        "-w101",
        "-q",
        "–",
        "-a0,",
        "-",
        "-rdpct1/1:",
        "-Xf",
        "-Zr",
    ] {
        let count = SIZE / (word.len() + 1);
        let many = vec![word.to_owned(); count];
        let _ = read(&many, 0, &Named::default());
        let _ = read(&[word.repeat(count), "f".to_owned()], 0, &Named::default());
    }
    let ranges = format!("-rdpct0/1{}", ":0/1".repeat(SIZE / 4));
    let _ = read(
        &[ranges, "-r".to_owned(), "f".to_owned()],
        0,
        &Named::default(),
    );
    let threads = "-F65536 -O4 -rs5 f g";
    let _ = read(&words(threads), 0, &Named::default());
}
