//! Users: what asks for files, pages and messages over connections that come and go.
//!
//! A [`Model`] is a machine without IO: it is told what happened to its connections and says what to open, ask for and close. It
//! knows neither bytes nor segments: a driver keeps the connections. docs/design/traffic.md tells why it is so.
//!
//! Left out: pipelining, think times within a page, uploads, several objects of one page that depend on each other.

mod model;
#[cfg(test)]
mod testing;

use engine::Stream;
use plugin::Params;
use units::{Bytes, SimTime};

pub use model::{Make, NAMES, find, registry};

/// One of a user's connections: the model numbers them from 0, and uses a number again after [`Output::Close`] or [`Input::Lost`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conn(pub u16);

impl Conn {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It begins.
    Start,
    /// Its timer went off.
    Timer,
    /// A connection is open: the handshake is over.
    Connected(Conn),
    /// All of what was asked for last on it is there.
    Got(Conn),
    /// A connection failed, with what was asked for on it.
    Lost(Conn),
    /// It ends: nothing new is begun, what is under way may come to its end.
    Stop,
}

/// An action that a user wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Open a connection to the server.
    Open(Conn),
    /// Write a request of so many bytes; when the server has it, it writes a response of so many. One at a time on a connection.
    Ask {
        /// The connection.
        conn: Conn,
        /// Size of the request.
        request: Bytes,
        /// Size of the response.
        response: Bytes,
    },
    /// Close a connection: the client has nothing more to ask.
    Close(Conn),
    /// A file, page or message is complete.
    Done {
        /// The time it was begun.
        began: SimTime,
        /// Size of all its responses.
        bytes: Bytes,
    },
}

/// A user.
///
/// Call order: [`Input::Start`] once; after each input carry out the outputs in order, then set its timer to
/// [`Model::next_wakeup`].
pub trait Model {
    /// Something happened. Outputs are appended to `out`.
    fn handle(&mut self, now: SimTime, input: Input, out: &mut Vec<Output>);

    /// The time at which it wants [`Input::Timer`].
    fn next_wakeup(&self) -> SimTime;
}

units::debug_by_name!(Model);

/// The parts that a model is made from: its parameters, and a random stream of its own.
#[derive(Debug)]
pub struct Given<'p> {
    /// All its parameters.
    pub params: &'p Params,
    /// For counts, sizes and intervals.
    pub draws: Stream,
}
