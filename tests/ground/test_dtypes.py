"""Dtypes and their promotion, against the published lattice and its few named differences."""

import enum
import itertools
import pickle
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from arrayx import dtypes, promotion
from arrayx.config import config
from arrayx.dtypes import ALL, KeyDtype, as_dtype, float0
from arrayx.errors import ArgumentError, DtypeError

# What JAX 0.10 gives for each pair; `*` is a weak result, `-` is refused. First with 64-bit types
# on, so that Python's numbers are 64 bits wide; then the 32-bit types with them off.
JAX_64 = """
    b1  u1  u2  u4  u8  i1  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i*  f*  c*
b1  b1  u1  u2  u4  u8  i1  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i8* f8* cc*
u1  u1  u1  u2  u4  u8  i2  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  u1  f8* cc*
u2  u2  u2  u2  u4  u8  i4  i4  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  u2  f8* cc*
u4  u4  u4  u4  u4  u8  i8  i8  i8  i8  e4  e5  bf  f2  f4  f8  c8  cc  u4  f8* cc*
u8  u8  u8  u8  u8  u8  f8* f8* f8* f8* e4  e5  bf  f2  f4  f8  c8  cc  u8  f8* cc*
i1  i1  i2  i4  i8  f8* i1  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i1  f8* cc*
i2  i2  i2  i4  i8  f8* i2  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i2  f8* cc*
i4  i4  i4  i4  i8  f8* i4  i4  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i4  f8* cc*
i8  i8  i8  i8  i8  f8* i8  i8  i8  i8  e4  e5  bf  f2  f4  f8  c8  cc  i8  f8* cc*
e4  e4  e4  e4  e4  e4  e4  e4  e4  e4  e4  -   -   -   -   -   -   -   e4  e4  -
e5  e5  e5  e5  e5  e5  e5  e5  e5  e5  -   e5  -   -   -   -   -   -   e5  e5  -
bf  bf  bf  bf  bf  bf  bf  bf  bf  bf  -   -   bf  f4  f4  f8  c8  cc  bf  bf  c8
f2  f2  f2  f2  f2  f2  f2  f2  f2  f2  -   -   f4  f2  f4  f8  c8  cc  f2  f2  c8
f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  -   -   f4  f4  f4  f8  c8  cc  f4  f4  c8
f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  -   -   f8  f8  f8  f8  cc  cc  f8  f8  cc
c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  -   -   c8  c8  c8  cc  c8  cc  c8  c8  c8
cc  cc  cc  cc  cc  cc  cc  cc  cc  cc  -   -   cc  cc  cc  cc  cc  cc  cc  cc  cc
i*  i8* u1  u2  u4  u8  i1  i2  i4  i8  e4  e5  bf  f2  f4  f8  c8  cc  i8* f8* cc*
f*  f8* f8* f8* f8* f8* f8* f8* f8* f8* e4  e5  bf  f2  f4  f8  c8  cc  f8* f8* cc*
c*  cc* cc* cc* cc* cc* cc* cc* cc* cc* -   -   c8  c8  c8  cc  c8  cc  cc* cc* cc*
"""
JAX_32 = """
    b1  u1  u2  u4  i1  i2  i4  e4  e5  bf  f2  f4  c8  i*  f*  c*
b1  b1  u1  u2  u4  i1  i2  i4  e4  e5  bf  f2  f4  c8  i4* f4* c8*
u1  u1  u1  u2  u4  i2  i2  i4  e4  e5  bf  f2  f4  c8  u1  f4* c8*
u2  u2  u2  u2  u4  i4  i4  i4  e4  e5  bf  f2  f4  c8  u2  f4* c8*
u4  u4  u4  u4  u4  i4  i4  i4  e4  e5  bf  f2  f4  c8  u4  f4* c8*
i1  i1  i2  i4  i4  i1  i2  i4  e4  e5  bf  f2  f4  c8  i1  f4* c8*
i2  i2  i2  i4  i4  i2  i2  i4  e4  e5  bf  f2  f4  c8  i2  f4* c8*
i4  i4  i4  i4  i4  i4  i4  i4  e4  e5  bf  f2  f4  c8  i4  f4* c8*
e4  e4  e4  e4  e4  e4  e4  e4  e4  -   -   -   -   -   e4  e4  -
e5  e5  e5  e5  e5  e5  e5  e5  -   e5  -   -   -   -   e5  e5  -
bf  bf  bf  bf  bf  bf  bf  bf  -   -   bf  f4  f4  c8  bf  bf  c8
f2  f2  f2  f2  f2  f2  f2  f2  -   -   f4  f2  f4  c8  f2  f2  c8
f4  f4  f4  f4  f4  f4  f4  f4  -   -   f4  f4  f4  c8  f4  f4  c8
c8  c8  c8  c8  c8  c8  c8  c8  -   -   c8  c8  c8  c8  c8  c8  c8
i*  i4* u1  u2  u4  i1  i2  i4  e4  e5  bf  f2  f4  c8  i4* f4* c8*
f*  f4* f4* f4* f4* f4* f4* f4* e4  e5  bf  f2  f4  c8  f4* f4* c8*
c*  c8* c8* c8* c8* c8* c8* c8* -   -   c8  c8  c8  c8  c8* c8* c8*
"""
CODES = {
    "b1": "bool",
    **{f"u{n}": f"uint{8 * n}" for n in (1, 2, 4, 8)},
    **{f"i{n}": f"int{8 * n}" for n in (1, 2, 4, 8)},
    "e4": "float8_e4m3fn",
    "e5": "float8_e5m2",
    "bf": "bfloat16",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    "cc": "complex128",
}
PYTHON = {"i*": 1, "f*": 1.0, "c*": 1j}
WIDE_INTS = {"i8", "u8"}


