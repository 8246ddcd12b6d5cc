//! NFS volumes, and which machines mount them.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use super::{check, good};
use crate::design::{ClientId, FigureOrigin, LocateError, NfsVersion, NfsVolume, VolumeId};

const HOSTS: &str = "[[vm]]\nname = 'vm{1..3}'\nsize = 'Standard_D32s_v3'\n";

fn volume(lines: &str) -> String {
    format!("{HOSTS}[[nfs]]\nname = 'v'\nmount = '/v'\n{lines}\n")
}

#[track_caller]
fn one(lines: &str) -> NfsVolume {
    good(&volume(lines)).nfs[0].clone()
}

#[test]
fn a_volume_does_what_its_quota_gives() {
    let nfs = one("level = 'premium'\nquota = '17TiB'\niops = 300000");
    assert_eq!(
        nfs.limits.bandwidth,
        Some(BytesPerSec::new((17 * 64) << 20))
    );
    assert_eq!(nfs.limits.iops, Some(Iops::new(300_000)));
    let least = one("level = 'premium'\nquota = '17TiB'\nbandwidth = '500MiB/s'");
    assert_eq!(least.limits.bandwidth, Some(BytesPerSec::new(500 << 20)));
    let most = good(&volume("level = 'ultra'\nquota = '100TiB'"));
    assert_eq!(
        most.nfs[0].limits.bandwidth,
        Some(BytesPerSec::new(4500 << 20))
    );
    assert!(
        most.notes[0].starts_with("one volume does at most "),
        "{:?}",
        most.notes
    );
    let large = one("level = 'ultra'\nquota = '100TiB'\nlarge = true");
    assert_eq!(large.limits.bandwidth, Some(BytesPerSec::new(12_800 << 20)));
    let flexible = "level = 'flexible'\nquota = '1TiB'\nbandwidth = '704MiB/s'";
    check(
        &volume(flexible),
        &[
            "9: a volume can be assigned at most 640 MiB/s: one volume does 4,500 MiB/s, and a pool of 1 TiB has 640 MiB/s to give",
        ],
    );
    let flexible = one(&format!("{flexible}\npool = '10TiB'"));
    assert_eq!(flexible.limits.bandwidth, Some(BytesPerSec::new(704 << 20)));
    let shared = one("level = 'elastic'\nquota = '1TiB'\npool = '8TiB'");
    assert_eq!(shared.limits.bandwidth, Some(BytesPerSec::new(256 << 20)));
}

#[test]
fn what_is_in_flight_follows_the_version() {
    let plain = one("level = 'standard'\nquota = '1TiB'");
    assert_eq!((plain.version, plain.connections), (NfsVersion::V3, 1));
    assert_eq!((plain.slots, plain.session_slots), (128, None));
    assert_eq!(
        (plain.rsize, plain.wsize, plain.window),
        (Bytes::kib(64), Bytes::kib(64), None)
    );
    let with = |lines: &str| one(&format!("level = 'standard'\nquota = '1TiB'\n{lines}"));
    let slots = |lines: &str| {
        let volume = with(lines);
        (volume.slots, volume.connections, volume.session_slots)
    };
    // A session's slots bound those of all its connections together.
    assert_eq!(
        slots("version = '4.1'\nslots = 180\nconnections = 2"),
        (128, 2, Some(180))
    );
    assert_eq!(slots("version = '4.1'"), (128, 1, Some(64)));
    assert_eq!(slots("slots = 16\nconnections = 8"), (16, 8, None));
    let tuned = with("rsize = '256KiB'\nwsize = '1MiB'\nwindow = '4MiB'");
    assert_eq!((tuned.rsize, tuned.wsize), (Bytes::kib(256), Bytes::mib(1)));
    assert_eq!(tuned.window, Some(Bytes::mib(4)));
    let least = with("rsize = '1KiB'\nwsize = '1KiB'");
    assert_eq!((least.rsize, least.wsize), (Bytes::kib(1), Bytes::kib(1)));
}

#[test]
fn round_trips_are_said_by_machine() {
    let with = |lines: &str| one(&format!("level = 'standard'\nquota = '1TiB'\n{lines}"));
    let times = |nfs: &NfsVolume| -> Vec<_> {
        let clients = nfs.clients.iter();
        clients
            .map(|client| (client.id.index().unwrap(), client.rtt.get() / 1000))
            .collect()
    };
    let near = with("");
    assert_eq!(times(&near), [(0, 200), (1, 200), (2, 200)]);
    assert_eq!(near.clients[0].rtt_origin, FigureOrigin::Assumed);
    let far = with("rtt = 'far'\non = ['vm2']");
    assert_eq!(times(&far), [(1, 1000)]);
    let said = with("rtt = { 'vm*' = 'far', vm3 = '0.3ms' }\non = ['vm{2..3}']");
    assert_eq!(times(&said), [(1, 1000), (2, 300)]);
    assert_eq!(said.clients[1].rtt_origin, FigureOrigin::Design);
    assert_eq!(said.clients[1].rtt, Nanos::from_micros(300));
}

