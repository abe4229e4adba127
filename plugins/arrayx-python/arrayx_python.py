"""An arrayx backend in pure Python: an array is a list of numbers, row by row, with shape and type.

Every core primitive is here, and nothing else: arrayx expands the rest into these.  Elements are
computed as Python's numbers, floats in double precision, and fitted to the dtype at the end.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections import namedtuple
from functools import partial, reduce
from itertools import product, repeat
from math import copysign, factorial, inf, nan, prod
from statistics import NormalDist
from struct import calcsize, pack, unpack
from typing import Any

import numpy as np  # at the borders alone: what comes from the host, and what goes back to it

from arrayx.backend import KernelBackend, hookimpl
from arrayx.dtypes import as_dtype
from arrayx.primitives.gather import default_fill, result_shape

Array = namedtuple("Array", "flat shape dtype")
KERNELS: dict[str, Any] = {}


# ------------------------------------------------------------- dtypes: numbers fitted to them


def rounder(digits: int, least: int, largest: float) -> Any:
    """Rounds to so many binary digits, half to even, those of the exponent `least` at least."""

    def fit(v: Any) -> float:
        v = float(v.real)
        if v == 0 or not math.isfinite(v):
            return v
        unit = math.ldexp(1.0, max(math.frexp(v)[1], least) - digits)
        size = abs(round(v / unit) * unit)
        return copysign(size if size <= largest else inf, v)

    return fit


def wrapper(bits: int, low: int) -> Any:
    """Integers wrap around; floats are cut towards zero and stay at the bounds."""

    def fit(v: Any) -> int:
        v = v.real if v == v else 0
        v = int(min(max(v, low), low + (1 << bits) - 1)) if type(v) is float else v
        return (v - low) % (1 << bits) + low

    return fit


FIT: dict[str, Any] = {"bool": bool, "complex128": complex, "float64": lambda v: float(v.real)}
FIT["float16"], FIT["bfloat16"] = rounder(11, -13, 65504.0), rounder(8, -125, 255 * 2.0**120)
FIT["float32"] = rounder(24, -125, (2 - 2.0**-23) * 2.0**127)
FIT["complex64"] = lambda v: complex(FIT["float32"](v.real), FIT["float32"](v.imag))
CODES = {"bool": "?", "float16": "e", "float32": "f", "float64": "d", "complex64": "ff"}
CODES |= {"complex128": "dd", "bfloat16": "f"}
RANGE: dict[str, tuple[Any, Any]] = {"bool": (False, True)}
for bits, code in ((8, "b"), (16, "h"), (32, "i"), (64, "q")):
    CODES |= {f"int{bits}": code, f"uint{bits}": code.upper()}
    for name, low in ((f"int{bits}", -(1 << bits - 1)), (f"uint{bits}", 0)):
        FIT[name], RANGE[name] = wrapper(bits, low), (low, low + (1 << bits) - 1)


def to_bytes(v: Any, dtype: str) -> bytes:
    parts = (v.real, v.imag) if dtype.startswith("complex") else (v,)
    return pack(f"<{CODES[dtype]}", *parts)[2 if dtype == "bfloat16" else 0 :]


def from_bytes(data: bytes, dtype: str) -> Any:
    parts = unpack(f"<{CODES[dtype]}", b"\0\0" * (dtype == "bfloat16") + data)
    return complex(*parts) if len(parts) == 2 else parts[0]


def unsigned(v: int, dtype: str) -> int:
    return FIT["u" + dtype.lstrip("u")](v)


def fitted(values: Any, shape: Any, dtype: str) -> Array:
    return Array(list(map(FIT[dtype], values)), tuple(shape), dtype)


# ------------------------------------------------------------- element by element


def each(name: str, function: Any, result: Any = None, typed: bool = False) -> None:
    """Enters the kernel that applies a function to elements; `result` maps the dtype."""

    def kernel(*operands: Any, **params: Any) -> Array:
        like = [x for x in operands if type(x) is Array][-1]
        columns = [x.flat if type(x) is Array else repeat(FIT[like.dtype](x)) for x in operands]
        f = partial(function, **({"dtype": like.dtype} if typed else params))
        return fitted(map(f, *columns), like.shape, result(like.dtype) if result else like.dtype)

    KERNELS[name] = kernel


# What cmath lacks, without the loss of digits near 0.
COMPLEX = {"expm1": lambda z: 2 * cmath.sinh(z / 2) * cmath.exp(z / 2)}
COMPLEX["log1p"] = lambda z: 2 * cmath.atanh(z / (2 + z))
EDGES = {("log", 0.0): -inf, ("log1p", -1.0): -inf, ("atanh", 1.0): inf, ("atanh", -1.0): -inf}


def of_math(name: str) -> Any:
    """A function of Python's libraries, with what it raises as the number that IEEE 754 has."""
    real, of_complex = getattr(math, name), COMPLEX.get(name) or getattr(cmath, name, None)

    def function(v: Any) -> Any:
        try:
            return of_complex(v) if type(v) is complex else real(v)
        except ValueError:
            return EDGES.get((name, v), inf if name == "lgamma" else nan)
        except OverflowError:
            return inf if name == "cosh" else copysign(inf, v)

    return function


