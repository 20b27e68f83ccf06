//! The lines of a part of a file, in a buffer of fixed size.

use std::io;

/// A file that is read from anywhere.
pub trait ReadAt {
    /// Reads what stands at `offset`, some bytes of it; none at the end.
    ///
    /// # Errors
    /// As reading has them.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}

units::debug_by_name!(ReadAt);

impl ReadAt for &[u8] {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let rest = &self[self.len().min(usize::try_from(offset).unwrap_or(usize::MAX))..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// The longest line, in bytes. Those of `setdest` have 120.
pub const LONGEST_LINE: usize = 4096;

#[derive(Debug)]
pub(super) struct Lines {
    /// Of the first byte in the buffer, and where to stop.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Bytes of the buffer that lines have been made of.
    used: usize,
    number: u64,
}

impl Lines {
    pub fn new(begin: u64, end: u64) -> Lines {
        Lines { at: begin, end, buffer: Vec::new(), used: 0, number: 0 }
    }

    /// The offset at which the next line begins.
    pub fn offset(&self) -> u64 {
        self.at + self.used as u64
    }

    /// The number of the line that was read last, from 1 on.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end, where it begins, and its number.
    pub fn next(&mut self, source: &mut dyn ReadAt) -> io::Result<Option<(u64, u64, &[u8])>> {
        loop {
            let begin = self.offset();
            if begin >= self.end {
                return Ok(None);
            }
            let rest = &self.buffer[self.used..];
            let found = rest.iter().take(LONGEST_LINE).position(|byte| *byte == b'\n');
            if let Some(len) = found.or((rest.len() >= LONGEST_LINE).then_some(LONGEST_LINE - 1)) {
                let from = self.used;
                self.used += len + 1;
                self.number += 1;
                return Ok(Some((begin, self.number, &self.buffer[from..from + len])));
            }
            self.buffer.drain(..self.used);
            (self.at, self.used) = (begin, 0);
            let had = self.buffer.len();
            self.buffer.resize(2 * LONGEST_LINE, 0);
            let read = source.read_at(begin + had as u64, &mut self.buffer[had..])?;
            self.buffer.truncate(had + read);
            if read == 0 {
                // The last line has no end.
                self.end = begin;
                if had == 0 {
                    return Ok(None);
                }
                self.used = had;
                self.number += 1;
                return Ok(Some((begin, self.number, &self.buffer[..had])));
            }
        }
    }
}
