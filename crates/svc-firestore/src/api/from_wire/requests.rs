//! The requests of the unary and server-streaming methods, decoded.

use base_value::{
    DatabaseName, DocumentName, FieldPath, LimitPolicy, check_collection_id, parse_database,
    parse_parent,
};
use base_wire::google::firestore::v1 as wire;
use engine_query::Explain;
use prost::Message;

use super::consistency::{self, DefaultMode, Selector};
use super::{pipeline, query, writes};
use crate::error::Error;
use crate::limits::{BATCH_GET_DOCUMENTS_MAX, COMMIT_BYTES_MAX};
use crate::ops;
use crate::ops::writes::{Action, Precondition, Write};

fn mask(mask: Option<wire::DocumentMask>) -> Result<Option<Vec<FieldPath>>, Error> {
    mask.map(|mask| writes::field_paths(&mask.field_paths)).transpose()
}

pub(crate) fn get_document(
    request: wire::GetDocumentRequest,
) -> Result<ops::get_document::Request, Error> {
    Ok(ops::get_document::Request {
        name: DocumentName::parse(&request.name)?,
        mask: mask(request.mask)?,
        consistency: request.consistency_selector.consistency()?,
    })
}

pub(crate) fn batch_get_documents(
    request: wire::BatchGetDocumentsRequest,
) -> Result<ops::batch_get_documents::Request, Error> {
    let database = parse_database(&request.database)?;
    if request.documents.len() > BATCH_GET_DOCUMENTS_MAX {
        return Err(Error::invalid(format!(
            "at most {BATCH_GET_DOCUMENTS_MAX} documents can be read in one request"
        )));
    }
    let names = request.documents.iter().map(|name| writes::name_in(&database, name));
    Ok(ops::batch_get_documents::Request {
        names: names.collect::<Result<_, _>>()?,
        mask: mask(request.mask)?,
        consistency: request.consistency_selector.consistency()?,
        database,
    })
}

/// What production says of any request that is too large.
pub(super) fn check_payload(request: &impl Message, limits: LimitPolicy) -> Result<(), Error> {
    if limits.is_above(request.encoded_len(), COMMIT_BYTES_MAX) {
        return Err(Error::invalid(format!(
            "Request payload size exceeds the limit: {COMMIT_BYTES_MAX} bytes."
        )));
    }
    Ok(())
}

pub(crate) fn commit(
    request: wire::CommitRequest,
    limits: LimitPolicy,
) -> Result<ops::commit::Request, Error> {
    let database = parse_database(&request.database)?;
    check_payload(&request, limits)?;
    Ok(ops::commit::Request {
        writes: writes::writes(&database, request.writes, limits)?,
        transaction: consistency::transaction(&request.transaction)?,
        database,
    })
}

/// The database and the writes of a BatchWrite.
pub(crate) fn batch_write(
    request: wire::BatchWriteRequest,
    limits: LimitPolicy,
) -> Result<(DatabaseName, Vec<Write>), Error> {
    let database = parse_database(&request.database)?;
    check_payload(&request, limits)?;
    let writes = writes::writes(&database, request.writes, limits)?;
    Ok((database, writes))
}

/// The database and the options of a new transaction.
pub(crate) fn begin_transaction(
    request: wire::BeginTransactionRequest,
) -> Result<(DatabaseName, engine_txn::Begin), Error> {
    let database = parse_database(&request.database)?;
    Ok((database, consistency::mode(request.options, DefaultMode::ReadWrite)?))
}

/// A write and the fields of its document that are answered.
pub(crate) type WriteAndMask = (Write, Option<Vec<FieldPath>>);

/// `new_id` draws an id where the client leaves that to us.
pub(crate) fn create_document(
    request: wire::CreateDocumentRequest,
    limits: LimitPolicy,
    new_id: impl FnOnce() -> String,
) -> Result<WriteAndMask, Error> {
    let (database, parent) = parse_parent(&request.parent)?;
    check_collection_id(&request.collection_id)?;
    let document = request.document.unwrap_or_default();
    if !document.name.is_empty() {
        return Err(Error::invalid("document.name must not be set"));
    }
    let id = if request.document_id.is_empty() { new_id() } else { request.document_id };
    let path = parent.collection(&request.collection_id)?.document(&id)?;
    let name = database.document(path);
    let fields = writes::fields(&document, &name, limits)?;
    writes::check_stored(&fields, None, limits)?;
    let write = Write {
        name,
        action: Action::Set(fields),
        precondition: Precondition::Exists(false),
        transforms: Vec::new(),
    };
    Ok((write, mask(request.mask)?))
}

pub(crate) fn update_document(
    request: wire::UpdateDocumentRequest,
    limits: LimitPolicy,
) -> Result<WriteAndMask, Error> {
    let document = request.document.unwrap_or_default();
    let name = DocumentName::parse(&document.name)?;
    let fields = writes::fields(&document, &name, limits)?;
    let update_mask = mask(request.update_mask)?;
    writes::check_stored(&fields, update_mask.as_deref(), limits)?;
    let action = match update_mask {
        None => Action::Set(fields),
        Some(mask) => Action::Patch { mask, fields },
    };
    let precondition = writes::precondition(request.current_document)?;
    let write = Write { name, action, precondition, transforms: Vec::new() };
    Ok((write, mask(request.mask)?))
}

