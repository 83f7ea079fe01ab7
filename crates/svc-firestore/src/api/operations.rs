//! `google.longrunning.Operations`, as far as clients of the admin API use it.

use std::sync::Arc;

use base_token::Identity;
use base_wire::google::longrunning as wire;
use tonic::Request;
use wire::operations_server::Operations;

use super::grpc::{Answer, caller, unary};
use super::{from_wire::admin as from_wire, to_wire::admin as to_wire};
use crate::ops::admin::operations;
use crate::state::State;

/// Serves the operations of one suite.
pub(super) struct LongRunning {
    state: Arc<State>,
}

impl LongRunning {
    pub(super) fn new(state: Arc<State>) -> LongRunning {
        LongRunning { state }
    }

    /// The operation of a name, which is done: to wait for it is to get it.
    async fn told(&self, caller: &Identity, name: &str) -> Answer<wire::Operation> {
        unary(async {
            let name = from_wire::operation_name(name)?;
            Ok(to_wire::operation(&*operations::get_operation(&self.state, caller, &name)?))
        })
        .await
    }
}

#[tonic::async_trait]
impl Operations for LongRunning {
    async fn list_operations(
        &self,
        request: Request<wire::ListOperationsRequest>,
    ) -> Answer<wire::ListOperationsResponse> {
        let caller = caller(&request);
        unary(async {
            let request = request.into_inner();
            let database = from_wire::database(&request.name)?;
            from_wire::no_filter(&request.filter)?;
            let page = from_wire::page(request.page_size, request.page_token)?;
            let page = operations::list_operations(&self.state, &caller, &database, &page)?;
            Ok(wire::ListOperationsResponse {
                operations: page.items.iter().map(|done| to_wire::operation(done)).collect(),
                next_page_token: page.next_token,
                unreachable: Vec::new(),
            })
        })
        .await
    }

    async fn get_operation(
        &self,
        request: Request<wire::GetOperationRequest>,
    ) -> Answer<wire::Operation> {
        self.told(&caller(&request), &request.get_ref().name).await
    }

    async fn delete_operation(&self, request: Request<wire::DeleteOperationRequest>) -> Answer<()> {
        let caller = caller(&request);
        unary(async {
            let name = from_wire::operation_name(&request.into_inner().name)?;
            operations::delete_operation(&self.state, &caller, &name)
        })
        .await
    }

    /// What is done cannot be cancelled, which is no error.
    async fn cancel_operation(&self, request: Request<wire::CancelOperationRequest>) -> Answer<()> {
        let caller = caller(&request);
        unary(async {
            let name = from_wire::operation_name(&request.into_inner().name)?;
            operations::get_operation(&self.state, &caller, &name).map(drop)
        })
        .await
    }

    async fn wait_operation(
        &self,
        request: Request<wire::WaitOperationRequest>,
    ) -> Answer<wire::Operation> {
        self.told(&caller(&request), &request.get_ref().name).await
    }
}
