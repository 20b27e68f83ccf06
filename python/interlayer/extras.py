"""Parts that are installed if asked for: what is missing is named, with the command that brings it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from .errors import InputError

REMEDY = 'pip install "interlayer[frames]"'
"""What brings polars."""


def has_polars() -> bool:
    """Whether results can be had as frames, and written as Parquet."""
    return find_spec("polars") is not None


def in_pandas(frame: Any) -> Any:
    """A frame of polars as one of pandas. Raises `InputError` where that is not installed."""
    try:
        import pandas as pd
    except ImportError as e:
        remedy = 'pip install "interlayer[pandas]"'
        raise InputError(f"to_pandas needs pandas, which is not installed: {remedy}", "pandas") from e
    return pd.DataFrame(frame.to_dict(as_series=False))


def distributed() -> Any:
    """Dask's distributed. Raises `InputError` where it is not installed."""
    try:
        import distributed
    except ImportError as e:
        remedy = 'pip install "interlayer[dask]"'
        raise InputError(f"engine: dask:// needs distributed, which is not installed: {remedy}", "--engine") from e
    return distributed


def uvicorn() -> Any:
    """uvicorn, for the page of `interlayer explore`. Raises `InputError` where it or Starlette is not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as e:
        remedy = 'pip install "interlayer[explore]"'
        raise InputError(f"explore needs starlette and uvicorn, which are not installed: {remedy}") from e
    return uvicorn


def polars() -> Any:
    """polars. Raises `InputError` where it is not installed."""
    if not has_polars():
        raise InputError(f"frames need polars, which is not installed: {REMEDY}", "polars")
    import polars as pl

    return pl
