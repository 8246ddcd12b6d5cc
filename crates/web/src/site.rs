//! What is answered to a request: who may come, which page is meant, what it shows.

use fathom_report::{escaped, html_body};
use fathom_runs::RunEntry;

use crate::access::{Access, Known, Refused};
use crate::answer::{Answer, Kind, Status};
use crate::events::{Following, Form, view_of};
use crate::page::{Link, live_page, of_run, page, sorry, sorry_store, to_list};
use crate::request::{Method, Request, Wrong, escaped_in_address};
use crate::shelf::Shelf;
use crate::{api, list};

const SCRIPT: &str = include_str!("live.js");

/// All pages.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) access: Access,
    pub(crate) shelf: Shelf,
}

/// What comes of a request.
pub(crate) enum Reply {
    Whole(Answer),
    /// A run is followed.
    Events(Box<Following>),
}

impl Site {
    /// The reply to what a client has sent.
    pub(crate) fn reply(&self, request: &Result<Request, Wrong>) -> Reply {
        let request = match request {
            Ok(request) => request,
            Err(wrong) => return Reply::Whole(refusal_of(*wrong)),
        };
        let known = match self.access.of(request) {
            Ok(known) => known,
            Err(refused) => return Reply::Whole(refusal(refused)),
        };
        if request.method == Method::Other {
            let text = "These pages can be read, and nothing else: GET and HEAD are answered.\n";
            return Reply::Whole(Answer::new(Status::NoMethod, Kind::Text, text));
        }
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["events"] => self.events(request),
            ["api", "runs"] => Reply::Whole(api::list(&self.shelf, request)),
            ["api", "runs", id] => Reply::Whole(api::record(&self.shelf, id)),
            ["api", ..] => Reply::Whole(api::sorry(
                Status::NotFound,
                "there is nothing at this address",
                "`/api/runs` lists the stored runs",
            )),
            _ if known == Known::FromNow => Reply::Whole(Answer::elsewhere(
                &without_token(request),
                &self.access.cookie(),
            )),
            [""] => Reply::Whole(list::list(&self.shelf, request)),
            ["live.js"] => Reply::Whole(Answer::new(Status::Ok, Kind::Script, SCRIPT)),
            ["compare"] => Reply::Whole(list::compare(&self.shelf, request)),
            ["runs", id] => Reply::Whole(self.run(id)),
            _ => Reply::Whole(sorry(
                Status::NotFound,
                "There is nothing at this address",
                "The list has a link to every run.",
            )),
        }
    }

    /// A run's page: its report, or how far it is.
    fn run(&self, id: &str) -> Answer {
        let Some(run) = self.shelf.store.run(id) else {
            return no_such_run(id);
        };
        if run.is_under_way() {
            return under_way(run);
        }
        let mut links = vec![
            to_list(),
            Link {
                address: format!("/api{}", of_run(id)),
                words: "Record as JSON",
            },
        ];
        links.extend(self.shelf.before(&run).map(|before| Link {
            address: format!(
                "/compare?run={}&run={}",
                escaped_in_address(&before.id),
                escaped_in_address(id)
            ),
            words: "Compare with the run before",
        }));
        match run.record() {
            Ok(record) => page(Status::Ok, &record.title, &links, &html_body(&record, None)),
            Err(error) => sorry_store(&error),
        }
    }

    fn events(&self, request: &Request) -> Reply {
        let id = request.asked("run").next().unwrap_or_default();
        let form = match request.asked("view").next() {
            Some(_) => Form::View,
            None => Form::Lines,
        };
        let Some(run) = self.shelf.store.run(id) else {
            return Reply::Whole(api::sorry(
                Status::NotFound,
                "no run is called so",
                "write `/events?run=ID`; `/api/runs` lists the ids",
            ));
        };
        if request.method == Method::Head {
            return Reply::Whole(Answer::new(Status::Ok, Kind::Events, ""));
        }
        match Following::new(run, form) {
            Ok(following) => Reply::Events(Box::new(following)),
            Err(error) => Reply::Whole(api::sorry(Status::Broken, &error.to_string(), "")),
        }
    }
}

fn no_such_run(id: &str) -> Answer {
    sorry(
        Status::NotFound,
        &format!("No run is called {id}"),
        "It may have been removed since: the list has those that are stored.",
    )
}

/// How far a run is, with a script that has it change.
fn under_way(run: RunEntry) -> Answer {
    let (id, what) = (run.id.clone(), run.what.clone());
    let view = match view_of(run) {
        Ok(view) => view,
        Err(error) => {
            return sorry(
                Status::Broken,
                &format!("The events of {id} cannot be read: {error}"),
                "Load the page again.",
            );
        }
    };
    let body = format!(
        "<h1>{}</h1>\n<p class=\"soft\">Under way; at its end the report stands here.</p>\n\
         <p id=\"told\" class=\"bad\" role=\"status\"></p>\n\
         <div id=\"live\" data-events=\"/events?run={}&amp;view=1\">\n{view}</div>\n",
        escaped(&what),
        escaped_in_address(&id)
    );
    live_page(&what, &[to_list()], &body)
}

/// Where a request leads, without its token. It is made from names, so that it leads nowhere else.
fn without_token(request: &Request) -> String {
    let names = request.path.iter().filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(|name| escaped_in_address(name)).collect();
    let query = request.query.iter().filter(|(name, _)| name != "token");
    let query = query
        .map(|(name, value)| format!("{}={}", escaped_in_address(name), escaped_in_address(value)));
    let query: Vec<String> = query.collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/{}{mark}{}", names.join("/"), query.join("&"))
}

/// Tells who is not let in nothing of the store.
fn refusal(refused: Refused) -> Answer {
    let text = match refused {
        Refused::OtherHost => {
            "This server does not answer to the name in the address.\n\
             Open it as `fathom ui` printed it, or by localhost or the machine's IP address.\n"
        }
        Refused::NoToken => {
            "The address has no token, or one of another time.\n\
             Open the whole address that `fathom ui` printed.\n"
        }
    };
    Answer::new(Status::Forbidden, Kind::Text, text)
}

fn refusal_of(wrong: Wrong) -> Answer {
    let (status, text) = match wrong {
        Wrong::NoRequest => (Status::BadRequest, "This is no request that can be read.\n"),
        Wrong::TooLong => (Status::TooLong, "The head of the request is too long.\n"),
        Wrong::TooSlow => (Status::TimeOut, "The request did not come in time.\n"),
    };
    Answer::new(status, Kind::Text, text)
}
