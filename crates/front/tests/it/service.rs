//! The library: a tonic service whose answers are asked for by the names of its books.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::response::Response;
use axum::routing::{get, post};
use base_token::Identity;
use bytes::Bytes;
use front::transcode::{Candidate, TranscodeOptions, Transcoder};
use futures_util::stream::{self, BoxStream, StreamExt};
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::service::Routes;
use tonic::{Code, Status};

use crate::pool::pool;

/// Everything on one port, as a service of firelet is put together.
pub(crate) fn router() -> Router {
    let library = Router::new().route("/library.v1.Library/{method}", post(answer));
    let grpc = front::grpc::router(Routes::from(library));
    let mut options = TranscodeOptions::new(pool, &["library.v1.Library"]);
    options.aliases = &[("v1beta1", "v1")];
    options.choose = choose;
    options.body_bytes_max = BODY_BYTES_MAX;
    let rest = Transcoder::new(grpc.clone(), options);
    rest.prepare().expect("the annotations can be served");
    let alias = front::grpc::alias(grpc.clone(), "library.v1beta1.Library", "library.v1.Library");
    let router = grpc
        .merge(alias)
        .merge(rest.into_router())
        .route("/", get(async || "Ok\n"))
        .route("/never", get(std::future::pending::<()>))
        .route("/panic", get(async || -> () { panic!("asked to") }));
    front::layers::standard(router)
}

pub(crate) const BODY_BYTES_MAX: usize = 64 * 1024;
pub(crate) const MESSAGE_BYTES_MAX: usize = 32 * 1024;

/// A book has an even number of segments, a list an odd one.
fn choose(candidates: &[Candidate<'_>]) -> Option<usize> {
    let segments = candidates
        .iter()
        .find(|candidate| candidate.rpc == "GetBook")
        .map(|get| get.variables.iter().map(|(_, name)| name.split('/').count()).sum::<usize>())?;
    let rpc = if segments % 2 == 0 { "GetBook" } else { "ListBooks" };
    candidates.iter().position(|candidate| candidate.rpc == rpc)
}

async fn answer(Path(method): Path<String>, request: Request) -> Response {
    let service = pool().get_service_by_name("library.v1.Library").expect("the service");
    let Some(method) = service.methods().find(|found| found.name() == method) else {
        // As the code that tonic generates.
        return Status::unimplemented("").into_http();
    };
    let mut grpc = tonic::server::Grpc::new(Dynamic(method.input()))
        .max_decoding_message_size(MESSAGE_BYTES_MAX);
    let output = method.output();
    let name = method.name().to_owned();
    let request = request.map(tonic::body::Body::new);
    let response = match method.is_server_streaming() {
        false => {
            let handler = tower::service_fn(move |request| {
                let answer = unary(&name, output.clone(), &request);
                async move { answer.map(tonic::Response::new) }
            });
            grpc.unary(handler, request).await
        }
        true => {
            let handler = tower::service_fn(move |request: tonic::Request<DynamicMessage>| {
                let answer = read(output.clone(), request.get_ref());
                async move { answer.map(tonic::Response::new) }
            });
            grpc.server_streaming(handler, request).await
        }
    };
    response.map(Body::new)
}

fn text(message: &DynamicMessage, field: &str) -> String {
    let value = message.get_field_by_name(field);
    value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn unary(
    method: &str,
    output: MessageDescriptor,
    request: &tonic::Request<DynamicMessage>,
) -> Result<DynamicMessage, Status> {
    let input = request.get_ref();
    let mut answer = DynamicMessage::new(output);
    match method {
        "GetBook" => {
            let name = text(input, "name");
            match name.rsplit('/').next().unwrap_or_default() {
                "missing" => return Err(Status::not_found(format!("Book ({name}) not found."))),
                "detailed" => return Err(detailed()),
                "panic" => panic!("asked to"),
                _ => {}
            }
            let identity = request.extensions().get::<Identity>();
            let agent = request.metadata().get("x-agent").and_then(|agent| agent.to_str().ok());
            answer.set_field_by_name("name", Value::String(name));
            let title = format!("{identity:?} {agent:?} {input}", input = json(input));
            answer.set_field_by_name("title", Value::String(title));
        }
        "ListBooks" => answer.set_field_by_name("echo", Value::String(json(input))),
        "CreateBook" | "UpdateBook" => {
            if let Some(Value::Message(book)) =
                input.get_field_by_name("book").map(|book| book.into_owned())
            {
                answer = book;
            }
            answer.set_field_by_name("title", Value::String(json(input)));
        }
        "Echo" => answer = input.clone(),
        _ => {}
    }
    Ok(answer)
}

fn json(message: &DynamicMessage) -> String {
    serde_json::to_value(message).expect("JSON of a message").to_string()
}

/// An error with one detail of a known and one of an unknown type.
fn detailed() -> Status {
    let any = |url: &str, value: &[u8]| {
        let descriptor = pool().get_message_by_name("google.protobuf.Any").expect("Any");
        let mut any = DynamicMessage::new(descriptor);
        any.set_field_by_name("type_url", Value::String(format!("type.googleapis.com/{url}")));
        any.set_field_by_name("value", Value::Bytes(Bytes::copy_from_slice(value)));
        Value::Message(any)
    };
    let descriptor = pool().get_message_by_name("google.rpc.Status").expect("Status");
    let mut status = DynamicMessage::new(descriptor);
    let details = vec![any("library.v1.Mask", &[0x0a, 1, b'a']), any("un.Known", &[1, 2])];
    status.set_field_by_name("details", Value::List(details));
    Status::with_details(Code::FailedPrecondition, "with details", status.encode_to_vec().into())
}

type Books = BoxStream<'static, Result<DynamicMessage, Status>>;

/// `count` books, then what `then` asks for.
fn read(output: MessageDescriptor, input: &DynamicMessage) -> Result<Books, Status> {
    let count = input.get_field_by_name("count").and_then(|count| count.as_i32()).unwrap_or(0);
    let then = text(input, "then");
    if then == "refuse" {
        return Err(Status::failed_precondition("refused"));
    }
    let books = stream::iter(0..count).map(move |number| {
        let mut book = DynamicMessage::new(output.clone());
        book.set_field_by_name("name", Value::String(format!("book{number}")));
        Ok(book)
    });
    Ok(match then.as_str() {
        "fail" => books.chain(stream::iter([Err(Status::aborted("failed late"))])).boxed(),
        "panic" => books.chain(stream::once(async { panic!("asked to") })).boxed(),
        "hang" => books.chain(stream::pending()).boxed(),
        _ => books.boxed(),
    })
}

/// Messages by descriptor, with the errors of tonic's prost codec.
struct Dynamic(MessageDescriptor);

struct Encode;
struct Decode(MessageDescriptor);

impl Codec for Dynamic {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Encode;
    type Decoder = Decode;

    fn encoder(&mut self) -> Encode {
        Encode
    }

    fn decoder(&mut self) -> Decode {
        Decode(self.0.clone())
    }
}

impl Encoder for Encode {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, message: DynamicMessage, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode(out).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Decode {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        DynamicMessage::decode(self.0.clone(), bytes)
            .map(Some)
            .map_err(|error| Status::internal(error.to_string()))
    }
}
