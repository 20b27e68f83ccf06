"""A compiled BPF object with a congestion control: what it is called, and a copy of it under another name.

It reads as much of ELF and of BTF (Documentation/bpf/btf.rst of Linux) as that needs.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, NamedTuple

from interlayer.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Iterator

OPS = "tcp_congestion_ops"
SECTION, LINK_SECTION = ".struct_ops", ".struct_ops.link"
NAME_BYTES = 16
"""TCP_CA_NAME_MAX of Linux: the name and the zero behind it."""

_ELF_CLASS_64, _ET_REL, _EM_BPF = 2, 1, 247
_SHT_SYMTAB = 2
_BTF_MAGIC = 0xEB9F
_STRUCT, _DATASEC = 4, 15
_BEHIND_EACH = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12)}
_BEHIND_EACH |= {17: (4, 0), 19: (0, 12)}
"""Bytes behind the twelve of a BTF type, by its kind: so many, and so many for each member. The others have none."""


class _Section(NamedTuple):
    name: str
    kind: int
    offset: int
    size: int
    link: int


class _Type(NamedTuple):
    name: str
    kind: int
    size_or_type: int
    members: list[tuple[int, int, int]]
    """What follows, in threes: name, type, offset in bits of a structure's; type, offset, size of a section's."""


class BpfObject:
    """An object file with one `struct tcp_congestion_ops` in its section `.struct_ops`."""

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self._data = data
        self._order = "<" if sys.byteorder == "little" else ">"
        try:
            self._read()
        except KernelError:
            raise
        except (struct.error, LookupError, OverflowError, ValueError) as e:
            # Lengths and offsets that lead out of the file.
            raise self._wrong(f"damaged: {e}") from e

    def renamed(self, name: str) -> bytes:
        """The object with the congestion control called `name`.

        A section `.struct_ops.link` becomes a `.struct_ops`: its registration then lasts until it is taken back, and
        needs no link that is pinned. libbpf before 1.2 knows no other.
        """
        raw = name.encode("ascii")
        if not 0 < len(raw) < NAME_BYTES:
            raise ValueError(name)
        data = bytearray(self._data)
        data[self._name_at : self._name_at + NAME_BYTES] = raw.ljust(NAME_BYTES, b"\0")
        for at in self._link_names:
            data[at + len(SECTION)] = 0
        return bytes(data)

    # ------------------------------------------------------------------------------------------------------ reading

    def _read(self) -> None:
        data = self._data
        mark = b"\x7fELF" + bytes([_ELF_CLASS_64, 1 if self._order == "<" else 2])
        if len(data) < 64 or data[:6] != mark or self._unpack("HH", 16) != (_ET_REL, _EM_BPF):
            raise self._wrong("no BPF object file; compile it with `clang -target bpf -g -O2 -c`")
        sections = self._sections()
        by_name = {section.name: section for section in sections}
        if (btf := by_name.get(".BTF")) is None:
            raise self._wrong("no BTF in it; compile it with `-g`")
        types, strings_at = self._types(btf)
        controls = []
        for section in types:
            if section.kind == _DATASEC and section.name in (SECTION, LINK_SECTION):
                for variable in (types[number] for number, _, _ in section.members):
                    of = types[variable.size_or_type]
                    if of.name != OPS:
                        raise self._wrong(f'"{variable.name}" in its section "{section.name}" is no struct {OPS}')
                    controls.append((variable.name, section.name, of))
        if not controls:
            raise self._wrong(f'no struct {OPS} in a section "{SECTION}": there is no congestion control in it')
        if len(controls) > 1:
            names = ", ".join(name for name, _, _ in controls)
            raise self._wrong(f"it has {len(controls)} congestion controls ({names}); one to a file")
        (self.variable, place, of) = controls[0]
        """The variable's name, which is that of its map in the kernel."""
        names_at = [offset for name, _, offset in of.members if self._text(strings_at, name) == "name"]
        self._name_at = by_name[place].offset + self._value_of(self.variable, sections) + (names_at[0] & 0xFFFFFF) // 8
        if self._name_at + NAME_BYTES > by_name[place].offset + by_name[place].size:
            raise ValueError(f'"{self.variable}" is not in its section')
        self.name = self._text(self._name_at, 0)
        """The name that its author gave it."""
        self._link_names = []
        if place == LINK_SECTION:
            texts = [(self._strings.offset, self._strings.size), (strings_at, btf.offset + btf.size - strings_at)]
            self._link_names = [at for begin, size in texts for at in self._found(LINK_SECTION, begin, size)]

    def _wrong(self, why: str) -> KernelError:
        return KernelError(f"{self.file}: {why}")

    def _unpack(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, at)

    def _text(self, table: int, offset: int) -> str:
        """The text at a place of a table of strings, to its zero."""
        return self._data[table + offset : self._data.index(b"\0", table + offset)].decode("utf-8", "replace")

    def _found(self, text: str, begin: int, size: int) -> Iterator[int]:
        """Where in a table of strings one ends with `text`. Sections and their relocations may share it."""
        raw, end = text.encode() + b"\0", begin + size
        at = self._data.find(raw, begin, end)
        while at >= 0:
            yield at
            at = self._data.find(raw, at + 1, end)

    def _sections(self) -> list[_Section]:
        (table,) = self._unpack("Q", 40)
        size, count, strings = self._unpack("HHH", 58)
        heads = [self._unpack("IIQQQQII", table + size * i) for i in range(count)]
        names = heads[strings][4]
        found = [_Section(self._text(names, h[0]), h[1], h[4], h[5], h[6]) for h in heads]
        self._strings = found[strings]
        return found

    def _value_of(self, variable: str, sections: list[_Section]) -> int:
        """Where in its section a variable stands. Its symbol knows: in BTF that is left to the linker."""
        for table in sections:
            if table.kind == _SHT_SYMTAB:
                names = sections[table.link].offset
                for at in range(table.offset, table.offset + table.size, 24):
                    if self._text(names, self._unpack("I", at)[0]) == variable:
                        return self._unpack("Q", at + 8)[0]
        raise ValueError(f'no symbol "{variable}"')

    def _types(self, section: _Section) -> tuple[list[_Type], int]:
        """The types, by their number, and where in the file their strings begin."""
        magic, _, _, head, at, size, strings, _ = self._unpack("HBBIIIII", section.offset)
        if magic != _BTF_MAGIC:
            raise self._wrong("its BTF is not of this machine's byte order")
        begin = section.offset + head
        strings += begin
        at += begin
        end = at + size
        types = [_Type("void", 0, 0, [])]
        while at < end:
            name, info, size_or_type = self._unpack("III", at)
            kind, count = info >> 24 & 0x1F, info & 0xFFFF
            once, each = _BEHIND_EACH.get(kind, (0, 0))
            at += 12
            members = []
            if kind in (_STRUCT, _DATASEC):
                flat = self._unpack(f"{3 * count}I", at)
                members = list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
            types.append(_Type(self._text(strings, name), kind, size_or_type, members))
            at += once + each * count
        return types, strings
