//! `Pipeline`: a source and the stages behind it, checked.

use std::sync::Arc;

use base_value::DatabaseName;
use bytes::Bytes;
use engine_query::{Indexer, Prepared};

use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::Parser;
use crate::row::{Row, Variables};
use crate::source::{OpenSource, Source};
use crate::stages::{Rows, Stage};
use crate::term::RawStage;

/// A pipeline that has been checked: open it as often as you like.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) source: Source,
    pub(crate) stages: Vec<Stage>,
}

/// A pipeline whose sources have become queries. Run it with the pipeline it was opened from.
#[derive(Debug)]
pub struct Opened {
    pub(crate) source: OpenSource,
    /// Which stages the source has taken over.
    pub(crate) taken: Vec<bool>,
    /// Those of the `union` stages, in their order.
    unions: Vec<Opened>,
}

/// What a pipeline reads.
#[derive(Clone, Debug)]
pub enum Reads {
    /// These documents.
    Keys(Vec<Bytes>),
    /// What matches a query.
    Query(Arc<Prepared>),
}

impl Pipeline {
    /// Checks the stages of a request.
    ///
    /// # Errors
    /// Everything that is wrong without looking at a document, and everything that is not there.
    pub fn parse(stages: &[RawStage]) -> Result<Self, PipelineError> {
        Pipeline::nested(stages, &mut Parser::default())
    }

    /// Same as [`Pipeline::parse`], inside of another one.
    pub(crate) fn nested(stages: &[RawStage], parser: &mut Parser) -> Result<Self, PipelineError> {
        let Some((source, stages)) = stages.split_first() else {
            return Err(PipelineError::invalid("a pipeline must have at least one stage"));
        };
        parser.stage()?;
        let source = Source::parse(source)?;
        let stages: Result<Vec<Stage>, _> = stages
            .iter()
            .map(|stage| {
                parser.stage()?;
                Stage::parse(stage, parser)
            })
            .collect();
        Ok(Pipeline { source, stages: stages? })
    }

    /// Makes queries of the sources.
    ///
    /// # Errors
    /// Sources that cannot be read.
    pub fn open(
        &self,
        database: &DatabaseName,
        indexer: &Indexer,
    ) -> Result<Opened, PipelineError> {
        if matches!(self.source, Source::Subcollection(_)) {
            return Err(PipelineError::invalid(
                "stage 'subcollection' must stand in a pipeline inside of another one",
            ));
        }
        self.open_inside(database, indexer, &Variables::default(), None)
    }

    pub(crate) fn open_inside(
        &self,
        database: &DatabaseName,
        indexer: &Indexer,
        variables: &Variables,
        outer: Option<&Row>,
    ) -> Result<Opened, PipelineError> {
        let (source, taken) =
            self.source.open(&self.stages, database, indexer, variables, outer)?;
        let unions: Result<Vec<Opened>, _> = self
            .stages
            .iter()
            .filter_map(|stage| match stage {
                Stage::Union(other) => Some(other.open_inside(database, indexer, variables, outer)),
                _ => None,
            })
            .collect();
        Ok(Opened { source, taken, unions: unions? })
    }

    /// The rows, computed while they are asked for.
    pub fn rows<'r>(
        &'r self,
        opened: &'r Opened,
        engine: &'r Engine<'r>,
    ) -> impl Iterator<Item = Result<Row, PipelineError>> + 'r {
        self.stream(opened, engine, Arc::default()).map(|row| row.map(Row::left))
    }

    pub(crate) fn stream<'r>(
        &'r self,
        opened: &'r Opened,
        engine: &'r Engine<'r>,
        variables: Arc<Variables>,
    ) -> Rows<'r> {
        let mut rows = opened.source.rows(engine, Arc::clone(&variables));
        let mut unions = opened.unions.iter();
        for (place, stage) in self.stages.iter().enumerate() {
            if let Stage::Union(other) = stage
                && let Some(opened) = unions.next()
            {
                rows = Box::new(rows.chain(other.stream(opened, engine, Arc::clone(&variables))));
            } else if opened.taken.get(place) != Some(&true) {
                let behind = self.stages.get(place + 1..).unwrap_or_default();
                rows = stage.apply(rows, behind, engine);
            }
        }
        rows
    }

    /// The rows, so many of them at most, with these variables, for a row of the pipeline around this one.
    pub(crate) fn collect(
        &self,
        engine: &Engine<'_>,
        variables: Arc<Variables>,
        outer: Option<&Row>,
        most: usize,
    ) -> Result<Vec<Row>, PipelineError> {
        let opened = self.open_inside(&engine.database, &engine.indexer, &variables, outer)?;
        self.stream(&opened, engine, variables).take(most).collect()
    }

    /// The stages in words, with what the source has taken over.
    pub fn describe(&self, opened: &Opened) -> Vec<String> {
        let mut lines = vec![self.source.to_string()];
        for (place, stage) in self.stages.iter().enumerate() {
            let by = match opened.taken.get(place) {
                Some(true) => "answered by the source's query",
                _ => "row by row",
            };
            lines.push(format!("{}: {by}", stage.name()));
        }
        lines
    }

    /// What the pipeline reads, whatever the documents are.
    ///
    /// # Errors
    /// Sources that cannot be read.
    pub fn reads(
        &self,
        opened: &Opened,
        database: &DatabaseName,
    ) -> Result<Vec<Reads>, PipelineError> {
        let mut reads = vec![opened.source.reads()];
        let mut unions = opened.unions.iter();
        let mut inside: Vec<&Pipeline> = Vec::new();
        for stage in &self.stages {
            if let Stage::Union(other) = stage
                && let Some(opened) = unions.next()
            {
                reads.extend(other.reads(opened, database)?);
            }
            stage.each_expression(&mut |expression| {
                expression.each_subquery(&mut |pipeline| inside.push(pipeline));
            });
        }
        for pipeline in inside {
            pipeline.all_reads(database, &mut reads)?;
        }
        Ok(reads)
    }

    /// What a pipeline inside of an expression can read at most.
    fn all_reads(
        &self,
        database: &DatabaseName,
        reads: &mut Vec<Reads>,
    ) -> Result<(), PipelineError> {
        reads.push(self.source.all_reads(database)?);
        let mut inside: Vec<&Pipeline> = Vec::new();
        for stage in &self.stages {
            if let Stage::Union(other) = stage {
                inside.push(other);
            }
            stage.each_expression(&mut |expression| {
                expression.each_subquery(&mut |pipeline| inside.push(pipeline));
            });
        }
        inside.into_iter().try_for_each(|pipeline| pipeline.all_reads(database, reads))
    }
}
