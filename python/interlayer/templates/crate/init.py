"""my-crate: my-part for Interlayer, which finds the module `_core` by itself."""
