//! One run of a scenario file, seed 1, for callgrind to count: `price FILE`. It prints how many frame exchanges the run had.
//! `make price` builds and asks it; without a file it says so and ends well, as `cargo bench` wants.
#![allow(clippy::print_stdout, reason = "its answer")]

use std::sync::atomic::AtomicBool;
use world::Record;

fn main() {
    let Some(file) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("price: no scenario file given; `make price` gives them");
        return;
    };
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let scenario = world::parse(&text, &[]).unwrap_or_else(|error| panic!("{file}: {error}"));
    let run = world::run(&scenario, 1, &Record::default(), &AtomicBool::new(false)).expect("books in balance");
    println!("{}", run.exchanges);
}
