"""Complex numbers apart and together; linear over the reals, and each other's transposes.

Transposition keeps the real part of the sum of products, so that the gradient of a real
function of x + iy is its derivative by x minus i times that by y.
"""

from __future__ import annotations

from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import neg
from arrayx.primitives.families import (
    COMPLEX,
    Linear,
    OneOperand,
    TwoOperands,
    is_linear,
    same_type,
)


class _Part(Linear, OneOperand):
    """A real part of a complex number."""

    kinds = COMPLEX
    result = staticmethod(dtypes.real_dtype)


class Real(_Part):
    """The real part of the complex `x`, in the float dtype of half its size."""

    name = "real"
    moves = True

    def transpose(self, ct: Any, x: Any) -> Any:
        return (complex(ct, 0.0),)


class Imag(_Part):
    """The imaginary part of the complex `x`, in the float dtype of half its size."""

    name = "imag"
    moves = True

    def transpose(self, ct: Any, x: Any) -> Any:
        return (complex(0.0, neg(ct)),)


class Complex(TwoOperands):
    """The complex number `re + i im` of two float32 or two float64 numbers."""

    name = "complex"
    moves = True
    kinds = frozenset({"float"})

    def type_rule(self, re: Any, im: Any) -> Aval:
        aval = same_type(self.name, (re, im), self.kinds)
        if aval.dtype.itemsize not in (4, 8):
            raise errors.DtypeError(
                f"complex needs parts of float32 or float64, not {aval}: there are no narrower "
                "complex numbers; convert the parts to float32"
            )
        return aval.update(dtype=dtypes.complex_dtype(aval.dtype))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        result = self(*primals)
        re, im = tangents
        if re is Zero and im is Zero:
            return result, Zero
        return result, self(0.0 if re is Zero else re, 0.0 if im is Zero else im)

    def transpose(self, ct: Any, re: Any, im: Any) -> Any:
        return (
            real(ct) if is_linear(re) else None,
            neg(imag(ct)) if is_linear(im) else None,
        )


class Conj(Linear, OneOperand):
    """The complex conjugate of the complex `x`."""

    name = "conj"
    kinds = COMPLEX

    def expand(self, x: Any) -> Any:
        return complex(real(x), neg(imag(x)))

    def transpose(self, ct: Any, x: Any) -> Any:
        return (self(ct),)


real = Real()
imag = Imag()
complex = Complex()
conj = Conj()
