"""What tests ask of a web page: whether it would load something, what its figures know, whether it can be read."""

from __future__ import annotations

import json
import re
from typing import Any, Final

FETCHES: Final = re.compile(
    r"url\((?!#)|@import|<script[^>]*\bsrc\b|\b(?:fetch|import)\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource"
)
"""What would load something from anywhere, in a style or a script."""


def known(page: str) -> list[dict[str, Any]]:
    """The data of each figure of a page that can be asked."""
    return [json.loads(text) for text in re.findall(r'<script [^>]*class="asked">(.*?)</script>', page, re.DOTALL)]


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2) of `#abc`, `#aabbcc` or `rgb(1, 2, 3)`."""
    if colour.startswith("#"):
        short = colour.removeprefix("#")
        digits = short if len(short) == 6 else "".join(2 * digit for digit in short)
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    else:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
