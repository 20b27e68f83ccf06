"""Writes the index of the package's experiments, which `interlayer list experiments` shows: `make index`.

The list is right without it, and slow: the index has a hash of the files that it was made of, and where that does not
fit they are read. A test fails while it does not fit.
"""

from __future__ import annotations

from interlayer.study import library

if __name__ == "__main__":
    (library.folder() / library.INDEX).write_text(library.index(), encoding="utf-8")
