"""Controls of a cell, made of the scenario's own schema: a key that the core gains is on the page without a line here.

A control is a key: its path as `--set` has it, its value, default, unit and help, and what may stand there. Which keys
a cell shows at once (`is_main`) is all that this module adds to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from interlayer import api, quantity, simulator, toml_text
from interlayer.errors import InputError

Json = dict[str, Any]

_MAIN = (
    *("scenario.duration", "radio.standard", "radio.data_rate", "radio.mcs", "radio.streams", "radio.width"),
    *("radio.rts_threshold", "radio.max_attempts", "radio.queue", "radio.queue.packets", "radio.rate_control"),
    *("channel.errors", "channel.errors.*", "channel.propagation", "channel.propagation.exponent"),
    *("node.*.count", "node.*.position", "link.*.rate", "link.*.delay", "link.*.queue", "link.*.queue.packets"),
    *("flow.*.transport", "flow.*.transport.congestion", "flow.*.transport.receiver", "flow.*.transport.datagram"),
    *("flow.*.traffic", "flow.*.traffic.*", "scheme", "scheme.*.*"),
)
"""Keys that a cell shows at once, where they apply; a star is one step. Besides them it shows those of its own text."""

_OF_AGGREGATING = ("radio.mcs", "radio.streams", "radio.width")
"""Keys that 802.11n, ac and ax have in place of a rate."""

_NEVER_MAIN = ("name", "from", "to", "between", "role", "stop", "warmup", "seed", "preset")
"""Keys that a text says and that nobody turns."""

_HIDDEN = ("scenario.name", "scenario.seed", "node.*.name", "flow.*.name", "link.*.name")
"""Names are what paths go by, and the seed is the page's own."""

_GROUPS = {
    "scenario": "The run",
    "radio": "Radio",
    "channel": "Channel",
    "layout": "Places",
    "node": "Station",
    "link": "Wire",
    "flow": "Flow",
    "scheme": "Scheme",
    "routing": "Routing",
    "route_metric": "Routing",
    "event": "Event",
    "window": "Window of time",
}

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
"""A link of the reference's page: here it is its words."""

_FIRST = ("radio", "channel", "scheme", "node", "link", "flow")
"""The order of groups: what is asked most first, the rest as the schema has it."""


@cache
def _schema() -> Json:
    return simulator.schema()


def groups(
    tables: Json, filled: Json | None, rates: Sequence[str] = (), changes: Sequence[tuple[str, str]] = ()
) -> list[Json]:
    """The controls of a cell by group: title, key of the file, and controls.

    `tables` is what the text says, `filled` the whole scenario with its defaults, None where the text has mistakes.
    `rates` are those that the core takes as `radio.data_rate` of this radio. The group of an entry that one of the
    `changes` appended has its path by name (`path`) and by index (`at`), and that change (`added`).
    """
    properties = _schema()["properties"]
    order = sorted(properties, key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))
    found: list[tuple[str, str, list[Json], Json]] = []
    for key in order:
        sub, own, whole = properties[key], tables.get(key), (filled or {}).get(key)
        if key == "scheme":
            found.append((key, _GROUPS[key], _schemes(sub, own), {}))
        elif sub.get("type") == "array":
            added = [pair for pair in changes if pair[0] == f"{key}.+" and pair[1]]
            found += [(key, *group) for group in _entries(key, sub, own, whole, added)]
        elif _is_table(sub):
            found.append((key, _GROUPS.get(key, key), _table(key, key, sub, own, whole), {}))
        elif own is not None:
            found.append((key, _GROUPS.get(key, key), _control(key, key, sub, own, whole, {}), {}))
    radio = tables.get("radio")
    aggregates = isinstance(radio, Mapping) and radio.get("standard") in api.AGGREGATING
    for _, _, controls, _ in found:
        for one in controls:
            if one["pattern"] in _OF_AGGREGATING or one["pattern"] == "radio.data_rate":
                one["is_main"] = one["is_given"] or (one["pattern"] in _OF_AGGREGATING) == aggregates
            if one["pattern"] == "radio.data_rate" and rates:
                one["choices"] = [{"value": toml_text.literal(rate), "label": rate} for rate in rates]
                one.pop("slider", None)
    return [
        {"of": key, "title": title, "controls": controls, **more} for key, title, controls, more in found if controls
    ]


