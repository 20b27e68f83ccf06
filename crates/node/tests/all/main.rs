//! A node under drivers of its own.

mod bytes;
mod driver;
mod flood;
mod headers;
mod routing;
