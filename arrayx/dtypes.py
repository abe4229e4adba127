"""The dtypes arrayx knows and what each is, apart so that one table says it for every backend.

A dtype is an `np.dtype` (those of ml_dtypes included) or a `KeyDtype`. `as_dtype` gives the one
canonical object, so dtypes can be compared by identity where it is hot. How dtypes combine is in
`promotion.py`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import ml_dtypes
import numpy as np

from arrayx.config import config
from arrayx.errors import ArgumentError, DtypeError, TypePromotionError
from arrayx.lazy import lazy, lazy_attributes

if TYPE_CHECKING:
    from arrayx.limits import FloatLimits, IntegerLimits
    from arrayx.promotion import result_type

# Stands on this module, and is found here too, where JAX has it.
__getattr__, __dir__ = lazy_attributes(
    __name__,
    {"arrayx.limits": "FloatLimits IntegerLimits", "arrayx.promotion": "result_type"},
)
limits = lazy("arrayx.limits")

__all__ = [
    "ALL",
    "BOOLS",
    "COMPLEXES",
    "FLOAT8S",
    "FLOATS",
    "HALFS",
    "INEXACT",
    "INTEGERS",
    "INTS",
    "KEYS",
    "NARROW",
    "NARROW_FLOATS",
    "NARROW_INTS",
    "NARROW_UINTS",
    "NUMERIC",
    "REAL",
    "UINTS",
    "DType",
    "KeyDtype",
    "TypePromotionError",
    "accumulation_dtype",
    "as_dtype",
    "bfloat16",
    "can_cast",
    "canonicalize_dtype",
    "check_scalar",
    "complex_dtype",
    "default_complex",
    "default_dtype",
    "default_float",
    "default_int",
    "dtype_name",
    "extended",
    "finfo",
    "float0",
    "float_for",
    "iinfo",
    "index_dtype",
    "is_complex",
    "is_inexact",
    "is_integer",
    "isdtype",
    "issubdtype",
    "itemsize_bits",
    "kind",
    "prng_key",
    "real_dtype",
    "result_type",
    "scalar_fits",
    "scalar_type_of",
]


class extended(np.generic):
    """Abstract type of the dtypes NumPy has not, for `issubdtype`."""


class prng_key(extended):
    """Abstract type of the dtypes of random keys, for `issubdtype`."""


class KeyDtype:
    """The dtype of random keys: `key<threefry2x32>`, in memory two uint32 for each key.

    There is one object for each implementation, so keys' dtypes are compared by identity.

    >>> key = KeyDtype()
    >>> key is as_dtype("key<threefry2x32>"), key.physical_shape, str(key.physical_dtype)
    (True, (2,), 'uint32')
    """

    __slots__ = ("impl", "itemsize", "kind", "name", "physical_dtype", "physical_shape", "type")

    impl: str
    name: str
    kind: str
    itemsize: int
    physical_dtype: np.dtype[Any]
    physical_shape: tuple[int, ...]
    type: type[prng_key]

    def __new__(cls, impl: str = "threefry2x32") -> KeyDtype:
        known = _KEY_DTYPES.get(impl)
        if known is not None:
            return known
        if impl != "threefry2x32":
            raise DtypeError(f"no random generator {impl!r}: there is 'threefry2x32'")
        made = super().__new__(cls)
        for attribute, value in {
            "impl": impl,
            "name": f"key<{impl}>",
            "kind": "key",
            "itemsize": 8,
            "physical_dtype": np.dtype(np.uint32),
            "physical_shape": (2,),
            "type": prng_key,
        }.items():
            object.__setattr__(made, attribute, value)
        return _KEY_DTYPES.setdefault(impl, made)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a KeyDtype does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a KeyDtype does not change")

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyDtype, (self.impl,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


_KEY_DTYPES: Final[dict[str, KeyDtype]] = {}

DType: TypeAlias = np.dtype[Any] | KeyDtype

# ----------------------------------------------------------------- the table

float0: Final[np.dtype[Any]] = np.dtype([("float0", np.void, 0)])
"""The dtype of the tangents of integers and booleans: no bytes, no values."""

# One line per kind, each from narrow to wide.
BOOLS: Final = (np.dtype(np.bool_),)
INTS: Final = tuple(np.dtype(name) for name in ("int8", "int16", "int32", "int64"))
UINTS: Final = tuple(np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64"))
FLOAT8S: Final[tuple[np.dtype[Any], ...]] = tuple(
    np.dtype(getattr(ml_dtypes, name))
    for name in (
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
)
# Less than 8 bits wide, one byte each on the host: numbers in them are kept, not computed with.
NARROW_INTS: Final = tuple(np.dtype(getattr(ml_dtypes, name)) for name in ("int2", "int4"))
NARROW_UINTS: Final = tuple(np.dtype(getattr(ml_dtypes, name)) for name in ("uint2", "uint4"))
NARROW_FLOATS: Final[tuple[np.dtype[Any], ...]] = tuple(
    np.dtype(getattr(ml_dtypes, name))
    for name in ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")
)
NARROW: Final[tuple[np.dtype[Any], ...]] = (*NARROW_INTS, *NARROW_UINTS, *NARROW_FLOATS)
HALFS: Final[tuple[np.dtype[Any], ...]] = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
FLOATS: Final[tuple[np.dtype[Any], ...]] = (*HALFS, np.dtype(np.float32), np.dtype(np.float64))
COMPLEXES: Final = (np.dtype(np.complex64), np.dtype(np.complex128))
KEYS: Final = (KeyDtype(),)
ALL: Final[tuple[DType, ...]] = (
    *BOOLS,
    *INTS,
    *UINTS,
    *FLOAT8S,
    *FLOATS,
    *COMPLEXES,
    *NARROW,
    *KEYS,
    float0,
)
"""Every dtype there is; the other tuples are its parts, in the same order."""

INTEGERS: Final[frozenset[DType]] = frozenset((*INTS, *UINTS))
INEXACT: Final[frozenset[DType]] = frozenset((*FLOAT8S, *FLOATS, *COMPLEXES))
REAL: Final[frozenset[DType]] = frozenset((*INTS, *UINTS, *FLOAT8S, *FLOATS))
NUMERIC: Final[frozenset[DType]] = REAL | frozenset(COMPLEXES)

_KINDS: Final[dict[DType, str]] = {
    dtype: kind
    for kind, row in (
        ("bool", BOOLS),
        ("int", INTS),
        ("uint", UINTS),
        ("float", FLOAT8S + FLOATS),
        ("complex", COMPLEXES),
        ("narrow int", NARROW_INTS),
        ("narrow uint", NARROW_UINTS),
        ("narrow float", NARROW_FLOATS),
        ("key", KEYS),
        ("float0", (float0,)),
    )
    for dtype in row
}

_BY_NAME: Final[dict[str, DType]] = {
    **{dtype.name: dtype for dtype in ALL},
    "float0": float0,
    "bool_": BOOLS[0],
}
_BY_TYPE: Final[dict[Any, DType]] = {
    **{dtype.type: dtype for dtype in ALL if isinstance(dtype, np.dtype) and dtype != float0},
    bool: BOOLS[0],
}
# NumPy has several objects for one dtype (`longlong` beside `int64`): equal, not identical.
_CANONICAL: Final[dict[Any, DType]] = {dtype: dtype for dtype in ALL}
# Hashing a dtype takes NumPy longer than all else here. These objects never go, nor do their ids.
_BY_ID: Final[dict[int, DType]] = {id(dtype): dtype for dtype in ALL}

# The dtypes of Python's numbers, for each width that `config` can ask for.
_DEFAULTS: Final[dict[int, dict[type, np.dtype[Any]]]] = {
    32: {bool: BOOLS[0], int: INTS[2], float: FLOATS[2], complex: COMPLEXES[0]},
    64: {bool: BOOLS[0], int: INTS[3], float: FLOATS[3], complex: COMPLEXES[1]},
}
_PYTHON_NAMES: Final[dict[str, type]] = {"int": int, "float": float, "complex": complex}


# ----------------------------------------------------------------- from anything to a dtype


def as_dtype(x: Any) -> DType:
    """The canonical dtype that `x` names: a dtype, a scalar type, a string, or what has a `.dtype`.

    Python's `int`, `float` and `complex` are the default dtypes, which `config.default_dtype_bits`
    decides; all else is taken at its word. Byte order is dropped. Raises `DtypeError` for what is
    no dtype of arrayx's (objects, strings, dates, extended precision).

    >>> as_dtype("bfloat16"), as_dtype(np.float64), as_dtype(float)
    (dtype(bfloat16), dtype('float64'), dtype('float32'))
    """
    dtype = _BY_ID.get(id(x))
    if dtype is not None:
        return dtype
    if isinstance(x, np.dtype):
        dtype = _CANONICAL.get(x)
        return _foreign(x) if dtype is None else dtype
    if isinstance(x, type):
        dtype = _BY_TYPE.get(x)
        if dtype is not None:
            return dtype
        if x in (int, float, complex):
            return default_dtype(x)
        return _foreign(x)
    if isinstance(x, str):
        dtype = _BY_NAME.get(x)
        if dtype is not None:
            return dtype
        if x in _PYTHON_NAMES:
            return default_dtype(_PYTHON_NAMES[x])
        return _foreign(x)
    found = getattr(x, "dtype", None)
    if isinstance(found, (np.dtype, KeyDtype)):
        return as_dtype(found)
    return _no_dtype(x)


def _foreign(x: Any) -> DType:
    """What NumPy takes `x` for, if that is one of ours: other byte orders, 'f4', np.longlong."""
    if isinstance(x, type) and not issubclass(x, np.generic):
        return _no_dtype(x)  # np.dtype(AnyClass) is `object`
    try:
        dtype = _CANONICAL.get(np.dtype(x).newbyteorder("="))
    except (TypeError, ValueError):
        dtype = None
    return _no_dtype(x) if dtype is None else dtype


def _no_dtype(given: Any) -> NoReturn:
    if given is None:
        raise DtypeError("None is not a dtype; leave the argument out to get the default")
    if isinstance(given, np.dtype) and given.kind in "OUST":
        raise DtypeError(
            f"arrays of dtype {given} cannot be used: arrayx has no objects and no strings, "
            f"only numbers; convert with .astype(...) first"
        )
    if not isinstance(given, (np.dtype, type, str)):
        raise DtypeError(f"{given!r} of type {type(given).__name__} is not a dtype and has none")
    raise DtypeError(
        f"{given!r} is not a dtype of arrayx, which are {', '.join(map(dtype_name, ALL))}"
    )


def dtype_name(dtype: DType) -> str:
    """The name under which `as_dtype` finds `dtype` again.

    >>> dtype_name(as_dtype(bool)), dtype_name(float0), dtype_name(KeyDtype())
    ('bool', 'float0', 'key<threefry2x32>')
    """
    return "float0" if dtype == float0 else str(dtype.name)


# ----------------------------------------------------------------- kinds


def kind(dtype: Any) -> str:
    """One of 'bool', 'int', 'uint', 'float', 'complex', 'key', 'float0'.

    Dtypes of less than 8 bits, which only keep numbers, are 'narrow int', 'narrow uint' and
    'narrow float'.

    >>> kind("bfloat16"), kind(np.uint8), kind(float0)
    ('float', 'uint', 'float0')
    """
    try:
        return _KINDS[dtype]
    except (KeyError, TypeError):
        return _KINDS[as_dtype(dtype)]


def is_inexact(dtype: Any) -> bool:
    """Whether values of `dtype` are floats or complex numbers: what can be differentiated.

    >>> is_inexact(np.float16), is_inexact(np.int32)
    (True, False)
    """
    return kind(dtype) in ("float", "complex")


def is_integer(dtype: Any) -> bool:
    """Whether values of `dtype` are integers, with or without sign; booleans are none.

    >>> is_integer("uint8"), is_integer(bool)
    (True, False)
    """
    return kind(dtype) in ("int", "uint")


def is_complex(dtype: Any) -> bool:
    """Whether values of `dtype` are complex numbers.

    >>> is_complex("complex64")
    True
    """
    return kind(dtype) == "complex"


_ABSTRACT: Final[dict[type, frozenset[str]]] = {
    np.generic: frozenset(_KINDS.values()),
    np.number: frozenset(_KINDS.values()) - {"bool", "key", "float0"},
    np.integer: frozenset(("int", "uint", "narrow int", "narrow uint")),
    np.signedinteger: frozenset(("int", "narrow int")),
    np.unsignedinteger: frozenset(("uint", "narrow uint")),
    np.inexact: frozenset(("float", "complex", "narrow float")),
    np.floating: frozenset(("float", "narrow float")),
    np.complexfloating: frozenset(("complex",)),
    extended: frozenset(("key",)),
    prng_key: frozenset(("key",)),
}


def issubdtype(a: Any, b: Any) -> bool:
    """Whether `a` is `b` or one of the dtypes below it (`np.floating`, `prng_key`, …).

    Unlike NumPy's, it knows that bfloat16 and the 8-bit floats are floating.

    >>> issubdtype("bfloat16", np.floating), issubdtype(KeyDtype(), prng_key)
    (True, True)
    """
    if isinstance(a, type) and a in _ABSTRACT:
        return isinstance(b, type) and b in _ABSTRACT and _ABSTRACT[a] <= _ABSTRACT[b]
    if isinstance(b, type) and b in _ABSTRACT:
        return kind(a) in _ABSTRACT[b]
    return as_dtype(a) is as_dtype(b)


_STANDARD_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("bool",),
    "signed integer": ("int", "narrow int"),
    "unsigned integer": ("uint", "narrow uint"),
    "integral": ("int", "uint", "narrow int", "narrow uint"),
    "real floating": ("float", "narrow float"),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex", "narrow int", "narrow uint", "narrow float"),
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether `dtype` is of a kind: a dtype, a name of the Array API standard, or a tuple of them.

    >>> isdtype(np.int32, "integral"), isdtype(np.float32, ("bool", np.float64))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        kinds = _STANDARD_KINDS.get(kind)
        if kinds is None:
            raise ArgumentError(
                f"isdtype: {kind!r} is not a kind of dtype; the kinds are "
                f"{', '.join(map(repr, _STANDARD_KINDS))}"
            )
        return _KINDS[as_dtype(dtype)] in kinds
    return as_dtype(dtype) is as_dtype(kind)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether every value of `from_` (a dtype or array) can be one of `to`, as in NumPy.

    >>> can_cast("int8", "bfloat16"), can_cast(np.int64, np.int32)
    (True, False)
    """
    a, b = as_dtype(from_), as_dtype(to)
    if isinstance(a, KeyDtype) or isinstance(b, KeyDtype):
        return a is b
    return bool(np.can_cast(a, b, casting=casting))  # type: ignore[arg-type]