def added(tables: Json) -> list[Json]:
    """What can be added to a cell: another station like one that it has, and another flow between two of its nodes.

    Each has the path of its change, the key whose groups it stands behind, and the fields of its form. A field is a
    `key` with a text to begin with, or has choices, whose values are keys with their values, as in an inline table.
    """
    nodes, flows, links = (
        [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found := tables.get(key), list) else []
        for key in ("node", "flow", "link")
    )
    wired = {str(end) for link in links for key in ("between", "from", "to") for end in _several(link.get(key))}
    asked = [{str(end) for flow in flows for end in _several(flow.get(key))} for key in ("from", "to")]
    copies = []
    for node in nodes:
        name = str(node.get("name", ""))
        pairs = _pairs({k: v for k, v in node.items() if k not in ("name", "count")})
        if name and name not in wired and len(pairs) <= _LONGEST:
            copies.append({"value": pairs, "label": name})
    ends: dict[str, str] = {}
    members: dict[str, list[str]] = {}
    for node in nodes:
        name, count = str(node.get("name", "")), node.get("count")
        is_group = isinstance(count, int)
        ends[name] = f"{name}, each of {count}" if is_group else name
        if isinstance(count, int) and count <= _MEMBERS:
            members[name] = [f"{name}{i + 1}" for i in range(count)]
            ends |= {member: member for member in members[name]}
    ends.pop("", None)
    found = []
    if copies:
        like = next((one for one in reversed(copies) if one["label"] in asked[0]), copies[-1])
        name = _unused(f"{like['label']}-copy", list(ends))
        fields: list[Json] = [{"label": "Name", "key": "name", "value": name}]
        fields.append({"label": "Like", "choices": copies, "index": copies.index(like)})
        found.append({"path": "node.+", "of": "node", "label": "Another station", "also": "", "fields": fields})
    if ends and flows:
        from_, to = (flows[-1].get(key) for key in ("from", "to"))
        names, last = list(ends), str(nodes[-1].get("name", ""))
        is_idle = last in ends and last not in asked[0] | asked[1] | wired  # a station that was added just now
        begun = [last if is_idle else from_, to]
        both = [set(members.get(str(end), [str(end)])) for end in begun]
        if both[0] & both[1] and (single := [name for name in names if name not in members])[1:]:
            begun = [single[0], single[-1]]
        fields = []
        for key, wanted in zip(("from", "to"), begun, strict=True):
            choices = [{"value": _pairs({key: name}), "label": label} for name, label in ends.items()]
            index = names.index(wanted) if wanted in names else 0
            fields.append({"label": key.capitalize(), "choices": choices, "index": index})
        also = _pairs({"name": _unused("another", [str(flow.get("name", "")) for flow in flows])})
        found.append({"path": "flow.+", "of": "flow", "label": "Another flow", "also": also, "fields": fields})
    return found


_LONGEST, _MEMBERS = 1500, 20
"""Letters of a node's keys that are copied; members of a group that are ends of a flow on their own."""


def _pairs(table: Mapping[str, Any]) -> str:
    """The keys of a table within an inline one."""
    return toml_text.literal(table).strip().removeprefix("{").removesuffix("}").strip() if table else ""


def _several(names: Any) -> list[Any]:
    return names if isinstance(names, list) else [names]


def _unused(begun: str, names: Sequence[str]) -> str:
    """A name that none of `names` is."""
    return next(name for i in range(1, len(names) + 2) if (name := f"{begun}-{i}") not in names)


