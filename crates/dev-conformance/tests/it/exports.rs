//! Exports go both ways between firelet and the official emulator, and every document stays what it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dev_conformance::client::Client;
use dev_conformance::firelet::Firelet;
use dev_conformance::oracle::Oracle;
use serde_json::{Value, json};

use crate::say;

const OVERALL: &str = "firestore_export/firestore_export.overall_export_metadata";

/// What the official emulator has exported of our own data.
fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine-export/tests/corpus").join(name)
}

/// The fields of documents, by their names. Numbers are as JSON spells them, which differs.
async fn read(client: &Client, project: &str, paths: &[String]) -> Result<BTreeMap<String, Value>> {
    let documents = format!("projects/{project}/databases/(default)/documents");
    let names: Vec<_> = paths.iter().map(|path| format!("{documents}/{path}")).collect();
    let target = format!("/v1/{documents}:batchGet");
    let answers = client.post(&target, &json!({ "documents": names })).await?;
    let answers = answers.as_array().context("a list of documents")?.iter();
    let found = answers.filter_map(|answer| answer.get("found"));
    let fields = found.map(|found| {
        let name = found["name"].as_str().unwrap_or_default().to_owned();
        (name, spelled_alike(&found["fields"]))
    });
    Ok(fields.collect())
}

fn spelled_alike(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(spelled_alike).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), spelled_alike(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

async fn check_both_ways(name: &str) -> Result<bool> {
    let source = corpus(name);
    let about: Value = serde_json::from_slice(&std::fs::read(source.join("documents.json"))?)?;
    let project = about["project"].as_str().context("a project")?;
    let documents = about["documents"].as_object().context("documents")?;
    let paths: Vec<String> = documents.keys().cloned().collect();

    let firelet = Firelet::import(&source, project).await?;
    let ours = read(firelet.client(), project, &paths).await?;
    ensure!(ours.len() == paths.len(), "{name}: {} of {} documents", ours.len(), paths.len());
    let exported = tempfile::tempdir()?;
    firelet.export(exported.path()).await?;
    firelet.stop().await?;

    let oracle = match Oracle::import(&exported.path().join(OVERALL), project).await? {
        Ok(oracle) => oracle,
        Err(reason) => {
            say(&format!("official emulator: MISSING ({reason}), exports are not exchanged"));
            return Ok(false);
        }
    };
    let theirs = read(oracle.client(), project, &paths).await?;
    let official = tempfile::tempdir()?;
    let body = json!({
        "database": format!("projects/{project}/databases/(default)"),
        "export_directory": official.path(),
        "export_name": "firestore_export",
    });
    let target = format!("/emulator/v1/projects/{project}:export");
    let written = oracle.client().post(&target, &body).await;
    oracle.stop().await?;
    written?;
    ensure!(ours == theirs, "{name}: the official emulator reads firelet's export otherwise");

    let firelet = Firelet::import(official.path(), project).await?;
    let again = read(firelet.client(), project, &paths).await?;
    firelet.stop().await?;
    ensure!(ours == again, "{name}: firelet reads the official emulator's export otherwise");
    Ok(true)
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_go_both_ways() -> Result<()> {
    for name in ["values", "blocks", "empty"] {
        if !check_both_ways(name).await? {
            break;
        }
    }
    Ok(())
}
