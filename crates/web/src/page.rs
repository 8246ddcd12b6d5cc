//! Pages around what they show: in the style of a run's page, with links to the others.

use fathom_report::{escaped, html_frame};
use fathom_runs::StoreError;

use crate::answer::{Answer, Kind, Status};
use crate::request::escaped_in_address;

/// Scripts of this server, and what they ask of it.
const WITH_SCRIPT: &str = "; script-src 'self'; connect-src 'self'";

/// What the head of a page has that changes as it is looked at: a script, and for browsers without one a way to look again.
const LIVE_HEAD: &str = "<script src=\"/live.js\" defer></script>\n\
    <noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>\n";

/// A link to another page.
pub(crate) struct Link {
    pub(crate) address: String,
    pub(crate) words: &'static str,
}

/// Back to the list.
pub(crate) fn to_list() -> Link {
    Link {
        address: "/".to_owned(),
        words: "All runs",
    }
}

/// The address of a run's page.
pub(crate) fn of_run(id: &str) -> String {
    format!("/runs/{}", escaped_in_address(id))
}

/// A page of `body`, which is markup.
pub(crate) fn page(status: Status, title: &str, links: &[Link], body: &str) -> Answer {
    let body = links_html(links) + body;
    Answer::new(status, Kind::Page, html_frame(title, ("", ""), &body))
}

/// The same, of one whose script changes it.
pub(crate) fn live_page(title: &str, links: &[Link], body: &str) -> Answer {
    let body = links_html(links) + body;
    let html = html_frame(title, (WITH_SCRIPT, LIVE_HEAD), &body);
    Answer::new(Status::Ok, Kind::Page, html)
}

fn links_html(links: &[Link]) -> String {
    let links = links.iter().map(|link| {
        let address = escaped(&link.address);
        format!("<a href=\"{address}\">{}</a>\n", link.words)
    });
    let links: String = links.collect();
    if links.is_empty() {
        return links;
    }
    format!("<nav>\n{links}</nav>\n")
}

/// A page that says what is wrong and what to do.
pub(crate) fn sorry(status: Status, what: &str, hint: &str) -> Answer {
    let body = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(what), escaped(hint));
    page(status, what, &[to_list()], &body)
}

/// The same of a run or of the store.
pub(crate) fn sorry_store(error: &StoreError) -> Answer {
    sorry(Status::Broken, &error.to_string(), &error.hint())
}