def rates(text: str) -> list[str]:
    """The rates that `radio.data_rate` may have in a cell: those that the core names where it refuses one."""
    try:
        simulator.parse(text, [("radio.data_rate", "0.123 Mb/s")])
    except InputError as e:
        line = next((one.line for one in e.mistakes if one.path == "radio.data_rate"), "")
        found = re.findall(r'"([\d.]+ [kMG]?b/s)"', line.partition(" there are ")[2])
        return sorted(found, key=lambda rate: quantity.magnitude(rate) or 0.0)
    return []


def _entries(
    key: str, sub: Json, own: Any, whole: Any, added: Sequence[tuple[str, str]]
) -> list[tuple[str, list[Json], Json]]:
    """The groups of an array's entries; of several flows that are alike, one that is for all comes first.

    The last ones are those that were `added`.
    """
    entries = [entry for entry in own if isinstance(entry, Mapping)] if isinstance(own, Sequence) else []
    found: list[tuple[str, list[Json], Json]] = []
    if key == "flow" and len(entries) > 1:
        found.append(("All flows", _of_all(sub, entries, whole), {}))
    names = [entry.get("name") for entry in entries]
    for i, entry in enumerate(entries):
        name = names[i]
        step = name if isinstance(name, str) and names.count(name) == 1 and _is_step(name) else str(i)
        title = f"{_GROUPS.get(key, key)} {name or i}"
        controls = _table(f"{key}.{step}", f"{key}.*", sub["items"], entry, _of_entry(whole, name, i))
        for one in controls:
            one["at"] = f"{key}.{i}{one['path'].removeprefix(f'{key}.{step}')}"
            one["is_main"] = one["is_main"] and not (
                key == "flow" and len(entries) > 1 and i < len(entries) - len(added)
            )
        nth = i - (len(entries) - len(added))
        more = {"path": f"{key}.{step}", "at": f"{key}.{i}", "added": list(added[nth])} if nth >= 0 else {}
        found.append((title, controls, more))
    return found


def _is_step(name: str) -> bool:
    """True of a name that can be a step of a path."""
    return bool(re.fullmatch(r"[A-Za-z_][\w-]*", name))


def _of_entry(whole: Any, name: Any, i: int) -> Any:
    """The filled entry of a text's entry: a group's is that of its first member."""
    if not isinstance(whole, Sequence):
        return None
    named = [e for e in whole if isinstance(name, str) and str(e.get("name", "")).startswith(name)]
    exact = [e for e in named if e.get("name") == name]
    return (exact or named or [whole[i] if i < len(whole) else None])[0]


def _of_all(sub: Json, entries: Sequence[Mapping[str, Any]], whole: Any) -> list[Json]:
    """Controls that set a key of every flow: of the transport where all TCP flows agree, of traffic where all do."""
    flows = [e for e in whole if isinstance(e, Mapping)] if isinstance(whole, Sequence) else []
    tcp = [f for f in flows if f.get("transport", {}).get("protocol") == "tcp"]
    own_tcp = [e for e in entries if e.get("transport", {}).get("protocol", "tcp") == "tcp"]
    found = []
    if tcp and own_tcp:
        properties = sub["items"]["properties"]["transport"]
        controls = _control(
            "flow.*.transport", "flow.*.transport", properties, own_tcp[0].get("transport"), tcp[0]["transport"], {}
        )
        for one in controls:
            key = one["path"].rpartition(".")[2]
            concerned = [f["transport"] for f in flows if key in f.get("transport", {})] or [{}]
            if one["path"] != "flow.*.transport" and len({repr(of.get(key)) for of in concerned}) == 1:
                found.append(one)
    if flows and len({repr(f.get("traffic")) for f in flows}) == 1:
        traffic = sub["items"]["properties"]["traffic"]
        found += _control(
            "flow.*.traffic", "flow.*.traffic", traffic, entries[0].get("traffic"), flows[0].get("traffic"), {}
        )
    return found


