"""Values as JSON text. What they are is `as_json`'s, which imports all that a result is made of."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(value: object) -> str:
    """JSON text, two spaces deep; what is not finite becomes null, as JSON has no other word for it."""
    return json.dumps(finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: object) -> Any:
    """`value` with None for what is not finite."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {k: finite(v) for k, v in value.items()}
        case list() | tuple():
            return [finite(v) for v in value]
    return value
