//! Making the files of kept data small, by the services that they belong to.

use base_env::Env;
use svc_kit::{Context, Durability, Place};

use super::DataFolder;
use crate::error::StartError;
use crate::services::{SERVICES, ServiceConfigs};

/// Opens what each service keeps in a folder, makes its files as small as they can be, and closes it.
///
/// # Errors
/// A service cannot open, write or close its data.
pub(crate) fn compact(
    folder: &DataFolder,
    configs: &ServiceConfigs,
    env: &Env,
) -> Result<(), StartError> {
    for row in &SERVICES {
        let Some(constructor) = row.constructor else { continue };
        let dir = folder.of(row.name);
        if !dir.is_dir() {
            continue;
        }
        let mut context = Context::new(env.clone(), "demo-compact");
        context.place = Place::Kept { dir, durability: Durability::WriteBehind };
        let failed = |status| StartError::Service { description: row.description, status };
        let service = constructor(context, configs).map_err(failed)?;
        if let Some(data) = service.data() {
            let compacted = data.compact();
            service.shutdown();
            data.close().and(compacted).map_err(failed)?;
        }
    }
    Ok(())
}
