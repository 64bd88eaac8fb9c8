//! Finds why a file share is slower than its network, and proves what helps.
fn main() {}
