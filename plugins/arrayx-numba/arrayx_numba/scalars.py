"""One element of an elementwise equation, as lines of Python that Numba compiles.

Apart from the loops around it, because here is what NumPy's kernels define: what becomes of nan,
of integers that overflow, of divisors that are 0.  Operands are names or literals as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

FLOATS = frozenset({"float32", "float64"})
INTEGERS = frozenset(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))
NATIVE = FLOATS | INTEGERS | {"bool"}

Lines = list[str]


def kind(dtype: Any) -> str:
    """`"f"`, `"i"`, `"u"` or `"b"` of a native dtype."""
    return str(np.dtype(dtype).kind)


def type_name(dtype: Any) -> str:
    """The dtype as text in generated code."""
    name = str(dtype)
    return "np.bool_" if name == "bool" else f"np.{name}"


def literal(value: Any, dtype: Any) -> str:
    """A scalar as text, typed."""
    k = kind(dtype)
    if k == "b":
        return "True" if value else "False"
    t = type_name(dtype)
    if k == "f":
        value = float(value)
        if math.isnan(value):
            return f"{t}(np.nan)"
        if math.isinf(value):
            return f"{t}({'-' if value < 0 else ''}np.inf)"
        return f"{t}({value!r})"
    value = int(np.asarray(value).astype(dtype))
    if value == -(2**63):
        return f"{t}(-9223372036854775807 - 1)"
    return f"{t}({value})"


def _unsigned(dtype: Any) -> str:
    return f"np.uint{8 * np.dtype(dtype).itemsize}"


# ----------------------------------------------------------------- arithmetic


def _binary(sign: str) -> Callable[..., Lines]:
    def lines(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
        text = f"{x} {sign} {y}"
        return [f"{o} = {text}"] if k in "fb" else [f"{o} = {t}({text})"]

    return lines


def _neg(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    return [f"{o} = -{x}"] if k == "f" else [f"{o} = {t}({t}(0) - {x})"]


def _absorb_mul(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    if k != "f":
        return [f"{o} = {t}({x} * {y})"]
    return [
        f"{o}_p = {x} * {y}",
        f"{o} = {t}(0) if ({o}_p != {o}_p) & (({x} == 0) | ({y} == 0)) else {o}_p",
    ]


def _div(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    if k == "f":
        return [f"{o} = {x} / {y}"]
    if k == "u":
        return [
            f"{o}_d = {t}(1) if {y} == 0 else {y}",
            f"{o} = {t}(~{t}(0)) if {y} == 0 else {t}({x} // {o}_d)",
        ]
    return [
        f"{o}_d = {t}(1) if ({y} == 0) | ({y} == -1) else {y}",
        f"{o}_q = {t}({x} // {o}_d)",
        f"{o}_r = {t}({x} - {t}({o}_q * {o}_d))",
        f"{o}_q = {t}({o}_q + 1) if ({o}_r != 0) & (({x} < 0) != ({o}_d < 0)) else {o}_q",
        f"{o}_q = {t}({t}(0) - {x}) if {y} == -1 else {o}_q",
        f"{o} = {t}(-1) if {y} == 0 else {o}_q",
    ]


def _rem(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    if k == "f":
        return [f"{o} = np.fmod({x}, {y})"]
    if k == "u":
        return [
            f"{o}_d = {t}(1) if {y} == 0 else {y}",
            f"{o} = {x} if {y} == 0 else {t}({x} % {o}_d)",
        ]
    return [
        f"{o}_d = {t}(1) if ({y} == 0) | ({y} == -1) else {y}",
        f"{o}_r = {t}({x} % {o}_d)",
        f"{o}_r = {t}({o}_r - {o}_d) if ({o}_r != 0) & (({x} < 0) != ({o}_d < 0)) else {o}_r",
        f"{o} = {x} if {y} == 0 else {o}_r",
    ]


def _max(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    if k == "b":
        return [f"{o} = {x} | {y}"]
    nan = f" | ({x} != {x})" if k == "f" else ""
    return [f"{o} = {x} if ({x} > {y}){nan} else {y}"]


def _min(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    if k == "b":
        return [f"{o} = {x} & {y}"]
    nan = f" | ({x} != {x})" if k == "f" else ""
    return [f"{o} = {x} if ({x} < {y}){nan} else {y}"]


def _clamp(o: str, t: str, k: str, e: Any, low: str, x: str, high: str) -> Lines:
    return [*_max(f"{o}_m", t, k, e, x, low), *_min(o, t, k, e, f"{o}_m", high)]


def _abs(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    if k == "u":
        return [f"{o} = {x}"]
    return [f"{o} = {t}(abs({x}))"]


def _sign(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    if k == "f":
        return [
            f"{o}_s = {t}(1) if {x} > 0 else {t}(-1)",
            f"{o} = {x} if ({x} != {x}) | ({x} == 0) else {o}_s",
        ]
    if k == "u":
        return [f"{o} = {t}(1) if {x} > 0 else {t}(0)"]
    return [f"{o} = {t}(1) if {x} > 0 else ({t}(-1) if {x} < 0 else {t}(0))"]


def _call(function: str) -> Callable[..., Lines]:
    def lines(o: str, t: str, k: str, e: Any, *operands: str) -> Lines:
        return [f"{o} = {t}({function}({', '.join(operands)}))"]

    return lines


def _elementary(name: str) -> Callable[..., Lines]:
    """Functions that `elementary` has for float32; the C library's for float64."""

    def lines(o: str, t: str, k: str, e: Any, x: str) -> Lines:
        function = f"{name}32" if t == "np.float32" else f"math.{name}"
        return [f"{o} = {function}({x})"]

    return lines


