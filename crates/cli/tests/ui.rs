//! `fathom ui` as a browser sees it: over HTTP, beside real runs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::{disk_folder, expect_code, fathom, names_in};

/// How long an answer may take before a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, ended with its value.
struct Ui {
    child: Child,
    /// `127.0.0.1:PORT`.
    place: String,
    token: String,
}

impl Ui {
    fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = fathom(home);
        command.arg("ui").args(arguments).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let (place, token) = line.split_once("/?token=").unwrap();
        Self {
            place: place.strip_prefix("http://").unwrap().to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    fn connect(&self) -> TcpStream {
        let client = TcpStream::connect(&self.place).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// All that is answered to these bytes.
    fn say(&self, bytes: &[u8]) -> String {
        self.say_within(PATIENCE, bytes)
    }

    /// The same, where no part of the answer may take longer than `time`.
    fn say_within(&self, time: Duration, bytes: &[u8]) -> String {
        let mut client = self.connect();
        client.set_read_timeout(Some(time)).unwrap();
        client.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    fn cookie(&self) -> String {
        let port = self.place.rsplit_once(':').unwrap().1;
        format!("fathom-ui-{port}={}", self.token)
    }

    /// A request of a browser that has been here before.
    fn request(&self, path: &str) -> String {
        let (place, cookie) = (&self.place, self.cookie());
        format!("GET {path} HTTP/1.1\r\nHost: {place}\r\nCookie: a=b; {cookie}\r\n\r\n")
    }

    /// The page at `path`, which there is.
    #[track_caller]
    fn page(&self, path: &str) -> String {
        let answer = self.say(self.request(path).as_bytes());
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{path}: {answer}"
        );
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// What is told of a run until its end; a sign that nothing is told for long comes in no run of a second or two.
    fn events(client: TcpStream) -> String {
        let mut told = String::new();
        for line in BufReader::new(client).lines() {
            let line = line.unwrap();
            assert_ne!(line, ":", "{told}");
            told += &line;
            told.push('\n');
        }
        told
    }

    #[track_caller]
    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).unwrap()
    }

    /// Stops it as Ctrl-C does: its exit code and what it told.
    fn interrupt(mut self) -> (Option<i32>, String) {
        support::system("kill", &["-INT", &self.child.id().to_string()]);
        let code = self.child.wait().unwrap().code();
        let mut told = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut told).unwrap();
        (code, told)
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn short_run(home: &Path) {
    let job = ["fio", "--name=n", "--ioengine=null", "--size=4m"];
    expect_code(home, &[&["run", "-q"][..], &job].concat(), 0);
}

fn store(home: &Path) -> PathBuf {
    home.join("data/fathom/runs")
}

#[test]
fn every_page_of_real_runs_is_shown() {
    let folder = disk_folder();
    let home = folder.path();
    let ui = Ui::start(home, &[]);
    let empty = ui.page("/");
    assert!(empty.contains("<code>fathom run quick</code>"), "{empty}");
    assert!(empty.contains("data/fathom/runs"), "{empty}");

    for _ in 0..3 {
        short_run(home);
    }
    let ids = names_in(&store(home));
    let list = ui.page("/");
    for id in &ids {
        assert!(
            list.contains(&format!("<a href=\"/runs/{id}\">")),
            "{id}: {list}"
        );
    }
    // The newest first.
    let place = |id: &str| list.find(&format!("/runs/{id}\"")).unwrap();
    assert!(place(&ids[2]) < place(&ids[0]), "{list}");

    let report = ui.page(&format!("/runs/{}", ids[1]));
    for part in ["<h2>Figures</h2>", "What was run", "href=\"/\"", "verdict"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let beside = format!("/compare?run={}&amp;run={}", ids[0], ids[1]);
    assert!(report.contains(&beside), "{report}");
    let compared = ui.page(&format!("/compare?run={}&run={}", ids[2], ids[0]));
    let (a, b) = (
        compared.find(&ids[0]).unwrap(),
        compared.find(&ids[2]).unwrap(),
    );
    assert!(a < b && compared.contains("(baseline)"), "{compared}");
    assert!(
        compared.contains("<th scope=\"row\">IOPS</th>"),
        "{compared}"
    );

    let (printed, _) = expect_code(home, &["report", &ids[1], "--json"], 0);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(ui.json(&format!("/api/runs/{}", ids[1])), printed);
    let listed = ui.json("/api/runs");
    assert_eq!(listed["count"], 3);
    assert_eq!(listed["runs"][0]["id"], ids[2]);
    assert_eq!(
        listed["runs"][1]["stages"][0]["iops"],
        printed["stages"][0]["total"]["all"]["iops"]
    );
}

#[test]
fn what_is_damaged_is_listed_with_why() {
    let folder = disk_folder();
    let home = folder.path();
    for _ in 0..2 {
        short_run(home);
    }
    let ids = names_in(&store(home));
    let ui = Ui::start(home, &[]);
    assert!(!ui.page("/").contains("unreadable"));
    let torn = store(home).join(&ids[0]).join("record.json");
    let record = std::fs::read(&torn).unwrap();
    std::fs::write(&torn, &record[..record.len() / 2]).unwrap();
    std::fs::remove_file(store(home).join(&ids[1]).join("record.json")).unwrap();
    let list = ui.page("/");
    for part in ["unreadable", "`record.json` cannot be read", "cut short"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let report = ui.page(&format!("/runs/{}", ids[0]));
    assert!(report.contains("cannot be read"), "{report}");
    // Nor can its events be.
    std::fs::write(&torn, record.split_at(9).0).unwrap();
    let events = store(home).join(&ids[0]).join("events.jsonl");
    std::fs::write(events, "{\"event\":\"run-started\",\"kind\":\"run\"}\n").unwrap();
    let answer = ui.say(ui.request(&format!("/runs/{}", ids[0])).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    assert!(
        answer.contains("is no whole record: it ends in line 1"),
        "{answer}"
    );
}

/// One request: how it is answered, and that the answer tells nothing to those who are not let in.
#[track_caller]
fn check(ui: &Ui, id: &str, request: &str, status: &str) {
    let answer = ui.say(request.as_bytes());
    let shown: String = request.chars().take(200).collect();
    let begins = format!("HTTP/1.1 {status} ");
    assert!(answer.starts_with(&begins), "{shown}\n{answer}");
    for header in [
        "Content-Security-Policy: default-src 'none';",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
    ] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(!answer.contains("Access-Control"), "{answer}");
    let tells = [id, ui.token.as_str(), "root:"];
    let tells = tells.into_iter().any(|secret| answer.contains(secret));
    let is_known = status == "200" || shown.contains(id);
    assert!(is_known || !tells, "{shown}\n{answer}");
}

#[test]
fn nobody_comes_without_being_let_in() {
    let folder = disk_folder();
    let home = folder.path();
    short_run(home);
    let id = names_in(&store(home)).remove(0);
    let ui = Ui::start(home, &[]);
    let (place, cookie, token) = (&ui.place, ui.cookie(), &ui.token);
    let head = format!("Host: {place}\r\nCookie: {cookie}\r\n");
    let wrong = token.replace(&token[..1], if token.starts_with('0') { "1" } else { "0" });
    let get = |path: &str, head: &str| format!("GET {path} HTTP/1.1\r\n{head}\r\n");
    let host = format!("Host: {place}\r\n");
    for (request, status) in [
        (get("/", &head), "200"),
        (get("/", &host), "403"),
        (get("/nothing", &host), "403"),
        (get(&format!("/runs/{id}"), &host), "403"),
        (get("/api/runs", &host), "403"),
        (get(&format!("/events?run={id}"), &host), "403"),
        (get("/live.js", &host), "403"),
        (get(&format!("/?token={wrong}"), &host), "403"),
        (get("/?token=", &host), "403"),
        (get(&format!("/api/runs?token={token}"), &host), "200"),
        (
            get("/", &format!("Host: evil.example\r\nCookie: {cookie}\r\n")),
            "403",
        ),
        (
            get(&format!("/?token={token}"), "Host: evil.example:80\r\n"),
            "403",
        ),
        (
            get("/", &format!("Host: localhost\r\nCookie: {cookie}\r\n")),
            "200",
        ),
        (get("/", &format!("Cookie: {cookie}\r\n")), "400"),
        (
            format!("POST / HTTP/1.1\r\n{head}Content-Length: 3\r\n\r\na=b"),
            "405",
        ),
        (format!("DELETE /runs/{id} HTTP/1.1\r\n{head}\r\n"), "405"),
        (format!("POST / HTTP/1.1\r\n{host}\r\n"), "403"),
        (get("/nothing", &head), "404"),
        (get("/runs/nothing", &head), "404"),
        (get("/runs/last", &head), "404"),
        (get("/runs/", &head), "404"),
        (get("/runs/..", &head), "404"),
        (get("/runs/../../../../etc/passwd", &head), "404"),
        (get("/runs/..%2f..%2f..%2fetc%2fpasswd", &head), "404"),
        (get(&format!("/runs/.%2f{id}"), &head), "404"),
        (get(&format!("/api/runs/%2e%2fx%2f{id}"), &head), "404"),
        (get("/runs/%00", &head), "404"),
        (get("/compare?run=%2fetc&run=..", &head), "404"),
        (get("/compare", &head), "400"),
        (get(&format!("/compare?run={id}&run={id}"), &head), "400"),
        (get("/events?run=..", &head), "404"),
        (get("/%zz", &head), "400"),
        (
            get("/", &format!("{head}X: {}\r\n", "x".repeat(32 << 10))),
            "431",
        ),
        (
            get("/", &format!("{head}{}", "x: y\r\n".repeat(100))),
            "431",
        ),
    ] {
        check(&ui, &id, &request, status);
    }
}

#[test]
fn the_token_becomes_a_cookie() {
    let folder = disk_folder();
    let ui = Ui::start(folder.path(), &[]);
    let (place, token) = (&ui.place, &ui.token);
    assert!(place.starts_with("127.0.0.1:"), "{place}");
    for (path, expected) in [
        ("/", "/"),
        ("/runs/a%20b", "/runs/a%20b"),
        ("/compare?run=a&run=b", "/compare?run=a&run=b"),
        // Nothing leads to another server.
        ("//evil.example", "/evil.example"),
        ("/%0d%0aX:%20y", "/%0D%0AX%3A%20y"),
    ] {
        let mark = if path.contains('?') { '&' } else { '?' };
        let request = format!("GET {path}{mark}token={token} HTTP/1.1\r\nHost: {place}\r\n\r\n");
        let answer = ui.say(request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 303 "), "{path}: {answer}");
        let line = format!("\r\nLocation: {expected}\r\n");
        assert!(answer.contains(&line), "{path}: {answer}");
        let cookie = format!(
            "Set-Cookie: {}; Path=/; HttpOnly; SameSite=Strict\r\n",
            ui.cookie()
        );
        assert!(answer.contains(&cookie), "{path}: {answer}");
    }
    let head = ui.request("/").replace("GET", "HEAD");
    let answer = ui.say(head.as_bytes());
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\n"),
        "{answer}"
    );
}

#[test]
fn nothing_that_clients_send_stops_it() {
    let folder = disk_folder();
    let ui = Ui::start(folder.path(), &[]);
    let good = ui.request("/?page=1&run=%41");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chance = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for nth in 0..200 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..=chance(6) {
            let at = chance(bytes.len());
            match chance(4) {
                0 => bytes[at] = chance(256) as u8,
                1 => bytes.truncate(at),
                2 => bytes.insert(at, b"\r\n\0%?&:/"[chance(8)]),
                _ => bytes.extend_from_within(at..),
            }
            bytes.push(b' ');
        }
        let mut client = ui.connect();
        let _ = client.write_all(&bytes);
        let _ = client.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_known = answer.is_empty()
            || ["200", "303", "400", "403", "404", "405", "431"]
                .iter()
                .any(|status| answer.starts_with(&format!("HTTP/1.1 {status} ")));
        assert!(
            is_known,
            "{nth}: {:?}\n{answer}",
            String::from_utf8_lossy(&bytes)
        );
    }
    assert!(ui.page("/").contains("Stored runs"));
    let (code, told) = ui.interrupt();
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("panicked"), "{told}");
}

#[test]
fn clients_that_say_nothing_hold_up_nobody() {
    let folder = disk_folder();
    let ui = Ui::start(folder.path(), &[]);
    let idle: Vec<TcpStream> = (0..300).map(|_| ui.connect()).collect();
    for mut client in &idle {
        let _ = client.write_all(b"GET / HT");
    }
    let unread: Vec<TcpStream> = (0..20).map(|_| ui.connect()).collect();
    for mut client in &unread {
        client.write_all(ui.request("/").as_bytes()).unwrap();
    }
    // Sooner than the first of them is cut off.
    let time = Duration::from_secs(6);
    for _ in 0..5 {
        let answer = ui.say_within(time, ui.request("/").as_bytes());
        assert!(answer.contains("Stored runs"), "{answer}");
    }
}

#[test]
fn a_run_under_way_is_followed_to_its_end() {
    let folder = disk_folder();
    let home = folder.path();
    let ui = Ui::start(home, &[]);
    let job = [
        "run",
        "-q",
        "fio",
        "--name=n",
        "--ioengine=null",
        "--size=1g",
        "--rate_iops=2000",
    ];
    let mut command = fathom(home);
    command.args(job).args(["--time_based", "--runtime=3"]);
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    let id = loop {
        let listed = ui.json("/api/runs");
        if listed["runs"][0]["state"] == "under way" {
            break listed["runs"][0]["id"].as_str().unwrap().to_owned();
        }
        assert!(run.try_wait().unwrap().is_none(), "{listed}");
    };
    let list = ui.page("/");
    assert!(list.contains("under way"), "{list}");
    let page = ui.page(&format!("/runs/{id}"));
    for part in ["id=\"live\"", "src=\"/live.js\"", "http-equiv=\"refresh\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(ui.page("/live.js").contains("EventSource"));
    let mut viewer = ui.connect();
    let request = ui.request(&format!("/events?run={id}&view=1"));
    viewer.write_all(request.as_bytes()).unwrap();

    // Both go on until the run ends.
    let mut reader = ui.connect();
    let request = ui.request(&format!("/events?run={id}"));
    reader.write_all(request.as_bytes()).unwrap();
    let lines = Ui::events(reader);
    let begins = "\n\nevent: run-started\ndata: {";
    assert!(lines.contains(begins), "{lines}");
    assert!(lines.matches("event: interval\n").count() >= 2, "{lines}");
    let end = format!("event: end\ndata: {{\"run\":\"{id}\"}}\n\n");
    assert!(lines.ends_with(&end), "{lines}");
    let views = Ui::events(viewer);
    assert!(views.contains("Content-Type: text/event-stream"), "{views}");
    assert!(views.matches("event: view\n").count() >= 2, "{views}");
    for part in ["Stage 1 of 1: n", "measured for 2", "<figure>"] {
        assert!(views.contains(part), "{part}: {views}");
    }
    assert!(views.ends_with(&end), "{views}");
    let report = ui.page(&format!("/runs/{id}"));
    assert!(report.contains("<h2>Figures</h2>"), "{report}");
    assert!(run.wait().unwrap().success());
}

#[test]
fn a_killed_run_ends_for_those_who_follow() {
    let folder = disk_folder();
    let home = folder.path();
    let ui = Ui::start(home, &[]);
    let job = [
        "run",
        "fio",
        "--name=n",
        "--ioengine=null",
        "--size=1g",
        "--rate_iops=2000",
    ];
    let mut command = fathom(home);
    command
        .args(job)
        .args(["--time_based", "--runtime=60"])
        .stdout(Stdio::null());
    let mut run = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(run.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.is_ok_and(|line| line.contains("measure 00:01"))));
    let id = names_in(&store(home)).remove(0);
    let mut client = ui.connect();
    let request = ui.request(&format!("/events?run={id}"));
    client.write_all(request.as_bytes()).unwrap();
    let mut events = BufReader::new(client).lines();
    assert!(events.any(|line| line.unwrap() == "event: interval"));
    run.kill().unwrap();
    run.wait().unwrap();
    let end = events
        .map(Result::unwrap)
        .find(|line| line == "event: end" || line == ":");
    assert_eq!(end.as_deref(), Some("event: end"));
    let report = ui.page(&format!("/runs/{id}"));
    assert!(report.contains("CUT SHORT"), "{report}");
}

#[test]
fn many_runs_are_on_several_pages() {
    let folder = disk_folder();
    let home = folder.path();
    short_run(home);
    let first = names_in(&store(home)).remove(0);
    for nth in 0..119 {
        let copy = store(home).join(format!("20260101-000000-run-{}", nth + 2));
        std::fs::create_dir(&copy).unwrap();
        for name in ["events.jsonl", "record.json"] {
            std::fs::copy(store(home).join(&first).join(name), copy.join(name)).unwrap();
        }
    }
    let ui = Ui::start(home, &[]);
    let rows = |page: &str| page.matches("type=\"checkbox\"").count();
    let (one, three) = (ui.page("/"), ui.page("/?page=3"));
    assert_eq!((rows(&one), rows(&three)), (50, 20));
    assert!(
        one.contains("Page 1 of 3") && one.contains("/?page=2"),
        "{one}"
    );
    assert!(
        three.contains("Page 3 of 3") && !three.contains("/?page=4"),
        "{three}"
    );
    assert_eq!(rows(&ui.page("/?page=99999999999999999999")), 50);
    assert_eq!(rows(&ui.page("/?page=99")), 20);
    let mut seen = String::new();
    for page in 1..=3 {
        let _ = write!(seen, "{}", ui.json(&format!("/api/runs?page={page}")));
    }
    assert_eq!(seen.matches("\"id\":").count(), 120);
}

#[test]
fn it_ends_as_other_servers_do_and_says_what_is_wrong() {
    let folder = disk_folder();
    let home = folder.path();
    let ui = Ui::start(home, &[]);
    let port = ui.place.rsplit_once(':').unwrap().1.to_owned();
    let (_, stderr) = expect_code(home, &["ui", "--port", &port], 5);
    assert!(
        stderr.contains("hint: something else serves there"),
        "{stderr}"
    );
    // Who follows a run does not keep it from ending.
    let (code, told) = ui.interrupt();
    assert_eq!(code, Some(0), "{told}");
    assert!(
        told.contains("until Ctrl-C") && !told.contains("other machines"),
        "{told}"
    );
    // The port is free again at once.
    let again = Ui::start(home, &["--port", &port, "--listen", "0.0.0.0"]);
    assert_eq!(again.place, format!("127.0.0.1:{port}"));
    assert!(again.page("/").contains("Stored runs"));
    let (_, told) = again.interrupt();
    assert!(told.contains("warning: other machines can come"), "{told}");

    for (arguments, code, part) in [
        (&["ui", "--port", "http"][..], 2, "is no port"),
        (&["ui", "--listen", "example.org"], 2, "is no IP address"),
        (
            &["ui", "--listen", "192.0.2.1"],
            5,
            "an address that this machine has",
        ),
        (&["ui", "last"], 2, "unexpected argument"),
    ] {
        let (stdout, stderr) = expect_code(home, arguments, code);
        assert!(stdout.is_empty() && stderr.contains(part), "{stderr}");
    }
}
