//! Profiles with latency goals and large I/Os, which storage takes in pieces: drawn ones that were refused as long as designs
//! had at most 40 % of headroom, though larger ones carry them.

use fathom_catalog::Catalog;
use fathom_planner::{Basis, Family, Plan, Request, plan};
use fathom_profile::Profile;

/// A profile, and what is searched for it.
struct Case {
    volumes: &'static str,
    families: Vec<Family>,
    series: &'static str,
    machines: Option<u32>,
}

impl Case {
    fn new(series: &'static str, family: Family, volumes: &'static str) -> Self {
        Self {
            volumes,
            families: vec![family],
            series,
            machines: None,
        }
    }

    fn on(self, machines: u32) -> Self {
        Self {
            machines: Some(machines),
            ..self
        }
    }

    #[track_caller]
    fn planned(&self) -> Plan {
        let text = format!("name = \"app\"\n{}", self.volumes);
        let (profile, _) = Profile::read(&text, "app.profile.toml").expect("a profile");
        let request = Request {
            series: vec![self.series.to_owned()],
            families: self.families.clone(),
            machines: self.machines,
            ..Request::default()
        };
        plan(&profile, &request, None, Catalog::builtin()).expect("a plan")
    }

    /// Planned, with every offer proven; the volumes that the cheapest has headroom for, and beyond what.
    #[track_caller]
    fn carried(&self) -> (Vec<String>, Basis) {
        let plan = self.planned();
        assert!(!plan.offers.is_empty(), "{plan}");
        for offer in &plan.offers {
            let proof = offer.proof.proof().expect("a proof");
            assert_eq!(proof.failure(), None, "{plan}");
        }
        let headroom = plan.offers[0].headroom.clone();
        assert!(headroom.percent > 0, "{plan}");
        (headroom.volumes.unwrap_or_default(), headroom.basis)
    }
}

/// I/Os of 512 KiB of three machines that begin together.
const SHARED: &str = "[[volume]]\nname = \"v0\"\nrole = \"log\"\nlatency_goal = \"18.5ms\"\n[[volume.period]]\n\
                      name = \"off-hours\"\niops = 78\nsize = \"512KiB\"\nreads = \"50%\"\nrandom = \"50%\"\n";
/// A few I/Os of 2 MiB a second.
const FEW: &str = "[[volume]]\nname = \"v0\"\ncapacity = \"10179GiB\"\nlatency_goal = { p50 = \"60ms\", p99 = \"100ms\" }\n\
                   [[volume.period]]\nname = \"peak\"\niops = 8\nsize = \"1MiB\"\nreads = \"50%\"\n\
                   [[volume]]\nname = \"v1\"\nlatency_goal = \"23.4ms\"\n[[volume.period]]\nname = \"normal\"\niops = 14\n\
                   size = \"2MiB\"\nreads = \"100%\"\nrandom = \"0%\"\n";
/// Disks of a stripe that wait for each other.
const STRIPED: &str = "[[volume]]\nname = \"v0\"\ncapacity = \"264GiB\"\nlatency_goal = { p50 = \"11.6ms\", p99 = \"19.3ms\" }\n\
                       [[volume.period]]\nname = \"peak\"\niops = 56\nsize = \"1MiB\"\nreads = \"100%\"\n\
                       [[volume.period]]\nname = \"normal\"\niops = 283\nsize = \"1MiB\"\nreads = \"30%\"\n";
/// I/Os of 4 MiB, 1.6 GB a second.
const WIDE: &str = "[[volume]]\nname = \"v0\"\nlatency_goal = { p50 = \"10.8ms\", p99 = \"17.9ms\" }\n[[volume.period]]\n\
                    name = \"normal\"\niops = 380\nsize = \"4MiB\"\nreads = \"70%\"\nrandom = \"0%\"\n";
/// Three volumes, of which one fails.
const MIXED: &str = "[[volume]]\nname = \"v0\"\ncapacity = \"52GiB\"\n[[volume.period]]\nname = \"peak\"\niops = 19\n\
                     size = \"512KiB\"\nreads = \"100%\"\n\
                     [[volume]]\nname = \"v1\"\ncapacity = \"79GiB\"\nlatency_goal = \"11.8ms\"\n[[volume.period]]\n\
                     name = \"peak\"\niops = 21\nsize = \"256KiB\"\nreads = \"30%\"\n\
                     [[volume]]\nname = \"v2\"\ncapacity = \"790GiB\"\nlatency_goal = { p50 = \"7.9ms\", p99 = \"13.1ms\" }\n\
                     [[volume.period]]\nname = \"normal\"\niops = 29\nsize = \"1MiB\"\nreads = \"50%\"\nrandom = \"50%\"\n";

/// Only the volumes whose goals fail are raised.
#[test]
fn what_a_larger_design_carries_is_not_refused() {
    #[track_caller]
    fn check(case: &Case, raised: &[&str]) {
        let (volumes, _) = case.carried();
        assert_eq!(volumes, raised, "{}", case.volumes);
    }
    check(&Case::new("F", Family::Smb, SHARED).on(3), &["v0"]);
    check(&Case::new("Fs", Family::Premium, FEW), &["v1"]);
    check(&Case::new("GS", Family::Premium, STRIPED), &["v0"]);
    check(&Case::new("DSv2", Family::Smb, WIDE), &["v0"]);
    check(&Case::new("F", Family::Smb, MIXED).on(3), &["v2"]);
}

/// A few large I/Os need bandwidth that no percentage of their rate comes to.
#[test]
fn a_goal_asks_for_bandwidth_however_rare_its_ios_are() {
    let (_, basis) = Case::new("Fs", Family::Premium, FEW).carried();
    assert_eq!(basis, Basis::Goals);
}

