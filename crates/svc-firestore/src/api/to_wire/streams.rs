//! The messages of the Listen and Write streams.

use base_status::Status;
use base_wire::WireDocumentChange;
use base_wire::google::firestore::v1 as wire;
use base_wire::google::rpc;
use prost::Message;
use wire::listen_response::ResponseType;
use wire::target_change::TargetChangeType;

use super::writes::write_results;
use super::{document, time};
use crate::ops::listen::{Bloom, Event, TargetEvent};
use crate::ops::write_stream;

/// A status inside a message.
pub(super) fn cause(status: &Status) -> rpc::Status {
    rpc::Status {
        code: status.code.as_i32(),
        message: status.message.clone(),
        ..rpc::Status::default()
    }
}

/// One message of a write stream.
pub(crate) fn write_response(response: write_stream::Response) -> wire::WriteResponse {
    let committed = response.committed.as_ref();
    wire::WriteResponse {
        stream_id: response.stream_id.unwrap_or_default(),
        stream_token: response.token,
        write_results: committed.map(write_results).unwrap_or_default(),
        commit_time: committed.map(|committed| time(committed.commit.time)),
    }
}

/// One message of a listen stream, where there is one.
pub(crate) fn listen_response(event: Event) -> Option<wire::ListenResponse> {
    let response = match event {
        Event::Target(event) => ResponseType::TargetChange(target_change(event)),
        Event::Changed { document: changed, targets, removed, room } => {
            // It leaves the stream here.
            drop(room);
            let encode = |changed| document(changed).encode_to_vec().into();
            ResponseType::DocumentChange(WireDocumentChange {
                document: changed.encoded(encode)?,
                target_ids: targets,
                removed_target_ids: removed,
            })
        }
        Event::Deleted { name, removed, read_time } => {
            ResponseType::DocumentDelete(wire::DocumentDelete {
                document: name.to_string(),
                removed_target_ids: removed,
                read_time: Some(time(read_time)),
            })
        }
        Event::Filter { id, count, names } => ResponseType::Filter(wire::ExistenceFilter {
            target_id: id,
            count: i32::try_from(count).unwrap_or(i32::MAX),
            unchanged_names: names.map(bloom_filter),
        }),
        Event::Passed(ping) => {
            drop(ping);
            return None;
        }
    };
    Some(wire::ListenResponse { response_type: Some(response) })
}

fn bloom_filter(names: Bloom) -> wire::BloomFilter {
    let Bloom { bitmap, padding, hash_count } = names;
    wire::BloomFilter { bits: Some(wire::BitSequence { bitmap, padding }), hash_count }
}

fn target_change(event: TargetEvent) -> wire::TargetChange {
    let of = |kind: TargetChangeType, ids: Vec<i32>| wire::TargetChange {
        target_change_type: kind.into(),
        target_ids: ids,
        ..wire::TargetChange::default()
    };
    match event {
        TargetEvent::Added(id) => of(TargetChangeType::Add, vec![id]),
        TargetEvent::Reset(id) => of(TargetChangeType::Reset, vec![id]),
        TargetEvent::Removed { id, cause: reason } => wire::TargetChange {
            cause: reason.as_ref().map(cause),
            ..of(TargetChangeType::Remove, vec![id])
        },
        TargetEvent::Current { id, token, read_time } => wire::TargetChange {
            resume_token: token,
            read_time: Some(time(read_time)),
            ..of(TargetChangeType::Current, vec![id])
        },
        TargetEvent::Boundary { token, read_time } => wire::TargetChange {
            resume_token: token,
            read_time: Some(time(read_time)),
            ..of(TargetChangeType::NoChange, Vec::new())
        },
    }
}
