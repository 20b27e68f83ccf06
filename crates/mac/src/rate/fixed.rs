//! The rate that the scenario states, to each receiver.

use super::{Fixed, Given, RateControl, Unfit};
use plugin::{Info, Params};

/// Its declaration.
pub const INFO: Info = Info {
    id: "fixed",
    summary: "the data rate that the scenario states, whatever becomes of frames",
    source: "80211-2020 10.6",
    params: &[],
};

/// For a station with these parameters.
pub fn make(_: &Params, given: Given<'_>) -> Result<Box<dyn RateControl>, Unfit> {
    Ok(Box::new(Fixed::of(given.config)))
}
