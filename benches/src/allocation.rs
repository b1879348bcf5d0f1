//! Allocations, counted by the allocator of the bench binary.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with a counter per thread, which counts while somebody asks: what is
/// timed is the allocator of the product.
pub struct Counting;

/// How many ask.
static ASKING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// How many allocations `work` makes; growing in place counts as one.
pub fn count<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.get();
    let result = counted(work);
    let after = COUNT.get();
    drop(result);
    after - before
}

/// What `work` gives, and how many bytes of this thread's memory it holds on to.
pub fn held<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = HELD.get();
    let result = counted(work);
    (result, HELD.get() - before)
}

fn counted<T>(work: impl FnOnce() -> T) -> T {
    ASKING.fetch_add(1, Ordering::Relaxed);
    let result = work();
    ASKING.fetch_sub(1, Ordering::Relaxed);
    result
}

fn is_asked() -> bool {
    ASKING.load(Ordering::Relaxed) > 0
}

fn one_more() {
    if is_asked() {
        // A thread that is ending has no counter any more.
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    }
}

fn hold(bytes: usize, sign: i64) {
    if !is_asked() {
        return;
    }
    let bytes = i64::try_from(bytes).unwrap_or_default();
    let _ = HELD.try_with(|held| held.set(held.get() + sign * bytes));
}

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        one_more();
        hold(layout.size(), 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(layout.size(), -1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        one_more();
        hold(layout.size(), -1);
        hold(size, 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
