//! Whose locator file it is, and when it goes.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use svc_hub::{Claim, Locator};
use svc_kit::Listing;
use tempfile::TempDir;

fn claim(directory: &TempDir, port: u16) -> Claim {
    let listing = Listing::new("hub", vec![([127, 0, 0, 1], port).into()]).unwrap();
    Locator::claim(directory.path(), "demo-a", "1.2.3", &listing).unwrap()
}

fn written(claim: Claim) -> Locator {
    match claim {
        Claim::Written(locator) => locator,
        Claim::OtherSuite { pid } => panic!("claimed by {pid:?}"),
    }
}

#[test]
fn the_file_is_one_line_and_goes_with_its_owner() {
    let directory = TempDir::new().unwrap();
    let locator = written(claim(&directory, 4400));
    assert_eq!(locator.path(), directory.path().join("hub-demo-a.json"));
    let text = fs::read_to_string(locator.path()).unwrap();
    let pid = std::process::id();
    let expected =
        format!(r#"{{"version":"1.2.3","origins":["http://127.0.0.1:4400"],"pid":{pid}}}"#);
    assert_eq!(text, expected);
    drop(locator);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_running_suite_keeps_its_file_and_a_dead_one_loses_it() {
    let directory = TempDir::new().unwrap();
    let running = TcpListener::bind("127.0.0.1:0").unwrap();
    let first = written(claim(&directory, running.local_addr().unwrap().port()));
    let Claim::OtherSuite { pid } = claim(&directory, 1) else { panic!("the file was taken") };
    assert_eq!(pid, Some(u64::from(std::process::id())));

    drop(running);
    let second = written(claim(&directory, 2));
    drop(first);
    let text = fs::read_to_string(second.path()).unwrap();
    let origins = &serde_json::from_str::<Value>(&text).unwrap()["origins"];
    assert_eq!(*origins, json!(["http://127.0.0.1:2"]));
    drop(second);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_broken_file_is_replaced() {
    for content in ["", "{", "[]", r#"{"origins":7}"#, r#"{"origins":["x","http://a:b"]}"#] {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("hub-demo-a.json"), content).unwrap();
        drop(written(claim(&directory, 3)));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "{content}");
    }
}

#[test]
fn a_killed_suite_at_our_own_address_is_no_other_suite() {
    let directory = TempDir::new().unwrap();
    // The hub listens before it claims, so the address in the file answers.
    let ours = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = ours.local_addr().unwrap().port();
    let file = directory.path().join(Locator::file_name("demo-a"));
    let origins = [format!("http://127.0.0.1:{port}")];
    fs::write(&file, json!({"version": "1", "origins": origins, "pid": 1}).to_string()).unwrap();
    let locator = written(claim(&directory, port));
    let text = fs::read_to_string(locator.path()).unwrap();
    assert!(text.contains(&std::process::id().to_string()), "{text}");
}
