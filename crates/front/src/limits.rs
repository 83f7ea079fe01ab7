//! Every bound of the network side, with its reason.

use std::time::Duration;

/// The largest REST body: a message of 17 MiB, whose base64 and escapes take more room in JSON.
pub const JSON_BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Connections per listener set. More wait in the kernel's queue; a test machine has few file descriptors.
pub const CONNECTIONS_MAX: usize = 4_096;

/// Streams on one HTTP/2 connection. One client multiplexes all its listeners and calls over one connection.
pub const STREAMS_MAX: u32 = 10_000;

/// Streams a client may cancel before we have seen them to their end. SDK tests cancel many calls at once, and the
/// default of hyper would end their connection.
pub const CANCELLED_STREAMS_MAX: usize = 2_048;

/// The headers of one request: ID tokens of a few kilobytes and metadata beside them.
pub const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// The message of a gRPC status, escaped as a header. Clients take 8 KiB of headers, and answer more with an error of
/// their own that says nothing, or by trying again. The longest name of a document is below.
pub const MESSAGE_BYTES_MAX: usize = 7 * 1024;

/// How long a new connection may take to send its first request, or to finish an HTTP/2 handshake, so that silent
/// sockets do not pile up.
pub const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// How long an HTTP/1.1 connection may take from request to request. Above the idle time of common keep-alive pools,
/// so that the client is the one that closes.
pub const HEADER_TIMEOUT: Duration = Duration::from_secs(90);

/// How long the next part of a request's body may take to come.
pub const BODY_SILENCE_MAX: Duration = Duration::from_secs(20);

/// How much of a body that is too large is read and thrown away, so that its client hears of it.
pub const DRAINED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How often a silent HTTP/2 peer is asked whether it is still there, and how long it may take to answer.
pub const PING_INTERVAL: Duration = Duration::from_secs(60);
/// See [`PING_INTERVAL`].
pub const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// HTTP/2 flow-control windows: one large document fits without waiting for the window.
pub const STREAM_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
/// See [`STREAM_WINDOW_BYTES`].
pub const CONNECTION_WINDOW_BYTES: u32 = 8 * 1024 * 1024;

/// The pause after a failed accept (usually: no file descriptors left), so that the loop does not spin.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long `stop` waits for handlers after their connections are closed.
pub const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Ports tried until one is free on every loopback address.
pub const PORT_TRIES: usize = 64;

/// Nesting of messages when answers are written as JSON. A value that is nested 100 levels deep, which is what can be
/// stored, has three messages for each of them, and some around it.
pub const JSON_DEPTH_MAX: usize = 320;

/// Characters of what a client sent that an answer repeats.
pub const JSON_ECHO_CHARS_MAX: usize = 256;

/// WebChannel sessions of a service. A page has one for each of its streams; those of pages that went away without
/// a word stay until [`CHANNEL_IDLE_MAX`], or until they are in the way of new ones.
pub const CHANNELS_MAX: usize = 4_096;

/// How long a WebChannel session lives whose client neither asks nor reads. Longer than a minute of not reading,
/// after which a client must find everything; what waits for it is bounded meanwhile.
pub const CHANNEL_IDLE_MAX: Duration = Duration::from_secs(180);

/// How often a WebChannel client hears something: it takes one and a half times as much silence for a dead connection.
pub const CHANNEL_KEEPALIVE: Duration = Duration::from_secs(30);

/// Bytes that a WebChannel session keeps for its client until they are acknowledged; when there is more, the stream
/// behind it waits. Clients acknowledge when they ask again, which they are made to do each time it is full.
pub const CHANNEL_BUFFER_BYTES_MAX: usize = 1024 * 1024;

/// Messages in one request of a WebChannel client: clients send at most as many.
pub const CHANNEL_MESSAGES_MAX: usize = 1_000;

/// Fields of all messages in one such request: a message has one or two.
pub const CHANNEL_FIELDS_MAX: usize = 4 * CHANNEL_MESSAGES_MAX;

/// How many bytes of a form one byte of a message may become: percent-encoding triples.
pub const CHANNEL_FORM_FACTOR: usize = 3;

/// What a form has around its messages: headers, among them an ID token, and names.
pub const CHANNEL_FORM_ROOM_BYTES: usize = 128 * 1024;

/// How long a WebChannel's stream may take to do what was sent to it before its client left.
pub const CHANNEL_DRAIN_MAX: Duration = Duration::from_secs(5);