# ----------------------------------------------------------------- defaults and companions


def default_dtype(python_type: type) -> np.dtype[Any]:
    """The dtype of Python's `bool`, `int`, `float` or `complex`, by `config.default_dtype_bits`.

    >>> default_dtype(int), default_dtype(complex)
    (dtype('int32'), dtype('complex64'))
    """
    try:
        return _DEFAULTS[config.snapshot().default_dtype_bits][python_type]
    except KeyError:
        raise DtypeError(f"{python_type!r} is not a number type of Python's") from None


def default_int() -> np.dtype[Any]:
    """The dtype of an integer array made without one: int32 or int64.

    >>> default_int()
    dtype('int32')
    """
    return default_dtype(int)


def default_float() -> np.dtype[Any]:
    """The dtype of a float array made without one: float32 or float64.

    >>> default_float()
    dtype('float32')
    """
    return default_dtype(float)


def default_complex() -> np.dtype[Any]:
    """The dtype of a complex array made without one: complex64 or complex128.

    >>> default_complex()
    dtype('complex64')
    """
    return default_dtype(complex)


def index_dtype(*sizes: int) -> np.dtype[Any]:
    """The dtype of indices into axes of these sizes: int64 where one needs it, or by default.

    >>> index_dtype(10, 2**31), index_dtype(10)
    (dtype('int64'), dtype('int32'))
    """
    return INTS[3] if any(size >= 2**31 for size in sizes) else default_int()


