"""Functions of complex numbers where XLA's own are on the wrong side of a cut, or lose infinities.

XLA drops the sign of a zero, which says on which side of a branch cut a number lies, and makes nan
of what C99 (Annex G) gives a value for.  All these functions are symmetric: so XLA is asked for
numbers of the upper half plane, or of the first quadrant, and the signs are put back; what it has
wrong there is replaced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx_xla.emitter import Emitter, Value

Function = Callable[[Emitter, Value], Value]
INF, NAN = math.inf, math.nan
# Where two parts are replaced, and by what: numbers or values.
Correction = tuple[Value, Any, Any]


class Parts(NamedTuple):
    """Two real arrays, and how questions about them are written."""

    e: Emitter
    x: Value
    y: Value

    def infinite(self, part: Value) -> Value:
        """Where a part that is not negative is inf."""
        return self.e.compare("EQ", part, self.e.like(INF, part))

    def nan(self, part: Value) -> Value:
        """Where a part is nan."""
        return self.e.compare("NE", part, part)

    def zero(self, part: Value) -> Value:
        """Where a part is 0."""
        return self.e.compare("EQ", part, self.e.like(0.0, part))

    def wild(self, part: Value) -> Value:
        """Where a part is inf or nan."""
        finite = self.e.to("is_finite", part.name, Aval(part.shape, dtypes.BOOLS[0]), part)
        return self.e.op("not", finite)

    def both(self, a: Value, b: Value) -> Value:
        """Where two conditions hold."""
        return self.e.op("and", a, b)


def real_part(e: Emitter, z: Value) -> Value:
    """The real part."""
    return e.to("real", z.name, Aval(z.shape, dtypes.real_dtype(z.dtype)), z)


def imaginary_part(e: Emitter, z: Value) -> Value:
    """The imaginary part."""
    return e.to("imag", z.name, Aval(z.shape, dtypes.real_dtype(z.dtype)), z)


def joined(e: Emitter, re: Value, im: Value) -> Value:
    """A complex number from its parts."""
    aval = Aval(re.shape, dtypes.complex_dtype(re.dtype))
    return e.to("complex", f"{re.name}, {im.name}", aval, re, im)


def negative(e: Emitter, x: Value) -> Value:
    """Where a float carries a minus sign, that of a zero too."""
    bits = dtypes.as_dtype(f"int{8 * x.dtype.itemsize}")
    raw = e.to("bitcast_convert", x.name, Aval(x.shape, bits), x)
    return e.compare("LT", raw, e.like(0, raw))


def turned(e: Emitter, where: Value, x: Value) -> Value:
    """`x` with its sign turned where that is asked for."""
    return e.select(where, e.op("negate", x), x)


def replaced(p: Parts, corrections: Iterator[Correction], re: Value, im: Value) -> Any:
    """Two parts, the corrections applied one after the other."""
    for where, a, b in corrections:
        a, b = (v if type(v) is Value else p.e.like(v, re) for v in (a, b))
        re, im = p.e.select(where, a, re), p.e.select(where, b, im)
    return re, im


# ----------------------------------------------------------------- what XLA has wrong


def _exp(p: Parts) -> Iterator[Correction]:
    yield p.both(p.e.compare("EQ", p.x, p.e.like(-INF, p.x)), p.wild(p.y)), 0.0, 0.0
    yield p.both(p.infinite(p.x), p.wild(p.y)), INF, NAN


def _expm1(p: Parts) -> Iterator[Correction]:
    yield p.both(p.e.compare("EQ", p.x, p.e.like(-INF, p.x)), p.wild(p.y)), -1.0, 0.0
    yield p.both(p.infinite(p.x), p.wild(p.y)), INF, NAN


def _log(p: Parts) -> Iterator[Correction]:
    size = p.e.op("abs", p.x)
    yield p.both(p.infinite(size), p.nan(p.y)), INF, NAN
    yield p.both(p.nan(p.x), p.infinite(p.y)), INF, NAN


def _sqrt(p: Parts) -> Iterator[Correction]:
    yield p.both(p.infinite(p.x), p.nan(p.y)), INF, NAN
    yield p.both(p.e.compare("EQ", p.x, p.e.like(-INF, p.x)), p.nan(p.y)), NAN, INF
    yield p.infinite(p.y), INF, INF


def _sinh(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.wild(p.y)), 0.0, NAN
    yield p.both(p.infinite(p.x), p.wild(p.y)), INF, NAN


def _cosh(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.wild(p.y)), NAN, 0.0
    yield p.both(p.infinite(p.x), p.wild(p.y)), INF, NAN


def _tanh(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.wild(p.y)), 0.0, NAN
    yield p.infinite(p.x), 1.0, 0.0


def _asin(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.nan(p.y)), 0.0, NAN


def _acos(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.nan(p.y)), math.pi / 2, NAN


def _asinh(p: Parts) -> Iterator[Correction]:
    yield p.both(p.nan(p.x), p.e.op("not", p.infinite(p.y))), NAN, NAN
    yield p.both(p.nan(p.x), p.zero(p.y)), NAN, 0.0


def _acosh(p: Parts) -> Iterator[Correction]:
    yield p.both(p.zero(p.x), p.nan(p.y)), NAN, math.pi / 2


def _atanh(p: Parts) -> Iterator[Correction]:
    yield p.e.op("or", p.nan(p.x), p.nan(p.y)), NAN, NAN
    known = p.e.op("or", p.zero(p.x), p.infinite(p.x))
    yield p.both(known, p.nan(p.y)), 0.0, NAN
    yield p.both(p.nan(p.x), p.infinite(p.y)), 0.0, math.pi / 2


# ----------------------------------------------------------------- the symmetries


def upper(function: Function, corrections: Callable[[Parts], Iterator[Correction]]) -> Function:
    """A function with f(conj z) = conj f(z), asked for in the upper half plane only."""

    def rule(e: Emitter, z: Value) -> Value:
        x, y = real_part(e, z), imaginary_part(e, z)
        below = negative(e, y)
        y = e.op("abs", y)
        made = function(e, joined(e, x, y))
        p = Parts(e, x, y)
        re, im = replaced(p, corrections(p), real_part(e, made), imaginary_part(e, made))
        return joined(e, re, turned(e, below, im))

    return rule


def quadrant(
    function: Function,
    corrections: Callable[[Parts], Iterator[Correction]],
    *,
    even: bool = False,
    swapped: bool = False,
) -> Function:
    """The same for a function that is odd besides, or even, asked for in the first quadrant only.

    `swapped` makes sin of sinh, tan of tanh, atan of atanh, and cos of cosh: the parts of the
    number change places.
    """

    def rule(e: Emitter, z: Value) -> Value:
        x, y = real_part(e, z), imaginary_part(e, z)
        left, below = negative(e, x), negative(e, y)
        x, y = e.op("abs", x), e.op("abs", y)
        if swapped:
            x, y = y, x
        made = function(e, joined(e, x, y))
        p = Parts(e, x, y)
        re, im = replaced(p, corrections(p), real_part(e, made), imaginary_part(e, made))
        if even:
            if swapped:
                im = e.op("negate", im)
            return joined(e, re, turned(e, e.op("xor", left, below), im))
        if swapped:
            re, im = im, re
        return joined(e, turned(e, left, re), turned(e, below, im))

    return rule


def absolute(e: Emitter, z: Value) -> Value:
    """The size: infinite where a part is, even if the other is nan."""
    sizes = [e.op("abs", part(e, z)) for part in (real_part, imaginary_part)]
    p = Parts(e, *sizes)
    made = e.to("abs", z.name, p.x.aval, z)
    return e.select(e.op("or", *map(p.infinite, sizes)), e.like(INF, made), made)


def _stable(name: str) -> Function:
    return lambda e, z: e.op(name, z)


def _chlo(name: str) -> Function:
    return lambda e, z: e.chlo(name, z)


COMPLEX_RULES: dict[str, Function] = {
    "exp": upper(_stable("exponential"), _exp),
    "expm1": upper(_stable("exponential_minus_one"), _expm1),
    "log": upper(_stable("log"), _log),
    "log1p": upper(_stable("log_plus_one"), _log),
    "sqrt": upper(_stable("sqrt"), _sqrt),
    "sinh": quadrant(_chlo("sinh"), _sinh),
    "cosh": quadrant(_chlo("cosh"), _cosh, even=True),
    "tanh": quadrant(_stable("tanh"), _tanh),
    "sin": quadrant(_chlo("sinh"), _sinh, swapped=True),
    "cos": quadrant(_chlo("cosh"), _cosh, even=True, swapped=True),
    "tan": quadrant(_stable("tanh"), _tanh, swapped=True),
    "asin": quadrant(_chlo("asin"), _asin),
    "asinh": quadrant(_chlo("asinh"), _asinh),
    "atanh": quadrant(_chlo("atanh"), _atanh),
    "atan": quadrant(_chlo("atanh"), _atanh, swapped=True),
    "acos": upper(_chlo("acos"), _acos),
    "acosh": upper(_chlo("acosh"), _acosh),
    "abs": absolute,
}


def by_kind(name: str, rule: Callable[..., Value]) -> Callable[..., Value]:
    """The rule, of complex numbers that of this file."""
    of_complex = COMPLEX_RULES.get(name)
    if of_complex is None:
        return rule

    def either(e: Emitter, x: Value, **params: Any) -> Value:
        if dtypes.kind(x.dtype) == "complex":
            return of_complex(e, x)
        return rule(e, x, **params)

    return either
