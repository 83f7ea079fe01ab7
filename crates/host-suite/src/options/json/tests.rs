//! What is read, and what is refused with which words.

use super::*;
use serde_json::json;

fn read_at_root(options: &Value) -> Result<StartOptions, Vec<Problem>> {
    read(options, Machine { cwd: PathBuf::from("/"), ..Machine::default() })
}

fn check(options: Value, expected: &[&str]) {
    let problems = read_at_root(&options).unwrap_err();
    let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected, "{options}");
}

#[test]
fn every_problem_is_named_with_its_path() {
    check(json!([]), &["option `options` must be an object, not an array"]);
    check(json!({"projet": 1}), &["unknown option `projet`, did you mean `project`?"]);
    check(json!({"firestor": {}}), &["unknown option `firestor`, did you mean `firestore`?"]);
    check(json!({"zzz": {}}), &["unknown option `zzz`"]);
    check(json!({"project": 7}), &["option `project` must be a string, not `7`"]);
    check(json!({"project": ""}), &["option `project` must not be empty"]);
    check(json!({"only": [1]}), &["option `only[0]` must be a string, not `1`"]);
    check(
        json!({"only": true}),
        &["option `only` must be a string or an array of strings, not a boolean"],
    );
    check(
        json!({"config": true}),
        &["option `config` must be a path, an object or false, not a boolean"],
    );
    check(json!({"firestore": 8080}), &["option `firestore` must be an object, not `8080`"]);
    check(
        json!({"firestore": {"prot": 1, "port": "1", "rules": []}, "hub": {"port": 65536}}),
        &[
            "unknown option `firestore.prot`, did you mean `firestore.port`?",
            "option `firestore.port` must be an integer from 0 to 65535, not a string",
            "option `firestore.rules` must be a string, not an array",
            "option `hub.port` must be an integer from 0 to 65535, not `65536`",
        ],
    );
    check(
        json!({"hub": {"rules": "x", "port": -1.5}}),
        &[
            "unknown option `hub.rules`",
            "option `hub.port` must be an integer from 0 to 65535, not `-1.5`",
        ],
    );
    check(
        json!({"firestore": {"indexes": "loud"}}),
        &["option `firestore.indexes` must be `off`, `warn`, `strict` or `record`, not `loud`"],
    );
    check(
        json!({"firestore": {"limits": true, "limit": "off"}}),
        &[
            "option `firestore.limits` must be `production` or `off`, not a boolean",
            "unknown option `firestore.limit`, did you mean `firestore.limits`?",
        ],
    );
    for (cache, shown) in [(json!(0), "`0`"), (json!(1.5), "`1.5`"), (json!("64"), "`64`")] {
        let told =
            format!("option `firestore.cacheMiB` must be an integer from 1 to 65536, not {shown}");
        check(json!({"firestore": {"cacheMiB": cache}}), &[&told]);
    }
    check(
        json!({"auth": {}}),
        &["option `auth`: firelet does not have the Authentication Emulator yet"],
    );
}

#[test]
fn problems_of_kept_data_are_named() {
    check(
        json!({"data": {"kep": true, "durability": "never", "dir": 1}}),
        &[
            "unknown option `data.kep`, did you mean `data.keep`?",
            "option `data.durability` must be `write-behind` or `per-commit`, not `never`",
            "option `data.dir` must be a string, not `1`",
        ],
    );
    check(
        json!({"data": {"durability": 5, "keep": []}}),
        &["option `data.durability` must be `write-behind` or `per-commit`, not `5`"],
    );
    check(
        json!({"data": {"keep": ["firestore", "firestor", "hub", 7, "", "auth"]}}),
        &[
            "option `data.keep[1]` must be the name of a service, not `firestor`, did you mean \
             `firestore`?",
            "option `data.keep[2]` must be the name of a service, not `hub`",
            "option `data.keep[3]` must be the name of a service, not `7`",
            "option `data.keep[4]` must not be empty",
            "option `data.keep[5]`: firelet does not have the Authentication Emulator yet",
        ],
    );
    check(
        json!({"data": {"dir": "x"}}),
        &["option `data.keep` must be given where `data.dir` is, not left out"],
    );
    check(
        json!({"data": {"keep": "yes"}}),
        &["option `data.keep` must be a boolean or an array of services, not a string"],
    );
}