def div(x: Any, y: Any) -> Any:
    if type(x) is int:
        return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    if y != 0:
        return x / y
    return nan if type(x) is complex or x == 0 or x != x else copysign(inf, x) * copysign(1, y)


def rem(x: Any, y: Any) -> Any:
    if type(x) is int:
        return x - y * div(x, y) if y else x
    return nan if y == 0 or math.isinf(x) else math.fmod(x, y)


def pow_(x: Any, y: Any) -> Any:
    if type(x) is int:
        return pow(x, y, 1 << 64) if y >= 0 else {0: -1, 1: 1, -1: 1 - 2 * (y & 1)}.get(x, 0)
    if type(x) is complex:
        return x**y if x or not y else 0
    try:
        return math.pow(x, y)
    except (OverflowError, ValueError):
        return nan if x < 0 and y != math.floor(y) else copysign(inf, x) if y % 2 == 1 else inf


def shift(x: int, y: int, dtype: str, by: Any, signed: bool) -> int:
    x = FIT[dtype.lstrip("u")](x) if signed else unsigned(x, dtype)
    return by(x, min(unsigned(y, dtype), 64))


def nextafter(x: float, y: float, dtype: str) -> float:
    if not (x < y or x > y):
        return y if x == y else nan
    number = int.from_bytes(to_bytes(abs(x), dtype), "little") + (1 if (y > x) == (x >= 0) else -1)
    data = abs(number).to_bytes(len(to_bytes(x, dtype)), "little")
    return copysign(from_bytes(data, dtype), x or y)


def sign(v: Any) -> Any:
    return v if v == 0 or v != v else v / abs(v) if type(v) is complex else copysign(1, v)


def polygamma(v: float, order: int) -> float:
    """A sum of powers of 1 / (v + k), its tail by Euler and Maclaurin; of order 0 digamma."""
    if v != v or v == -inf or (v <= 0 and v == math.floor(v)):
        return nan
    n, factor, terms = order, factorial(order), max(0, 17 - math.floor(v)) if v < 16 else 0
    total, v = sum(factor / (v + k) ** (n + 1) for k in range(terms)), v + terms
    total += factor / 2 / v ** (n + 1) + (factorial(n - 1) / v**n if n else -math.log(v))
    for k, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1):
        total += b * factorial(2 * k + n - 1) / factorial(2 * k) / v ** (2 * k + n)
    return total if n % 2 else -total


def erf_inv(v: float) -> float:
    if v == 0 or not abs(v) < 1:
        return v if v == 0 else copysign(inf, v) if abs(v) == 1 else nan
    y = NormalDist().inv_cdf(0.5 - abs(v) / 2) / -math.sqrt(2)
    if y < 1:  # a step of Newton's for the digits that 0.5 took
        y -= (math.erf(y) - abs(v)) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return copysign(y, v)


def max_(x: Any, y: Any) -> Any:
    return x if x != x or x > y else y


def min_(x: Any, y: Any) -> Any:
    return x if x != x or x < y else y


MATH = "exp expm1 log log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
for name in f"{MATH} cbrt erf erfc lgamma".split():
    each(name, of_math(name))
for name in ("add", "sub", "mul", "neg", "eq", "ne", "lt", "le", "gt", "ge"):
    each(name, getattr(operator, name), (lambda dtype: "bool") if len(name) == 2 else None)
for name in ("and", "or", "xor"):
    each(f"bitwise_{name}", getattr(operator, f"__{name}__"))
for name, function in (("floor", math.floor), ("ceil", math.ceil), ("round", round)):
    each(name, lambda v, f=function: copysign(f(v), v) if math.isfinite(v) else v)
for function in (div, rem, sign, pow_, max_, min_, erf_inv, polygamma, math.atan2):
    each(function.__name__.rstrip("_"), function)
