//! References to documents.

use base_value::{DocumentName, Value};

use super::function::{Function, Outcome, answer, wrong};
use crate::error::PipelineError;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("document_id", (1, 1), |_, args| {
        of(args, |name| answer(Value::String(name.path.id().to_owned())))
    }),
    Function::values("collection_id", (1, 1), |_, args| {
        of(args, |name| answer(Value::String(name.path.collection_id().to_owned())))
    }),
    Function::values("parent", (1, 1), |_, args| {
        of(args, |name| {
            let parent = name.path.parent().parent().to_document();
            let parent = parent.map(|path| name.database.document(path).to_string());
            answer(parent.map_or(Value::Null, Value::Reference))
        })
    }),
];

fn of(args: &[&Value], answer: fn(&DocumentName) -> Outcome) -> Outcome {
    match args {
        [Value::Reference(name)] => {
            let name = DocumentName::parse_reference(name)
                .map_err(|error| PipelineError::invalid(error.to_string()))?;
            answer(&name)
        }
        [other] => Err(wrong("reference", other)),
        _ => Ok(None),
    }
}
