//! Our TCP against scripts in virtual time, without tolerance. The language is `script.rs`.

mod ecn;
mod handshake;
mod receiver;
mod recovery;
mod schemes;
mod script;
mod teardown;
mod timeout;
mod window;
