"""`python -m interlayer`: the command line, where the command `interlayer` is not installed."""

from .cli import main

main()