/// Hard disks miss the goal by waiting, the SSDs beside them do not.
#[test]
fn another_kind_of_storage_is_tried_where_the_cheapest_fails() {
    let volumes = "[[volume]]\nname = \"v0\"\nrole = \"data\"\nlatency_goal = { p50 = \"8.7ms\", p99 = \"14.5ms\" }\n\
                   [[volume.period]]\nname = \"normal\"\niops = 1903\nsize = \"8KiB\"\nreads = \"50%\"\nrandom = \"50%\"\n";
    let plan = Case::new("F", Family::Smb, volumes).planned();
    assert!(!plan.offers.is_empty(), "{plan}");
    for offer in &plan.offers {
        assert!(offer.title().contains("ssd-"), "{}", offer.title());
        let proof = offer.proof.proof().expect("a proof");
        assert_eq!(proof.failure(), None, "{plan}");
    }
}

/// What no storage is fast enough for is refused as ever.
#[test]
fn what_nothing_carries_is_refused() {
    let volumes = "[[volume]]\nname = \"v0\"\nlatency_goal = \"2ms\"\n[[volume.period]]\nname = \"peak\"\niops = 50\n\
                   size = \"4MiB\"\nreads = \"50%\"\n";
    let plan = Case::new("F", Family::Smb, volumes).planned();
    assert!(plan.offers.is_empty(), "{plan}");
}

/// An I/O over NFS is over with the last of its calls: what queue depths follow from is what is predicted where I/Os do not
/// wait for each other.
#[test]
fn the_calls_of_a_large_io_wait_for_each_other() {
    #[track_caller]
    fn check(figures: &str, says: &str) {
        let volumes = format!(
            "[[volume]]\nname = \"v\"\ncapacity = \"20TiB\"\n[[volume.period]]\nname = \"peak\"\n{figures}"
        );
        let volumes = volumes.leak();
        let plan = Case::new("Dsv3", Family::Nfs, volumes).planned();
        let offer = &plan.offers[0];
        let proof = offer.proof.proof().expect("a proof");
        let proven = &proof.volumes[0];
        let (_, times) = proven.response[0];
        let unloaded = proven.unloaded.expect("a mean").get() as f64;
        let ratio = times.mean / unloaded;
        assert!((0.97..1.03).contains(&ratio), "{ratio} of {unloaded}");
        let advice = offer.advice.join("\n");
        assert!(advice.contains(says), "{advice}");
        assert_eq!(proven.doubt(), None);
    }
    let of = |iops: u32, size: &str, reads: u32| {
        format!("iops = {iops}\nsize = \"{size}\"\nreads = \"{reads}%\"\n")
    };
    check(
        &of(20, "256KiB", 100),
        "1 I/O outstanding drives it at a mean of 439 µs (media latency: assumed), or one thread that waits for each",
    );
    let calls = "in 4 calls, the last of which waits for those before it)";
    check(&of(20, "1MiB", 100), calls);
    check(&of(20, "1MiB", 0), calls);
    check(&of(4, "16MiB", 100), "in 64 calls");
    // One outstanding does fewer, though calls of 439 µs alone would make it 2,277 a second.
    check(&of(700, "1MiB", 100), "2 I/Os outstanding drive it");
}

/// On a stripe an I/O is over with the slowest of its parts, which wait for each other at a disk that has several of them, and
/// at a machine once what its budget lets go ahead is used up.
#[test]
fn the_parts_of_a_large_io_on_a_stripe_are_all_waited_for() {
    #[track_caller]
    fn check(capacity: &str, figures: &str, says: &[&str]) {
        let volumes = format!(
            "[[volume]]\nname = \"v\"\ncapacity = \"{capacity}\"\n[[volume.period]]\nname = \"peak\"\n{figures}"
        );
        let (profile, _) = Profile::read(&format!("name = \"app\"\n{volumes}"), "app.profile.toml")
            .expect("a profile");
        let request = Request {
            series: vec!["DSv2".to_owned()],
            only: vec!["P30".to_owned()],
            offers: 1,
            ..Request::default()
        };
        let plan = plan(&profile, &request, None, Catalog::builtin()).expect("a plan");
        let offer = &plan.offers[0];
        let proof = offer.proof.proof().expect("a proof");
        let proven = &proof.volumes[0];
        let (_, times) = proven.response[0];
        let unloaded = proven.unloaded.expect("a mean").get() as f64;
        let ratio = times.mean / unloaded;
        assert!((0.97..1.03).contains(&ratio), "{ratio} of {unloaded}");
        let advice = offer.advice.join("\n");
        for part in says {
            assert!(advice.contains(part), "{part}\n{advice}");
        }
        assert_eq!(proven.doubt(), None);
    }
    let of = |iops: u32, size: &str, reads: u32| {
        format!("iops = {iops}\nsize = \"{size}\"\nreads = \"{reads}%\"\n")
    };
    check(
        "4TiB",
        &of(10, "64KiB", 0),
        &["(media latency: assumed), or"],
    );
    // Every second I/O of 40 KiB touches two units of 64 KiB.
    check(
        "4TiB",
        &of(10, "40KiB", 0),
        &["in up to 2 parts, the slowest"],
    );
    check(
        "4TiB",
        &of(10, "1MiB", 0),
        &["in up to 4 parts, the slowest"],
    );
    check(
        "2TiB",
        &of(4, "2MiB", 0),
        &["in up to 8 parts, the slowest"],
    );
    check(
        "8TiB",
        &of(4, "16MiB", 0),
        &["in up to 64 parts, the slowest"],
    );
    check(
        "8TiB",
        &of(4, "16MiB", 100),
        &["in up to 64 parts, the slowest"],
    );
}
