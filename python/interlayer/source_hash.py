"""A hash of what a class does: its source, and what that refers to, as far as it is the user's own.

Functions count with their source and with their compiled code: a file that was edited after it was imported has another
source than what runs. What comes with Python or was installed counts by name and version. What is neither source nor a
plain value (an open file, an object of the user's) has no hash, and then the class has none.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
import sys
import sysconfig
import types
from functools import cache
from pathlib import Path
from typing import Any, Final

_LENGTH: Final = 16
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range)
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


class _NoHashError(Exception):
    """Something that has no source and is no plain value."""


def of(cls: type) -> str | None:
    """The hash of a class, 16 hexadecimal digits; None if there is none."""
    found = _Walk()
    try:
        found.add(cls)
    except (_NoHashError, RecursionError):
        return None
    return found.hash.hexdigest()[:_LENGTH]


class _Walk:
    """Feeds a hash with everything that can be reached; each object once."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}

    def add(self, it: Any) -> None:
        if isinstance(it, _PLAIN):
            return self._put(type(it).__name__, repr(it))
        if id(it) in self._seen:
            return self._put("again", str(self._seen[id(it)][0]))
        self._seen[id(it)] = (len(self._seen), it)
        match it:
            case tuple() | list():
                self._put(type(it).__name__, str(len(it)))
                self._all(it)
            case dict() | types.MappingProxyType():
                self._put("dict", str(len(it)))
                self._all(part for pair in it.items() for part in pair)
            case set() | frozenset():
                if not all(isinstance(one, _PLAIN) for one in it):
                    raise _NoHashError
                self._put("set", repr(sorted(map(repr, it))))
            case types.CodeType():
                self._code(it)
            case types.ModuleType():
                self._module(it)
            case staticmethod() | classmethod() | types.MethodType():
                self.add(it.__func__)
            case property():
                self._all((it.fget, it.fset, it.fdel))
            case types.FunctionType():
                self._function(it)
            case types.BuiltinFunctionType():
                self._put("builtin", f"{it.__module__}.{it.__qualname__}")
            case type():
                self._class(it)
            case _:
                raise _NoHashError
        return None

    def _all(self, them: Any) -> None:
        for one in them:
            self.add(one)

    def _put(self, what: str, text: str) -> None:
        data = f"{what} {text}".encode("utf-8", "surrogatepass")
        self.hash.update(len(data).to_bytes(8, "big") + data)

    def _class(self, cls: type) -> None:
        if _is_foreign(cls.__module__) and getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls:
            return self._put("class", f"{cls.__module__}.{cls.__qualname__} {_version(cls.__module__)}")
        self._put("own class", cls.__qualname__)
        if type(cls) is not type:
            self.add(type(cls))
        self._all(cls.__bases__)
        for name, value in vars(cls).items():
            is_code = isinstance(value, types.FunctionType | staticmethod | classmethod | property)
            if isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType):
                continue  # slots and the like
            if is_code or not (name.startswith("__") and name.endswith("__")):
                self._put("attribute", name)
                self.add(value)
        return None

    def _function(self, function: Any) -> None:
        code = function.__code__
        if _is_installed(code.co_filename):
            module = str(function.__module__)
            return self._put("function", f"{module}.{function.__qualname__} {_version(module)}")
        if code.co_filename != "<string>" or "__dataclass_fields__" not in _class_of(function):
            try:
                self._put("source", inspect.cleandoc(inspect.getsource(code)))
            except (OSError, TypeError) as e:
                raise _NoHashError from e
        self.add(code)
        self._all((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:
                self._put("cell", "empty")
        for name in sorted(_globals_of(code)):
            if name in function.__globals__:
                self._put("global", name)
                self.add(function.__globals__[name])
            elif not hasattr(builtins, name):
                self._put("global", f"{name} undefined")
        return None

    def _code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code.hex())
        self._all((code.co_names, code.co_varnames, code.co_freevars, code.co_consts))

    def _module(self, module: types.ModuleType) -> None:
        self._put("module", module.__name__)
        if _is_foreign(module.__name__):
            return self._put("version", _version(module.__name__))
        try:
            self._put("file", Path(str(module.__file__)).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as e:
            raise _NoHashError from e
        for name, value in sorted(vars(module).items()):
            if isinstance(value, types.ModuleType):
                self._put("import", name)
                self.add(value)
        return None


def _class_of(function: Any) -> Any:
    """The names of the class in whose body a function stands, as far as its globals know it."""
    name = function.__qualname__.rpartition(".")[0]
    return vars(function.__globals__[name]) if isinstance(function.__globals__.get(name), type) else {}


def _globals_of(code: types.CodeType) -> set[str]:
    found = {str(one.argval) for one in dis.get_instructions(code) if one.opname in _GLOBAL}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _globals_of(constant)
    return found


@cache
def _is_foreign(module: str) -> bool:
    """Whether a module comes with Python, with this package, or was installed."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "interlayer":
        return top != "__main__"
    return _is_installed(getattr(sys.modules.get(module), "__file__", None) or "")


_INSTALLED = tuple(Path(path).resolve() for path in (sysconfig.get_path("stdlib"), str(Path(__file__).parent)))


@cache
def _is_installed(file: str) -> bool:
    """Whether a file comes with Python, with this package, or was installed."""
    if file.startswith("<frozen "):
        return True
    path = Path(file)
    if {"site-packages", "dist-packages"} & set(path.parts):
        return True
    return path.is_absolute() and any(path.resolve().is_relative_to(folder) for folder in _INSTALLED)


def _version(module: str) -> str:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return ".".join(map(str, sys.version_info[:3]))
    return str(getattr(sys.modules.get(top), "__version__", "unknown"))
