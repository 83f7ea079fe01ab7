//! The messages of the Listen and Write streams, decoded.

use base_status::Status;
use base_value::{DatabaseName, LimitPolicy, parse_database, parse_parent};
use base_wire::google::firestore::v1 as wire;
use engine_query::QueryError;
use wire::target::{QueryTarget, ResumeType, TargetType, query_target};

use super::requests::check_payload;
use super::{query, times, writes};
use crate::error::Error;
use crate::indexes::Preparer;
use crate::ops::listen::{self, Resume, Scope, TargetRequest};
use crate::ops::write_stream;

/// One message of a listen stream. `metadata` is the database the call's metadata names, for targets
/// that do not name one themselves.
///
/// # Errors
/// What ends the stream. What is wrong with one target is a [`listen::Request::Refuse`].
pub(crate) fn listen(
    request: wire::ListenRequest,
    preparer: &Preparer,
    metadata: Option<&DatabaseName>,
) -> Result<listen::Request, Error> {
    use wire::listen_request::TargetChange;
    match request.target_change {
        None => Err(Error::invalid("a listen request must add or remove a target")),
        Some(TargetChange::RemoveTarget(id)) => Ok(listen::Request::Remove(id)),
        Some(TargetChange::AddTarget(add)) => {
            let id = add.target_id;
            let database = match request.database.as_str() {
                "" => metadata.cloned(),
                name => Some(parse_database(name)?),
            };
            match target(add, preparer, database) {
                Ok(target) => Ok(listen::Request::Add(target)),
                Err(error) => Ok(listen::Request::Refuse { id, cause: Status::from(error) }),
            }
        }
    }
}

fn target(
    target: wire::Target,
    preparer: &Preparer,
    database: Option<DatabaseName>,
) -> Result<TargetRequest, Error> {
    let resume = match target.resume_type {
        None => Resume::Start,
        Some(ResumeType::ResumeToken(token)) if token.is_empty() => Resume::Start,
        Some(ResumeType::ResumeToken(token)) => Resume::Token(token),
        Some(ResumeType::ReadTime(time)) => Resume::ReadTime(times::rounded(time)?),
    };
    let (database, scope) = match target.target_type {
        None => return Err(Error::invalid("a target must be a query or documents")),
        Some(TargetType::Query(query)) => query_target(query, preparer)?,
        Some(TargetType::Documents(documents)) => {
            let names = documents.documents.iter();
            let names = names.map(|name| base_value::DocumentName::parse(name));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            let database = database.or_else(|| names.first().map(|name| name.database.clone()));
            let database = database.ok_or_else(no_database)?;
            for name in &names {
                writes::check_database(&database, &name.database)?;
            }
            (database, Scope::Documents(names))
        }
    };
    Ok(TargetRequest { id: target.target_id, database, scope, resume, once: target.once })
}

fn no_database() -> Error {
    Error::invalid("a listen request must name its database")
}

fn query_target(target: QueryTarget, preparer: &Preparer) -> Result<(DatabaseName, Scope), Error> {
    let (database, parent) = parse_parent(&target.parent)?;
    let Some(query_target::QueryType::StructuredQuery(structured)) = target.query_type else {
        return Err(QueryError::NoQuery.into());
    };
    let below_document = !parent.is_root();
    for selector in structured.from.iter().filter(|selector| selector.all_descendants) {
        if selector.collection_id.is_empty() {
            return Err(Error::invalid(
                "All-collection queries are not supported by real-time queries.",
            ));
        }
        if below_document {
            return Err(Error::invalid(
                "'all_descendants' in CollectionSelector with document parent is not supported by \
                 real-time queries.",
            ));
        }
    }
    // A search for nearest vectors is not listened to, but to what it searches (observed on the official emulator).
    let structured = wire::StructuredQuery { find_nearest: None, ..structured };
    let scope = Scope::query(preparer, &database, query::query(parent, structured)?)?;
    Ok((database, scope))
}

/// One message of a write stream. `known` is the database an earlier message named.
///
/// # Errors
/// The first write that cannot be decoded.
pub(crate) fn write(
    request: wire::WriteRequest,
    known: Option<&DatabaseName>,
    limits: LimitPolicy,
) -> Result<write_stream::Request, Error> {
    check_payload(&request, limits)?;
    let named = match request.database.as_str() {
        "" => None,
        name => Some(parse_database(name)?),
    };
    if let (Some(known), Some(named)) = (known, &named) {
        writes::check_database(known, named)?;
    }
    let database = named.or_else(|| known.cloned());
    let writes = match &database {
        Some(database) => writes::writes(database, request.writes, limits)?,
        None => Vec::new(),
    };
    // A token without a stream's id acknowledges; an id without a token is of no use and ignored.
    let resumes = !request.stream_id.is_empty() && !request.stream_token.is_empty();
    Ok(write_stream::Request { database, writes, resumes })
}
