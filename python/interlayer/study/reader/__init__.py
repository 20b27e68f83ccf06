"""Reads experiment files, the only place that does.

A key that no table has, an arm or a swept value that does not exist, a claim that selects nothing: each is an
`InputError` with the path and, where one is near, what was meant.
"""

from .file import parse
from .open import named_file

__all__ = ["named_file", "parse"]
