//! The gRPC server: each method decodes, operates and encodes. REST reaches the same methods through the
//! front's transcoder, so this is the one way in.

use std::pin::Pin;
use std::sync::Arc;

use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, parse_database};
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use futures_util::{Stream, StreamExt, stream};
use tonic::{Request, Response, Streaming};
use wire::firestore_server::Firestore;

use super::driven::driven;
use super::{from_wire, to_wire};
use crate::error::Error;
use crate::ops;
use crate::state::State;

/// Serves `google.firestore.v1.Firestore` over one suite's state.
pub(crate) struct Grpc {
    state: Arc<State>,
}

pub(super) type Answer<T> = Result<Response<T>, tonic::Status>;
type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, tonic::Status>> + Send>>;

impl Grpc {
    pub(crate) fn new(state: Arc<State>) -> Grpc {
        Grpc { state }
    }
}

#[tonic::async_trait]
impl Firestore for Grpc {
    type BatchGetDocumentsStream = Responses<wire::BatchGetDocumentsResponse>;
    type RunQueryStream = Responses<wire::RunQueryResponse>;
    type ExecutePipelineStream = Responses<wire::ExecutePipelineResponse>;
    type RunAggregationQueryStream = Responses<wire::RunAggregationQueryResponse>;
    type WriteStream = Responses<wire::WriteResponse>;
    type ListenStream = Responses<wire::ListenResponse>;

    async fn get_document(
        &self,
        request: Request<wire::GetDocumentRequest>,
    ) -> Answer<WireDocument> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::get_document(request.into_inner())?;
            let document = ops::get_document::get_document(&self.state, &caller, request).await?;
            Ok(to_wire::document(document))
        })
        .await
    }

    async fn list_documents(
        &self,
        request: Request<wire::ListDocumentsRequest>,
    ) -> Answer<wire::ListDocumentsResponse> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::list_documents(request.into_inner())?;
            let page = ops::list_documents::list_documents(&self.state, &caller, request).await?;
            Ok(to_wire::list_documents(page))
        })
        .await
    }

    async fn create_document(
        &self,
        request: Request<wire::CreateDocumentRequest>,
    ) -> Answer<WireDocument> {
        let caller = caller(&request);
        unary(async {
            let new_id = || self.state.env.auto_id();
            let (write, mask) = from_wire::requests::create_document(
                request.into_inner(),
                self.state.limits(),
                new_id,
            )?;
            let mask = mask.as_deref();
            let document =
                ops::write_document::write_document(&self.state, &caller, write, mask).await?;
            Ok(to_wire::document(document))
        })
        .await
    }

    async fn update_document(
        &self,
        request: Request<wire::UpdateDocumentRequest>,
    ) -> Answer<WireDocument> {
        let caller = caller(&request);
        unary(async {
            let (write, mask) =
                from_wire::requests::update_document(request.into_inner(), self.state.limits())?;
            let mask = mask.as_deref();
            let document =
                ops::write_document::write_document(&self.state, &caller, write, mask).await?;
            Ok(to_wire::document(document))
        })
        .await
    }

    async fn delete_document(&self, request: Request<wire::DeleteDocumentRequest>) -> Answer<()> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::delete_document(request.into_inner())?;
            ops::commit::commit(&self.state, &caller, request).await?;
            Ok(())
        })
        .await
    }

    async fn batch_get_documents(
        &self,
        request: Request<wire::BatchGetDocumentsRequest>,
    ) -> Answer<Self::BatchGetDocumentsStream> {
        let caller = caller(&request);
        streaming(async {
            let request = from_wire::requests::batch_get_documents(request.into_inner())?;
            let found =
                ops::batch_get_documents::batch_get_documents(&self.state, &caller, request)
                    .await?;
            Ok(to_wire::batch_get_documents(found))
        })
        .await
    }

    async fn begin_transaction(
        &self,
        request: Request<wire::BeginTransactionRequest>,
    ) -> Answer<wire::BeginTransactionResponse> {
        unary(async {
            let (database, begin) = from_wire::requests::begin_transaction(request.into_inner())?;
            let id = ops::begin_transaction::begin_transaction(&self.state, &database, begin)?;
            Ok(wire::BeginTransactionResponse { transaction: to_wire::transaction(id) })
        })
        .await
    }

    async fn commit(&self, request: Request<wire::CommitRequest>) -> Answer<wire::CommitResponse> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::commit(request.into_inner(), self.state.limits())?;
            let committed = ops::commit::commit(&self.state, &caller, request).await?;
            Ok(to_wire::commit(&committed))
        })
        .await
    }

    async fn rollback(&self, request: Request<wire::RollbackRequest>) -> Answer<()> {
        unary(async {
            let request = request.into_inner();
            let database = parse_database(&request.database)?;
            let id = from_wire::transaction(&request.transaction)?;
            ops::rollback::rollback(&self.state, &database, id)
        })
        .await
    }

    async fn batch_write(
        &self,
        request: Request<wire::BatchWriteRequest>,
    ) -> Answer<wire::BatchWriteResponse> {
        let caller = caller(&request);
        unary(async {
            let request = request.into_inner();
            let (database, writes) =
                from_wire::requests::batch_write(request, self.state.limits())?;
            let results =
                ops::batch_write::batch_write(&self.state, &caller, &database, writes).await?;
            Ok(to_wire::batch_write(&results))
        })
        .await
    }

    async fn run_query(
        &self,
        request: Request<wire::RunQueryRequest>,
    ) -> Answer<Self::RunQueryStream> {
        let caller = caller(&request);
        streaming(async {
            let request = from_wire::requests::run_query(request.into_inner())?;
            let run = ops::run_query::run_query(&self.state, &caller, request).await?;
            Ok(to_wire::run_query(run))
        })
        .await
    }

    async fn run_aggregation_query(
        &self,
        request: Request<wire::RunAggregationQueryRequest>,
    ) -> Answer<Self::RunAggregationQueryStream> {
        let caller = caller(&request);
        streaming(async {
            let request = from_wire::requests::run_aggregation_query(request.into_inner())?;
            let aggregated =
                ops::run_aggregation_query::run_aggregation_query(&self.state, &caller, request)
                    .await?;
            Ok(stream::iter(to_wire::run_aggregation_query(aggregated).map(Ok)))
        })
        .await
    }

    async fn partition_query(
        &self,
        request: Request<wire::PartitionQueryRequest>,
    ) -> Answer<wire::PartitionQueryResponse> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::partition_query(request.into_inner())?;
            let page = ops::partition_query::partition_query(&self.state, &caller, request).await?;
            Ok(to_wire::partition_query(page))
        })
        .await
    }

    async fn list_collection_ids(
        &self,
        request: Request<wire::ListCollectionIdsRequest>,
    ) -> Answer<wire::ListCollectionIdsResponse> {
        let caller = caller(&request);
        unary(async {
            let request = from_wire::requests::list_collection_ids(request.into_inner())?;
            let page = ops::list_collection_ids::list_collection_ids(&self.state, &caller, request)
                .await?;
            Ok(wire::ListCollectionIdsResponse {
                collection_ids: page.ids,
                next_page_token: page.next_page_token,
            })
        })
        .await
    }

    async fn execute_pipeline(
        &self,
        request: Request<wire::ExecutePipelineRequest>,
    ) -> Answer<Self::ExecutePipelineStream> {
        let caller = caller(&request);
        streaming(async {
            let request = from_wire::requests::execute_pipeline(request.into_inner())?;
            let run =
                ops::execute_pipeline::execute_pipeline(&self.state, &caller, request).await?;
            Ok(to_wire::execute_pipeline(run))
        })
        .await
    }

    async fn write(
        &self,
        request: Request<Streaming<wire::WriteRequest>>,
    ) -> Answer<Self::WriteStream> {
        let caller = caller(&request);
        let state = Arc::clone(&self.state);
        let limits = state.limits();
        let mut known: Option<DatabaseName> = None;
        let requests = request.into_inner().map(move |request| {
            let request = request.map_err(|status| front::status_from_tonic(&status))?;
            let request = from_wire::streams::write(request, known.as_ref(), limits)?;
            known = request.database.clone().or(known.take());
            Ok(request)
        });
        let responses = driven(|out| ops::write_stream::write_stream(state, caller, requests, out));
        Ok(Response::new(Box::pin(responses.map(|response| {
            response.map(to_wire::write_response).map_err(front::status_to_tonic)
        }))))
    }

    async fn listen(
        &self,
        request: Request<Streaming<wire::ListenRequest>>,
    ) -> Answer<Self::ListenStream> {
        let caller = caller(&request);
        let tasks = front::ListenerTasks::of(request.extensions());
        let state = Arc::clone(&self.state);
        let metadata = metadata_database(&request);
        let preparer = Arc::clone(&state.preparer);
        let requests = request.into_inner().map(move |request| {
            let request = request.map_err(|status| front::status_from_tonic(&status))?;
            Ok(from_wire::streams::listen(request, &preparer, metadata.as_ref())?)
        });
        let responses = driven(|out| ops::listen::listen(state, caller, tasks, requests, out));
        Ok(Response::new(Box::pin(responses.filter_map(|response| {
            let response = response.map(to_wire::listen_response).map_err(front::status_to_tonic);
            std::future::ready(response.transpose())
        }))))
    }
}