def table(text):
    columns, *rows = (line.split() for line in text.strip().splitlines())
    return {(a, b): result for a, *row in rows for b, result in zip(columns, row, strict=True)}


def operand(code):
    return PYTHON[code] if code in PYTHON else as_dtype(CODES[code])


def expected(code):
    return as_dtype(CODES[code.rstrip("*")]), code.endswith("*")


@pytest.fixture(autouse=True)
def _bits():
    with config(default_dtype_bits=32):
        yield


def assert_promotes(a, b, result):
    if result == "-":
        with pytest.raises(DtypeError, match=r"no promotion between .* convert one with"):
            promotion.result_type_weak(operand(a), operand(b))
    else:
        assert promotion.result_type_weak(operand(a), operand(b)) == expected(result), (a, b)


def test_promotion_is_jax_s_for_every_pair_when_the_default_is_64_bits():
    with config(default_dtype_bits=64):
        for (a, b), result in table(JAX_64).items():
            assert_promotes(a, b, result)


def test_promotion_is_jax_s_for_every_pair_of_narrow_types_when_the_default_is_32_bits():
    for (a, b), result in table(JAX_32).items():
        # The one difference: JAX has no 64-bit integers there, so it wraps; ours always exist.
        signed_meets_uint32 = "u4" in (a, b) and {a, b} & {"i1", "i2", "i4"}
        assert_promotes(a, b, "i8" if signed_meets_uint32 else result)


def test_wide_types_promote_as_ever_when_the_default_is_32_bits():
    narrow = {"i8*": "i4*", "f8*": "f4*", "cc*": "c8*"}
    for (a, b), result in table(JAX_64).items():
        if not {a, b} & WIDE_INTS:  # a weak result is wide only if a wide integer took part
            result = narrow.get(result, result)
        assert_promotes(a, b, result)


# Every operand that arises: strong types, and weak ones at each width (64 bits are met under
# another default, and from 64-bit integers).
STRONG = [(dtype, False) for dtype in ALL if dtypes.kind(dtype) not in ("key", "float0")]
WEAK = [(as_dtype(n), True) for n in ("int32", "float32", "complex64", "float64", "complex128")]


def join(*pairs):
    try:
        return promotion.lattice_result(pairs)
    except DtypeError:
        return None


def pair(a, b):
    try:
        return None if a is None or b is None else promotion.promote_pair(*a, *b)
    except DtypeError:
        return None