pub(crate) fn delete_document(
    request: wire::DeleteDocumentRequest,
) -> Result<ops::commit::Request, Error> {
    let name = DocumentName::parse(&request.name)?;
    let database = name.database.clone();
    let precondition = writes::precondition(request.current_document)?;
    let write = Write { name, action: Action::Delete, precondition, transforms: Vec::new() };
    Ok(ops::commit::Request { database, writes: vec![write], transaction: None })
}

pub(crate) fn list_documents(
    request: wire::ListDocumentsRequest,
) -> Result<ops::list_documents::Request, Error> {
    let (database, parent) = parse_parent(&request.parent)?;
    let collection = match request.collection_id.as_str() {
        "" => None,
        id => {
            check_collection_id(id)?;
            Some(parent.collection(id)?)
        }
    };
    let page_size = usize::try_from(request.page_size)
        .map_err(|_| Error::invalid("Page size must be nonnegative."))?;
    Ok(ops::list_documents::Request {
        database,
        parent,
        collection,
        page_size,
        page_token: request.page_token,
        order_by: request.order_by,
        mask: mask(request.mask)?,
        show_missing: request.show_missing,
        consistency: request.consistency_selector.consistency()?,
    })
}

pub(crate) fn list_collection_ids(
    request: wire::ListCollectionIdsRequest,
) -> Result<ops::list_collection_ids::Request, Error> {
    let (database, parent) = parse_parent(&request.parent)?;
    let page_size = usize::try_from(request.page_size)
        .map_err(|_| Error::invalid("page_size must be greater than or equal to zero."))?;
    Ok(ops::list_collection_ids::Request {
        database,
        parent,
        page_size,
        page_token: request.page_token,
        consistency: request.consistency_selector.consistency()?,
    })
}

pub(crate) fn run_query(request: wire::RunQueryRequest) -> Result<ops::run_query::Request, Error> {
    use wire::run_query_request::QueryType;
    let (database, parent) = parse_parent(&request.parent)?;
    let Some(QueryType::StructuredQuery(structured)) = request.query_type else {
        return Err(engine_query::QueryError::NoQuery.into());
    };
    Ok(ops::run_query::Request {
        database,
        query: query::query(parent, structured)?,
        consistency: request.consistency_selector.consistency()?,
        explain: explain(request.explain_options),
    })
}

pub(crate) fn execute_pipeline(
    request: wire::ExecutePipelineRequest,
) -> Result<ops::execute_pipeline::Request, Error> {
    use wire::execute_pipeline_request::PipelineType;
    let database = parse_database(&request.database)?;
    let Some(PipelineType::StructuredPipeline(structured)) = request.pipeline_type else {
        return Err(Error::invalid("only structured pipelines are supported"));
    };
    let (stages, options) = pipeline::structured(structured)?;
    Ok(ops::execute_pipeline::Request {
        database,
        stages,
        options,
        consistency: request.consistency_selector.consistency()?,
    })
}

/// What a request wants to know of how it is answered.
fn explain(options: Option<wire::ExplainOptions>) -> Explain {
    match options {
        None => Explain::Off,
        Some(options) if options.analyze => Explain::Analyze,
        Some(_) => Explain::Plan,
    }
}

pub(crate) fn run_aggregation_query(
    request: wire::RunAggregationQueryRequest,
) -> Result<ops::run_aggregation_query::Request, Error> {
    use wire::run_aggregation_query_request::QueryType;
    use wire::structured_aggregation_query::QueryType as Base;
    let (database, parent) = parse_parent(&request.parent)?;
    let Some(QueryType::StructuredAggregationQuery(aggregation)) = request.query_type else {
        return Err(engine_query::QueryError::NoAggregationQuery.into());
    };
    let base = match aggregation.query_type {
        Some(Base::StructuredQuery(structured)) => structured,
        None => wire::StructuredQuery::default(),
    };
    Ok(ops::run_aggregation_query::Request {
        database,
        query: query::query(parent, base)?,
        aggregations: query::aggregations(aggregation.aggregations)?,
        consistency: request.consistency_selector.consistency()?,
        explain: explain(request.explain_options),
    })
}

pub(crate) fn partition_query(
    request: wire::PartitionQueryRequest,
) -> Result<ops::partition_query::Request, Error> {
    use wire::partition_query_request::QueryType;
    let (database, parent) = parse_parent(&request.parent)?;
    let Some(QueryType::StructuredQuery(structured)) = request.query_type else {
        return Err(engine_query::QueryError::NoQuery.into());
    };
    let page_size = usize::try_from(request.page_size)
        .map_err(|_| Error::invalid("page_size must be greater than or equal to zero."))?;
    Ok(ops::partition_query::Request {
        database,
        query: query::query(parent, structured)?,
        partitions: request.partition_count,
        page_size,
        page_token: request.page_token,
        consistency: request.consistency_selector.consistency()?,
    })
}
