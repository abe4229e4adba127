"""Rows of `arrayx.scipy.stats`; the references are SciPy's functions of the same names."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import Case, Operand
from arrayx.conformance.public import public
from arrayx.lazy import lazy

stats = lazy("scipy.stats")
WIDE = ("float64", "float32")
PLACES = Operand((5,), values=[-3.1, -0.2, 0.4, 1.1, 4.7])
INNER = Operand((4,), values=[0.15, 0.3, 0.55, 0.9])
SHARES = Operand((4,), values=[0.05, 0.2, 0.5, 0.9])
WHOLE = Operand((6,), dtype="int32", values=[-1, 0, 1, 2, 3, 5])
REAL = ("logpdf", "pdf")
TAILS = ("cdf", "logcdf", "sf", "logsf")


def number(value: float) -> Operand:
    """A parameter."""
    return Operand((), values=value)


def rows(
    name: str,
    functions: tuple[str, ...],
    places: Operand,
    *parameters: float,
    **facts: Any,
) -> tuple[Case, ...]:
    """The rows of a distribution's functions, at some places and with parameters."""
    operands = tuple(number(p) for p in parameters)
    return tuple(
        public(
            f"scipy.stats.{name}.{function}",
            (SHARES if function in ("ppf", "isf") else places, *operands),
            dtypes=WIDE,
            ulps=128,
            scale=_scale(name, function),
            special=False,
            **facts,
        )
        for function in functions
    )


def _scale(name: str, function: str) -> Any:
    def scale(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return 1 + np.abs(getattr(getattr(stats, name), function)(*arrays))

    return scale


# Counts have no derivative, and a number of tries is a whole number.
COUNTS: dict[str, Any] = {"differentiable": (1,)}
TRIES: dict[str, Any] = {"differentiable": (2,)}
COUNTED = ("logpmf", "pmf")

CASES = (
    *rows("norm", (*REAL, *TAILS, "ppf", "isf"), PLACES, 0.5, 2.0),
    *rows("logistic", (*REAL, "cdf", "sf", "ppf", "isf"), PLACES, 0.5, 2.0),
    *rows("laplace", (*REAL, "cdf"), PLACES, 0.5, 2.0),
    *rows("cauchy", (*REAL, *TAILS, "ppf", "isf"), PLACES, 0.5, 2.0),
    *rows("t", (*REAL, *TAILS), PLACES, 3.0, 0.5, 2.0),
    *rows("gumbel_r", (*REAL, *TAILS, "ppf"), PLACES, 0.5, 2.0),
    *rows("gumbel_l", (*REAL, *TAILS, "ppf"), PLACES, 0.5, 2.0),
    *rows("gennorm", (*REAL, "cdf"), PLACES, 1.5),
    *rows("expon", (*REAL, *TAILS, "ppf"), PLACES, 0.1, 2.0),
    *rows("gamma", (*REAL, *TAILS), PLACES, 2.5, 0.1, 2.0),
    *rows("chi2", (*REAL, *TAILS), PLACES, 3.0, 0.1, 2.0),
    *rows("pareto", (*REAL, *TAILS, "ppf"), PLACES, 2.5, 0.2, 0.7),
    *rows("uniform", (*REAL, "cdf", "ppf"), PLACES, -0.5, 2.0),
    *rows("beta", (*REAL, *TAILS), INNER, 2.5, 1.5, -0.1, 1.3),
    *rows("truncnorm", (*REAL, *TAILS), PLACES, -1.0, 2.0, 0.5, 1.5),
    *rows("vonmises", REAL, PLACES, 1.7),
    *rows("wrapcauchy", REAL, PLACES, 0.4),
    *rows("bernoulli", (*COUNTED, "cdf"), WHOLE, 0.3, **COUNTS),
    public("scipy.stats.bernoulli.ppf", (SHARES, number(0.3)), dtypes=WIDE, differentiable=()),
    *rows("poisson", (*COUNTED, "cdf"), WHOLE, 2.5, **COUNTS),
    public(
        "scipy.stats.poisson.entropy",
        (Operand((3,), domain=(0.5, 9)),),
        dtypes=WIDE,
        ulps=128,
        special=False,
    ),
    *rows("geom", COUNTED, WHOLE, 0.3, **COUNTS),
    *rows("binom", COUNTED, WHOLE, 4.0, 0.3, **TRIES),
    *rows("nbinom", COUNTED, WHOLE, 3.0, 0.3, **TRIES),
    *rows("betabinom", COUNTED, WHOLE, 4.0, 1.5, 0.7, differentiable=(2, 3)),
    *(
        public(
            f"scipy.stats.dirichlet.{function}",
            (Operand((3,), values=[0.25, 0.5, 0.25]), Operand((3,), values=[1.5, 2.0, 0.7])),
            dtypes=WIDE,
            ulps=64,
            differentiable=(1,),
            special=False,
        )
        for function in REAL
    ),
    *(
        public(
            f"scipy.stats.multinomial.{function}",
            (
                Operand((3,), dtype="int32", values=[1, 2, 0]),
                Operand((3,), values=[0.25, 0.25, 0.5]),
            ),
            form=lambda f, x, p: f(x, 3, p),
            dtypes=WIDE,
            ulps=64,
            special=False,
        )
        for function in COUNTED
    ),
    public("scipy.stats.rankdata", ((5,),), dtypes=WIDE, differentiable=(), special=False),
    public(
        "scipy.stats.mode",
        (Operand((5,), dtype="int32", values=[3, 1, 3, 2, 2]),),
        dtypes=("float32",),
    ),
    public("scipy.stats.sem", ((5,),), dtypes=WIDE, ulps=64, special=False),
)
