"""Rows of control flow, of random bits, and of what only compilers see, by small programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import lax
from arrayx.conformance.case import FLOATS, NUMERIC, Operand
from arrayx.conformance.public import public

X = ((3,),)
FLAG = Operand((), dtype="bool")
CHOICE = Operand((), dtype="int32", domain=(-1, 2))
WIDE = ("float32", "float64")


def ours(program: Any, reference: Any) -> Any:
    """A form that runs a program with the function, and the reference alone without it."""

    def form(function: Any, *operands: Any, **params: Any) -> Any:
        if function is reference:
            return reference(*operands)
        return program(function, *operands)

    return form


def row(name: str, operands: Any, program: Any, reference: Any, **facts: Any) -> Any:
    return public(name, operands, None, reference, form=ours(program, reference), **facts)


def counted(x: Any) -> Any:
    """Doubled until it is large."""
    x = np.array(x)
    for i in np.ndindex(x.shape):
        while x[i] < 10:
            x[i] = x[i] * 2
    return x


STATE = Operand((4,), dtype="uint32", domain=(0, 2**31))

CASES = (
    row(
        "lax.cond",
        (FLAG, (3,)),
        lambda f, p, x: f(p, lambda v: v * 2, lambda v: v * v, x),
        lambda p, x: x * 2 if p else x * x,
        dtypes=NUMERIC,
    ),
    row(
        "lax.switch",
        (CHOICE, (3,)),
        lambda f, i, x: f(i, [lambda v: v, lambda v: v * 2, lambda v: v * v], x),
        lambda i, x: (x, x * 2, x * x)[max(0, min(int(i), 2))],
        dtypes=NUMERIC,
    ),
    row("lax.map", X, lambda f, x: f(lambda v: v * v, x), lambda x: x * x, dtypes=NUMERIC),
    row(
        "lax.scan",
        X,
        lambda f, x: f(lambda c, v: (c + v, c * v), x[0] * 0, x),
        lambda x: (np.cumsum(x)[-1], (np.cumsum(x) - x) * x),
        dtypes=WIDE,
        special=False,
        ulps=64.0,
        scale=lambda x: (np.sum(np.abs(x)), np.sum(np.abs(x)) ** 2 + 0 * x),
    ),
    row(
        "lax.fori_loop",
        X,
        lambda f, x: f(0, 3, lambda i, v: v * x, x),
        lambda x: x**4,
        dtypes=WIDE,
        special=False,
        ulps=16.0,
    ),
    row(
        "lax.while_loop",
        ((),),
        lambda f, x: f(lambda v: v < 10, lambda v: v * 2, x, max_steps=10),
        counted,
        dtypes=WIDE,
        special=False,
        domain=(1, 3),
    ),
    row(
        "lax.associative_scan",
        X,
        lambda f, x: f(lambda a, b: a + b, x),
        np.cumsum,
        dtypes=WIDE,
        special=False,
        scale=lambda x: np.cumsum(np.abs(x)),
    ),
    row(
        "lax.composite",
        X,
        lambda f, x: f(lambda v: v * v, "rows.square")(x),
        lambda x: x * x,
        dtypes=NUMERIC,
    ),
    row(
        "lax.platform_dependent",
        X,
        lambda f, x: f(x, default=lambda v: v * v),
        lambda x: x * x,
        dtypes=NUMERIC,
    ),
    row(
        "lax.after_all",
        X,
        lambda f, x: (x, f(lax.create_token())),
        lambda x: (x, np.zeros(0, bool)),
        dtypes=FLOATS,
        covers=("lax.create_token",),
        placed=False,
    ),
    public("lax.rng_bit_generator", (STATE,), {"shape": (2, 3)}, dtypes=("uint32",), compare=False),
)