#[test]
fn words_that_mean_something_else_lead_to_it() {
    check(json!({"port": 8080}), &["unknown option `port`, did you mean `firestore.port`?"]);
    check(json!({"emulators": {}}), &["unknown option `emulators`, did you mean `config`?"]);
    check(json!({"projectId": "a"}), &["unknown option `projectId`, did you mean `project`?"]);
    check(
        json!({"import": "./seed"}),
        &["option `import`: firelet does not have the import of exports yet"],
    );
}

#[test]
fn a_long_value_is_shown_by_its_start() {
    let long = "x".repeat(1000);
    let shown = "x".repeat(60);
    check(
        json!({"firestore": {"indexes": long}}),
        &[&format!(
            "option `firestore.indexes` must be `off`, `warn`, `strict` or `record`, not `{shown}...`"
        )],
    );
    check(
        json!({"cwd": "no/such/folder"}),
        &["option `cwd` must be a folder that exists, not `no/such/folder`"],
    );
}

#[test]
fn options_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("app")).unwrap();
    let machine = Machine { cwd: folder.path().to_owned(), ..Machine::default() };
    let given = json!({
        "firestore": {"port": 0, "host": "127.0.0.1", "rules": "a.rules", "indexes": "strict", "limits": "off", "cacheMiB": 64},
        "hub": null,
        "only": ["firestore,hosting:site"],
        "config": "sub/firebase.json",
        "project": "demo-x",
        "cwd": "app",
    });
    let options = read(&given, machine).unwrap();
    let app = folder.path().join("app");
    assert_eq!(options.caller, Caller::Program);
    assert_eq!(options.machine.cwd, app);
    assert_eq!(options.project.as_deref(), Some("demo-x"));
    assert_eq!(options.only.unwrap(), ["firestore", "hosting"]);
    assert_eq!(options.config, ConfigChoice::File(app.join("sub/firebase.json")));
    let firestore = ServiceOptions {
        port: Some(0),
        host: Some("127.0.0.1".to_owned()),
        rules: Some("a.rules".to_owned()),
    };
    assert_eq!(options.services.into_iter().collect::<Vec<_>>(), [("firestore", firestore)]);

    assert_eq!(options.indexes, IndexPolicy::Strict);
    assert_eq!(options.limits, LimitPolicy::Off);
    assert_eq!(options.cache_mib, Some(64));
    assert_eq!(read_at_root(&Value::Null).unwrap().limits, LimitPolicy::Production);
    assert_eq!(read_at_root(&Value::Null).unwrap().indexes, IndexPolicy::Warn);
    let data = |data: Value| read_at_root(&json!({"data": data})).unwrap().data;
    assert_eq!(data(Value::Null), None);
    assert_eq!(data(json!({"keep": false, "dir": "x"})), None);
    let all = DataOptions { keep: Keep::All, dir: None, durability: Durability::WriteBehind };
    assert_eq!(data(json!({"keep": true})), Some(all));
    let some = DataOptions {
        keep: Keep::Only(vec!["firestore".to_owned()]),
        dir: Some(PathBuf::from("/kept")),
        durability: Durability::PerCommit,
    };
    let given = json!({"keep": ["firestore"], "dir": "kept", "durability": "per-commit"});
    assert_eq!(data(given), Some(some));

    assert_eq!(read_at_root(&Value::Null).unwrap().only, None);
    let nothing = read_at_root(&json!({"config": false})).unwrap().config;
    assert_eq!(nothing, ConfigChoice::Nothing);
    let inline = read_at_root(&json!({"config": {"firestore": {}}})).unwrap().config;
    let expected = json!({"firestore": {}}).as_object().unwrap().clone();
    assert_eq!(inline, ConfigChoice::Inline(expected));
}