def float_for(dtype: Any) -> np.dtype[Any]:
    """What `sqrt`, `mean` and `/` give for `dtype`: a float wide enough for its values.

    Floats and complex numbers stay, 64-bit integers become float64, all else the default float.

    >>> float_for(np.int64), float_for(np.int8), float_for("bfloat16")
    (dtype('float64'), dtype('float32'), dtype(bfloat16))
    """
    given = as_dtype(dtype)
    which = _KINDS[given]
    if isinstance(given, KeyDtype) or which == "float0" or given in NARROW:
        raise DtypeError(f"{dtype_name(given)} has no floating form")
    if which in ("float", "complex"):
        return given
    return FLOATS[3] if given.itemsize == 8 else default_float()


_ACCUMULATION: Final[dict[DType, np.dtype[Any]]] = dict.fromkeys((*FLOAT8S, *HALFS), FLOATS[2])


def accumulation_dtype(dtype: Any) -> DType:
    """The dtype in which sums of `dtype` are kept: float32 for narrower floats, else the same.

    >>> accumulation_dtype("bfloat16"), accumulation_dtype(np.int8)
    (dtype('float32'), dtype('int8'))
    """
    given = as_dtype(dtype)
    return _ACCUMULATION.get(given, given)


def real_dtype(dtype: Any) -> DType:
    """The dtype of the real part: complex64 → float32, complex128 → float64, others themselves.

    >>> real_dtype(np.complex64), real_dtype(np.int8)
    (dtype('float32'), dtype('int8'))
    """
    given = as_dtype(dtype)
    if _KINDS[given] != "complex":
        return given
    return FLOATS[3] if given.itemsize == 16 else FLOATS[2]