def _logistic(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    exp = "exp32" if t == "np.float32" else "math.exp"
    return [f"{o} = {t}(1) / ({exp}(-{x}) + {t}(1))"]


def _rsqrt(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    return [f"{o} = {t}(1) / math.sqrt({x})"]


# Powers by these exponents are products and roots.
_ROOTS = {0.5: "{s}", -0.5: "{one} / {s}", 1.5: "{x} * {s}", -1.5: "{one} / {x} / {s}"}


def _pow(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
    exponent = e.inputs[1]
    root = _ROOTS.get(exponent) if isinstance(exponent, float) else None
    if root is None:
        return [f"{o} = {x} ** {y}"]
    text = root.format(x=f"{o}_x", s=f"{o}_s", one=f"{t}(1)")
    # A root of -0.0 is -0.0 and one of -inf nan, where powers are those of 0.0 and inf.
    return [
        f"{o}_x = abs({x}) if ({x} == 0) | ({x} == -np.inf) else {x}",
        f"{o}_s = math.sqrt({o}_x)",
        f"{o} = {text}",
    ]


def _is_finite(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    if kind(e.inputs[0].aval.dtype) != "f":
        return [f"{o} = True"]
    return [f"{o} = math.isfinite({x})"]


def _select(o: str, t: str, k: str, e: Any, which: str, x: str, y: str) -> Lines:
    return [f"{o} = {x} if {which} else {y}"]


def _not(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    return [f"{o} = not {x}"] if k == "b" else [f"{o} = {t}(~{x})"]


def _shift(direction: str) -> Callable[..., Lines]:
    def lines(o: str, t: str, k: str, e: Any, x: str, y: str) -> Lines:
        dtype = e.outputs[0].aval.dtype
        width, u = 8 * np.dtype(dtype).itemsize, _unsigned(dtype)
        head = [f"{o}_n = np.uint64({u}({y}))"]
        if direction == "arithmetic":
            signed = u.replace("uint", "int")
            return [
                *head,
                f"{o}_n = {o}_n if {o}_n < {width} else np.uint64({width - 1})",
                f"{o} = {t}(np.int64({signed}({x})) >> np.int64({o}_n))",
            ]
        sign = "<<" if direction == "left" else ">>"
        return [
            *head,
            f"{o}_b = np.uint64({u}({x})) {sign} ({o}_n & np.uint64({width - 1}))",
            f"{o} = {t}({o}_b) if {o}_n < {width} else {t}(0)",
        ]

    return lines


def _convert(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    have, want = e.inputs[0].aval.dtype, e.outputs[0].aval.dtype
    h = kind(have)
    if have == want:
        return [f"{o} = {x}"]
    if k == "b":
        return [f"{o} = {x} != 0"]
    if h == "b":
        return [f"{o} = {t}(1) if {x} else {t}(0)"]
    if h == "f" and k in "iu":
        limits = np.iinfo(want)
        f = type_name(have)
        return [
            f"{o}_c = {t}({x}) if {x} == {x} else {t}(0)",
            f"{o}_c = {literal(limits.max, want)} if {x} >= {f}({limits.max}) else {o}_c",
            f"{o} = {literal(limits.min, want)} if {x} <= {f}({limits.min}) else {o}_c",
        ]
    return [f"{o} = {t}({x})"]


def _bitcast(o: str, t: str, k: str, e: Any, x: str) -> Lines:
    h = type_name(e.inputs[0].aval.dtype)
    return [f"{o} = {h}({x}).view({t})"]


def _compare(sign: str) -> Callable[..., Lines]:
    return lambda o, t, k, e, x, y: [f"{o} = {x} {sign} {y}"]


REAL = FLOATS
_CIRCULAR = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")
_HYPERBOLIC = ("sinh", "cosh", "asinh", "acosh", "atanh")
NUMBERS = FLOATS | INTEGERS

# By primitive: the lines, and the dtypes of its array operands that they are right for.
EXPRESSIONS: dict[str, tuple[Callable[..., Lines], frozenset[str]]] = {
    "add": (_binary("+"), NUMBERS),
    "sub": (_binary("-"), NUMBERS),
    "mul": (_binary("*"), NUMBERS),
    "neg": (_neg, NUMBERS),
    "absorb_mul": (_absorb_mul, NUMBERS),
    "div": (_div, NUMBERS),
    "rem": (_rem, NUMBERS),
    "max": (_max, NATIVE),
    "min": (_min, NATIVE),
    "clamp": (_clamp, NUMBERS),
    "abs": (_abs, NUMBERS),
    "sign": (_sign, NUMBERS),
    "floor": (_call("np.floor"), REAL),
    "ceil": (_call("np.ceil"), REAL),
    "round": (_call("np.rint"), REAL),
    "is_finite": (_is_finite, NUMBERS),
    "exp": (_elementary("exp"), REAL),
    "log": (_elementary("log"), REAL),
    "tanh": (_elementary("tanh"), REAL),
    "expm1": (_call("math.expm1"), REAL),
    "log1p": (_call("math.log1p"), REAL),
    "sqrt": (_call("math.sqrt"), REAL),
    "rsqrt": (_rsqrt, REAL),
    "logistic": (_logistic, REAL),
    "pow": (_pow, REAL),
    **{name: (_call(f"math.{name}"), REAL) for name in (*_CIRCULAR, *_HYPERBOLIC, "erf", "erfc")},
    "select": (_select, NATIVE),
    "eq": (_compare("=="), NATIVE),
    "ne": (_compare("!="), NATIVE),
    "lt": (_compare("<"), NUMBERS),
    "le": (_compare("<="), NUMBERS),
    "gt": (_compare(">"), NUMBERS),
    "ge": (_compare(">="), NUMBERS),
    "bitwise_and": (_binary("&"), INTEGERS | {"bool"}),
    "bitwise_or": (_binary("|"), INTEGERS | {"bool"}),
    "bitwise_xor": (_binary("^"), INTEGERS | {"bool"}),
    "bitwise_not": (_not, INTEGERS | {"bool"}),
    "shift_left": (_shift("left"), INTEGERS),
    "shift_right_logical": (_shift("logical"), INTEGERS),
    "shift_right_arithmetic": (_shift("arithmetic"), INTEGERS),
    "convert": (_convert, NATIVE),
    "bitcast": (_bitcast, NUMBERS),
}


def is_native(e: Any) -> bool:
    """True for an elementwise equation that `element` has lines for."""
    entry = EXPRESSIONS.get(e.primitive.name)
    if entry is None or len(e.outputs) != 1:
        return False
    arrays = [a.aval for a in e.inputs if hasattr(a, "aval")]
    out = e.outputs[0].aval
    if not arrays or any(str(a.dtype) not in entry[1] for a in arrays):
        return False
    if str(out.dtype) not in NATIVE or any(a.shape != out.shape for a in arrays):
        return False
    if e.primitive.name == "bitcast":
        return bool(np.dtype(arrays[0].dtype).itemsize == np.dtype(out.dtype).itemsize)
    return True


def element(e: Any, out: str, operands: list[str]) -> Lines:
    """Lines that make one element named `out` of the equation."""
    dtype = e.outputs[0].aval.dtype
    return EXPRESSIONS[e.primitive.name][0](out, type_name(dtype), kind(dtype), e, *operands)


def operand_dtype(e: Any, i: int) -> Any:
    """The dtype of operand number i, where it may be a literal."""
    a = e.inputs[i]
    if hasattr(a, "aval"):
        return a.aval.dtype
    if e.primitive.name == "select":
        return e.outputs[0].aval.dtype
    return next(b.aval.dtype for b in reversed(e.inputs) if hasattr(b, "aval"))


# ----------------------------------------------------------------- reductions


class Reduction:
    """How a reduction adds up: the accumulator's type and first value, the step, the result.

    The greatest and the least of floats are found on their bits as integers, which are ordered
    as the floats are: that has a place for nan, and is what a compiler turns into vectors.
    """

    def __init__(self, name: str, dtype: Any, count: int) -> None:
        self.name = name
        self.dtype = np.dtype(dtype)
        self.ordered = name in ("reduce_max", "reduce_min") and self.dtype.kind == "f"
        self.accumulator = self.dtype
        if self.dtype.kind == "b":
            self.accumulator = np.dtype("int32")  # what vectors are made of
        elif self.ordered:
            self.accumulator = np.dtype(f"int{8 * self.dtype.itemsize}")
        elif self.dtype == np.float32 and name != "reduce_prod" and count > 1 << 14:
            self.accumulator = np.dtype("float64")

    def first(self) -> str:
        name, a = self.name, self.accumulator
        if name == "reduce_sum":
            return literal(0, a)
        if name == "reduce_prod":
            return literal(1, a)
        if name in ("reduce_or", "reduce_and"):
            return literal(0 if name == "reduce_or" else -1, a)
        limits = np.iinfo(a)
        return literal(limits.min if name == "reduce_max" else limits.max, a)

    def value(self, x: str, o: str) -> Lines:
        """Lines that make `o`, what is added up, of an element `x`."""
        t = type_name(self.accumulator)
        if self.dtype.kind == "b":
            return [f"{o} = {t}(1) if {x} else {t}(0)"]
        if not self.ordered:
            return [f"{o} = {t}({x})" if self.accumulator != self.dtype else f"{o} = {x}"]
        limits = np.iinfo(self.accumulator)
        worst = limits.max if self.name == "reduce_max" else limits.min
        return [
            f"{o} = {type_name(self.dtype)}({x}).view({t})",
            f"{o} = {t}({o} ^ (({o} >> {t}({limits.bits - 1})) & {literal(limits.max, t[3:])}))",
            f"{o} = {o} if {x} == {x} else {literal(worst, t[3:])}",
        ]

    def step(self, acc: str, o: str) -> str:
        t = type_name(self.accumulator)
        k = self.accumulator.kind
        sign = {"reduce_sum": "+", "reduce_prod": "*", "reduce_and": "&", "reduce_or": "|"}.get(
            self.name
        )
        if sign is not None:
            text = f"{acc} {sign} {o}"
            return f"{acc} = {text}" if k in "fb" else f"{acc} = {t}({text})"
        order = ">" if self.name == "reduce_max" else "<"
        return f"{acc} = {o} if {o} {order} {acc} else {acc}"

    def last(self, acc: str) -> str:
        """The result, as an expression."""
        if self.ordered:
            limits = np.iinfo(self.accumulator)
            t = type_name(self.accumulator)
            most = literal(limits.max, self.accumulator)
            bits = f"{t}({acc} ^ (({acc} >> {t}({limits.bits - 1})) & {most}))"
            return f"{bits}.view({type_name(self.dtype)})"
        if self.dtype.kind == "b":
            return f"({acc} != 0)"
        if self.accumulator != self.dtype:
            return f"{type_name(self.dtype)}({acc})"
        return acc


REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"}
)


def is_native_reduction(e: Any) -> bool:
    """True for a reduction that `Reduction` has."""
    if e.primitive.name not in REDUCTIONS or not hasattr(e.inputs[0], "aval"):
        return False
    dtype = str(e.inputs[0].aval.dtype)
    if e.primitive.name in ("reduce_and", "reduce_or"):
        return dtype in INTEGERS | {"bool"}
    return dtype in NUMBERS and str(e.outputs[0].aval.dtype) == dtype
