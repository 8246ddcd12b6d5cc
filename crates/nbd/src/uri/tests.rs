//! URIs that name exports, and those that are refused.

use super::*;

#[track_caller]
fn check(text: &str, address: &str, export: &str) {
    let uri = Uri::parse(text).unwrap();
    assert_eq!(
        (uri.address.to_string().as_str(), uri.export.as_str()),
        (address, export)
    );
}

#[test]
fn exports_are_named_by_uris() {
    check("nbd://example.com/disk", "example.com:10809", "disk");
    check("nbd://example.com", "example.com:10809", "");
    check("nbd://example.com:/", "example.com:10809", "");
    check("nbd://example.com:99//disk", "example.com:99", "/disk");
    check("nbd://[::1]:99/a%20b", "[::1]:99", "a b");
    check("nbd://[::1]", "[::1]:10809", "");
    check("nbd+unix:///disk?socket=nbd.sock", "nbd.sock", "disk");
    check("nbd+unix://?socket=/a%20b", "/a b", "");
    check("nbd+unix:///?socket=%00/name", "@/name", "");
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = Uri::parse(text).unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(!error.remedy().is_empty());
}

#[test]
fn what_is_no_uri_of_an_export_is_refused() {
    refused("/dev/nbd0", "`/dev/nbd0` is no scheme of NBD");
    refused("ftp://a/b", "`ftp` is no scheme of NBD");
    refused("nbd+unix:///b", "it names no socket");
    refused("nbd+unix:///b?socket=", "it names no socket");
    refused(
        "nbd+unix://a/b?socket=c",
        "it names a host (`a`) beside a Unix socket",
    );
    refused("nbd:///b", "it names no host");
    refused("nbd://[::1/b", "it names no host");
    refused("nbd://a:0/b", "`0` is no port");
    refused("nbd://a:70000/b", "`70000` is no port");
    refused("nbd://[::1]99/b", "`99` is no port");
    refused(
        "nbd://a/b?socket=c",
        "nothing is known of its parameter `socket`",
    );
    refused("nbd://a/b?c=d", "nothing is known of its parameter `c=d`");
    refused("nbd://a/%2", "`%2` is not encoded rightly");
    refused("nbd://a/%ff", "`%ff` is not encoded rightly");
    let name = "no export has a name with a zero byte, or of over 4,096 bytes";
    refused("nbd://a/b%00", name);
    refused(&format!("nbd://a/{}", "b".repeat(4097)), name);
    let longest = "b".repeat(4096);
    check(&format!("nbd://a/{longest}"), "a:10809", &longest);
}

#[track_caller]
fn secure(text: &str, certificates: Option<&str>, name: Option<&str>) {
    let security = Uri::parse(text).unwrap().security.unwrap();
    let folder = certificates.map(|it| it.as_bytes().to_vec());
    assert_eq!(security.certificates, folder);
    let peer = name.map_or(Peer::Anybody, |it| Peer::Named(it.to_owned()));
    assert_eq!(security.peer, peer);
}

#[test]
fn tls_is_asked_for_by_the_scheme() {
    assert_eq!(Uri::parse("nbd://a/b").unwrap().security, None);
    check("nbds://a/b?tls-certificates=/pki", "a:10809", "b");
    let unix = "nbds+unix:///b?socket=s&tls-certificates=p&tls-hostname=n";
    check(unix, "s", "b");
    secure(unix, Some("p"), Some("n"));
    secure(
        "nbds://a/b?tls-certificates=/p%20q",
        Some("/p q"),
        Some("a"),
    );
    secure("nbds://[::1]/?tls-certificates=p", Some("p"), Some("::1"));
    secure(
        "nbds://a?tls-certificates=p&tls-hostname=b&tls-verify-peer=yes",
        Some("p"),
        Some("b"),
    );
    secure("nbds://a?tls-verify-peer=false", None, None);
    secure("nbds+unix:///?socket=s&tls-verify-peer=0", None, None);
}

#[test]
fn what_says_too_little_of_tls_is_refused() {
    refused("nbds://a/b", "it does not say which servers are trusted");
    refused(
        "nbds://a/b?tls-verify-peer=true",
        "it does not say which servers are trusted",
    );
    refused(
        "nbds+unix:///b?socket=a&tls-certificates=p",
        "its server has no name that a certificate could be held against",
    );
    let key = "it asks for TLS by a pre-shared key (PSK), which is not spoken";
    refused("nbds://user@a/b?tls-certificates=p", key);
    refused("nbd://user@a/b", key);
    refused("nbds://a/b?tls-psk-file=keys", key);
    refused(
        "nbd://a?tls-verify-peer=true",
        "its parameter `tls-verify-peer` is of TLS, which its scheme does not ask for",
    );
    refused(
        "nbds://a?tls-verify-peer=perhaps",
        "`perhaps` is no value of its parameter `tls-verify-peer`",
    );
    refused(
        "nbds://a?tls-certificates=",
        "`` is no value of its parameter `tls-certificates`",
    );
    refused(
        "nbds://a?tls-certificates=p&tls-hostname=%00",
        "`%00` is no value of its parameter `tls-hostname`",
    );
    refused(
        "nbds://a?tls-priority=NORMAL",
        "nothing is known of its parameter `tls-priority`",
    );
}
