//! The bounds of the service, each with its reason. Limits of values and names are base-value's.

use std::time::Duration;

/// Databases one suite keeps. A test run that isolates every test by a project id of its own stays far
/// below; a client that makes up names without end is refused instead of filling memory.
pub(crate) const DATABASES_MAX: usize = 100_000;

/// Databases one suite keeps on the disk. Each has a thread, some open files, and room for its journal.
pub(crate) const KEPT_DATABASES_MAX: usize = 256;

/// Bytes of a kept project's or database's name as a folder: less than any file system's bound.
pub(crate) const KEPT_NAME_LEN_MAX: usize = 200;

/// Missing indexes that a developer is told of.
pub(crate) const ADVICE_MAX: usize = 1_000;

/// Composite indexes of one database that the admin API makes: production's limit with billing.
pub(crate) const INDEXES_MAX: usize = 1_000;

/// Fields of one composite index (documented by Firestore).
pub(crate) const INDEX_FIELDS_MAX: usize = 100;

/// Exceptions of single fields of one database. Production's limit is lower; each is looked through for a query.
pub(crate) const EXCEPTIONS_MAX: usize = 1_000;

/// Operations of the admin API that can be asked for again. Clients ask within seconds.
pub(crate) const OPERATIONS_MAX: usize = 1_000;

/// One request of the admin API: the largest that clients send, an index of 100 fields, is far below.
pub(crate) const ADMIN_REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// Items of a page of the admin API's lists when the client names no size.
pub(crate) const ADMIN_PAGE_SIZE_DEFAULT: usize = 100;

/// Items of such a page at most.
pub(crate) const ADMIN_PAGE_SIZE_MAX: usize = 1_000;

/// Documents that a TTL policy deletes in one commit: as many as a client could, so that writers wait for none
/// of them longer than for one another.
pub(crate) const TTL_COMMIT_MAX: usize = 500;

/// Documents that a route of the emulator deletes in one commit: more than a test looks at, and a commit holds all of
/// them.
pub(crate) const CLEARED_TOGETHER_MAX: usize = 4_096;

/// Bytes of documents after which such a commit takes no more.
pub(crate) const CLEARED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Documents that a TTL policy finds with one query. Each query looks at all that is outside of the indexes.
pub(crate) const TTL_FOUND_MAX: u32 = 10_000;

/// How long a document may outlive its time while nobody moves the clock; also how long a look at what was
/// written takes to come.
pub(crate) const TTL_INTERVAL: Duration = Duration::from_secs(1);

/// Projects and databases that have rules of their own. A test run that gives every test a project of its own
/// stays below; equal sources are kept once.
pub(crate) const RULESETS_MAX: usize = 10_000;

/// Rules that are in force nowhere any more, whose counts are kept for reports of the whole suite.
pub(crate) const PAST_RULESETS_MAX: usize = 16;

/// Different values that are kept of one expression for reports of coverage, beside how often each was found.
pub(crate) const COVERAGE_VALUES_MAX: usize = 24;

/// Values of one expression that are looked at whole, so that equal ones are told apart from others: those that
/// are not plain to compare, such as maps.
pub(crate) const COVERAGE_WHOLE_VALUES_MAX: u32 = 24;

/// Bytes of one value that is kept.
pub(crate) const COVERAGE_VALUE_BYTES_MAX: usize = 4 * 1024;

/// Bytes of all values that are kept of one ruleset.
pub(crate) const COVERAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Decisions of rules that somebody who begins to follow them is told first, as in the official emulator.
pub(crate) const FEED_HISTORY_MAX: usize = 50;

/// Decisions that wait for those who follow them: what is older is passed over.
pub(crate) const FEED_FRAMES_MAX: usize = 1_000;

/// Bytes of the same.
pub(crate) const FEED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of `request` or `resource` in what is told of a decision.
pub(crate) const FEED_VALUE_BYTES_MAX: usize = 256 * 1024;

/// Connections that follow decisions.
pub(crate) const FEED_READERS_MAX: usize = 100;

/// Bytes that are read of a rules file: a little more than a source may have, so that one that is too long is
/// found out.
pub(crate) const RULES_FILE_BYTES_MAX: u64 = 512 * 1024;

/// Bytes of a request that sets rules: the source in JSON, where every byte may be written in six.
pub(crate) const RULES_REQUEST_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How often rules files are looked at. A change counts when two looks find the same, so within a second.
pub(crate) const RULES_FILE_INTERVAL: Duration = Duration::from_millis(150);

/// Fields of a document that rules ask for one by one before all of them are decoded at once.
pub(crate) const FIELDS_DECODED_ALONE_MAX: usize = 4;

