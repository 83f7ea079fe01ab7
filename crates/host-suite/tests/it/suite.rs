//! A running suite: what it says of itself, what answers, and how it ends.

use std::time::Duration;

use host_suite::{Caller, ConfigChoice, StartOptions, Suite};
use serde_json::{Value, json};

use crate::support::{PATIENCE, get, machine, project};

fn options(json: Value) -> StartOptions {
    let folder = project(&[]);
    StartOptions::from_json(&json, machine(folder.path())).unwrap()
}

#[tokio::test]
async fn a_suite_says_where_it_is_and_answers_there() {
    let suite = Suite::start(options(json!({"project": "demo-a"}))).await.unwrap();
    let services = suite.services();
    let names: Vec<_> = services.iter().map(|info| info.name).collect();
    assert_eq!(names, ["hub", "firestore"]);
    let [hub, firestore] = services.as_slice() else { panic!("{services:?}") };
    let hub_at = format!("127.0.0.1:{}", hub.port);
    let firestore_at = format!("127.0.0.1:{}", firestore.port);
    let config = r#"{"projectId":"demo-a","storageBucket":"demo-a.appspot.com","databaseURL":"https://demo-a.firebaseio.com"}"#;
    let expected = [
        ("FIREBASE_EMULATOR_HUB", hub_at.as_str()),
        ("FIRESTORE_EMULATOR_HOST", &firestore_at),
        ("FIREBASE_FIRESTORE_EMULATOR_ADDRESS", &firestore_at),
        ("GCLOUD_PROJECT", "demo-a"),
        ("FIREBASE_CONFIG", config),
    ];
    let env = suite.env();
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, expected);

    let listed: Value = serde_json::from_str(&get(&hub_at, "/emulators").await.unwrap()).unwrap();
    assert_eq!(listed["firestore"]["port"], json!(firestore.port));
    assert_eq!(listed["hub"]["listen"][0]["address"], json!("127.0.0.1"));
    assert_eq!(
        suite.describe()["services"]["firestore"]["url"],
        json!(format!("http://{firestore_at}"))
    );
    assert!(get(&firestore_at, "/").await.is_ok());
    suite.stop().await.unwrap();
}

#[tokio::test]
async fn a_stop_frees_the_ports_and_may_be_repeated() {
    let suite = Suite::start(options(json!({}))).await.unwrap();
    let services = suite.services();
    suite.clear(None).unwrap();
    suite.clear(Some("demo-b")).unwrap();
    let (again, also) = (suite.clone(), suite.clone());
    let stops = tokio::join!(suite.stop(), again.stop(), also.stop_within(Duration::ZERO, |_| ()));
    assert_eq!(stops, (Ok(()), Ok(()), Ok(())));
    for info in services {
        assert!(get(&info.authority, "/").await.is_err(), "{} still answers", info.name);
    }
    assert_eq!(suite.clear(None).unwrap_err().code(), "FIRELET_STOPPED");
    suite.stop().await.unwrap();
}

#[tokio::test]
async fn services_stop_in_order_and_a_dropped_stop_goes_on() {
    let suite = Suite::start(options(json!({}))).await.unwrap();
    let mut order = Vec::new();
    suite.stop_within(Duration::from_secs(1), |row| order.push(row.name)).await.unwrap();
    assert_eq!(order, ["firestore", "hub"]);

    let suite = Suite::start(options(json!({}))).await.unwrap();
    // Whether the first stop ends before it is dropped does not matter: the second one ends it.
    drop(tokio::time::timeout(Duration::ZERO, suite.stop()).await);
    suite.stop().await.unwrap();
    for info in suite.services() {
        assert!(get(&info.authority, "/").await.is_err(), "{} still answers", info.name);
    }
}

#[tokio::test]
async fn a_start_that_fails_leaves_nothing_behind() {
    let first = Suite::start(options(json!({}))).await.unwrap();
    let taken = first.services()[1].port;
    let hub_port = front_port();
    let wish = json!({"hub": {"port": hub_port}, "firestore": {"port": taken}});
    let error = Suite::start(options(wish)).await.err().unwrap();
    assert_eq!(error.code(), "FIRELET_PORT_IN_USE");
    let text =
        format!("Port {taken} is not open on localhost, could not start Firestore Emulator. ");
    assert!(error.to_string().starts_with(&text), "{error}");
    assert!(get(&format!("127.0.0.1:{hub_port}"), "/").await.is_err());
    first.stop().await.unwrap();
}

/// A port that was free a moment ago.
fn front_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[tokio::test]
async fn many_suites_run_side_by_side_and_go_one_by_one() {
    let cycles = async {
        let mut suites = Vec::new();
        for _ in 0..20 {
            suites.push(Suite::start(options(json!({}))).await.unwrap());
        }
        for suite in suites {
            suite.stop().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, cycles).await.unwrap();
}

#[tokio::test]
async fn the_locator_file_is_the_command_lines() {
    let folder = project(&[("firebase.json", r#"{"firestore": {}}"#)]);
    let start = |caller| {
        let mut options = StartOptions::new(caller, machine(folder.path()));
        options.config = ConfigChoice::Search;
        options.services.insert("firestore", free_port());
        options.services.insert("hub", free_port());
        Suite::start(options)
    };
    let locator = folder.path().join("tmp/hub-demo-no-project.json");
    let program = start(Caller::Program).await.unwrap();
    assert!(!locator.exists());

    let first = start(Caller::CommandLine).await.unwrap();
    let text = std::fs::read_to_string(&locator).unwrap();
    let second = start(Caller::CommandLine).await.unwrap();
    let warned = second.notices().iter().any(|notice| {
        notice.text
            == "It seems that you are running multiple instances of the emulator suite for project \
                demo-no-project. This may result in unexpected behavior."
    });
    assert!(warned, "{:?}", second.notices());
    second.stop().await.unwrap();
    assert_eq!(std::fs::read_to_string(&locator).unwrap(), text);
    first.stop().await.unwrap();
    assert!(!locator.exists());
    program.stop().await.unwrap();
}

fn free_port() -> host_suite::ServiceOptions {
    host_suite::ServiceOptions { port: Some(0), ..Default::default() }
}
