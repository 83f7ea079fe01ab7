//! Building what a plan says: the folder of kept data, the services, and the file that other tools find them by.

use std::sync::Arc;

use base_status::Status;
use svc_hub::{Claim, Locator};
use svc_kit::{Context, Listing, Place, Service};
use tokio::task::spawn_blocking;

use crate::data::DataFolder;
use crate::error::StartError;
use crate::notice::Notice;
use crate::plan::PlannedData;
use crate::services::{ServiceConfigs, ServiceRow};

/// Opens the folder of kept data and builds the services, on a thread that may take its time.
pub(super) async fn build(
    rows: Vec<&'static ServiceRow>,
    context: Context,
    data: Option<PlannedData>,
    configs: ServiceConfigs,
) -> Result<(Option<DataFolder>, Vec<Arc<dyn Service>>), StartError> {
    let build = move || {
        let kept = data.filter(|data| !data.services.is_empty());
        let folder = kept.as_ref().map(|kept| DataFolder::open(&kept.dir)).transpose()?;
        let mut services = Vec::new();
        for row in rows {
            // The plan holds only services that exist.
            let Some(constructor) = row.constructor else { continue };
            let mut context = context.clone();
            if let (Some(kept), Some(folder)) = (&kept, &folder)
                && kept.services.contains(&row.name)
            {
                let dir = folder.of(row.name);
                context.place = Place::Kept { dir, durability: kept.durability };
            }
            let service = constructor(context, &configs)
                .map_err(|status| StartError::Service { description: row.description, status })?;
            services.push(service);
        }
        Ok((folder, services))
    };
    spawn_blocking(build).await.unwrap_or_else(|error| {
        let status = Status::internal(format!("building the services failed: {error}"));
        Err(StartError::Service { description: "the suite", status })
    })
}

/// Claims the project's locator file. A suite works without one, so what stands in the way is a notice.
pub(super) fn claim(
    folder: &std::path::Path,
    project: &str,
    hub: &Listing,
) -> (Option<Locator>, Option<Notice>) {
    match Locator::claim(folder, project, crate::VERSION, hub) {
        Ok(Claim::Written(locator)) => (Some(locator), None),
        Ok(Claim::OtherSuite { .. }) => {
            let text = format!(
                "It seems that you are running multiple instances of the emulator suite for \
                 project {project}. This may result in unexpected behavior."
            );
            (None, Some(Notice::warning("emulators", text)))
        }
        Err(error) => {
            let file = folder.join(Locator::file_name(project));
            let text = format!(
                "could not write `{}`, so the firebase command will not find this suite: {error}",
                file.display()
            );
            (None, Some(Notice::warning("hub", text)))
        }
    }
}
