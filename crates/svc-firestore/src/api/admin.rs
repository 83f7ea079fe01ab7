//! The admin API over gRPC: `google.firestore.admin.v1.FirestoreAdmin`, and the operations it answers with.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request as HttpRequest;
use axum::middleware::{Next, from_fn};
use axum::response::Response as HttpResponse;
use base_status::{Code, Status};
use base_wire::google::firestore::admin::v1 as wire;
use base_wire::google::longrunning::Operation;
use base_wire::google::longrunning::operations_server::OperationsServer;
use tonic::Request;
use wire::firestore_admin_server::{FirestoreAdmin, FirestoreAdminServer};

use super::grpc::{Answer, caller, unary};
use super::operations::LongRunning;
use super::{from_wire::admin as from_wire, to_wire::admin as to_wire};
use crate::error::Error;
use crate::limits::ADMIN_REQUEST_BYTES_MAX;
use crate::ops::admin::{databases, fields, indexes};
use crate::state::State;

/// The gRPC routes of the admin API. They are not for the web pages of strangers.
pub(crate) fn router(state: &Arc<State>) -> Router {
    let admin = FirestoreAdminServer::new(Admin { state: Arc::clone(state) })
        .max_decoding_message_size(ADMIN_REQUEST_BYTES_MAX);
    let operations = OperationsServer::new(LongRunning::new(Arc::clone(state)));
    let routes = tonic::service::Routes::new(admin).add_service(operations);
    front::grpc::router(routes).route_layer(from_fn(refuse_foreign_pages))
}

async fn refuse_foreign_pages(request: HttpRequest, next: Next) -> HttpResponse {
    if front::is_foreign_page(request.headers()) {
        let text = "web pages that this machine does not serve may not use the admin API";
        return front::refuse(request.headers(), Status::permission_denied(text));
    }
    next.run(request).await
}

/// Serves `google.firestore.admin.v1.FirestoreAdmin` over one suite's state.
struct Admin {
    state: Arc<State>,
}

/// The answer of a method that is not there.
fn lacks<T>(method: &str) -> Answer<T> {
    let text = format!("firelet does not have {method} yet");
    Err(front::status_to_tonic(Status::new(Code::Unimplemented, "no-admin-method", text)))
}

#[tonic::async_trait]
impl FirestoreAdmin for Admin {
    async fn create_index(&self, request: Request<wire::CreateIndexRequest>) -> Answer<Operation> {
        let caller = caller(&request);
        unary(async {
            let (group, scope, fields) = from_wire::create_index(request.into_inner())?;
            let done = indexes::create_index(&self.state, &caller, &group, scope, fields)?;
            Ok(to_wire::operation(&done))
        })
        .await
    }

    async fn list_indexes(
        &self,
        request: Request<wire::ListIndexesRequest>,
    ) -> Answer<wire::ListIndexesResponse> {
        let caller = caller(&request);
        unary(async {
            let request = request.into_inner();
            let group = from_wire::group(&request.parent)?;
            from_wire::no_filter(&request.filter)?;
            let page = from_wire::page(request.page_size, request.page_token)?;
            let page = indexes::list_indexes(&self.state, &caller, &group, &page)?;
            Ok(wire::ListIndexesResponse {
                indexes: page.items.iter().map(to_wire::index).collect(),
                next_page_token: page.next_token,
            })
        })
        .await
    }

    async fn get_index(&self, request: Request<wire::GetIndexRequest>) -> Answer<wire::Index> {
        let caller = caller(&request);
        unary(async {
            let (group, id) = from_wire::index_name(&request.into_inner().name)?;
            Ok(to_wire::index(&indexes::get_index(&self.state, &caller, &group, &id)?))
        })
        .await
    }

    async fn delete_index(&self, request: Request<wire::DeleteIndexRequest>) -> Answer<()> {
        let caller = caller(&request);
        unary(async {
            let (group, id) = from_wire::index_name(&request.into_inner().name)?;
            indexes::delete_index(&self.state, &caller, &group, &id)
        })
        .await
    }

    async fn get_field(&self, request: Request<wire::GetFieldRequest>) -> Answer<wire::Field> {
        let caller = caller(&request);
        unary(async {
            let name = from_wire::field_name(&request.into_inner().name)?;
            Ok(to_wire::field(&fields::get_field(&self.state, &caller, &name)?))
        })
        .await
    }

    async fn update_field(&self, request: Request<wire::UpdateFieldRequest>) -> Answer<Operation> {
        let caller = caller(&request);
        unary(async {
            let (name, update) = from_wire::update_field(request.into_inner())?;
            let done = fields::update_field(&self.state, &caller, &name, update)?;
            Ok(to_wire::operation(&done))
        })
        .await
    }

    async fn list_fields(
        &self,
        request: Request<wire::ListFieldsRequest>,
    ) -> Answer<wire::ListFieldsResponse> {
        let caller = caller(&request);
        unary(async {
            let request = request.into_inner();
            let group = from_wire::group(&request.parent)?;
            let filter = from_wire::field_filter(&request.filter)?;
            let page = from_wire::page(request.page_size, request.page_token)?;
            let page = fields::list_fields(&self.state, &caller, &group, filter, &page)?;
            Ok(wire::ListFieldsResponse {
                fields: page.items.iter().map(to_wire::field).collect(),
                next_page_token: page.next_token,
            })
        })
        .await
    }

    async fn create_database(
        &self,
        request: Request<wire::CreateDatabaseRequest>,
    ) -> Answer<Operation> {
        let caller = caller(&request);
        unary(async {
            let (name, settings) = from_wire::create_database(request.into_inner())?;
            let done = databases::create_database(&self.state, &caller, &name, settings)?;
            Ok(to_wire::operation(&done))
        })
        .await
    }

