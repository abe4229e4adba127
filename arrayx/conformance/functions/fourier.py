"""Rows of Fourier transforms: even and odd lengths, cut and continued, over any axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, INEXACT, Case
from arrayx.conformance.functions.shapes import FEW, STORED
from arrayx.conformance.public import each, public

#: What can be transformed: everything, integers and booleans as floats.
TAKEN = (*INEXACT, "int32", "int64", "uint8", "bool")
TAKEN_REAL = tuple(d for d in TAKEN if d not in COMPLEX)
ONE: dict[str, dict[str, Any]] = {
    "": {},
    "cut": {"n": 3},
    "continued": {"n": 6, "axis": 0},
    "ortho": {"norm": "ortho", "axis": -2},
    "forward": {"norm": "forward", "n": 5},
    "to_one": {"n": 1},
}
TWO: dict[str, dict[str, Any]] = {
    "": {},
    "lengths": {"s": (2, 5)},
    "axes": {"axes": (1, 0), "norm": "ortho"},
    "forward": {"s": (3, 2), "axes": (0, 1), "norm": "forward"},
}
SEVERAL: dict[str, dict[str, Any]] = {
    "": {},
    "axes": {"axes": (1, 0), "norm": "ortho"},
    "forward": {"s": (3, 2), "axes": (0, 1), "norm": "forward"},
    "one_axis": {"axes": (0,)},
    "all": {"axes": (0, 1, 2)},
    "last": {"s": (3,), "axes": (-1,)},
}


def bound(name: str) -> Any:
    """The sum of the magnitudes that an element of the transform is a sum of."""
    function = getattr(np.fft, name)

    def largest(x: Any, **params: Any) -> Any:
        return np.max(np.abs(function(np.abs(x), **params)), initial=0)

    return largest


def transforms() -> tuple[Case, ...]:
    """Every transform with every choice of lengths, axes and norm."""
    rows: list[Case] = []
    kinds: tuple[tuple[str, tuple[int, ...], dict[str, dict[str, Any]]], ...] = (
        ("fft ifft rfft irfft hfft ihfft", (3, 4), ONE),
        ("fft2 ifft2 rfft2 irfft2", (2, 3, 4), TWO),
        ("fftn ifftn rfftn irfftn", (2, 3, 4), SEVERAL),
    )
    for names, operand, choices in kinds:
        for name in names.split():
            real = name.startswith(("rfft", "ihfft"))
            for i, (label, params) in enumerate(choices.items()):
                few = ("float64",) if real else ("complex128", "float32")
                rows.append(
                    public(
                        f"numpy.fft.{name}",
                        (operand,),
                        params,
                        dtypes=few if i else TAKEN_REAL if real else TAKEN,
                        scale=bound(name),
                        label=label,
                        # nan and infinities spread over a line in an order of additions that
                        # no two implementations share.
                        special=False,
                    )
                )
    return tuple(rows)


def nothing() -> tuple[Case, ...]:
    """Batches without elements."""
    names = "fft ifft rfft irfft hfft ihfft"
    return each(names, ((0, 4),), dtypes=("float64",), module="numpy.fft", label="nothing")


CASES = (
    *transforms(),
    *nothing(),
    public(
        "numpy.fft.fftn",
        ((2, 1, 2, 3, 2),),
        dtypes=("complex128",),
        scale=bound("fftn"),
        label="five_axes",
        special=False,
    ),
    *each("fftshift ifftshift", ((3, 4),), dtypes=STORED, module="numpy.fft"),
    *each(
        "fftshift ifftshift", ((3, 4),), {"axes": -1}, dtypes=FEW, module="numpy.fft", label="one"
    ),
    *each(
        "fftshift ifftshift",
        ((3, 5),),
        {"axes": (1, 0)},
        dtypes=FEW,
        module="numpy.fft",
        label="both",
    ),
    *(
        row
        for n in (1, 4, 5)
        for row in each(
            "fftfreq rfftfreq",
            (),
            {"n": n, "d": 0.5},
            dtypes=("float64",),
            module="numpy.fft",
            label=f"of_{n}",
        )
    ),
    *(
        row
        for n in (4, 5)
        for row in each(
            "fftfreq rfftfreq",
            ((),),
            {"n": n},
            form=lambda f, d, n: f(n, d),
            domain=(0.5, 2),
            module="numpy.fft",
            label=f"traced_{n}",
            special=False,
        )
    ),
)
