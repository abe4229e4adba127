"""Kernels that write their result into a given array: what planned memory needs.

`out` has the shape and dtype of the result, operands broadcast to it, and the bits are those
of the kernel in `elementwise` or `structural`.  Apart from those because each also has to say
which operands it may overwrite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Var
from arrayx.lazy import lazy
from arrayx_numpy.elementwise import MANY, is_foreign
from arrayx_numpy.structural import are_rows, row_sums

scipy_special = lazy("scipy.special")

_BITS: dict[int, Any] = {1: np.dtype("i1"), 2: np.dtype("i2"), 4: np.dtype("i4"), 8: np.dtype("i8")}


class Into(NamedTuple):
    """A kernel with `out`, and the numbers of the operands that `out` may be."""

    kernel: Any
    overwrites: frozenset[int]


def into(e: Equation, kernel: Any) -> Into | None:
    """The kernel for this equation that takes `out`, None where there is none.

    `kernel` is the one without.
    """
    if isinstance(kernel, np.ufunc):
        # A ufunc reads an element before it writes it.
        return Into(kernel, frozenset(range(len(e.inputs))))
    entry = INTO.get(e.primitive.name)
    if entry is None:
        return None
    function, overwrites, fits = entry
    avals = [a.aval for a in e.inputs if type(a) is Var]
    return Into(function, frozenset(overwrites)) if fits(avals, e) else None


# ----------------------------------------------------------------- elementwise


def absorb_mul(x: Any, y: Any, out: Any) -> Any:
    np.multiply(x, y, out=out)
    # See the kernel of this name: nan in the sum of squares marks what is to be repaired.
    if out.dtype.char in "fdFD":
        total = np.vdot(out, out)
    else:
        total = np.minimum.reduce(out, axis=None, initial=0)
    if total != total:
        np.copyto(out, out.dtype.type(0), where=np.equal(x, 0) | np.equal(y, 0))
    return out


def select(which: Any, x: Any, y: Any, out: Any) -> Any:
    """By arithmetic on bits; a literal comes as an array of rank 0."""
    bits = _BITS[out.dtype.itemsize]
    mask, left, right = which.view(np.int8), x.view(bits), y.view(bits)
    result = out.view(bits)
    if right.ndim == 0 and not right:
        np.multiply(left, mask, out=result, dtype=bits)
        return out
    np.bitwise_xor(left, right, out=result)
    np.multiply(result, mask, out=result, dtype=bits)
    np.bitwise_xor(result, right, out=result)
    return out


def clamp(low: Any, x: Any, high: Any, out: Any) -> Any:
    return np.minimum(np.maximum(x, low, out=out), high, out=out)


def sign(x: Any, out: Any) -> Any:
    return np.copysign(np.sign(x, out=out), x, out=out)


def logistic(x: Any, out: Any) -> Any:
    np.exp(np.negative(x, out=out), out=out)
    return np.reciprocal(np.add(out, out.dtype.type(1), out=out), out=out)


def rsqrt(x: Any, out: Any) -> Any:
    return np.reciprocal(np.sqrt(x, out=out), out=out)


def _special(name: str) -> Callable[..., Any]:
    """A ufunc of scipy's, looked up at its first use."""

    def kernel(x: Any, out: Any) -> Any:
        return getattr(scipy_special, name)(x, out=out)

    return kernel


def convert(x: Any, out: Any, *, dtype: Any, weak_type: bool) -> Any:
    if dtype.kind == "b":
        return np.not_equal(x, 0, out=out)
    np.copyto(out, x, casting="unsafe")
    return out


def _converts(avals: Any, e: Equation) -> bool:
    """True for conversions that are NumPy's own."""
    have, want = avals[0].dtype, e.outputs[0].aval.dtype
    if have == want or is_foreign(have) or is_foreign(want):
        return False
    if want.kind == "b":
        return True
    if have.kind == "c" and want.kind != "c":
        return False
    return not (want.kind in "iu" and have.kind == "f")


# ----------------------------------------------------------------- reductions, repetition


def reduce_sum(x: Any, out: Any, *, axes: Any) -> Any:
    if are_rows(x, axes) and out.flags.c_contiguous:
        row_sums(x, out)
        return out
    return np.add.reduce(x, axis=axes, dtype=out.dtype, out=out)


def _reduction(of: np.ufunc, of_bools: np.ufunc | None = None) -> Callable[..., Any]:
    def kernel(x: Any, out: Any, *, axes: Any) -> Any:
        ufunc = of_bools if of_bools is not None and x.dtype == bool else of
        return ufunc.reduce(x, axis=axes, dtype=out.dtype, out=out)

    return kernel


def _reduces(avals: Any, e: Equation) -> bool:
    """True where nothing is widened on the way, and something is there to reduce."""
    (x,) = avals
    return bool(x.size and e.params["axes"] and dtypes.accumulation_dtype(x.dtype) == x.dtype)


def broadcast_in_dim(x: Any, out: Any, *, shape: Any, dims: Any) -> Any:
    """Repetition along axes of length 1, written down."""
    np.copyto(out, x)
    return out


def _floats(avals: list[Aval], e: Equation) -> bool:
    return all(a.dtype.char in "fd" for a in avals)


def _always(avals: list[Aval], e: Equation) -> bool:
    return True


def _selects(avals: list[Aval], e: Equation) -> bool:
    """As in the kernel without `out`, branches are better for few elements."""
    (out,) = e.outputs
    literal = any(type(a) is not Var for a in e.inputs)
    return (
        out.aval.size >= MANY
        and out.aval.dtype.itemsize in _BITS
        and not (literal and dtypes.kind(out.aval.dtype) == "bool")
    )


# By name: the kernel, the operands it may overwrite, and when it may be used.
INTO: dict[str, tuple[Any, tuple[int, ...], Callable[[list[Aval], Equation], bool]]] = {
    "absorb_mul": (absorb_mul, (), _always),
    "select": (select, (1,), _selects),
    "clamp": (clamp, (0, 1), _floats),
    "sign": (sign, (), _floats),
    "logistic": (logistic, (0,), _floats),
    "rsqrt": (rsqrt, (0,), _floats),
    **{name: (_special(name), (0,), _floats) for name in ("erf", "erfc")},
    "convert": (convert, (), _converts),
    "reduce_sum": (reduce_sum, (), _reduces),
    "reduce_prod": (_reduction(np.multiply), (), _reduces),
    "reduce_max": (_reduction(np.maximum), (), _reduces),
    "reduce_min": (_reduction(np.minimum), (), _reduces),
    "reduce_and": (_reduction(np.bitwise_and, np.logical_and), (), _reduces),
    "reduce_or": (_reduction(np.bitwise_or, np.logical_or), (), _reduces),
}
