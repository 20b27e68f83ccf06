"""A page on the loopback address that asks the `api`: docs/design/explore.md."""
