//! A run that panics is an error of that run: its words are kept, and nothing is printed.

use plugin::Failure;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// True while this thread makes a run.
    static IN_RUN: Cell<bool> = const { Cell::new(false) };
    /// The source line of the last panic of a run of this thread.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs, once in a process, a panic hook that leaves panics of runs to [`caught`]. All others go to the hook that was there.
pub fn hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_RUN.get() {
                others(info);
            } else if let Some(place) = info.location() {
                PLACE.with_borrow_mut(|kept| *kept = format!("{}:{}", place.file(), place.line()));
            }
        }));
    });
}

/// The reason why a run did not return.
pub enum Caught {
    /// The message of a panic, and its source line.
    Panic(String),
    /// A plug-in could not go on.
    Failure(Failure),
}

/// The value that `run` returns, or the reason why it did not.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Caught> {
    IN_RUN.set(true);
    // A run shares nothing that can change with anybody else: what it leaves behind is dropped with it.
    let result = catch_unwind(AssertUnwindSafe(run));
    IN_RUN.set(false);
    result.map_err(|payload| match payload.downcast::<Failure>() {
        Ok(failure) => Caught::Failure(*failure),
        Err(payload) => Caught::Panic(format!("{} ({})", words(payload.as_ref()), PLACE.take())),
    })
}

/// The value that `act` returns, or the reason why a plug-in of another program could not go on: for trials of plug-ins outside a run.
///
/// # Errors
/// Of the plug-in. Other panics go on.
pub fn try_plugins<T>(act: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| match payload.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(payload) => std::panic::resume_unwind(payload),
    })
}

fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}
