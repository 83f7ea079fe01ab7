//! Where a pipeline's rows come from.

use std::sync::Arc;

use base_value::{
    CollectionPath, DatabaseName, DocumentName, DocumentPath, ParentPath, Value, key,
};
use engine_query::{From, Indexer, Prepared, Query};

use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::DOCUMENTS_MAX;
use crate::pipeline::Reads;
use crate::pushdown;
use crate::row::{Row, Variables};
use crate::stages::{Rows, Stage};
use crate::term::{RawStage, Term};

/// A source, as it was stated.
#[derive(Debug)]
pub(crate) enum Source {
    Collection(CollectionPath),
    Group(String),
    Database,
    Documents(Arc<[DocumentPath]>),
    /// The collection of that path below the document around.
    Subcollection(String),
}

/// A source that can be read.
#[derive(Debug)]
pub(crate) enum OpenSource {
    Query(Arc<Prepared>),
    Documents(Arc<[DocumentPath]>),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Collection(path) => write!(f, "collection /{path}"),
            Source::Group(id) => write!(f, "collection_group {id}"),
            Source::Database => f.write_str("database"),
            Source::Documents(paths) => write!(f, "documents ({})", paths.len()),
            Source::Subcollection(path) => write!(f, "subcollection {path}"),
        }
    }
}

impl Source {
    /// Reads the first stage of a pipeline.
    pub(crate) fn parse(stage: &RawStage) -> Result<Self, PipelineError> {
        match (stage.name.as_str(), stage.args.as_slice()) {
            ("collection", [Term::Constant(Value::Reference(path) | Value::String(path))]) => {
                let path = CollectionPath::parse(path.strip_prefix('/').unwrap_or(path))
                    .map_err(|error| PipelineError::invalid(error.to_string()))?;
                Ok(Source::Collection(path))
            }
            (
                "collection_group",
                [Term::Constant(Value::Reference(_)), Term::Constant(Value::String(id))],
            ) if !id.is_empty() && !id.contains('/') => Ok(Source::Group(id.clone())),
            ("database", []) => Ok(Source::Database),
            ("documents", references) => documents(references),
            ("subcollection", [Term::Constant(Value::String(path) | Value::Reference(path))]) => {
                Ok(Source::Subcollection(path.trim_matches('/').to_owned()))
            }
            (name @ ("collection" | "collection_group" | "database" | "subcollection"), _) => {
                Err(PipelineError::Invalid(format!("stage '{name}' does not take these arguments")))
            }
            (name, _) => Err(match Stage::is_known(name) {
                true => PipelineError::Invalid(format!(
                    "the first stage must be a source, such as 'collection', not '{name}'"
                )),
                false => PipelineError::Unimplemented(format!(
                    "firelet does not have the pipeline stage '{name}'"
                )),
            }),
        }
    }

    /// Makes a query of the source and of what follows it; answers which stages that has taken over.
    pub(crate) fn open(
        &self,
        stages: &[Stage],
        database: &DatabaseName,
        indexer: &Indexer,
        variables: &Variables,
        outer: Option<&Row>,
    ) -> Result<(OpenSource, Vec<bool>), PipelineError> {
        let base = match self {
            Source::Documents(paths) => {
                return Ok((OpenSource::Documents(Arc::clone(paths)), Vec::new()));
            }
            Source::Subcollection(path) => below(outer, path)?,
            source => source.query()?,
        };
        for candidate in pushdown::candidates(&base, stages, variables) {
            // What the product refuses in a query may be asked of a pipeline.
            if let Ok(prepared) = Prepared::new(database, candidate.query) {
                let prepared = Arc::new(prepared.with_indexer(indexer));
                return Ok((OpenSource::Query(prepared), candidate.taken));
            }
        }
        let prepared = Prepared::new(database, base)?.with_indexer(indexer);
        Ok((OpenSource::Query(Arc::new(prepared)), Vec::new()))
    }