/// Documents that a request reads or writes where it is decoded, as most requests have few; more are left to a thread
/// on which they hold nobody up. To change threads costs what a few of them cost.
pub(crate) const IN_PLACE_MAX: usize = 32;

/// Operations of a request that its denial is told of: clients take no longer text.
pub(crate) const DENIED_OPERATIONS_MAX: usize = 100;

/// Documents in one BatchGet request: what the largest request (10 MiB) holds of the shortest names.
pub(crate) const BATCH_GET_DOCUMENTS_MAX: usize = 200_000;

/// Transforms of one document in one request, over all of its writes (recorded in production).
pub(crate) const TRANSFORMS_PER_DOCUMENT_MAX: usize = 500;

/// Bytes after which no row is added to a chunk.
pub(crate) const BYTES_PER_CHUNK: usize = 256 * 1024;

/// Rows or documents handed from a thread to the stream at once: few wake-ups, little waiting.
pub(crate) const ROWS_PER_CHUNK: usize = 64;

/// Chunks in flight between a thread and a stream: a slow reader stops the thread, and does not fill memory.
pub(crate) const CHUNKS_IN_FLIGHT: usize = 4;

/// Documents of a page of ListDocuments when the client names no size.
pub(crate) const LIST_PAGE_SIZE_DEFAULT: usize = 20;

/// Ids of a page of ListCollectionIds when the client names no size.
pub(crate) const COLLECTION_IDS_PAGE_SIZE_DEFAULT: usize = 300;

/// Targets on one listen stream; SDKs hold some tens.
pub(crate) const TARGETS_PER_STREAM_MAX: usize = 10_000;

/// Matches that the view of a query with a limit knows of behind its last one. Its query runs again when as many have
/// moved up.
pub(crate) const WINDOW_SPARE: u32 = 16;

/// How often a target is started before its stream gives up, because each time so much was written meanwhile that the
/// stream's other targets fell behind.
pub(crate) const START_TRIES_MAX: u32 = 8;

/// Responses waiting in one stream for its reader.
pub(crate) const RESPONSES_IN_FLIGHT: usize = 128;

/// Bytes of documents waiting in one stream for its reader; a document that is longer waits alone.
pub(crate) const BYTES_IN_FLIGHT: usize = 1024 * 1024;

/// Bytes of selected documents that a listen stream keeps while it tells them; what is more is read again.
pub(crate) const HELD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Filters inside filters: far above what SDKs build, and what a request's decoder allows anyway.
pub(crate) const FILTER_NESTING_MAX: usize = 64;

/// One request. Production documents 10 MiB and takes a little more; the rest is room for what a
/// JSON body has around it.
pub(crate) const REQUEST_BYTES_MAX: usize = 17 * 1024 * 1024;

/// One response message. A page of large documents is far larger than any request.
pub(crate) const RESPONSE_BYTES_MAX: usize = 512 * 1024 * 1024;

/// One commit, as production counts it: 11 MiB.
pub(crate) const COMMIT_BYTES_MAX: usize = 11_534_336;

/// Documents of a page of ListDocuments at most: production answers no more, whatever is asked for.
pub(crate) const LIST_PAGE_SIZE_MAX: usize = 300;

/// How far back a read time may lie: one hour, as without point-in-time recovery in production.
pub(crate) const READ_TIME_AGE_MAX: Duration = Duration::from_secs(3_600);

/// How long a query waits for a reader that takes nothing of its result. Each one keeps a thread, of which
/// there are some hundreds.
pub(crate) const SLOW_READER_WAIT: Duration = Duration::from_secs(20);

/// Documents a query may look at outside of the indexes before they are folded into them: about a
/// millisecond's worth.
pub(crate) const UNFOLDED_MAX: usize = 2_000;

/// The same where documents are large: matching one of 30 KiB takes some microseconds.
pub(crate) const UNFOLDED_LARGE_MAX: usize = 200;

/// Unfolded bytes from which documents count as large: a test's database stays below, and never touches
/// the disk.
pub(crate) const UNFOLDED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of what a failed pipeline is told. Clients take 8 KiB of a header, in which each byte may become three.
pub(crate) const PIPELINE_TEXT_MAX_BYTES: usize = 2_048;

/// Threads that read the files of an export side by side. They share one committer, which keeps up with about so many.
pub(crate) const IMPORT_READERS_MAX: usize = 4;

/// Documents that an import commits at once: beyond some hundreds a commit costs no less for each.
pub(crate) const IMPORT_BATCH_DOCUMENTS: usize = 1_000;

/// Bytes that an import commits at once, and one document more. Each reader holds as much, and the documents of a commit
/// keep one another in memory until they are folded.
pub(crate) const IMPORT_BATCH_BYTES: usize = 512 * 1024;
