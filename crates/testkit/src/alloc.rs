//! An allocator that counts, for tests of the promise that the steady state allocates nothing.
//!
//! A test binary installs it with `#[global_allocator] static ALLOCATOR: Counting = Counting;` and asks [`calls`] before
//! and after. Each thread has its own count, since the test harness has threads of its own.
#![allow(unsafe_code, reason = "a global allocator implements an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with a counter.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has asked for and not given back, and the most that they ever were.
    static BYTES: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn count() {
    // A thread that is ending may allocate after its counter is gone.
    _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

fn grow(by: usize) {
    _ = BYTES.try_with(|bytes| {
        let (now, most) = bytes.get();
        bytes.set((now + by, most.max(now + by)));
    });
}

fn shrink(by: usize) {
    // What another thread has asked for may be given back here.
    _ = BYTES.try_with(|bytes| bytes.set((bytes.get().0.saturating_sub(by), bytes.get().1)));
}

/// The number of times this thread has asked for memory so far, `realloc` included. Zero for ever unless [`Counting`] is
/// installed.
pub fn calls() -> u64 {
    CALLS.with(Cell::get)
}

/// Returns the result of `f`, and the most bytes that this thread had at once while it ran, beyond those from before.
/// Zero unless [`Counting`] is installed.
pub fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.with(|bytes| {
        bytes.set((bytes.get().0, bytes.get().0));
        bytes.get().0
    });
    let value = f();
    (value, BYTES.with(|bytes| bytes.get().1 - before))
}

/// Returns the result of `f`, and the number of times it asked for memory.
pub fn counted<T>(f: impl FnOnce() -> T) -> (T, u64) {
    let before = calls();
    let value = f();
    (value, calls() - before)
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        grow(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // It may have to be copied: then both are there for a moment.
        grow(size);
        shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
