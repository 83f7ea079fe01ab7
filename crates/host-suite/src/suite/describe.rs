//! What a suite tells of itself: its project, its services, and how clients find them.

use serde_json::{Map, Value, json};
use svc_kit::Listing;

use super::Suite;
use crate::notice::Notice;
use crate::services;

/// One running service, for tables and for JavaScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// Its name, such as `firestore`.
    pub name: &'static str,
    /// Its name in messages.
    pub description: &'static str,
    /// The host clients connect to.
    pub host: String,
    /// The port.
    pub port: u16,
    /// `host:port`, an IPv6 host in brackets.
    pub authority: String,
}

impl Suite {
    /// The project id.
    #[must_use]
    pub fn project(&self) -> &str {
        &self.inner.project
    }

    /// Whether somebody named the project; otherwise it is the placeholder.
    #[must_use]
    pub fn project_is_named(&self) -> bool {
        self.inner.named
    }

    /// What there is to tell the user about this start.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.inner.notices
    }

    /// The services of this suite, in the table's order. They stay listed after a stop.
    #[must_use]
    pub fn services(&self) -> Vec<ServiceInfo> {
        let info = |listing: &Listing| {
            let row = services::find(listing.name)?;
            Some(ServiceInfo {
                name: row.name,
                description: row.description,
                host: listing.host.clone(),
                port: listing.port,
                authority: listing.authority(),
            })
        };
        self.inner.listings.iter().filter_map(info).collect()
    }

    /// The environment variables by which SDKs find this suite, and the project they are to use.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        let of_services = self.inner.listings.iter().flat_map(|listing| {
            services::find(listing.name).into_iter().flat_map(|row| row.environment(listing))
        });
        let project = &self.inner.project;
        let firebase_config = json!({
            "projectId": project,
            "storageBucket": format!("{project}.appspot.com"),
            "databaseURL": format!("https://{project}.firebaseio.com"),
        });
        of_services
            .chain([
                ("GCLOUD_PROJECT".to_owned(), project.clone()),
                ("FIREBASE_CONFIG".to_owned(), firebase_config.to_string()),
            ])
            .collect()
    }

    /// The suite as the JavaScript API hands it out: project, services, variables and notices.
    #[must_use]
    pub fn describe(&self) -> Value {
        let services: Map<String, Value> = self
            .services()
            .into_iter()
            .map(|info| {
                let url = format!("http://{}", info.authority);
                (info.name.to_owned(), json!({"host": info.host, "port": info.port, "url": url}))
            })
            .collect();
        let env: Map<String, Value> =
            self.env().into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let notices: Vec<Value> = self
            .notices()
            .iter()
            .map(|notice| {
                json!({"level": notice.level.name(), "label": notice.label, "text": notice.text})
            })
            .collect();
        json!({"project": self.project(), "services": services, "env": env, "notices": notices})
    }
}
