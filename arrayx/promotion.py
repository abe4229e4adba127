"""How dtypes combine, apart because only functions for users promote: primitives never do.

A *weak* dtype is that of a Python number: it yields to any array's dtype of
its category. The lattice is that of "Type promotion semantics" in JAX's documentation; what is
ours is the width of weak results, which follows `config.default_dtype_bits` but is never less
than 64 where a 64-bit integer took part.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from arrayx.config import config
from arrayx.dtypes import (
    COMPLEXES,
    FLOAT8S,
    FLOATS,
    INTS,
    NARROW,
    NARROW_FLOATS,
    NARROW_INTS,
    NARROW_UINTS,
    UINTS,
    DType,
    KeyDtype,
    as_dtype,
    default_dtype,
    dtype_name,
    kind,
)
from arrayx.errors import DtypeError, TypePromotionError

# ----------------------------------------------------------------- the lattice

# Each node and those just above it; 'int', 'float' and 'complex' are the weak ones.
_ABOVE: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("int",),
    "int": ("int8", "uint8", *(dtype.name for dtype in (*NARROW_INTS, *NARROW_UINTS))),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("float",),
    "uint8": ("uint16", "int16"),
    "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"),
    "uint64": ("float",),
    "float": (
        "complex",
        "bfloat16",
        "float16",
        *(dtype.name for dtype in (*FLOAT8S, *NARROW_FLOATS)),
    ),
    **{dtype.name: () for dtype in (*FLOAT8S, *NARROW)},
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}


def _reach(node: str) -> frozenset[str]:
    return frozenset((node,)).union(*(_reach(above) for above in _ABOVE[node]))


_UPPER: Final = {node: _reach(node) for node in _ABOVE}
_WEAK: Final = ("int", "float", "complex")
_WIDE_INTS: Final = frozenset((INTS[3], UINTS[3]))
_STORED: Final[dict[tuple[str, int], np.dtype[Any]]] = {
    ("int", 32): INTS[2],
    ("int", 64): INTS[3],
    ("float", 32): FLOATS[2],
    ("float", 64): FLOATS[3],
    ("complex", 32): COMPLEXES[0],
    ("complex", 64): COMPLEXES[1],
}


def _join(nodes: frozenset[str]) -> str | None:
    """The lowest node that is above all of `nodes`, if there is one."""
    bounds = frozenset.intersection(*(_UPPER[node] for node in nodes))
    for node in bounds:
        if _UPPER[node] == bounds:
            return node
    return None


def _is_weak(dtype: DType, weak: bool) -> bool:
    # Python has no unsigned numbers, booleans or 8-bit floats: a weak one of those is not weak,
    # else `weak uint64 + weak int64` could not stay associative.
    return weak and kind(dtype) in _WEAK and dtype not in FLOAT8S


def _bits(dtype: DType) -> int:
    """The width of a number, or of one of its two parts."""
    return dtype.itemsize * (4 if kind(dtype) == "complex" else 8)


def lattice_result(pairs: Iterable[tuple[DType, bool]]) -> tuple[DType, bool]:
    """The dtype and weakness of a result of operands given as `(dtype, weak)`.

    Raises `TypePromotionError` where the lattice has no answer: keys, 8-bit floats with other
    floats; with `config.numpy_dtype_promotion = "strict"` for all that `adapts` is not true of.

    >>> lattice_result([(np.dtype("int8"), False), (np.dtype("float32"), True)])
    (dtype('float32'), True)
    """
    operands = {(dtype, _is_weak(dtype, weak)) for dtype, weak in pairs}
    if not operands:
        raise DtypeError("promotion needs at least one operand")
    dtypes = {dtype for dtype, _ in operands}
    if len(dtypes) == 1:
        return dtypes.pop(), all(weak for _, weak in operands)
    if config.snapshot().numpy_dtype_promotion == "strict" and not adapts(operands):
        raise TypePromotionError(
            f"no promotion between {' and '.join(map(_described, sorted(operands, key=str)))}, "
            'since config.numpy_dtype_promotion is "strict"; convert one with x.astype(...)'
        )
    return _joined(operands)


def _joined(operands: set[tuple[DType, bool]]) -> tuple[DType, bool]:
    """The answer of the lattice for operands of different dtypes."""
    dtypes = {dtype for dtype, _ in operands}
    top = None
    if not any(kind(dtype) in ("key", "float0") for dtype in dtypes):
        top = _join(
            frozenset(kind(dtype) if weak else dtype_name(dtype) for dtype, weak in operands)
        )
    if top is None:
        _no_promotion(dtypes)
    if top not in _WEAK:
        return as_dtype(top), False
    if all(weak for _, weak in operands):
        strong, _ = _joined({(dtype, False) for dtype in dtypes})
        if not (dtypes & _WIDE_INTS) or _bits(strong) == 64:
            return strong, True
    widths = [_bits(dtype) for dtype, weak in operands if weak or dtype in _WIDE_INTS]
    bits = max(config.snapshot().default_dtype_bits, *widths, 0)
    return _STORED[top, bits], True


def adapts(operands: Iterable[tuple[DType, bool]]) -> bool:
    """Whether promotion is no more than that Python numbers adapt to what they stand beside.

    An integer adapts to every number, a float to floats and complex numbers, a complex number to
    complex ones; dtypes that differ and are not weak do not.

    >>> adapts([(np.dtype("int8"), False), (np.dtype("int32"), True)])
    True
    """
    operands = set(operands)
    strong = {dtype for dtype, weak in operands if not _is_weak(dtype, weak)}
    if len(strong) > 1 or len({dtype for dtype, _ in operands}) == 1:
        return len(strong) < 2
    widest = max((_WEAK.index(kind(dtype)) for dtype, weak in operands if _is_weak(dtype, weak)))
    return all(kind(dtype) in _TAKES[widest] for dtype in strong)


# The kinds of dtypes to which a weak number adapts, by its place in `_WEAK`.
_TAKES: Final = (
    ("int", "uint", "float", "complex"),
    ("float", "complex"),
    ("complex",),
)


def _described(operand: tuple[DType, bool]) -> str:
    dtype, weak = operand
    return f"Python's {kind(dtype)}" if weak else dtype_name(dtype)


def _no_promotion(dtypes: Iterable[DType]) -> None:
    names = sorted(map(dtype_name, dtypes))
    reason = "they have no common dtype"
    if any(name.startswith("float8") for name in names):
        reason = "8-bit floats are never promoted, since either result could surprise"
    elif any(dtype in NARROW for dtype in dtypes):
        reason = "dtypes of less than 8 bits keep numbers, and are not computed with"
    elif any(name.startswith("key") for name in names):
        reason = "random keys are not numbers; draw from them, or see random.key_data"
    raise TypePromotionError(
        f"no promotion between {' and '.join(names)}: {reason}; convert one with x.astype(...)"
    )


# ----------------------------------------------------------------- two operands, fast

_Pair = tuple[DType, bool]
# One table for each default width and kind of promotion, the settings that matter. The keys hold
# identities, which are quicker to hash than dtypes, and are those of canonical dtypes only, which
# never go.
_Table = dict[tuple[int, bool, int, bool], _Pair]
_PAIRS: Final[dict[str, dict[int, _Table]]] = {
    promotion: {32: {}, 64: {}} for promotion in ("standard", "strict")
}


def promote_pair(dtype_a: DType, weak_a: bool, dtype_b: DType, weak_b: bool) -> _Pair:
    """`lattice_result` of two operands, remembered: the path of every binary operation.

    >>> promote_pair(np.dtype("int64"), False, np.dtype("float32"), True)
    (dtype('float64'), True)
    """
    if dtype_a is dtype_b and weak_a is weak_b:
        return dtype_a, weak_a
    settings = config.snapshot()
    table = _PAIRS[settings.numpy_dtype_promotion][settings.default_dtype_bits]
    found = table.get((id(dtype_a), weak_a, id(dtype_b), weak_b))
    if found is None:
        a, b = as_dtype(dtype_a), as_dtype(dtype_b)
        found = lattice_result(((a, weak_a), (b, weak_b)))
        table[id(a), weak_a, id(b), weak_b] = found
    return found


def promote_types(a: Any, b: Any) -> DType:
    """The dtype of a result of operands of the dtypes `a` and `b`.

    >>> promote_types("int32", "uint32"), promote_types(np.int64, np.float16)
    (dtype('int64'), dtype('float16'))
    """
    return promote_pair(as_dtype(a), False, as_dtype(b), False)[0]


# ----------------------------------------------------------------- operands of any sort


def dtype_and_weak(x: Any) -> _Pair:
    """The dtype of an operand and whether it is weak: an array, scalar, Python number or dtype.

    >>> dtype_and_weak(2.0), dtype_and_weak(np.float64(2.0))
    ((dtype('float32'), True), (dtype('float64'), False))
    """
    python = type(x)
    if python is float or python is int or python is complex:
        return default_dtype(python), True
    if python is bool:
        return default_dtype(bool), False
    if isinstance(x, (np.dtype, KeyDtype, type, str)):
        return as_dtype(x), False
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return as_dtype(dtype), bool(getattr(x, "weak_type", False))
    for python in (int, float, complex):  # their subclasses: enumerations and the like
        if isinstance(x, python):
            return default_dtype(python), True
    raise DtypeError(f"{x!r} of type {type(x).__name__} is no array, number or dtype")


def result_type_weak(*args: Any) -> _Pair:
    """The dtype of an operation on `args`, and whether it is weak.

    >>> result_type_weak(1, 2.0), result_type_weak(np.int8(1), 2)
    ((dtype('float32'), True), (dtype('int8'), False))
    """
    if len(args) == 2:
        return promote_pair(*dtype_and_weak(args[0]), *dtype_and_weak(args[1]))
    return lattice_result(map(dtype_and_weak, args))


def result_type(*args: Any) -> DType:
    """The dtype of an operation on arrays, NumPy scalars, Python numbers and dtypes.

    Python numbers are weak, NumPy's scalars are not.

    >>> result_type(np.zeros(3, np.int8), 1.5), result_type(np.int8, np.float64)
    (dtype('float32'), dtype('float64'))
    """
    return result_type_weak(*args)[0]
