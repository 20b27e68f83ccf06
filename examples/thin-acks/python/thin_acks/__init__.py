"""thin-acks: thin-acks for Interlayer, which finds the module `_core` by itself."""
