"""Rows of functions that apply functions along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arrayx.numpy as anp
from arrayx.conformance.case import ANY, NUMERIC, Case
from arrayx.conformance.public import public, rows

CUBE = ((2, 3, 4),)


def along(name: str, axis: int, **more: Any) -> Callable[..., Any]:
    """A form of call of apply_along_axis."""

    def form(function: Any, x: Any, **params: Any) -> Any:
        of = getattr(anp if function.__module__.startswith("arrayx") else np, name)
        return function(of, axis, x, **more, **params)

    return form


def over(name: str, axes: Any) -> Callable[..., Any]:
    """A form of call of apply_over_axes."""

    def form(function: Any, x: Any, **params: Any) -> Any:
        of = getattr(anp if function.__module__.startswith("arrayx") else np, name)
        return function(of, x, axes, **params)

    return form


def mapped(signature: str | None, of: Callable[..., Any]) -> Callable[..., Any]:
    """A form of call of vectorize: the function that it makes is called at once."""

    def form(function: Any, *operands: Any, **params: Any) -> Any:
        return function(of, signature=signature)(*operands, **params)

    return form


def _product(x: Any, y: Any) -> Any:
    return x * y + x


def _places(function: Any, **params: Any) -> Any:
    return function(lambda i, j: 10 * i + j, **params)


CASES: tuple[Case, ...] = (
    *rows("numpy", "apply_along_axis", CUBE, form=along("sum", 1), dtypes=ANY),
    *rows(
        "numpy", "apply_along_axis", CUBE, {"last": {}}, form=along("cumsum", -1), dtypes=NUMERIC
    ),
    *rows("numpy", "apply_along_axis", CUBE, {"longer": {}}, form=along("diag", 0)),
    *rows(
        "numpy",
        "apply_along_axis",
        CUBE,
        {"more": {}},
        form=along("diff", 2, n=2),
        scale=lambda x: 12.0,
    ),
    *rows("numpy", "apply_over_axes", CUBE, form=over("sum", (0, 2)), dtypes=NUMERIC, sums=True),
    *rows("numpy", "apply_over_axes", CUBE, {"one": {}}, form=over("mean", (1,))),
    *rows("numpy", "vectorize", ((2, 1), (3,)), form=mapped(None, _product), dtypes=NUMERIC),
    public(
        "numpy.vectorize",
        ((2, 2, 3), (3,)),
        reference=np.matvec,
        form=lambda f, x, y: (
            f(x, y) if f is np.matvec else f(anp.dot, signature="(n,m),(m)->(n)")(x, y)
        ),
        label="signature",
        sums=True,
    ),
    *rows(
        "numpy",
        "fromfunction",
        (),
        {"": {"shape": (2, 3), "dtype": "int32"}, "floats": {"shape": (2, 3), "dtype": "float32"}},
        form=_places,
        dtypes=("int32",),
    ),
)
