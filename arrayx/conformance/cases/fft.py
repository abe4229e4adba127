"""Rows for Fourier transforms, the primitive and the functions of `arrayx.numpy.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arrayx.numpy as anp
from arrayx.conformance.case import COMPLEX, Case
from arrayx.conformance.cases.linalg import within
from arrayx.primitives import fft

REAL = ("float32", "float64")
REFERENCES: dict[str, Any] = {
    "fft": np.fft.fftn,
    "ifft": np.fft.ifftn,
    "rfft": np.fft.rfftn,
    "irfft": np.fft.irfftn,
}


def transformed(x: Any, *, kind: str, lengths: Any) -> Any:
    return REFERENCES[kind](x, lengths, tuple(range(-len(lengths), 0)))


def primitive_row(kind: str, shape: Any, lengths: Any) -> Case:
    return Case(
        "fft",
        fft.fft,
        (shape,),
        {"kind": kind, "lengths": lengths},
        transformed,
        REAL if kind == "rfft" else COMPLEX,
        ulps=50.0,
        special=False,
        scale=within(transformed),
        label=f"{kind}_{'_'.join(map(str, shape))}_to_{'_'.join(map(str, lengths))}",
    )


def row(
    name: str, shape: Any, dtypes: tuple[str, ...], *args: Any, label: str = "", **params: Any
) -> Case:
    """A function of `anp.fft`, whose reference is NumPy's of the same name."""
    reference: Callable[..., Any] = getattr(np.fft, name)
    function = getattr(anp.fft, name)
    truth = lambda x, **p: reference(x, *args, **p)  # noqa: E731
    return Case(
        f"fft.{name}",
        lambda x, **p: function(x, *args, **p),
        (shape,),
        params,
        truth,
        dtypes,
        ulps=50.0,
        special=False,
        scale=within(truth),
        label=label,
    )


BOTH = (*REAL, *COMPLEX)
CASES = (
    primitive_row("fft", (5,), (5,)),
    primitive_row("fft", (2, 3), (3,)),
    primitive_row("fft", (2, 3, 2), (3, 2)),
    primitive_row("ifft", (2, 2, 3), (2, 2, 3)),
    primitive_row("rfft", (5,), (5,)),
    primitive_row("rfft", (3, 4), (4,)),
    primitive_row("rfft", (2, 3, 4), (3, 4)),
    primitive_row("irfft", (3,), (4,)),
    primitive_row("irfft", (3,), (5,)),
    primitive_row("irfft", (2, 3), (2, 5)),
    primitive_row("irfft", (3, 1), (1,)),
    row("fft", (4,), BOTH),
    row("fft", (3, 4), BOTH, 6, 0, label="padded", norm="ortho"),
    row("ifft", (2, 5), BOTH, 3, label="cut", norm="forward"),
    row("rfft", (3, 2), REAL, axis=0),
    row("irfft", (3, 4), BOTH, label="even"),
    row("irfft", (3, 4), BOTH, 3, 0, label="odd", norm="forward"),
    row("hfft", (4,), BOTH, 7),
    row("ihfft", (2, 4), REAL, norm="ortho"),
    row("fft2", (2, 3, 4), BOTH, (4, 2)),
    row("ifft2", (2, 3, 4), BOTH, axes=(0, 1)),
    row("rfft2", (2, 3, 4), REAL),
    row("irfft2", (2, 3, 4), COMPLEX, axes=(2, 1)),
    row("fftn", (2, 2, 2, 2), BOTH, norm="ortho"),
    row("ifftn", (2, 2, 2), BOTH, axes=(0, 2)),
    row("rfftn", (2, 3, 2, 2), REAL, label="four_axes"),
    row("irfftn", (2, 2, 2, 3), COMPLEX, label="four_axes"),
    row("rfftn", (2, 3), REAL, axes=(1, 0)),
    row("fftshift", (4, 3), BOTH),
    row("ifftshift", (4, 3), BOTH, axes=0),
)
