//! The page on the design file: its example is a design, and it names every key. And the page on the record: it names every
//! limit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_catalog::Catalog;
use fathom_model::{Design, Limit};

const PAGE: &str = include_str!("../../../docs/design.md");

/// The design that the page shows.
fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_is_a_design() {
    match Design::read(example(), "docs/design.md", Catalog::builtin()) {
        Ok((design, warnings)) => {
            assert!(warnings.0.is_empty(), "{warnings}");
            assert_eq!(design.volume_count(), 4 + 1 + 6 + 1);
        }
        Err(complaints) => panic!("{complaints}"),
    }
}

/// A key that does not exist gets the list of those that do, where nothing is near it.
#[test]
fn every_key_is_on_the_page() {
    let tables = [
        "[[vm]]",
        "[[vm]]\n[[vm.volume]]",
        "[[vm]]\n[[vm.temp]]",
        "[[vm]]\n[vm.host_cache]",
        "[[vm]]\n[[vm.volume]]\n[vm.volume.disks]",
        "[[device]]",
        "[[nfs]]",
        "[[smb]]",
    ];
    for table in tables {
        let text = format!("{table}\nzzzzzzzzzzzzzzzz = 1\n");
        let complaints = Design::read(&text, "x", Catalog::builtin()).unwrap_err();
        let hints = complaints.0.iter().filter_map(|one| one.hint.as_deref());
        let mut lists = hints.filter_map(|hint| hint.strip_prefix("known keys: "));
        let keys = lists.next().unwrap();
        for key in keys.split(", ") {
            let named = PAGE.contains(&format!("`{key}`")) || PAGE.contains(&format!("[vm.{key}]"));
            assert!(named, "{table}: `{key}` is not on the page");
        }
    }
}

/// What `bound_by` of a record may hold.
#[test]
fn every_limit_is_on_the_page_of_the_record() {
    let page = include_str!("../../../docs/record.md");
    let limits = Limit::ALL.map(Limit::name).into_iter();
    let missing: Vec<_> = limits
        .filter(|limit| !page.contains(&format!("`{limit}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/record.md does not name {missing:?}"
    );
}
