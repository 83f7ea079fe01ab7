//! The crate's public surface: round trips of random documents, folders as they come, damaged files, and
//! exports that the official emulator made.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests report by panicking, as tests do"
)]

mod corpus;
mod damage;
mod folders;
mod json;
mod round_trip;
mod strategies;

use base_value::{DatabaseName, DocumentPath, Fields};
use engine_export::DocumentWriter;

/// An output file of those documents, which come in the order of their paths.
fn output<'documents>(
    database: &DatabaseName,
    documents: impl IntoIterator<Item = (&'documents DocumentPath, &'documents Fields)>,
) -> Vec<u8> {
    let mut writer = DocumentWriter::new("output-0", Vec::new(), database);
    for (path, fields) in documents {
        writer.write(path, fields).unwrap();
    }
    let (bytes, written) = writer.finish().unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    bytes
}