@pytest.mark.parametrize("bits", [32, 64])
def test_promotion_is_commutative_and_idempotent(bits):
    with config(default_dtype_bits=bits):
        for a, b in itertools.product(STRONG + WEAK, repeat=2):
            assert pair(a, b) == pair(b, a) == join(a, b)
        for a in STRONG + WEAK:
            assert pair(a, a) == a


def makes_int64(*operands):
    """A 64-bit integer that no operand is: its width is known only to who joins them first."""
    kinds = {dtypes.kind(dtype) for dtype, weak in operands if not weak}
    dtype_set = {dtype for dtype, _ in operands}
    return "int" in kinds and as_dtype("uint32") in dtype_set and as_dtype("int64") not in dtype_set


@pytest.mark.parametrize("bits", [32, 64])
def test_promotion_is_associative(bits):
    refused = (*dtypes.FLOAT8S, *dtypes.NARROW)
    operands = [a for a in STRONG + WEAK if a[0] not in refused]
    if bits == 64:
        operands.append((as_dtype("int64"), True))
    with config(default_dtype_bits=bits):
        for a, b, c in itertools.product(operands, repeat=3):
            results = pair(pair(a, b), c), pair(a, pair(b, c)), join(a, b, c)
            if makes_int64(a, b, c):
                # `int8 + uint32` is an int64, so then a weak float is wide: only its width differs.
                results = [(dtypes.kind(dtype), weak or dtype) for dtype, weak in results]
            assert results[0] == results[1] == results[2], (a, b, c)


@pytest.mark.parametrize("bits", [32, 64])
def test_no_weak_float_holds_a_64_bit_integer_in_fewer_bits(bits):
    wide = [(as_dtype(n), weak) for n, weak in (("int64", 0), ("uint64", 0), ("int64", 1))]
    with config(default_dtype_bits=bits):
        for a, others in itertools.product(wide, itertools.product(STRONG + WEAK, repeat=2)):
            result = join((a[0], bool(a[1])), *others)
            if result is not None and result[1]:
                assert dtypes.finfo(result[0]).bits == 64 if dtypes.is_inexact(result[0]) else True


def test_no_default_float_holds_a_64_bit_integer_in_fewer_bits():
    for bits in (32, 64):
        with config(default_dtype_bits=bits):
            assert dtypes.float_for(np.int64) == dtypes.float_for(np.uint64) == np.float64
            assert dtypes.float_for(np.int32) == dtypes.float_for(bool) == f"float{bits}"


class Level(enum.IntEnum):
    LOW = 1


def weakly(name):
    return SimpleNamespace(dtype=as_dtype(name), weak_type=True)


@pytest.mark.parametrize(
    ("args", "result"),
    [
        ((1,), ("int32", True)),
        ((True,), ("bool", False)),
        ((True, 1), ("int32", True)),
        ((Level.LOW, np.int8), ("int8", False)),
        ((np.int8(1), 1), ("int8", False)),
        ((np.float64(1), np.float32), ("float64", False)),  # NumPy's scalars are not weak
        ((np.zeros(2, np.int64), 1.5), ("float64", True)),
        ((np.zeros(2, np.uint64), 1j), ("complex128", True)),
        ((np.zeros(2, np.int8), 1.5), ("float32", True)),
        ((weakly("float32"), "bfloat16"), ("bfloat16", False)),
        ((weakly("float32"), weakly("int32"), np.int8), ("float32", True)),
        ((weakly("float64"), "float16"), ("float16", False)),
        (("int8", "uint8", 1.0, "float16"), ("float16", False)),
        ((int, "int8"), ("int32", False)),  # the type is a dtype, not a number
        ((KeyDtype(), KeyDtype()), ("key<threefry2x32>", False)),
        ((weakly("uint8"), 1), ("uint8", False)),
    ],
)
def test_a_result_type_takes_arrays_numbers_and_dtypes(args, result):
    assert promotion.result_type_weak(*args) == (as_dtype(result[0]), result[1])
    assert promotion.result_type(*args) is as_dtype(result[0])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("float8_e5m2", "float32"), "between float32 and float8_e5m2: 8-bit floats are never"),
        ((KeyDtype(), 1), "between int32 and key<threefry2x32>: random keys are not numbers"),
        ((float0, "float32"), "between float0 and float32"),
        (([1, 2], 1), r"\[1, 2\] of type list is no array"),
        ((None, 1), "None of type NoneType is no array"),
        ((), "at least one operand"),
    ],
)
def test_what_cannot_be_promoted_is_refused_by_name(args, words):
    with pytest.raises(DtypeError, match=words):
        promotion.result_type(*args)


