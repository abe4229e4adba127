"""Functions with rules of their own, which are as true as those of arrayx."""

from __future__ import annotations

from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax
from arrayx.conformance.case import Case

_FLOATS = ("float32", "float64")


@ax.custom_jvp
def _softplus(x: Any) -> Any:
    return anp.log1p(anp.exp(x))


@_softplus.defjvp
def _softplus_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _softplus(x), t / (1 + anp.exp(-x))


def _power_rule(n: int, primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return x**n, n * x ** (n - 1) * t


_power = ax.custom_jvp(lambda n, x: x**n, nondiff_argnums=(0,))
_power.defjvp(_power_rule)


@ax.custom_vmap  # type: ignore[untyped-decorator]
def _doubled(x: Any) -> Any:
    return x * 2


@_doubled.def_vmap  # type: ignore[untyped-decorator]
def _doubled_lanes(size: int, batched: Any, x: Any) -> Any:
    return x + x, batched[0]


def _in_a_scan(x: Any) -> Any:
    return lax.scan(lambda c, _: (_softplus(c) - 0.5, _softplus(c)), x, None, length=3)


def _in_a_scan_plain(x: Any) -> Any:
    ys = []
    for _ in range(3):
        ys.append(np.log1p(np.exp(x)))
        x = ys[-1] - 0.5
    return x, np.array(ys)


def _root(a: Any) -> Any:
    """The cube root, its derivatives those of the equation that it solves."""
    return lax.custom_root(
        lambda y: y**3 - a,
        anp.ones_like(a),
        lambda f, guess: lax.fori_loop(0, 40, lambda _, y: y - f(y) / (3 * y**2), guess),
        lambda g, y: y / g(anp.ones_like(y)),
    )


def _solved(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(
        lambda x: a * x,
        b,
        solve=lambda f, y: y / f(anp.ones_like(y)),
        transpose_solve=lambda f, y: y / f(anp.ones_like(y)),
    )


def _row(name: str, call: Any, reference: Any, *operands: Any, **facts: Any) -> Case:
    return Case(
        name, call, operands, reference=reference, dtypes=_FLOATS, special=False, ulps=16.0, **facts
    )


CASES = (
    _row("custom_jvp", _softplus, lambda x: np.log1p(np.exp(x)), (3,)),
    _row("custom_jvp_of_a_number", lambda x: _power(3, x), lambda x: x**3, (3,)),
    _row("custom_jvp_in_a_scan", _in_a_scan, _in_a_scan_plain, (2,)),
    _row("custom_jvp_compiled", ax.jit(_softplus), lambda x: np.log1p(np.exp(x)), (3,)),
    _row("custom_vmap", _doubled, lambda x: x * 2, (3,)),
    _row("custom_root", _root, np.cbrt, (3,), domain=(0.5, 3.0)),
    _row("custom_linear_solve", _solved, lambda a, b: b / a, (3,), (3,), domain=(0.5, 3.0)),
)
