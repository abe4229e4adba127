"""From one dtype to another: by value, and by bits."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.families import NUMERIC, STORED, Elementwise, NonDifferentiable, same_type


class Convert(Elementwise):
    """`x` in another `dtype`, each element the nearest value that the dtype has.

    Integers wrap around in narrower ones.  Floats are cut towards zero to be integers: those
    out of range become the least or the largest, nan becomes 0.  Complex numbers lose
    their imaginary part where `dtype` is real.  What is not 0 is True, nan too.  Between
    inexact dtypes it is linear; from and to all others, those of less than 8 bits too, it has
    no derivative.
    `weak_type` marks the result as one that yields to other dtypes.
    """

    name = "convert"
    moves = True
    kinds = STORED

    def type_rule(self, x: Any, *, dtype: Any, weak_type: bool) -> Aval:
        aval = same_type(self.name, (x,), self.kinds)
        if dtypes.kind(dtype) not in STORED:
            raise errors.DtypeError(f"convert cannot turn {aval} into {dtype}")
        return aval.update(dtype=dtype, weak_type=weak_type)

    def jvp(self, primals: Any, tangents: Any, *, dtype: Any, weak_type: bool) -> Any:
        (x,), (dx,) = primals, tangents
        result = self(x, dtype=dtype, weak_type=weak_type)
        if not dtypes.is_inexact(dtype):
            return result, Zero
        return result, self(dx, dtype=dtype, weak_type=False)

    def transpose(self, ct: Any, x: Any, *, dtype: Any, weak_type: bool) -> Any:
        return (self(ct, dtype=x.aval.dtype, weak_type=False),)


class Bitcast(NonDifferentiable):
    """The bits of `x` read as another `dtype`, a new array.

    A dtype of the same width keeps the shape.  A narrower one adds a last axis that counts
    the pieces of an element, the lowest bits first; a wider one takes such an axis away.
    """

    name = "bitcast"
    moves = True
    cheap = True

    def type_rule(self, x: Aval, *, dtype: Any) -> Aval:
        if dtypes.kind(x.dtype) not in NUMERIC or dtypes.kind(dtype) not in NUMERIC:
            raise errors.DtypeError(f"bitcast cannot read {x} as {dtype}: numbers only")
        have, want = x.dtype.itemsize, dtype.itemsize
        if have == want:
            shape = x.shape
        elif have > want:
            shape = (*x.shape, have // want)
        elif x.ndim and x.shape[-1] == want // have:
            shape = x.shape[:-1]
        else:
            raise errors.ShapeError(
                f"bitcast of {x} to {dtype} needs a last axis of length {want // have}"
            )
        return x.update(shape=shape, dtype=dtype, weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any, *, dtype: Any) -> Any:
        (x,), (d,) = args, dims
        if x.aval.dtype.itemsize != dtype.itemsize:
            x, d = move_batch_dim(size, x, d, 0), 0
        return self(x, dtype=dtype), d


convert = Convert()
bitcast = Bitcast()
