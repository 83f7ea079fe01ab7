//! REST: the transcoder's routes for this service, and the one thing its annotations leave open.

use axum::Router;
use front::transcode::{Candidate, ExtraRule, TranscodeOptions, Transcoder};

use crate::limits::REQUEST_BYTES_MAX;

const DOCUMENTS: &[&str] = &["google.firestore.v1.Firestore"];
const ADMIN: &[&str] =
    &["google.firestore.admin.v1.FirestoreAdmin", "google.longrunning.Operations"];

/// Where Firestore serves operations: its configuration says so, and clients have the same table.
const OPERATIONS: &[ExtraRule] = &[
    ExtraRule {
        method: "google.longrunning.Operations.ListOperations",
        http: "GET",
        path: "/v1/{name=projects/*/databases/*}/operations",
        body: "",
    },
    ExtraRule {
        method: "google.longrunning.Operations.GetOperation",
        http: "GET",
        path: "/v1/{name=projects/*/databases/*/operations/*}",
        body: "",
    },
    ExtraRule {
        method: "google.longrunning.Operations.DeleteOperation",
        http: "DELETE",
        path: "/v1/{name=projects/*/databases/*/operations/*}",
        body: "",
    },
    ExtraRule {
        method: "google.longrunning.Operations.CancelOperation",
        http: "POST",
        path: "/v1/{name=projects/*/databases/*/operations/*}:cancel",
        body: "*",
    },
];

/// Very old clients say so.
const ALIASES: &[(&str, &str)] = &[("v1beta1", "v1")];

/// The REST routes, answered by the methods that `grpc` serves.
pub(crate) fn router(grpc: Router) -> Router {
    let admin = TranscodeOptions {
        aliases: ALIASES,
        extra: OPERATIONS,
        body_bytes_max: REQUEST_BYTES_MAX,
        ..TranscodeOptions::new(base_wire::admin_descriptor_pool, ADMIN)
    };
    let documents = TranscodeOptions {
        aliases: ALIASES,
        choose,
        body_bytes_max: REQUEST_BYTES_MAX,
        ..TranscodeOptions::new(base_wire::descriptor_pool, DOCUMENTS)
    };
    let admin = Transcoder::new(grpc.clone(), admin);
    Transcoder::before(grpc, documents, admin).into_router()
}

/// `GET .../documents/a/b/c` can be a document or a collection by its annotations. As in production, an even
/// number of segments below `documents` names a document.
fn choose(candidates: &[Candidate<'_>]) -> Option<usize> {
    let get = candidates.iter().find(|candidate| candidate.rpc == "GetDocument");
    let Some((_, name)) = get.and_then(|get| get.variables.first()) else {
        return (!candidates.is_empty()).then_some(0);
    };
    let path = name.splitn(6, '/').nth(5).unwrap_or_default();
    let is_document = path.split('/').count().is_multiple_of(2);
    let wanted = if is_document { "GetDocument" } else { "ListDocuments" };
    candidates.iter().position(|candidate| candidate.rpc == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_number_of_segments_is_a_document() {
        let table = [
            ("a/b", "GetDocument"),
            ("a/b/c", "ListDocuments"),
            ("a/b/c/d", "GetDocument"),
            ("a/b/c/d/e", "ListDocuments"),
        ];
        for (path, rpc) in table {
            let name = format!("projects/p/databases/d/documents/{path}");
            let variables = [("name".to_owned(), name)];
            let candidate = |rpc| Candidate { rpc, variables: &variables };
            let candidates = [candidate("GetDocument"), candidate("ListDocuments")];
            let chosen = choose(&candidates).and_then(|index| candidates.get(index));
            assert_eq!(chosen.map(|candidate| candidate.rpc), Some(rpc), "{path}");
        }
    }
}
