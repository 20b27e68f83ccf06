//! The bytes of a payload.

use crate::{Content, EmitError, Payload};

/// The modulus of a virtual payload's bytes: a prime below 256, so that a shift by any power of two shows in a capture.
pub const PATTERN: u64 = 251;

impl Payload {
    /// Appends the payload's bytes: its own, or for a virtual one `(offset + i) mod 251` as byte `i`. On an error `out`
    /// stays as it was.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.check()?;
        if let Some(content) = self.own_content() {
            return Payload::new(self.len, content).emit(out);
        }
        match &self.content {
            Content::Bytes(bytes) => out.extend_from_slice(bytes),
            Content::Virtual { offset } => {
                let first = offset % PATTERN; // before adding: an offset near 2^64 must not overflow
                out.extend((0..u64::from(self.len)).map(|i| ((first + i) % PATTERN) as u8));
            }
        }
        Ok(())
    }

    /// Checks that the content has the length the payload says.
    ///
    /// # Errors
    /// [`EmitError::ContentLength`].
    pub fn check(&self) -> Result<(), EmitError> {
        match &self.content {
            Content::Bytes(bytes) if bytes.len() != self.len as usize && self.behind == 0 => {
                Err(EmitError::ContentLength { len: self.len, content: bytes.len() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_virtual_byte_is_its_place_in_the_stream_modulo_251() {
        let mut out = Vec::new();
        Payload::stream(249, 4).emit(&mut out).unwrap();
        assert_eq!(out, [249, 250, 0, 1]);
    }

    #[test]
    fn two_halves_of_a_stream_are_the_whole() {
        let (mut halves, mut whole) = (Vec::new(), Vec::new());
        Payload::stream(u64::MAX - 2000, 700).emit(&mut halves).unwrap();
        Payload::stream(u64::MAX - 1300, 700).emit(&mut halves).unwrap();
        Payload::stream(u64::MAX - 2000, 1400).emit(&mut whole).unwrap();
        assert_eq!(halves, whole);
    }

    #[test]
    fn a_payload_that_contradicts_its_content_has_no_bytes() {
        let mut out = vec![7];
        let payload = Payload::new(3, Content::Bytes(Arc::from([1u8, 2].as_slice())));
        assert_eq!(payload.emit(&mut out), Err(EmitError::ContentLength { len: 3, content: 2 }));
        assert_eq!(out, [7]);
    }
}
