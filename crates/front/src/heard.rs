//! A connection that knows whether an HTTP/2 peer is there: gRPC clients connect long before they call.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What an HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// After the preface a peer sends its settings and takes note of ours: two frames of nine bytes at least.
const HANDSHAKE_LEN: usize = PREFACE.len() + 2 * 9;

/// A socket and a mark that is set when an HTTP/2 handshake has come.
pub(crate) struct Heard {
    stream: TcpStream,
    mark: Arc<AtomicBool>,
    /// How many bytes have come, as long as they are a handshake.
    handshake: Option<usize>,
}

impl Heard {
    pub(crate) fn new(stream: TcpStream, mark: Arc<AtomicBool>) -> Self {
        Self { stream, mark, handshake: Some(0) }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let Some(heard) = self.handshake else { return };
        let wanted = PREFACE.get(heard..).unwrap_or_default();
        let fits = bytes.iter().zip(wanted).all(|(one, two)| one == two);
        let heard = heard.saturating_add(bytes.len());
        if heard >= HANDSHAKE_LEN && fits {
            self.mark.store(true, Ordering::Relaxed);
        }
        self.handshake = (fits && heard < HANDSHAKE_LEN).then_some(heard);
    }
}

impl AsyncRead for Heard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let this = &mut *self;
        this.hear(buffer.filled().get(before..).unwrap_or_default());
        read
    }
}

impl AsyncWrite for Heard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
