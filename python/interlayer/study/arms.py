"""What a scenario is compared or swept over, in words: schemes with their parameters, and assignments of any key.

`none,lle-tcp:sack=keep` names schemes, `flow.*.transport.congestion=veno;radio.rts_threshold=off` sets keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlayer import simulator, toml_text
from interlayer.errors import InputError, suggestion

NONE, FILE = "none", "file"
SCHEME = "scheme"
"""The key of a scenario that has its schemes. Where it is set, words for schemes are understood."""
SCHEMES, ARM = "--schemes", "--arm"
"""The options that errors name."""


def _wrong(option: str, message: str) -> InputError:
    return InputError(f"{option}: {message}", option)


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: its label as given, the scheme's id (or `none`, `file`), its tables (None: as the file has them).

    `settings` are (path, TOML text) that the arm sets beside its schemes.
    """

    label: str
    scheme: str
    tables: tuple[Mapping[str, Any], ...] | None
    settings: tuple[tuple[str, str], ...] = ()

    def overrides(self) -> list[tuple[str, str]]:
        """What makes the scenario this arm."""
        schemes = [] if self.tables is None else [(SCHEME, toml_text.literal(list(self.tables)))]
        return [*schemes, *self.settings]


Settings = Mapping[str, object] | str | Sequence[str]
"""What an arm sets: a table of paths and values, or texts as `--arm` has them behind its name."""


def arms(
    text: str,
    schemes: str | Sequence[str | Mapping[str, Any]] | None,
    given: Mapping[str, Settings] | None = None,
    own_schemes: Sequence[str] = (),
) -> list[Arm]:
    """The arms for a scenario's text: those of `schemes`, then those of `given`. Raises `InputError`.

    `own_schemes` are names of schemes in Python.

    `schemes` is what follows `--schemes`, or a list of such parts or of tables (`{"name": "lle-tcp", ...}`). Without it
    one arm of `given` is compared with the file as it stands; several are compared with the first of them; and without
    either it is `none` and each scheme of the file. An arm keeps what the file's own tables of its scheme say.
    """
    own = own_tables(text)
    named = list(dict.fromkeys(str(table.get("name", "")) for table in own))
    if schemes is None and given:
        schemes = [FILE] if len(given) == 1 else []
    if schemes is None:
        if not named:
            raise InputError(
                "no [[scheme]] to compare; say which: --schemes none,lle-tcp (`interlayer list schemes` shows them), "
                'or set keys: --arm veno="flow.*.transport.congestion=veno"',
                SCHEME,
                'no [[scheme]] to compare; say which: schemes="none,lle-tcp" (`interlayer list schemes` shows them), '
                'or set keys: arms={"veno": {"flow.*.transport.congestion": "veno"}}',
            )
        schemes = [NONE, *named]
    parts = split(schemes, ",", SCHEMES) if isinstance(schemes, str) else list(schemes)
    found = [of_scheme(part, own, own_schemes=own_schemes) for part in parts]
    found += [_of_settings(label, settings, own, own_schemes) for label, settings in (given or {}).items()]
    if len(found) < 2:
        raise _wrong(SCHEMES, "it takes two to compare, as in none,lle-tcp")
    for i, arm in enumerate(found):
        if arm.label in [other.label for other in found[:i]]:
            raise _wrong(ARM if arm.label in (given or {}) else SCHEMES, f'"{arm.label}" comes twice')
    return found


def own_tables(text: str) -> list[dict[str, Any]]:
    """The `[[scheme]]` tables of a scenario; the core says what is wrong with one that is no list of tables."""
    tables = simulator.tables(text).get(SCHEME, [])
    return [t for t in tables if isinstance(t, dict)] if isinstance(tables, list) else []