PARTS = {"complex64": "float32", "complex128": "float64"}
each("absorb_mul", lambda x, y: 0 if (x == 0 or y == 0) and x * y != x * y else x * y)
each("select", lambda which, x, y: x if which else y)
each("is_finite", cmath.isfinite, lambda dtype: "bool")
each("nextafter", nextafter, typed=True)
each("digamma", partial(polygamma, order=0))
each("bitwise_not", lambda v, dtype: not v if dtype == "bool" else ~v, typed=True)
each("population_count", lambda v, dtype: unsigned(v, dtype).bit_count(), typed=True)
each("shift_left", partial(shift, by=operator.lshift, signed=False), typed=True)
each("shift_right_logical", partial(shift, by=operator.rshift, signed=False), typed=True)
each("shift_right_arithmetic", partial(shift, by=operator.rshift, signed=True), typed=True)
each("clz", lambda v, dtype: 8 * calcsize(CODES[dtype]) - unsigned(v, dtype).bit_length(), typed=1)
each("abs", abs, lambda dtype: PARTS.get(dtype, dtype))
each("real", lambda v: v.real, PARTS.get)
each("imag", lambda v: v.imag, PARTS.get)
each("complex", complex, {part: name for name, part in PARTS.items()}.get)


def bitcast(x: Array, *, dtype: Any) -> Array:
    data = b"".join(to_bytes(v, x.dtype) for v in x.flat)
    size, have = dtype.itemsize, as_dtype(x.dtype).itemsize
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    shape = (*x.shape, have // size) if have > size else x.shape[: -1 if size > have else None]
    return Array([from_bytes(p, dtype.name) for p in pieces], shape, dtype.name)


# ------------------------------------------------------------- moving elements


def offsets(*columns: Any) -> list[int]:
    """All sums of one number of each column, the last column fastest."""
    return list(map(sum, product(*columns)))


def axes_of(shape: Any) -> list[list[int]]:
    """The places in the list that a step along each axis leads to, from its start on."""
    return [[k * prod(shape[i + 1 :]) for k in range(n)] for i, n in enumerate(shape)]


def taken(x: Array, columns: Any) -> Array:
    """The elements at the sums of places, one column for each axis of the result."""
    return Array([x.flat[i] for i in offsets(*columns)], tuple(map(len, columns)), x.dtype)


def written(x: Array, columns: Any, update: Array) -> Array:
    new = dict(zip(offsets(*columns), update.flat))
    return x._replace(flat=[new.get(i, v) for i, v in enumerate(x.flat)])


KERNELS["full"] = lambda shape, dtype, value, **_: fitted([value] * prod(shape), shape, dtype.name)
KERNELS["convert"] = lambda x, *, dtype, weak_type: fitted(x.flat, x.shape, dtype.name)
KERNELS["reshape"] = lambda x, *, shape: x._replace(shape=shape)


def transpose(x: Array, *, perm: Any) -> Array:
    return taken(x, [axes_of(x.shape)[i] for i in perm])


def iota(*, shape: Any, dtype: Any, axis: int) -> Array:
    columns = [range(n) if i == axis else [0] * n for i, n in enumerate(shape)]
    return fitted(offsets(*columns), shape, dtype.name)


def broadcast_in_dim(x: Array, *, shape: Any, dims: Any) -> Array:
    along = dict(zip(dims, axes_of(x.shape)))
    columns = [along.get(i, [0]) for i in range(len(shape))]
    return taken(x, [c * n if len(c) == 1 else c for c, n in zip(columns, shape)])


def rev(x: Array, *, axes: Any) -> Array:
    return taken(x, [a[::-1] if i in axes else a for i, a in enumerate(axes_of(x.shape))])


def slice_(x: Array, *, starts: Any, limits: Any, strides: Any) -> Array:
    return taken(x, [a[i:j:k] for a, i, j, k in zip(axes_of(x.shape), starts, limits, strides)])


def pad(x: Array, value: Any, *, low: Any, high: Any, interior: Any) -> Array:
    value = getattr(value, "flat", [value])[0]
    spread = [n + max(n - 1, 0) * i for n, i in zip(x.shape, interior)]
    shape = tuple(map(sum, zip(low, spread, high)))
    places = [range(a, a + n, i + 1) for a, n, i in zip(low, spread, interior)]
    kept = [[k for k, at in enumerate(p) if 0 <= at < m] for p, m in zip(places, shape)]
    of = [[along[k] for k in ks] for along, ks in zip(axes_of(x.shape), kept)]
    to = [[along[p[k]] for k in ks] for along, p, ks in zip(axes_of(shape), places, kept)]
    return written(fitted([value] * prod(shape), shape, x.dtype), to, taken(x, of))


def concatenate(*xs: Array, axis: int) -> Array:
    length, shape = sum(x.shape[axis] for x in xs), xs[0].shape
    rows = [prod(x.shape[axis:]) for x in xs]
    every = product(range(prod(shape[:axis])), zip(xs, rows))
    flat = [v for k, (x, n) in every for v in x.flat[k * n : k * n + n]]
    return Array(flat, (*shape[:axis], length, *shape[axis + 1 :]), xs[0].dtype)


def window(x: Array, at: Any, sizes: Any) -> list[list[int]]:
    """The places in a window that begins at `at`, moved inside."""
    first = [max(0, min(getattr(s, "flat", [s])[0], n - m)) for s, n, m in zip(at, x.shape, sizes)]
    return [along[a : a + m] for along, a, m in zip(axes_of(x.shape), first, sizes)]


KERNELS["dynamic_slice"] = lambda x, *starts, sizes: taken(x, window(x, starts, sizes))
KERNELS["dynamic_update_slice"] = lambda x, u, *at: written(x, window(x, at, u.shape), u)


def windows(x: Array, indices: Array, g: Any, sizes: Any) -> Any:
    """For each element of a gather's result: its window, its place, whether that was inside."""
    shape, n = result_shape(indices.shape, g, sizes), indices.shape[-1]
    for index in product(*map(range, shape)):
        at = [index[i] for i in g.batch_positions(len(shape))]
        row = sum(k * prod(indices.shape[i + 1 :]) for i, k in enumerate(at))
        start = {d: at[i] for d, i in zip(g.operand_batching_dims, g.start_indices_batching_dims)}
        start |= zip(g.start_index_map, indices.flat[row : row + n])
        kept = {d: max(0, min(k, x.shape[d] - sizes[d])) for d, k in start.items()}
        every = [*kept.items(), *zip(g.window_dims(len(sizes)), [index[i] for i in g.offset_dims])]
        yield at, sum(k * prod(x.shape[d + 1 :]) for d, k in every), kept == start and x.flat != []


def gather(x: Array, indices: Array, *, dims: Any, sizes: Any, mode: str, fill: Any) -> Array:
    fill = default_fill(as_dtype(x.dtype)) if fill is None else fill
    every = windows(x, indices, dims, sizes)
    found = [x.flat[i] if inside or mode != "fill" else fill for _, i, inside in every]
    return fitted(found, result_shape(indices.shape, dims, sizes), x.dtype)


def scatter(x: Array, indices: Array, updates: Array, *, dims: Any, combine: str, **p: Any) -> Any:
    """What is written later stays: later windows come after all of earlier ones."""
    sizes, flat = dims.window_sizes(len(x.shape), updates.shape), list(x.flat)
    every = zip(windows(x, indices, dims.as_gather(), sizes), updates.flat)
    for (_, i, inside), v in sorted(every, key=lambda pair: pair[0][0]):
        if x.flat and (inside or p["mode"] == "clip"):
            flat[i] = COMBINE[combine](flat[i], v)
    return fitted(flat, x.shape, x.dtype)


COMBINE: dict[str, Any] = {"add": operator.add, "mul": operator.mul, "min": min_, "max": max_}
COMBINE["set"] = lambda old, new: new


# ------------------------------------------------------------- many elements to one


def places(x: Array, axes: Any) -> list[int]:
    return offsets(*[axes_of(x.shape)[i] for i in axes])


def others(x: Array, *axes: int) -> list[int]:
    return [i for i in range(len(x.shape)) if i not in axes]


def reduced(fold: Any, x: Array, *, axes: Any) -> Array:
    kept, inner = others(x, *axes), places(x, axes)
    found = [fold([x.flat[i + j] for j in inner], x.dtype) for i in places(x, kept)]
    return fitted(found, [x.shape[i] for i in kept], x.dtype)


def slid(x: Array, unit: Any, *geometry: Any) -> Array:
    """Windows as an array: first the axes of their beginnings, then those of their elements."""
    padding, base, strides, sizes, dilation = geometry
    low, high, interior = [a for a, _ in padding], [b for _, b in padding], [d - 1 for d in base]
    x = pad(x, unit, low=low, high=high, interior=interior)
    along, reach = axes_of(x.shape), [(k - 1) * d + 1 if k else 0 for k, d in zip(sizes, dilation)]
    begin = [a[: max(len(a) - r + 1, 0) : s] for a, r, s in zip(along, reach, strides)]
    return taken(x, begin + [a[:r:d] or [0] for a, r, d in zip(along, reach, dilation)])


def reduced_windows(fold: Any, x: Array, *, window: Any, **p: Any) -> Array:
    geometry = p["padding"], p["base_dilation"], p["strides"], window, p["window_dilation"]
    cut, n = slid(x, fold([], x.dtype), *geometry), len(window)
    return reduced(fold, cut, axes=range(n, 2 * n))


def folding(name: str, function: Any, unit: Any) -> None:
    """Enters the two kernels that fold elements with a function, from the dtype's unit on."""
    fold = lambda values, dtype: reduce(function, values, unit(dtype))  # noqa: E731
    KERNELS[f"reduce_{name}"] = partial(reduced, fold)
    KERNELS[f"reduce_window_{name}"] = partial(reduced_windows, fold)


folding("sum", operator.add, lambda dtype: 0)
folding("prod", operator.mul, lambda dtype: 1)
folding("max", max_, lambda dtype: RANGE.get(dtype, (-inf, inf))[0])
folding("min", min_, lambda dtype: RANGE.get(dtype, (-inf, inf))[1])
folding("and", operator.and_, lambda dtype: True if dtype == "bool" else -1)
folding("or", operator.or_, lambda dtype: 0)


def order(v: Any) -> Any:
    """What sorting compares: nan comes last, zeros are equal."""
    return [p != p for p in (v.real, v.imag)], [p if p == p else 0 for p in (v.real, v.imag)]


def sort(*xs: Array, axis: int, num_keys: int) -> tuple[Array, ...]:
    flats = [list(x.flat) for x in xs]
    for i in places(xs[0], others(xs[0], axis)):
        line = [i + j for j in axes_of(xs[0].shape)[axis]]
        ranked = sorted(line, key=lambda p: [order(x.flat[p]) for x in xs[:num_keys]])
        for (flat, x), (to, of) in product(zip(flats, xs), zip(line, ranked)):
            flat[to] = x.flat[of]
    return tuple(x._replace(flat=flat) for flat, x in zip(flats, xs))


def dot_general(x: Array, y: Array, *, contracting: Any, batch: Any, precision: Any) -> Array:
    inner = list(zip(places(x, contracting[0]), places(y, contracting[1])))
    left, right = (others(a, *contracting[k], *batch[k]) for k, a in enumerate((x, y)))
    pairs = zip(places(x, batch[0]), places(y, batch[1]))
    every = product(pairs, places(x, left), places(y, right))
    met = (([x.flat[b + i + k] * y.flat[c + j + m] for k, m in inner]) for (b, c), i, j in every)
    shape = [x.shape[i] for i in (*batch[0], *left)] + [y.shape[i] for i in right]
    return fitted(map(sum, met), shape, x.dtype)


def conv_general_dilated(x: Array, y: Array, *, dims: Any, **p: Any) -> Array:
    """A product of windows and filters, which both have the groups as axes of their own."""
    h, g, n = p["batch_groups"], p["feature_groups"], len(dims[0]) - 2
    x, y = transpose(x, perm=dims[0]), transpose(y, perm=dims[1])
    lead = [(u, u, *p[k]) for k, u in (("padding", (0, 0)), ("lhs_dilation", 1), ("strides", 1))]
    x = slid(x, 0, *lead, (1, 1, *y.shape[2:]), (1, 1, *p["rhs_dilation"]))
    (b, c, *rest), (o, *inner) = x.shape, y.shape
    x = x._replace(shape=(h, b // h, g, c // g, *rest))
    y = y._replace(shape=(h, g, o // g // h, *inner))
    summed = (3, *range(6 + n, 6 + 2 * n)), (3, *range(4, 4 + n))
    found = dot_general(x, y, contracting=summed, batch=((0, 2), (0, 1)), precision=None)
    found = transpose(found, perm=(2, 0, 1, 5 + n, *range(3, 5 + n)))
    found = found._replace(shape=(b // h, o, *found.shape[4 : 4 + n]))
    return transpose(found, perm=[dims[2].index(i) for i in range(n + 2)])


for function in (bitcast, broadcast_in_dim, concatenate, conv_general_dilated, dot_general, gather,
                 iota, pad, rev, scatter, slice_, sort, transpose):  # fmt: skip
    KERNELS[function.__name__.rstrip("_")] = function


class PythonBackend(KernelBackend):
    """Lists of numbers, computed with by Python."""

    name = "python"
    kernels = KERNELS
    dtypes = frozenset(FIT)

    def put(self, array: np.ndarray, device: Any) -> Array:
        return fitted(array.ravel().tolist(), array.shape, array.dtype.name)

    def get(self, buffer: Array) -> np.ndarray:
        return np.array(buffer.flat, as_dtype(buffer.dtype)).reshape(buffer.shape)


@hookimpl
def arrayx_make_backend(name: str) -> Any:
    """Makes the backend `python`."""
    return PythonBackend() if name == "python" else None