def complex_dtype(dtype: Any) -> np.dtype[Any]:
    """The narrowest complex dtype that holds `dtype`, integers as their `float_for`.

    >>> complex_dtype(np.float64), complex_dtype(np.float16)
    (dtype('complex128'), dtype('complex64'))
    """
    floating = float_for(dtype)
    if _KINDS[floating] == "complex":
        return floating
    return COMPLEXES[1] if floating.itemsize == 8 else COMPLEXES[0]


# ----------------------------------------------------------------- ranges


@cache
def _finfo(dtype: DType) -> FloatLimits:
    return limits.float_limits(dtype)  # type: ignore[no-any-return]


@cache
def _iinfo(dtype: DType) -> IntegerLimits:
    return limits.integer_limits(dtype)  # type: ignore[no-any-return]


def finfo(dtype: Any) -> FloatLimits:
    """Limits of a floating dtype (of its parts, if complex): `eps`, `max`, `tiny`, `bits`, ….

    They are Python's floats, so they leave the dtype of an array as it is.

    >>> finfo("bfloat16").eps
    0.0078125
    """
    real = real_dtype(dtype)
    if _KINDS[real] not in ("float", "narrow float"):
        raise DtypeError(f"finfo is about floating dtypes, not {dtype_name(real)}; see iinfo")
    return _finfo(real)


