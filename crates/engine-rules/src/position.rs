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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Byte offset and character offset of the start of every line.
    starts: Vec<(u32, u32)>,
}

impl Lines {
    pub(crate) fn new(source: &str) -> Self {
        let mut starts = vec![(0, 0)];
        for (characters, (bytes, character)) in source.char_indices().enumerate() {
            if character == '\n' {
                starts.push((clamp(bytes + 1), clamp(characters + 1)));
            }
        }
        Lines { starts }
    }

    pub(crate) fn position(&self, source: &str, byte: u32) -> Position {
        let line = self.starts.partition_point(|(start, _)| *start <= byte);
        let (start, before) = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let text = Span { start, end: byte }.text(source);
        let column = clamp(text.chars().count());
        Position { line: clamp(line), column: column + 1, offset: before + column }
    }
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
    }
}