#[test]
fn mistakes_name_the_rule() {
    let case = |lines: &str| volume(&format!("level = 'premium'\nquota = '4TiB'\n{lines}"));
    check(
        &case("connections = 17"),
        &["9: `connections` must be a whole number from 1 to 16"],
    );
    check(
        &case("slots = 129"),
        &["9: `slots` must be a whole number from 1 to 128"],
    );
    check(
        &case("rsize = '2MiB'"),
        &["9: `rsize` must be whole KiB from 1 KiB to 1 MiB"],
    );
    check(
        &case("on = ['db*', 3]"),
        &["9: `on` must be a list of texts in quotes"],
    );
    check(
        &case("on = ['wm1']"),
        &["9: `on` has `wm1`, but no machine of the design is named so"],
    );
    check(&case("rtt = 'soon'"), &["9: `soon` is no round trip"]);
    check(&case("version = '4'"), &["9: `4` is no value of `version`"]);
    let slow = super::read(&case("rtt = '1h'")).unwrap_err().to_string();
    assert!(slow.contains("a round trip of more than"), "{slow}");
    assert!(slow.contains("hint: write the time from request"), "{slow}");
    check(
        &case("rtt = { vm1 = 'near' }\non = ['vm1', 'vm2']"),
        &["9: `rtt` says nothing of `vm2`"],
    );
    check(
        &case("rtt = { 'vm*' = 'near', '*' = 'far' }\non = ['vm1']"),
        &["9: `rtt` has several patterns for `vm1`, which do not agree"],
    );
    check(
        &case("rtt = { '*' = 'near', db1 = 'far' }"),
        &["9: `rtt` has `db1`, which none of its machines is named"],
    );
    check(
        &volume("level = 'premium'\nquota = '49GiB'"),
        &["8: a regular volume has a quota from 50 GiB to 100 TiB"],
    );
    check(
        &volume("level = 'premium'\nquota = '2000TiB'"),
        &["8: a large volume has a quota from 50 TiB to 1 PiB"],
    );
    check(
        &volume("level = 'premiun'\nquota = '1TiB'"),
        &["7: the catalogue has no service level `premiun`"],
    );
    check(
        &volume("level = 'flexible'\nquota = '1TiB'"),
        &["4: an NFS volume needs `bandwidth`"],
    );
    check(
        &case("pool = '8TiB'"),
        &["9: `pool` has no meaning here: the volume's own quota gives its bandwidth"],
    );
    check(
        "[[nfs]]\n",
        &[
            "1: an NFS volume needs `name`",
            "1: an NFS volume needs `mount`",
            "1: an NFS volume needs `level`",
            "1: an NFS volume needs `quota`",
        ],
    );
}

#[test]
fn mounts_are_unique_on_each_machine() {
    let nfs = |name: &str, lines: &str| {
        format!(
            "[[nfs]]\nname = '{name}'\nmount = '/v'\nlevel = 'premium'\nquota = '1TiB'\n{lines}\n"
        )
    };
    let apart = format!(
        "{HOSTS}{}{}",
        nfs("a", "on = ['vm1']"),
        nfs("b", "on = ['vm2', 'vm3']")
    );
    let design = good(&apart);
    assert_eq!(
        design.locate(Some("vm1"), "/v/f").map(VolumeId::index),
        Ok(0)
    );
    assert_eq!(
        design.locate(Some("vm3"), "/v/f").map(VolumeId::index),
        Ok(1)
    );
    let both = format!("{HOSTS}{}{}", nfs("a", "on = ['vm1']"), nfs("b", ""));
    check(&both, &["10: the mount `/v` is that of `a` already"]);
}

#[test]
fn io_comes_from_a_machine_that_mounts_the_volume() {
    let design = good(&volume(
        "level = 'premium'\nquota = '1TiB'\non = ['vm1', 'vm3']",
    ));
    let id = design.locate(Some("vm3"), "/v/f").unwrap();
    assert_eq!(design.client_of(Some("vm3"), id), Ok(ClientId::new(2)));
    let error = design.client_of(None, id).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`v` is mounted by the machines `vm1`, `vm3`; the job says none of them"
    );
    let error = design.client_of(Some("vm2"), id).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the machine `vm2` does not mount `v`; `vm1`, `vm3` do"
    );
    assert!(matches!(
        design.locate(Some("vm2"), "/v/f"),
        Err(LocateError::Unserved { .. })
    ));
    let lonely = good("[[nfs]]\nname = 'v'\nmount = '/v'\nlevel = 'ultra'\nquota = '1TiB'\n");
    let id = lonely.locate(None, "/v/f").unwrap();
    assert_eq!(lonely.client_of(None, id), Ok(ClientId::NONE));
    assert_eq!(design.to_json()["nfs"][0]["on"][1]["vm"], "vm3");
    assert_eq!(design.to_json()["nfs"][0]["on"][1]["origin"], "assumed");
    assert!(
        design
            .notes
            .contains(&"round-trip times: assumed; none have been published".to_owned())
    );
}
