//! Where something stands in a source: byte spans inside, lines and columns outside.

/// A place in a source. Lines and columns count from 1, columns in characters; 0:0 is the source as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// Characters before it in the whole source.
    pub offset: u32,
}

/// A part of a source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span { start: clamp(start), end: clamp(end) }
    }

    /// From the start of this to the end of that.
    pub(crate) fn to(self, other: Span) -> Self {
        Span { start: self.start, end: other.end }
    }

    /// What of the source it covers.
    pub(crate) fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// The lines of a source, to find positions fast.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Byte offset of the start of every line.
    starts: Vec<u32>,
    /// Characters before every block of bytes, so that a long line is not counted again and again.
    counted: Vec<u32>,
}

const BLOCK_BYTES: usize = 64;

impl Lines {
    pub(crate) fn new(source: &str) -> Self {
        let mut lines = Lines { starts: vec![0], counted: Vec::new() };
        let mut characters = 0;
        for (number, byte) in source.bytes().enumerate() {
            if number % BLOCK_BYTES == 0 {
                lines.counted.push(characters);
            }
            characters += u32::from(starts_character(byte));
            if byte == b'\n' {
                lines.starts.push(clamp(number + 1));
            }
        }
        lines
    }

    pub(crate) fn position(&self, source: &str, byte: u32) -> Position {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let offset = self.characters(source, byte);
        let column = offset - self.characters(source, start) + 1;
        Position { line: clamp(line), column, offset }
    }

    /// Characters before a byte.
    fn characters(&self, source: &str, byte: u32) -> u32 {
        let end = (byte as usize).min(source.len());
        // The end of a source that fills its last block lies behind all blocks.
        let block = (end / BLOCK_BYTES).min(self.counted.len().saturating_sub(1));
        let rest = source.as_bytes().get(block * BLOCK_BYTES..end).unwrap_or_default();
        let counted = self.counted.get(block).copied().unwrap_or_default();
        counted + clamp(rest.iter().filter(|byte| starts_character(**byte)).count())
    }
}

fn starts_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = "a\n\u{e9}b\n";
        let lines = Lines::new(source);
        for (byte, line, column, offset) in
            [(0, 1, 1, 0), (1, 1, 2, 1), (2, 2, 1, 2), (4, 2, 2, 3), (6, 3, 1, 5)]
        {
            assert_eq!(lines.position(source, byte), Position { line, column, offset });
        }
        for length in [63, 64, 65, 128] {
            let source = "\u{e9}".repeat(length);
            let end = u32::try_from(source.len()).expect("it is short");
            let position = Lines::new(&source).position(&source, end);
            assert_eq!((position.line, position.column as usize), (1, length + 1));
        }
    }
}
