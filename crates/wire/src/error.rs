//! Errors of bytes that come in, and of values that should become bytes.

use thiserror::Error;

/// The reason why bytes are not even an IPv4 packet. Anything that is one parses, if need be as [`crate::L4::Opaque`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseError {
    /// Fewer bytes than the smallest header. @RFC791 sec. 3.1
    #[error("{have} bytes are too few for an IPv4 header of 20")]
    Truncated {
        /// Bytes there are.
        have: usize,
    },
    /// The version field is not 4.
    #[error("IP version {0}, not 4")]
    Version(u8),
    /// The header length field is below five words, or the header is longer than the packet says it is.
    #[error("an IPv4 header of {header} bytes in a packet of {total}")]
    HeaderLength {
        /// Header length, in bytes, as the field says.
        header: usize,
        /// Total length, in bytes, as the field says.
        total: usize,
    },
    /// The packet says it is longer than the bytes there are.
    #[error("total length {total}, but only {have} bytes")]
    TotalLength {
        /// Total length, in bytes, as the field says.
        total: usize,
        /// Bytes there are.
        have: usize,
    },
    /// More bytes than a [`crate::Payload`] can count (2³² - 1).
    #[error("more than 2^32 - 1 bytes")]
    TooLong,
}

/// The reason why a value has no bytes. Nothing has been written then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EmitError {
    /// The IP packet would be longer than its 16-bit length field can say. @RFC791 sec. 3.1
    #[error("an IP packet of {0} bytes; 65535 is the most")]
    TooLong(u64),
    /// The payload has another length than its content.
    #[error("a payload of {len} bytes whose content has {content}")]
    ContentLength {
        /// Length as the payload says.
        len: u32,
        /// Length of the content.
        content: usize,
    },
    /// A part of a frame this crate has no format for.
    #[error("{0} is not modelled")]
    Unsupported(&'static str),
    /// An element's content does not fit its format. @80211-2020 9.4.2.1
    #[error("{what} of {len} bytes; the standard allows {min} to {max}")]
    Element {
        /// The element.
        what: &'static str,
        /// Length it would have.
        len: usize,
        /// Least length the standard allows.
        min: usize,
        /// Largest length the standard allows.
        max: usize,
    },
}

/// The reason why bytes are not one of the frames, or not one of the radiotap headers, that this crate models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It ends inside a field.
    #[error("cut short in {0}")]
    Truncated(&'static str),
    /// It goes on after its last field.
    #[error("{0} bytes after the last field")]
    Trailing(usize),
    /// The frame check sequence is wrong: the frame was damaged. @80211-2020 9.2.4.8
    #[error("frame check sequence {found:#010x}, computed {computed:#010x}")]
    Fcs {
        /// As it stands in the frame.
        found: u32,
        /// As the frame's bytes have it.
        computed: u32,
    },
    /// A type, subtype, version or field that this crate has no format for.
    #[error("{0} is not modelled")]
    Unsupported(&'static str),
    /// A field has a value the standard does not allow.
    #[error("malformed {0}")]
    Malformed(&'static str),
}