def _schemes(sub: Json, own: Any) -> list[Json]:
    """One control that chooses a scheme, or none, and the parameters of those that the cell has."""
    tables = [t for t in own if isinstance(t, Mapping)] if isinstance(own, Sequence) else []
    names = [str(t.get("name", "")) for t in tables]
    listed = simulator.registry("schemes")
    choices = [{"value": "none", "label": "none", "help": "No scheme: the cell as its nodes make it."}]
    choices += [{"value": e["id"], "label": e["id"], "help": e["summary"]} for e in listed]
    if len(names) > 1:
        choices.append({"value": ",".join(names), "label": " and ".join(names), "help": "Those of the cell."})
    value = ",".join(names) or "none"
    one = _plain("scheme", "scheme", value, "none", sub.get("description", ""))
    found = [one | {"choices": choices, "is_given": bool(names), "is_needed": True}]
    for table in tables:
        name = str(table.get("name", ""))
        variant = next((v for v in _variants(sub["items"]) if _const(v)[1] == name), None)
        if variant is not None and names.count(name) == 1:
            found += _table(f"scheme.{name}", "scheme.*", variant, table, None)
    return found


# ------------------------------------------------------------------------------------------------------- keys of tables


def _table(path: str, pattern: str, schema: Json, own: Any, whole: Any) -> list[Json]:
    found = []
    for key, sub in schema.get("properties", {}).items():
        if "const" in sub:
            continue
        said, filled = (it.get(key) if isinstance(it, Mapping) else None for it in (own, whole))
        found += _control(f"{path}.{key}", f"{pattern}.{key}", sub, said, filled, schema)
    return found


def _control(path: str, pattern: str, sub: Json, own: Any, whole: Any, table: Json) -> list[Json]:
    """The control of a key, and those of the table below it."""
    if _like(pattern, _HIDDEN):
        return []
    value = whole if own is None else own
    if (variants := _variants(sub)) and not _has_quantity(sub):
        found = _tagged(path, pattern, sub, variants, own, whole)
        found[0]["is_needed"] = path.rpartition(".")[2] in table.get("required", [])
        return found
    if _is_table(sub):
        return _table(path, pattern, sub, own, whole)
    if sub.get("type") == "array" and not _is_plain_list(sub):
        return []  # tables in an array of an entry: the text's business
    key = path.rpartition(".")[2]
    default = sub.get("default", "" if key in table.get("required", []) else None)
    one = _plain(path, pattern, value, default, sub.get("description", ""))
    one["is_given"] = own is not None
    one["is_main"] = _is_main(path, pattern, own is not None, value)
    one["is_needed"] = key in table.get("required", [])
    return [one | _kind(sub, value)]


def _plain(path: str, pattern: str, value: Any, default: Any, said: str) -> Json:
    """A control that is typed: value as one types it, default and help in words."""
    help_, _, stated = _LINK.sub(r"\1", said).partition("Default: ")
    words = stated.rstrip(". ")
    if default is not None:
        words = "" if default == "" else _shown(default)
    return {
        "path": path,
        "at": path,
        "pattern": pattern,
        "label": path.rpartition(".")[2],
        "value": _shown(value),
        "default": words,
        "help": f"{help_.strip()[:1].upper()}{help_.strip()[1:]}",
        "is_given": False,
        "is_needed": False,
        "is_main": _is_main(path, pattern, False, value),
        "kind": "text",
    }


def _shown(value: Any) -> str:
    """A value as it is typed after `--set PATH=`: texts without quotes."""
    if value is None:
        return ""
    return value if isinstance(value, str) else toml_text.literal(value)


def _typed(word: str) -> str:
    """A text as it is typed: in quotes where TOML would take it for a number, as `802.11`."""
    return toml_text.literal(word) if re.fullmatch(r"[-+]?[\d._]+|true|false|inf|nan", word) else word