def test_promotion_reads_the_default_of_this_thread_and_not_a_remembered_one():
    assert promotion.result_type_weak(True, 1.0)[0] == np.float32
    with config(default_dtype_bits=64):
        assert promotion.result_type_weak(True, 1.0)[0] == np.float64
    assert promotion.result_type_weak(True, 1.0)[0] == np.float32


# ----------------------------------------------------------------- dtypes


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("f4", "float32"),
        (">i4", "int32"),
        (np.dtype(">f8"), "float64"),
        (np.longlong, "int64"),
        (np.dtype("longlong"), "int64"),
        (np.float16, "float16"),
        (np.float32(1), "float32"),
        (np.zeros(1, np.int8), "int8"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.dtype(ml_dtypes.float8_e4m3fn), "float8_e4m3fn"),
        (bool, "bool"),
        (int, "int32"),
        ("float", "float32"),
        (complex, "complex64"),
        (SimpleNamespace(dtype=KeyDtype()), "key<threefry2x32>"),
        (SimpleNamespace(dtype=np.dtype("int8")), "int8"),
    ],
)
def test_as_dtype_gives_the_one_canonical_dtype(given, name):
    assert as_dtype(given) is as_dtype(name)
    assert dtypes.dtype_name(as_dtype(given)) == name


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_dtype_has_a_name_that_finds_it_and_survives_pickling(dtype):
    assert as_dtype(dtypes.dtype_name(dtype)) is dtype
    assert as_dtype(dtype) is dtype
    assert as_dtype(pickle.loads(pickle.dumps(dtype))) is dtype


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "None is not a dtype; leave the argument out"),
        (np.array(["a"]), "arrays of dtype <U1 cannot be used: arrayx has no objects"),
        (np.array([None]), "arrays of dtype object"),
        (np.longdouble, "longdouble.* is not a dtype of arrayx, which are bool, int8"),
        (np.dtype("M8[s]"), "is not a dtype of arrayx"),
        (ml_dtypes.int1, "int1.* is not a dtype of arrayx"),
        (str, "class 'str'.* is not a dtype"),
        (dict, "class 'dict'.* is not a dtype"),
        ("int33", "'int33' is not a dtype of arrayx"),
        ([1.0], r"\[1.0\] of type list is not a dtype and has none"),
        (3, "3 of type int is not a dtype"),
        ("key<philox>", "'key<philox>' is not a dtype"),
    ],
)
def test_what_is_no_dtype_is_refused_by_name(given, words):
    with pytest.raises(DtypeError, match=words):
        as_dtype(given)


def test_a_key_dtype_is_one_unchanging_object():
    key = KeyDtype("threefry2x32")
    assert key is KeyDtype() is pickle.loads(pickle.dumps(key))
    assert str(key) == "key<threefry2x32>"
    assert (key.itemsize, key.kind, key.physical_shape) == (8, "key", (2,))
    assert key.physical_dtype == np.uint32
    assert key != np.dtype(np.uint32) and np.dtype(np.uint32) != key
    with pytest.raises(AttributeError):
        key.impl = "other"
    with pytest.raises(DtypeError, match="no random generator 'philox'"):
        KeyDtype("philox")


KINDS = {
    "bool": ["bool"],
    "int": ["int8", "int64"],
    "uint": ["uint8", "uint64"],
    "float": ["float8_e4m3fn", "bfloat16", "float16", "float64"],
    "complex": ["complex64", "complex128"],
    "narrow int": ["int2", "int4"],
    "narrow uint": ["uint2", "uint4"],
    "narrow float": ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"],
    "key": ["key<threefry2x32>"],
    "float0": ["float0"],
}


