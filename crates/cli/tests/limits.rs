//! Every limit of the model has its place in the documentation of the record.

mod support;

use fathom_model::Limit;

#[test]
fn every_limit_is_documented() {
    let page = support::root().join("docs/record.md");
    let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{error}"));
    for limit in Limit::ALL {
        let name = limit.name();
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