    /// All documents of the source; of a subcollection, those of all its parents.
    fn query(&self) -> Result<Query, PipelineError> {
        Ok(match self {
            Source::Collection(path) => {
                Query::new(path.parent(), From::Collection(path.id().to_owned()))
            }
            Source::Group(id) => Query::new(ParentPath::root(), From::Group(id.clone())),
            Source::Database | Source::Documents(_) => {
                Query::new(ParentPath::root(), From::Descendants)
            }
            Source::Subcollection(path) => {
                let id = path.rsplit('/').next().unwrap_or(path);
                Query::new(ParentPath::root(), From::Group(id.to_owned()))
            }
        })
    }

    /// What the source can read at most.
    pub(crate) fn all_reads(&self, database: &DatabaseName) -> Result<Reads, PipelineError> {
        if let Source::Documents(paths) = self {
            return Ok(Reads::Keys(paths.iter().map(key::document).collect()));
        }
        Ok(Reads::Query(Arc::new(Prepared::new(database, self.query()?)?)))
    }
}

fn documents(references: &[Term]) -> Result<Source, PipelineError> {
    if references.is_empty() || references.len() > DOCUMENTS_MAX {
        let text = format!("stage 'documents' takes 1 to {DOCUMENTS_MAX} documents");
        return Err(PipelineError::Invalid(text));
    }
    let mut paths: Vec<DocumentPath> = Vec::with_capacity(references.len());
    for reference in references {
        let Term::Constant(Value::Reference(path) | Value::String(path)) = reference else {
            return Err(PipelineError::invalid("stage 'documents' takes references to documents"));
        };
        let path = DocumentPath::parse(path.strip_prefix('/').unwrap_or(path))
            .map_err(|error| PipelineError::invalid(error.to_string()))?;
        paths.push(path);
    }
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(path.as_str().to_owned()));
    Ok(Source::Documents(paths.into()))
}

/// The collection below the document around.
fn below(outer: Option<&Row>, path: &str) -> Result<Query, PipelineError> {
    let name = outer.and_then(|row| row.name.as_deref()).ok_or_else(|| {
        PipelineError::invalid("stage 'subcollection' needs a document around it, with its name")
    })?;
    let invalid = |error: base_value::NameError| PipelineError::invalid(error.to_string());
    let name = DocumentName::parse(name).map_err(invalid)?;
    let path = CollectionPath::parse(&format!("{}/{path}", name.path)).map_err(invalid)?;
    Ok(Query::new(path.parent(), From::Collection(path.id().to_owned())))
}

/// The row of a document that a source gives.
fn given(
    engine: &Engine<'_>,
    row: engine_query::Row,
    variables: &Arc<Variables>,
) -> Result<Row, PipelineError> {
    engine.count_document();
    engine.tick()?;
    Row::stored(engine, row, Arc::clone(variables))
}

impl OpenSource {
    /// The rows of the source.
    pub(crate) fn rows<'r>(
        &'r self,
        engine: &'r Engine<'r>,
        variables: Arc<Variables>,
    ) -> Rows<'r> {
        match self {
            OpenSource::Query(prepared) => {
                let mut rows = prepared.run(engine.snapshot);
                let mut ended = false;
                let mut told = 0;
                Box::new(std::iter::from_fn(move || {
                    if ended {
                        return None;
                    }
                    let next = rows.next();
                    let unfolded = rows.unfolded();
                    let more = unfolded.saturating_sub(told);
                    engine.add_unfolded(more);
                    told = unfolded;
                    ended = next.is_none();
                    // Documents that do not match are work too.
                    if let Err(error) = engine.work(more) {
                        return Some(Err(error));
                    }
                    next.map(|row| given(engine, row, &variables))
                }))
            }
            OpenSource::Documents(paths) => Box::new(paths.iter().filter_map(move |path| {
                // One that is not there is work too.
                if let Err(error) = engine.tick() {
                    return Some(Err(error));
                }
                let key = key::document(path);
                let record = engine.snapshot.get(&key)?;
                let row = engine_query::Row::new(key, record)?;
                Some(given(engine, row, &variables))
            })),
        }
    }

    pub(crate) fn reads(&self) -> Reads {
        match self {
            OpenSource::Query(prepared) => Reads::Query(Arc::clone(prepared)),
            OpenSource::Documents(paths) => Reads::Keys(paths.iter().map(key::document).collect()),
        }
    }
}