def test_a_kind_says_what_values_a_dtype_has():
    for kind, names in KINDS.items():
        for name in names:
            assert dtypes.kind(as_dtype(name)) == dtypes.kind(name) == kind
    assert {dtypes.kind(dtype) for dtype in ALL} == set(KINDS)
    assert len(ALL) == len(set(ALL))
    assert {d for d in ALL if dtypes.is_inexact(d)} == dtypes.INEXACT
    assert {d for d in ALL if dtypes.is_integer(d)} == dtypes.INTEGERS
    numbers = {d for d in ALL if dtypes.issubdtype(d, np.number)}
    assert numbers == dtypes.NUMERIC | set(dtypes.NARROW)
    assert {d for d in dtypes.NUMERIC if not dtypes.is_complex(d)} == dtypes.REAL


@pytest.mark.parametrize(
    ("dtype", "kind", "is_it"),
    [
        ("bfloat16", "real floating", True),
        ("float32", "numeric", True),
        ("bool", "numeric", False),
        ("int8", ("unsigned integer", "signed integer"), True),
        ("uint8", "integral", True),
        ("complex64", ("real floating", "bool"), False),
        ("complex64", "complex floating", True),
        ("int8", np.int8, True),
        ("key<threefry2x32>", "numeric", False),
    ],
)
def test_isdtype_follows_the_array_api(dtype, kind, is_it):
    assert dtypes.isdtype(as_dtype(dtype), kind) is is_it


def test_isdtype_lists_the_kinds_when_asked_for_another():
    with pytest.raises(ArgumentError, match=r"'floating' is not a kind of dtype; .*'integral'"):
        dtypes.isdtype(np.float32, "floating")


@pytest.mark.parametrize(
    ("a", "b", "is_it"),
    [
        ("bfloat16", np.floating, True),
        ("float8_e5m2", np.inexact, True),
        ("uint8", np.signedinteger, False),
        ("bool", np.integer, False),
        ("complex64", np.floating, False),
        (np.floating, np.number, True),
        (np.number, np.floating, False),
        (KeyDtype(), dtypes.prng_key, True),
        (KeyDtype(), dtypes.extended, True),
        (KeyDtype(), np.number, False),
        ("float32", dtypes.extended, False),
        (np.float32, "float32", True),
        (np.floating, np.float32, False),
    ],
)
def test_issubdtype_knows_the_dtypes_numpy_does_not(a, b, is_it):
    assert dtypes.issubdtype(a, b) is is_it


# dtype: (float_for, accumulation_dtype, real_dtype, complex_dtype)
COMPANIONS = {
    "bool": ("float32", "bool", "bool", "complex64"),
    "int8": ("float32", "int8", "int8", "complex64"),
    "uint64": ("float64", "uint64", "uint64", "complex128"),
    "int64": ("float64", "int64", "int64", "complex128"),
    "float8_e4m3fn": ("float8_e4m3fn", "float32", "float8_e4m3fn", "complex64"),
    "bfloat16": ("bfloat16", "float32", "bfloat16", "complex64"),
    "float16": ("float16", "float32", "float16", "complex64"),
    "float32": ("float32", "float32", "float32", "complex64"),
    "float64": ("float64", "float64", "float64", "complex128"),
    "complex64": ("complex64", "complex64", "float32", "complex64"),
    "complex128": ("complex128", "complex128", "float64", "complex128"),
}


@pytest.mark.parametrize("name", COMPANIONS)
def test_a_dtype_has_its_companions(name):
    functions = (
        dtypes.float_for,
        dtypes.accumulation_dtype,
        dtypes.real_dtype,
        dtypes.complex_dtype,
    )
    assert tuple(str(function(name)) for function in functions) == COMPANIONS[name]


def test_keys_and_float0_have_no_floating_form():
    for dtype in (KeyDtype(), float0):
        with pytest.raises(DtypeError, match="has no floating form"):
            dtypes.float_for(dtype)


