//! Records into a stream of bytes.

use std::io::{self, Write};

use super::{BLOCK_BYTES, HEADER_BYTES, Kind, checksum};

/// Writes records. The sink gets several small writes for each: it should be buffered.
#[derive(Debug)]
pub(crate) struct LogWriter<W> {
    sink: W,
    position: u64,
}

impl<W: Write> LogWriter<W> {
    /// Writes at the start of a sink.
    pub(crate) fn new(sink: W) -> Self {
        LogWriter { sink, position: 0 }
    }

    /// Bytes written.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Appends one record, in as many fragments as it takes.
    pub(crate) fn append(&mut self, record: &[u8]) -> io::Result<()> {
        let mut rest = record;
        let mut is_first = true;
        loop {
            let mut left = BLOCK_BYTES - (self.position % BLOCK_BYTES as u64) as usize;
            if left < HEADER_BYTES {
                self.write([0; HEADER_BYTES].get(..left).unwrap_or_default())?;
                left = BLOCK_BYTES;
            }
            let room = left - HEADER_BYTES;
            let (payload, after) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            // A record that ends with the block is whole: nothing follows in the next one.
            let is_last = rest.len() <= room;
            let kind = match (is_first, is_last) {
                (true, true) => Kind::Full,
                (true, false) => Kind::First,
                (false, false) => Kind::Middle,
                (false, true) => Kind::Last,
            };
            self.fragment(kind, payload)?;
            if is_last {
                return Ok(());
            }
            rest = after;
            is_first = false;
        }
    }

    /// Flushes and gives the sink back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }

    fn fragment(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        let kind = kind as u8;
        let length = u16::try_from(payload.len()).expect("a block is shorter than 64 KiB");
        let mut header = [0; HEADER_BYTES];
        let [c0, c1, c2, c3] = checksum(kind, payload).to_le_bytes();
        let [l0, l1] = length.to_le_bytes();
        header.copy_from_slice(&[c0, c1, c2, c3, l0, l1, kind]);
        self.write(&header)?;
        self.write(payload)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}
