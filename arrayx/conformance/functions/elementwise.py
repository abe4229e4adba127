"""Rows of arithmetic, exponentials, circular functions, rounding: one number from one or two."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import (
    ANY,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMERIC,
    ORDERED,
    REAL,
    SIGNED,
    Case,
    Operand,
)
from arrayx.conformance.public import public, rows

ONE = ((2, 3),)
RANK_0 = ((),)
TWO = ((2, 3), (2, 3))
BROADCAST = ((3, 1), (4,))
POSITIVE = (0.1, 3.0)
THREE = ((2, 3), (2, 3), (2, 3))
POWERS = Operand((2, 3), "int32", values=(0, 1, -1, 5, -3, 2))
EIGHT = (-7, 7, -5, 5, 3, -3, -2, 2)
UNIT = (-0.9, 0.9)


def unary(names: str, **facts: Any) -> tuple[Case, ...]:
    """Rows of functions of one array that floats are made of."""
    return rows("numpy", names, ONE, elementwise=True, **facts)


def binary(names: str, **facts: Any) -> tuple[Case, ...]:
    """Rows of functions of two arrays: of one shape, broadcast, of two dtypes, of rank 0.

    All but the first are about how operands are brought together, so that few dtypes will do.
    """
    given = facts.get("dtypes", FLOATS)
    made = list(rows("numpy", names, TWO, elementwise=True, **facts))
    facts = {**facts, "dtypes": tuple(d for d in given if d in ("float64", "int16"))}
    made += rows("numpy", names, BROADCAST, {"broadcast": {}}, **facts)
    made += rows("numpy", names, ((), (3,)), {"rank_0": {}}, **facts)
    facts["dtypes"] = tuple(d for d in given if d in ("float64", "float16"))
    if facts["dtypes"]:
        integers = Operand((3,), "int8", facts.get("domain", (-3.0, 3.0)))
        made += rows("numpy", names, ((2, 3), integers), {"mixed": {}}, **facts)
    return tuple(made)


def _log_of_sum(x: Any, y: Any) -> Any:
    # The larger operand is rounded before a logarithm of at most 1 is added.
    return np.maximum(np.abs(x), np.abs(y)) + 1


def _of_a_multiple(x: Any) -> Any:
    # What pi * x is rounded by, divided by pi * x, counts as much as the sine itself.
    return np.abs(np.sinc(x)) + 1


def _of_a_logarithm(x: Any, y: Any) -> Any:
    result = np.abs(x**y)
    if np.asarray(x**y).dtype.kind != "c":
        return result
    # exp(y * log(x)): the exponent is rounded before.
    return result * (1 + np.abs(y * np.log(x)))


def _floor_of_quotient(x: Any, y: Any) -> Any:
    """`x // y`; with an infinity it is the floor of `x / y`, which NumPy has differently."""
    extreme = np.isinf(x) | np.isinf(y) if np.asarray(x).dtype.kind == "f" else False
    return np.where(extreme, np.floor(np.divide(x, y)), np.floor_divide(x, y)).astype(
        np.floor_divide(x, y).dtype
    )


def _quotient_and_rest(x: Any, y: Any) -> Any:
    return _floor_of_quotient(x, y), np.remainder(x, y)


CASES: tuple[Case, ...] = (
    # --------------------------------------------------------- to floats
    *unary("exp exp2 expm1 sin cos tan sinh cosh tanh", dtypes=ANY, promotes=True),
    *unary("arctan=atan arcsinh=asinh", dtypes=ANY, promotes=True),
    *unary("sinc", dtypes=ANY, promotes=True, scale=_of_a_multiple),
    *unary("log log2 log10 log1p sqrt", dtypes=ANY, promotes=True, domain=POSITIVE),
    *unary("arcsin=asin arccos=acos arctanh=atanh", dtypes=ANY, promotes=True, domain=UNIT),
    *unary("arccosh=acosh", dtypes=ANY, promotes=True, domain=(1.1, 3.0)),
    *unary("reciprocal", dtypes=ANY, promotes=True, domain=POSITIVE),
    *unary("cbrt deg2rad=radians rad2deg=degrees fabs i0", dtypes=ORDERED, promotes=True),
    *rows("numpy", "exp log sqrt sin tanh", RANK_0, {"rank_0": {}}, domain=POSITIVE),
    # --------------------------------------------------------- that keep the dtype
    *unary("square", dtypes=NUMERIC),
    # The sign of -0 is -0, as in StableHLO; NumPy's is 0.
    *unary("sign", dtypes=NUMERIC, signed_zeros=False),
    *unary("negative positive conj=conjugate", dtypes=NUMERIC),
    public("numpy.real_if_close", ((2, 3),), dtypes=REAL),
    *unary("abs=absolute real imag", dtypes=ANY),
    *unary("floor ceil trunc=fix", dtypes=ORDERED),
    *unary("rint", dtypes=ANY, promotes=True),
    *unary("spacing", dtypes=("float64",), differentiable=()),
    # --------------------------------------------------------- of two arrays
    *binary("add multiply", dtypes=ANY),
    *binary("subtract", dtypes=NUMERIC),
    *binary("divide=true_divide", dtypes=ANY, promotes=True, domain=POSITIVE),
    *binary("float_power", dtypes=ANY, promotes=True, domain=POSITIVE, scale=_of_a_logarithm),
    *binary("maximum minimum", dtypes=ORDERED),
    # Which of 0 and -0 is larger is left open.
    *binary("fmax fmin", dtypes=ORDERED, signed_zeros=False),
    *binary("floor_divide", dtypes=REAL, domain=(1.0, 3.9), reference=_floor_of_quotient),
    *binary("remainder=mod", dtypes=REAL, domain=(1.0, 3.9)),
    *rows(
        "numpy",
        "floor_divide remainder fmod divmod",
        (Operand((8,), values=EIGHT), Operand((8,), values=EIGHT[::-1])),
        {"signs": {}},
        dtypes=(*FLOATS, *SIGNED),
    ),
    *binary("fmod", dtypes=REAL, domain=(1.0, 3.9)),
    *binary("power=pow", dtypes=NUMERIC, domain=POSITIVE, scale=_of_a_logarithm),
    *binary("hypot arctan2=atan2", dtypes=ORDERED, promotes=True),
    *binary("logaddexp logaddexp2", dtypes=ORDERED, promotes=True, scale=_log_of_sum),
    *binary("copysign heaviside", dtypes=ORDERED, promotes=True),
    *binary("gcd lcm", dtypes=INTEGERS),
    *binary("nextafter", dtypes=("float64",), differentiable=()),
    *binary("divmod", dtypes=REAL, domain=(1.0, 3.9), reference=_quotient_and_rest),
    # --------------------------------------------------------- in bounds and in decimals
    # Drawn bounds may cross: then the upper one wins.
    *rows("numpy", "clip", THREE, dtypes=ORDERED),
    *rows(
        "numpy",
        "clip",
        ONE,
        {"numbers": {"min": -1, "max": 1}, "above": {"min": 0, "max": None}},
        dtypes=(*FLOATS, *SIGNED),
    ),
    *rows("numpy", "clip", ONE, {"below": {"min": None, "max": 1}}, dtypes=ORDERED),
    *rows("numpy", "clip", ((2, 3), (3,), (2, 1)), {"broadcast": {}}),
    *rows("numpy", "round=around", ONE, {"": {}}, dtypes=REAL),
    *rows("numpy", "round", ONE, {"complex": {"decimals": 1}}, dtypes=COMPLEX),
    *rows(
        "numpy",
        "round",
        ONE,
        {"decimals": {"decimals": 2}, "tens": {"decimals": -1}},
        dtypes=("float64", "float32"),
        domain=(-40.0, 40.0),
        scale=lambda x, decimals: np.abs(x) + 1,
        special=False,
    ),
    *rows(
        "numpy",
        "round",
        (Operand((8,), values=(5, 15, 25, 26, 14, 0, 100, 95)),),
        {"integers": {"decimals": -1}},
        dtypes=INTEGERS,
    ),
    *rows("numpy", "modf", ONE, dtypes=ORDERED, elementwise=True, promotes=True),
    *rows("numpy", "modf", ((),), {"rank_0": {}}),
    *rows("numpy", "frexp", ONE, dtypes=FLOATS),
    *rows("numpy", "frexp", ONE, {"integers": {}}, dtypes=INTEGERS, promotes=True),
    *rows("numpy", "ldexp", ((2, 3), POWERS), dtypes=FLOATS),
    *rows("numpy", "ldexp", ((2, 3), Operand((), "int8", values=3)), {"rank_0": {}}),
    *rows(
        "numpy",
        "ldexp",
        ((2, 3), POWERS),
        {"integers": {}},
        dtypes=SIGNED,
        promotes=False,
        reference=lambda x, n: np.ldexp(x.astype(float), n),
    ),
    # The largest number is that of each dtype.
    *rows("numpy", "nan_to_num", ONE, dtypes=ANY, special=False),
    *rows(
        "numpy",
        "nan_to_num",
        (Operand((2, 3), values=(np.nan, np.inf, -np.inf, 1.5, 0.0, -2.0)),),
        {"given": {"nan": 1.0, "posinf": 2.0, "neginf": -3.0}},
        dtypes=FLOATS,
    ),
)