def of_scheme(
    part: str | Mapping[str, Any],
    own: Sequence[Mapping[str, Any]],
    option: str = SCHEMES,
    own_schemes: Sequence[str] = (),
) -> Arm:
    """The arm of one part: `none`, `file`, `lle-tcp:sack=keep`, or a scheme's table. `own` are the file's tables."""
    if isinstance(part, str):
        name, _, rest = (word.strip() for word in part.partition(":"))
        pairs = [_parameter(p, part, option) for p in split(rest, ";", option)] if rest else []
        values = dict(pairs)
        if len(values) < len(pairs):
            raise _wrong(option, f'a parameter comes twice in "{part}"')
        label = part.strip()
    else:
        name, values = str(part.get("name", "")), {k: v for k, v in part.items() if k != "name"}
        label = name + "".join(
            f"{';' if i else ':'}{k}={v if isinstance(v, str) else toml_text.literal(v)}"
            for i, (k, v) in enumerate(values.items())
        )
    if name in (NONE, FILE):
        if values:
            raise _wrong(option, f'"{name}" has no parameters')
        return Arm(name, name, () if name == NONE else None)
    known = [*(entry["id"] for entry in simulator.registry("schemes")), *own_schemes]
    if name not in known:
        absent = simulator.absent("scheme", name)
        raise _wrong(option, absent or f'no scheme "{name}"{suggestion(name, [NONE, FILE, *known])}')
    tables = [table for table in own if table.get("name") == name] or [{"name": name}]
    return Arm(label, name, tuple({**table, **values} for table in tables))


def _of_settings(label: str, settings: Settings, own: Sequence[Mapping[str, Any]], own_schemes: Sequence[str]) -> Arm:
    if not label.strip():
        raise _wrong(ARM, 'an arm needs a name, as in veno="flow.*.transport.congestion=veno"')
    if isinstance(settings, Mapping):
        pairs = [(path, value if path == SCHEME else toml_text.literal(value)) for path, value in settings.items()]
    else:
        texts = [settings] if isinstance(settings, str) else settings
        pairs = [_assignment(part, label) for text in texts for part in split(text, ";", ARM)]
    if not pairs:
        raise _wrong(ARM, f'"{label}" sets nothing, as in {label}="flow.*.transport.congestion=veno"')
    others: list[tuple[str, str]] = []
    scheme, tables = FILE, None
    for path, value in pairs:
        again = path in [p for p, _ in others] and not path.endswith(".+")  # each of those is another entry
        if again or (path == SCHEME and tables is not None):
            raise _wrong(ARM, f'{path} comes twice in "{label}"')
        if path == SCHEME:
            part = of_value(value, own, f"{ARM} {label}", own_schemes)
            scheme, tables = part.scheme, part.tables
        else:
            others.append((path, str(value)))
    return Arm(label.strip(), scheme, tables, tuple(others))


def of_value(value: object, own: Sequence[Mapping[str, Any]], option: str, own_schemes: Sequence[str] = ()) -> Arm:
    """The arm of a value of `scheme`: words for one scheme, its table, or a list of tables, also as TOML text."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        value = toml_value(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [of_scheme(part, own, option, own_schemes) for part in value]
        tables = [table for part in parts for table in part.tables or ()]
        label = "+".join(part.label for part in parts) or NONE
        return Arm(label, label, tuple(tables))
    if not isinstance(value, str | Mapping):
        raise _wrong(option, f"{value!r} is no scheme")
    return of_scheme(value, own, option, own_schemes)


def _assignment(text: str, label: str) -> tuple[str, str]:
    path, equals, value = (word.strip() for word in text.partition("="))
    if not equals or not path:
        raise _wrong(ARM, f'"{text.strip()}" in "{label}" is no PATH=VALUE, as in flow.*.transport.congestion=veno')
    return path, value


def _parameter(text: str, part: str, option: str) -> tuple[str, Any]:
    """`advertise=free-buffer`: a TOML value, or a text without its quotes."""
    key, equals, value = (word.strip() for word in text.partition("="))
    if not equals or not key or key == "name":
        raise _wrong(option, f'"{text}" in "{part}" is no parameter, as sack=keep is in lle-tcp:sack=keep')
    return key, toml_value(value)


def toml_value(text: str) -> Any:
    """A text as the TOML value that it spells, else as it is: `0.1`, `[1, 2]`, `off`, `1500 B`."""
    try:
        parsed = tomllib.loads(f"x = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["x"] if set(parsed) == {"x"} else text


def split(text: str, separator: str, option: str) -> list[str]:
    """The parts of a list, where brackets and quotes keep theirs together: `a:at=["ap", "sta"],b` has two."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == separator and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if any(not part.strip() for part in parts):
        raise _wrong(option, f'an empty part in "{text}"')
    return parts
