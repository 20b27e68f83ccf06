"""Arithmetic written in an experiment file: evaluated over named constants, and shown as it was computed.

The grammar is that of a pocket calculator: numbers, names, `+ - * / **`, and a few functions. Nothing
else of Python is reachable.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING

from interlayer.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "ceil": math.ceil,
    "floor": math.floor,
}


def names(formula: str) -> set[str]:
    """The free names of a formula. Raises `InputError` if it is none."""
    used = {node.id for node in ast.walk(_parse(formula)) if isinstance(node, ast.Name)}
    return used - _FUNCTIONS.keys()


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """The value of `formula` where names stand for `values`.

    Raises `InputError` for anything that is no arithmetic, an unknown name, or a division by zero.
    """
    try:
        return float(_value(_parse(formula).body, values, formula))
    except (ArithmeticError, ValueError, TypeError) as e:
        if isinstance(e, InputError):
            raise
        raise InputError(f'"{formula}" has no value: {e}') from e


def with_values(formula: str, values: Mapping[str, float]) -> str:
    """The formula with its names replaced by their values: `1500 * 8 / (1667.3 + 300)`."""

    class Substitute(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Constant(values[node.id]) if node.id in values else node

    return ast.unparse(Substitute().visit(_parse(formula)))


def _parse(formula: str) -> ast.Expression:
    try:
        return ast.parse(formula, mode="eval")
    except SyntaxError as e:
        raise InputError(f'"{formula}" is no arithmetic: {e.msg}') from e


def _value(node: ast.expr, values: Mapping[str, float], formula: str) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)  # floats overflow where integers would grow without end
        case ast.Name(id=name):
            if name not in values:
                raise InputError(f'"{formula}": no constant "{name}"{suggestion(name, values)}')
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, values, formula), _value(right, values, formula))
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _UNARY:
            return _UNARY[type(sign)](_value(operand, values, formula))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(a, values, formula) for a in arguments))
    raise InputError(f'"{formula}": "{ast.unparse(node)}" is no arithmetic')