def test_the_defaults_follow_the_setting():
    for bits in (32, 64):
        with config(default_dtype_bits=bits):
            assert dtypes.default_int() == as_dtype(int) == f"int{bits}"
            assert dtypes.default_float() == as_dtype(float) == f"float{bits}"
            assert dtypes.default_complex() == as_dtype(complex) == f"complex{2 * bits}"
            assert dtypes.default_dtype(bool) == as_dtype(bool) == "bool"
            assert dtypes.index_dtype(5) == f"int{bits}"
            assert dtypes.index_dtype(5, 2**31) == "int64"
    with pytest.raises(DtypeError, match="not a number type of Python's"):
        dtypes.default_dtype(str)


@pytest.mark.parametrize(
    ("value", "dtype", "fits"),
    [
        (127, "int8", True),
        (128, "int8", False),
        (-1, "uint8", False),
        (2**63, "int64", False),
        (2**64 - 1, "uint64", True),
        (True, "uint8", True),
        (7, "bool", True),
        (10**30, "float16", True),  # inf, as a float too large for it would be
        (10**400, "float64", False),
        (1e300, "int8", True),  # no integer: what happens to floats is a rule of conversion
    ],
)
def test_only_python_integers_can_be_out_of_range(value, dtype, fits):
    assert dtypes.scalar_fits(value, dtype) is fits
    if fits:
        dtypes.check_scalar(value, dtype)
    else:
        with pytest.raises(OverflowError, match=f"out of range for {dtype}"):
            dtypes.check_scalar(value, dtype)


def test_an_integer_too_large_for_the_default_is_told_how_to_be_wider():
    with pytest.raises(OverflowError, match=r"4294967296 .*; give dtype='int64', or set config"):
        dtypes.check_scalar(2**32, np.int32)
    with pytest.raises(OverflowError, match="of 5001 bits is out of range for int32"):
        dtypes.check_scalar(2**5000, np.int32)


@pytest.mark.parametrize(
    ("dtype", "bits", "eps"),
    [
        ("float8_e4m3fn", 8, 2**-3),
        ("bfloat16", 16, 2**-7),
        ("float16", 16, 2**-10),
        ("float32", 32, 2**-23),
        ("complex128", 64, 2**-52),
    ],
)
def test_finfo_knows_every_float(dtype, bits, eps):
    assert (dtypes.finfo(dtype).bits, float(dtypes.finfo(dtype).eps)) == (bits, eps)


def test_finfo_and_iinfo_point_at_each_other():
    assert dtypes.iinfo(np.uint8).max == 255
    with pytest.raises(DtypeError, match="not int32; see iinfo"):
        dtypes.finfo(np.int32)
    with pytest.raises(DtypeError, match="not float32; see finfo"):
        dtypes.iinfo(np.float32)


@pytest.mark.parametrize(
    ("a", "b", "can"),
    [
        ("int8", "int16", True),
        ("int64", "float32", False),
        ("bfloat16", "float32", True),
        ("bfloat16", "float16", False),
        (KeyDtype(), KeyDtype(), True),
        (KeyDtype(), "uint32", False),
    ],
)
def test_can_cast_is_numpy_s_for_all_dtypes(a, b, can):
    assert dtypes.can_cast(as_dtype(a), b) is can


def test_jax_s_names_are_found_among_the_dtypes():
    assert dtypes.result_type is promotion.result_type
    assert dtypes.result_type(np.int8, 1.5) == np.float32
    with pytest.raises(dtypes.TypePromotionError):
        dtypes.result_type("float8_e5m2", "float32")
    bits = {"bool": 8, "int4": 4, "bfloat16": 16, "float4_e2m1fn": 4, "complex64": 64}
    assert {name: dtypes.itemsize_bits(name) for name in bits} == bits
    types = {True: bool, 2: int, 2.5: float, 1j: complex}
    assert [dtypes.scalar_type_of(x) for x in types] == list(types.values())
    assert dtypes.scalar_type_of(np.zeros(2, np.uint8)) is int
    with pytest.raises(DtypeError, match="no numbers"):
        dtypes.scalar_type_of(SimpleNamespace(dtype=KeyDtype()))