def _kind(sub: Json, value: Any) -> Json:
    """The kind of a control: choices, a switch, a number with bounds, or a text; and the scale of a slider."""
    options = sub.get("oneOf") or sub.get("anyOf") or [sub]
    words = [str(word) for option in options for word in option.get("enum", [])]
    if all("enum" in option for option in options):
        choices = [{"value": _typed(word), "label": word} for word in words]
        return {"kind": "choice", "choices": choices, "value": _typed(value) if isinstance(value, str) else ""}
    if sub.get("type") == "boolean":
        return {"kind": "choice", "choices": [{"value": word, "label": word} for word in ("true", "false")]}
    found: Json = {"kind": "text", "words": words}
    number = next((option for option in options if option.get("type") in ("integer", "number")), None)
    quantity = next((option for option in options if "pattern" in option and "examples" in option), None)
    if number is not None and quantity is None:
        low, high = number.get("minimum"), number.get("maximum")
        found |= {"kind": "number", "whole": number["type"] == "integer", "least": low, "most": high}
        if low == 0 and high == 1:
            found["slider"] = {"scale": "cube", "from": 0, "to": 1, "unit": ""}
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found["slider"] = _around(float(value) or 1.0, "", low, high)
    elif quantity is not None:
        found["units"] = re.findall(r"[^()|]+", quantity["pattern"].rpartition("(")[2].rpartition(")")[0])
        match = re.fullmatch(r"\s*([\d.eE+]+)\s*(\S+)\s*", value) if isinstance(value, str) else None
        if match and float(match[1]) > 0:
            found["slider"] = _around(float(match[1]), match[2], None, None)
            if match[2].lower().startswith("db"):
                found["slider"] |= {"scale": "linear", "from": float(match[1]) - 30, "to": float(match[1]) + 30}
    return found


def _around(value: float, unit: str, low: float | None, high: float | None) -> Json:
    """A logarithmic slider from a 32nd of a value to 32 times it, within bounds."""
    least, most = value / 32, value * 32
    if low is not None:
        least = max(least, low if low > 0 else min(1.0, value) if float(low).is_integer() and value >= 1 else least)
    if high is not None:
        most = min(most, high)
    return {"scale": "log", "from": least, "to": max(most, least), "unit": unit}


# --------------------------------------------------------------------------------------------- words, tables with a tag


def _tagged(path: str, pattern: str, sub: Json, variants: list[Json], own: Any, whole: Any) -> list[Json]:
    """Controls of a word, or of a table in which one key names the model: the choice, then the chosen one's keys."""
    tag = _const(variants[0])[0]
    options = sub.get("oneOf") or sub.get("anyOf") or []
    words = [str(word) for option in options for word in option.get("enum", [])]
    value = whole if own is None else own
    present = own
    if own is None and isinstance(whole, Mapping):
        present = {key: whole[key] for key in _LIMITS if key in whole}
    named = [it.get(tag) if isinstance(it, Mapping) else it for it in (own, whole, sub.get("default"))]
    if any(isinstance(it, Mapping) for it in (own, whole)):  # a table whose tag has a default
        named += [_const(variant)[1] for variant in variants if tag not in variant.get("required", [])]
    chosen = next((str(it) for it in named if it is not None), "")
    said = {e["id"]: e["summary"] for e in _listed(path.rpartition(".")[2])}
    choices = []
    for name in dict.fromkeys([*words, *(_const(variant)[1] for variant in variants)]):
        variant = _variant(variants, name)
        help_ = said.get(name) or variant.get("properties", {}).get(tag, {}).get("description", "")
        literal = name if name in words else toml_text.literal(_begun(tag, name, variant, present))
        choices.append({"value": literal, "label": name, "help": "" if help_.startswith("See `") else help_})
    help_ = sub.get("description", "")
    one = _plain(path, pattern, chosen, sub.get("default"), help_)
    if isinstance(sub.get("default"), Mapping):
        one["default"] = str(sub["default"].get(tag, ""))
    if one["help"].startswith("See `") and chosen in said:
        one["help"] = said[chosen]
    current = next((c["value"] for c in choices if c["label"] == chosen), "")
    one |= {"kind": "choice", "choices": choices, "value": current, "is_given": own is not None}
    one["is_main"] = _is_main(path, pattern, own is not None, value)
    found = [one]
    variant = _variant(variants, chosen)
    below = _table(path, pattern, variant, *(it if isinstance(it, Mapping) else None for it in (own, whole)))
    if not isinstance(own, Mapping) and (own is not None or tag in variant.get("required", [])):
        for control in below:  # a word becomes a table before a key of it is set
            control["needs"] = [[path, toml_text.literal(_begun(tag, chosen, variant, present))]]
    return found + below


