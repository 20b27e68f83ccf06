//! A plug-in that cannot go on.

use core::any::Any;
use core::fmt;

/// The reason why a plug-in cannot go on, where its port has no room for an error: its code, from outside the workspace, has
/// failed.
pub struct Failure {
    /// One line: which plug-in, and what of it.
    pub message: String,
    /// The error itself, for the program that brought the plug-in.
    pub cause: Box<dyn Any + Send>,
}

impl Failure {
    /// Ends the run: it unwinds to the runner, which reports this and not a panic. Nothing is printed.
    pub fn end_run(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure").field("message", &self.message).finish_non_exhaustive()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Failure {}