def iinfo(dtype: Any) -> IntegerLimits:
    """Limits of an integer dtype: `min`, `max`, `bits`.

    >>> iinfo(np.int8).max
    127
    """
    dtype = as_dtype(dtype)
    if _KINDS[dtype] not in _ABSTRACT[np.integer]:
        raise DtypeError(f"iinfo is about integer dtypes, not {dtype_name(dtype)}; see finfo")
    return _iinfo(dtype)


_LIMITS: Final[dict[DType, tuple[int, int]]] = {
    dtype: (int(found.min), int(found.max))
    for dtype in (*INTS, *UINTS, *NARROW_INTS, *NARROW_UINTS)
    for found in (ml_dtypes.iinfo(dtype),)  # type: ignore[no-untyped-call]
}
_LARGEST: Final = int(np.finfo(np.float64).max)


def scalar_fits(value: Any, dtype: Any) -> bool:
    """Whether a Python number is in the range of `dtype`; only integers can fail.

    >>> scalar_fits(200, np.int8), scalar_fits(200, np.uint8), scalar_fits(1e300, np.float32)
    (False, True, True)
    """
    if not isinstance(value, int):
        return True
    dtype = as_dtype(dtype)
    limits = _LIMITS.get(dtype)
    if limits is not None:
        return limits[0] <= value <= limits[1]
    # A float takes any integer, rounded or as inf, as long as Python can make a float of it.
    return _KINDS[dtype] == "bool" or -_LARGEST <= value <= _LARGEST