/// Who is asking. The front has decoded the header; a request without one is anonymous.
pub(super) fn caller<T>(request: &Request<T>) -> Identity {
    request.extensions().get::<Identity>().cloned().unwrap_or(Identity::Anonymous)
}

/// The database that SDKs name in a stream's metadata, for routing.
fn metadata_database<T>(request: &Request<T>) -> Option<DatabaseName> {
    let value = request.metadata().get("google-cloud-resource-prefix")?;
    parse_database(value.to_str().ok()?).ok()
}

pub(super) async fn unary<T>(operation: impl Future<Output = Result<T, Error>>) -> Answer<T> {
    match operation.await {
        Ok(answer) => Ok(Response::new(answer)),
        Err(error) => Err(front::status_to_tonic(Status::from(error))),
    }
}

/// A server stream. A failure is the stream's first item, so that headers go out before it: the Node
/// SDK takes a response of trailers alone for a connection that never came up, and tries again.
async fn streaming<T, S>(operation: impl Future<Output = Result<S, Error>>) -> Answer<Responses<T>>
where
    T: Send + 'static,
    S: Stream<Item = Result<T, Status>> + Send + 'static,
{
    Ok(Response::new(match operation.await {
        Ok(items) => Box::pin(items.map(|item| item.map_err(front::status_to_tonic))),
        Err(error) => {
            let status = front::status_to_tonic(Status::from(error));
            Box::pin(stream::once(std::future::ready(Err(status))))
        }
    }))
}