    async fn get_database(
        &self,
        request: Request<wire::GetDatabaseRequest>,
    ) -> Answer<wire::Database> {
        let caller = caller(&request);
        unary(async {
            let name = from_wire::database(&request.into_inner().name)?;
            let found = databases::get_database(&self.state, &caller, &name)?;
            Ok(to_wire::database(&found, self.state.env.now()))
        })
        .await
    }

    async fn list_databases(
        &self,
        request: Request<wire::ListDatabasesRequest>,
    ) -> Answer<wire::ListDatabasesResponse> {
        let caller = caller(&request);
        unary(async {
            let project = from_wire::project(&request.into_inner().parent)?;
            let found = databases::list_databases(&self.state, &caller, &project)?;
            let now = self.state.env.now();
            Ok(wire::ListDatabasesResponse {
                databases: found.iter().map(|found| to_wire::database(found, now)).collect(),
                unreachable: Vec::new(),
            })
        })
        .await
    }

    async fn update_database(
        &self,
        request: Request<wire::UpdateDatabaseRequest>,
    ) -> Answer<Operation> {
        let caller = caller(&request);
        unary(async {
            let (name, etag, change) = from_wire::update_database(request.into_inner())?;
            let done = databases::update_database(&self.state, &caller, &name, &etag, change)?;
            Ok(to_wire::operation(&done))
        })
        .await
    }

    async fn delete_database(
        &self,
        request: Request<wire::DeleteDatabaseRequest>,
    ) -> Answer<Operation> {
        let caller = caller(&request);
        unary(async {
            let request = request.into_inner();
            let name = from_wire::database(&request.name)?;
            let done =
                databases::delete_database(&self.state, &caller, &name, &request.etag).await?;
            Ok::<_, Error>(to_wire::operation(&done))
        })
        .await
    }

    async fn export_documents(
        &self,
        _: Request<wire::ExportDocumentsRequest>,
    ) -> Answer<Operation> {
        lacks("ExportDocuments")
    }

    async fn import_documents(
        &self,
        _: Request<wire::ImportDocumentsRequest>,
    ) -> Answer<Operation> {
        lacks("ImportDocuments")
    }

    async fn bulk_delete_documents(
        &self,
        _: Request<wire::BulkDeleteDocumentsRequest>,
    ) -> Answer<Operation> {
        lacks("BulkDeleteDocuments")
    }

    async fn create_user_creds(
        &self,
        _: Request<wire::CreateUserCredsRequest>,
    ) -> Answer<wire::UserCreds> {
        lacks("CreateUserCreds")
    }

    async fn get_user_creds(
        &self,
        _: Request<wire::GetUserCredsRequest>,
    ) -> Answer<wire::UserCreds> {
        lacks("GetUserCreds")
    }

    async fn list_user_creds(
        &self,
        _: Request<wire::ListUserCredsRequest>,
    ) -> Answer<wire::ListUserCredsResponse> {
        lacks("ListUserCreds")
    }

    async fn enable_user_creds(
        &self,
        _: Request<wire::EnableUserCredsRequest>,
    ) -> Answer<wire::UserCreds> {
        lacks("EnableUserCreds")
    }

    async fn disable_user_creds(
        &self,
        _: Request<wire::DisableUserCredsRequest>,
    ) -> Answer<wire::UserCreds> {
        lacks("DisableUserCreds")
    }

    async fn reset_user_password(
        &self,
        _: Request<wire::ResetUserPasswordRequest>,
    ) -> Answer<wire::UserCreds> {
        lacks("ResetUserPassword")
    }

    async fn delete_user_creds(&self, _: Request<wire::DeleteUserCredsRequest>) -> Answer<()> {
        lacks("DeleteUserCreds")
    }

    async fn get_backup(&self, _: Request<wire::GetBackupRequest>) -> Answer<wire::Backup> {
        lacks("GetBackup")
    }

    async fn list_backups(
        &self,
        _: Request<wire::ListBackupsRequest>,
    ) -> Answer<wire::ListBackupsResponse> {
        lacks("ListBackups")
    }

    async fn delete_backup(&self, _: Request<wire::DeleteBackupRequest>) -> Answer<()> {
        lacks("DeleteBackup")
    }

    async fn restore_database(
        &self,
        _: Request<wire::RestoreDatabaseRequest>,
    ) -> Answer<Operation> {
        lacks("RestoreDatabase")
    }

    async fn create_backup_schedule(
        &self,
        _: Request<wire::CreateBackupScheduleRequest>,
    ) -> Answer<wire::BackupSchedule> {
        lacks("CreateBackupSchedule")
    }

    async fn get_backup_schedule(
        &self,
        _: Request<wire::GetBackupScheduleRequest>,
    ) -> Answer<wire::BackupSchedule> {
        lacks("GetBackupSchedule")
    }

    async fn list_backup_schedules(
        &self,
        _: Request<wire::ListBackupSchedulesRequest>,
    ) -> Answer<wire::ListBackupSchedulesResponse> {
        lacks("ListBackupSchedules")
    }

    async fn update_backup_schedule(
        &self,
        _: Request<wire::UpdateBackupScheduleRequest>,
    ) -> Answer<wire::BackupSchedule> {
        lacks("UpdateBackupSchedule")
    }

    async fn delete_backup_schedule(
        &self,
        _: Request<wire::DeleteBackupScheduleRequest>,
    ) -> Answer<()> {
        lacks("DeleteBackupSchedule")
    }

    async fn clone_database(&self, _: Request<wire::CloneDatabaseRequest>) -> Answer<Operation> {
        lacks("CloneDatabase")
    }
}