_LIMITS = ("packets", "bytes")
"""Keys that a queue must have one of."""


def _variant(variants: list[Json], name: str) -> Json:
    return next((v for v in variants if _const(v)[1] == name), {})


_LISTS: dict[str, simulator.Registry] = {
    "congestion": "congestion",
    "receiver": "receivers",
    "recovery": "recovery",
    "rate_control": "rate-controls",
    "routing": "routing",
    "route_metric": "route-metrics",
}
"""The list that says what the words of a key are."""


def _listed(key: str) -> list[dict[str, str]]:
    return simulator.registry(_LISTS[key]) if key in _LISTS else []


def _has_quantity(sub: Json) -> bool:
    """True where a plain quantity may stand, beside tables."""
    return any("pattern" in option for option in sub.get("oneOf") or sub.get("anyOf") or [])


def _begun(tag: str, name: str, variant: Json, value: Any) -> Json:
    """A table of a variant to begin with: what it shares with the present one, else examples for what it must have."""
    found: Json = {tag: name}
    present = value if isinstance(value, Mapping) else {}
    for key, sub in variant.get("properties", {}).items():
        if key == tag:
            continue
        if key in present and ("default" not in sub or present[key] != sub["default"]):
            found[key] = present[key]
        elif key in variant.get("required", []):
            found[key] = _example(key, sub)
    return found


_EXAMPLES: dict[str, Any] = {
    "per": 0.01,
    "ber": 1e-5,
    "bad": {"per": 0.5},
    "mean_good": "1 s",
    "mean_bad": "100 ms",
    "rate": "1 Mb/s",
    "on": "1 s",
    "off": "1 s",
    "size": "1 kB",
    "every": "10 ms",
    "width": "100 m",
    "height": "100 m",
    "min_speed": "1 m/s",
    "max_speed": "2 m/s",
    "radius": "20 m",
    "spacing": "20 m",
    "coherence": "20 ms",
    "velocity": [1, 0],
}
"""First values of keys that a model must have, where the schema's example would be none of a radio cell."""


def _example(key: str, sub: Json) -> Any:
    if key in _EXAMPLES:
        return _EXAMPLES[key]
    for option in sub.get("oneOf") or sub.get("anyOf") or [sub]:
        if "examples" in option:
            return option["examples"][0]
        if "enum" in option:
            return option["enum"][0]
        if option.get("type") in ("integer", "number"):
            return max(1, option.get("minimum", 1))
    return ""


def _variants(sub: Json) -> list[Json]:
    """The tables of which one key names each, beside words or alone; empty for what is none."""
    found: list[Json] = []
    for option in sub.get("oneOf") or sub.get("anyOf") or []:
        found += _variants(option) if "oneOf" in option or "anyOf" in option else [option]
    return [one for one in found if "properties" in one and _const(one)[0]]


def _const(variant: Json) -> tuple[str, str]:
    return next(((k, str(v["const"])) for k, v in variant.get("properties", {}).items() if "const" in v), ("", ""))


def _is_table(sub: Json) -> bool:
    return sub.get("type") == "object" and "properties" in sub


def _is_plain_list(sub: Json) -> bool:
    return sub["items"].get("type") in ("number", "string", "integer")


def _like(path: str, patterns: Sequence[str]) -> bool:
    steps = path.split(".")
    return any(
        len(steps) == len(wanted) and all(w in ("*", s) for w, s in zip(wanted, steps, strict=True))
        for wanted in (pattern.split(".") for pattern in patterns)
    )


def _is_main(path: str, pattern: str, is_given: bool, value: Any) -> bool:
    if path.rpartition(".")[2] in _NEVER_MAIN:
        return False
    return is_given or (_like(pattern, _MAIN) and value is not None)
