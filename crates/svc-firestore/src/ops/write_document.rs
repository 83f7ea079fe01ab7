//! CreateDocument and UpdateDocument: one write, then the document as it left it.

use base_token::Identity;
use base_value::FieldPath;

use super::commit;
use super::get_document::Document;
use super::writes::Write;
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// Applies one write and answers the document as it is then, with the fields `mask` names.
///
/// # Errors
/// Those of the write.
pub(crate) async fn write_document(
    state: &State,
    caller: &Identity,
    write: Write,
    mask: Option<&[FieldPath]>,
) -> Result<Document, Error> {
    access::check(caller, Access::Write)?;
    let database = state.database(&write.name.database)?;
    let committed = commit::apply(state, &database, std::slice::from_ref(&write), None)?;
    commit::survived(&database, &committed).await?;
    // Not as it is by now: others may have written meanwhile.
    let record = committed.outcomes.first().and_then(|outcome| outcome.after(&committed.commit));
    let record = record.ok_or(Error::Bug("a written document is missing"))?;
    Ok(Document::masked(write.name, record, mask))
}