def check_scalar(value: Any, dtype: Any) -> None:
    """Raise `OverflowError` if a Python integer is out of the range of `dtype`.

    >>> check_scalar(-1, np.uint8)
    Traceback (most recent call last):
    OverflowError: Python integer -1 is out of range for uint8, which holds 0 to 255; int64 holds it
    """
    if scalar_fits(value, dtype):
        return
    dtype = as_dtype(dtype)
    low, high = _LIMITS.get(dtype, (-_LARGEST, _LARGEST))
    if dtype not in _LIMITS:
        raise OverflowError(
            f"a Python integer of {value.bit_length()} bits is out of range for {dtype_name(dtype)}"
        )
    text = str(value) if value.bit_length() < 256 else f"of {value.bit_length()} bits"
    advice = ""
    if _LIMITS[INTS[3]][0] <= value <= _LIMITS[INTS[3]][1]:
        advice = "; int64 holds it"
    if advice and dtype is INTS[2]:
        advice = "; give dtype='int64', or set config.default_dtype_bits = 64"
    raise OverflowError(
        f"Python integer {text} is out of range for {dtype_name(dtype)}, "
        f"which holds {low} to {high}{advice}"
    )


# ----------------------------------------------------------------- JAX's names

bfloat16 = ml_dtypes.bfloat16


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> DType:
    """The canonical dtype that `dtype` stands for; none is narrowed, 64 bits stay 64.

    >>> canonicalize_dtype("float64")
    dtype('float64')
    """
    found = as_dtype(dtype)
    if isinstance(found, KeyDtype) and not allow_extended_dtype:
        raise DtypeError(f"canonicalize_dtype: {found} is a dtype of keys, not of numbers")
    return found


def itemsize_bits(dtype: Any) -> int:
    """The bits of one element: 4 for int4, which takes a byte on the host; 8 for bool.

    >>> itemsize_bits("int4"), itemsize_bits("bfloat16"), itemsize_bits(bool)
    (4, 16, 8)
    """
    found = as_dtype(dtype)
    if found in _LIMITS:
        return _iinfo(found).bits
    if _KINDS[found] in ("float", "narrow float"):
        return _finfo(found).bits
    return 8 * int(found.itemsize)


_PYTHON_KINDS: Final[dict[str, type]] = {
    "bool": bool,
    "int": int,
    "uint": int,
    "float": float,
    "complex": complex,
    "narrow int": int,
    "narrow uint": int,
    "narrow float": float,
}


def scalar_type_of(x: Any) -> type:
    """Python's type of the elements of `x`, an array or a number: bool, int, float or complex.

    >>> scalar_type_of(np.float32(1)), scalar_type_of(2)
    (<class 'float'>, <class 'int'>)
    """
    for python in (bool, int, float, complex):
        if isinstance(x, python):
            return python
    found = _PYTHON_KINDS.get(kind(as_dtype(x)))
    if found is None:
        raise DtypeError(f"scalar_type_of: {x!r} holds no numbers")
    return found
