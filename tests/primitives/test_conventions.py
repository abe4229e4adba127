"""What derivatives are where mathematics leaves a choice: kinks, ties, poles, zero bases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from arrayx.backend.registry import chosen
from arrayx.conformance.checks import pulled, pushed
from arrayx.primitives import (
    arithmetic,
    exponential,
    numeric,
    special,
    trigonometric,
)
from arrayx.primitives import (
    complex as parts,
)

INF = math.inf
pow, clamp, div = exponential.pow, numeric.clamp, numeric.div

# (name, function, operands, derivatives); None: not differentiated by this operand.
CONVENTIONS: list[tuple[str, Any, tuple[float, ...], tuple[float | None, ...]]] = [
    ("abs at 0 has slope 0", numeric.abs, (0.0,), (0.0,)),
    ("a tie of max gives each a half", numeric.max, (2.0, 2.0), (0.5, 0.5)),
    ("a tie of min gives each a half", numeric.min, (2.0, 2.0), (0.5, 0.5)),
    ("max takes the larger", numeric.max, (2.0, 1.0), (1.0, 0.0)),
    ("clamp on the lower bound gives each a half", clamp, (0.0, 0.0, 1.0), (0.5, 0.5, 0.0)),
    ("clamp on the upper bound gives each a half", clamp, (0.0, 1.0, 1.0), (0.0, 0.5, 0.5)),
    ("clamp outside takes the bound", clamp, (0.0, 4.0, 1.0), (0.0, 0.0, 1.0)),
    ("x**0 at 0 is flat in x", pow, (0.0, 0.0), (0.0, None)),
    ("x**0 elsewhere is flat in x", pow, (3.0, 0.0), (0.0, math.log(3.0))),
    ("0**0 is flat in the exponent", pow, (0.0, 0.0), (None, 0.0)),
    ("0**1 has slope 1", pow, (0.0, 1.0), (1.0, 0.0)),
    ("0**2 has slope 0", pow, (0.0, 2.0), (0.0, 0.0)),
    ("0**3.5 is flat in the exponent", pow, (0.0, 3.5), (0.0, 0.0)),
    ("a negative base has its slope", pow, (-2.0, 3.0), (12.0, None)),
    ("rem falls by the quotient", numeric.rem, (-17.0, 5.0), (1.0, 3.0)),
    ("tanh is flat far out", trigonometric.tanh, (250.0,), (0.0,)),
    ("logistic is flat far left", exponential.logistic, (-800.0,), (0.0,)),
    ("logistic keeps its slope far right", exponential.logistic, (60.0,), (math.exp(-60.0),)),
    ("expm1 keeps its slope far left", exponential.expm1, (-60.0,), (math.exp(-60.0),)),
    ("sqrt at 0 is steep", exponential.sqrt, (0.0,), (INF,)),
    ("log at 0 is steep", exponential.log, (0.0,), (INF,)),
    ("erf is flat far out", special.erf, (40.0,), (0.0,)),
]


@pytest.mark.parametrize(
    ("function", "operands", "slopes"),
    [c[1:] for c in CONVENTIONS],
    ids=[c[0] for c in CONVENTIONS],
)
def test_both_modes_follow_the_convention(function: Any, operands: Any, slopes: Any) -> None:
    arrays = [np.array([x]) for x in operands]
    with chosen("numpy"):
        for i, slope in enumerate(slopes):
            if slope is None:
                continue
            only = [i == j for j in range(len(arrays))]
            flat = lambda *xs: (function(*xs),)  # noqa: E731
            given = [np.ones(1) if o else None for o in only]
            _, (forward,) = pushed(flat, arrays, given, "numpy")
            reverse = pulled(flat, arrays, only, [np.ones(1)], "numpy")[i]
            np.testing.assert_allclose(forward, [slope], rtol=1e-12)
            np.testing.assert_allclose(reverse, [slope], rtol=1e-12)


def _handwritten_sigmoid(x: Any) -> Any:
    return div(1.0, arithmetic.add(exponential.exp(arithmetic.neg(x)), 1.0))


def _arccos_of_clamp(x: Any) -> Any:
    return trigonometric.acos(clamp(-1.0, x, 1.0))


def _root_not_taken(x: Any) -> Any:
    root = exponential.sqrt(arithmetic.neg(x))
    return arithmetic.select(arithmetic.ge(x, 0.0), arithmetic.mul(x, 3.0), root)


def _angle_not_taken(x: Any) -> Any:
    return arithmetic.select(arithmetic.eq(x, 0.0), 0.0, trigonometric.atan2(x, x))


def _integer_power(x: Any) -> Any:
    return exponential.integer_pow(x, exponent=0)


COMPOSED: list[tuple[str, Any, float, float]] = [
    ("a sigmoid whose exponential overflows", _handwritten_sigmoid, -800.0, 0.0),
    ("arccos of what was clipped", _arccos_of_clamp, 4.0, 0.0),
    ("a root that is not taken", _root_not_taken, 2.0, 3.0),
    ("an angle at the origin that is not taken", _angle_not_taken, 0.0, 0.0),
    ("power by literal zero", lambda x: pow(x, 0.0), 0.0, 0.0),
    ("power by literal three", lambda x: pow(x, 3.0), 2.0, 12.0),
    ("literal to a power", lambda x: pow(2.0, x), 3.0, 8 * math.log(2.0)),
    ("literal zero to a power", lambda x: pow(0.0, x), 3.0, 0.0),
    ("division by a literal", lambda x: div(x, 4.0), 3.0, 0.25),
    ("division of a literal", lambda x: div(4.0, x), 2.0, -1.0),
    ("integer power zero", _integer_power, 0.0, 0.0),
    ("relu at 0", lambda x: numeric.max(x, 0.0), 0.0, 0.5),
    ("clip with itself as a bound", lambda x: clamp(0.0, x, x), 5.0, 1.0),
]


@pytest.mark.parametrize(
    ("function", "at", "slope"), [c[1:] for c in COMPOSED], ids=[c[0] for c in COMPOSED]
)
def test_what_is_not_taken_does_not_poison_the_derivative(
    function: Any, at: float, slope: float
) -> None:
    flat = lambda x: (function(x),)  # noqa: E731
    with chosen("numpy"):
        value = [np.array([at])]
        _, (forward,) = pushed(flat, value, [np.ones(1)], "numpy")
        reverse = pulled(flat, value, [True], [np.ones(1)], "numpy")[0]
    np.testing.assert_allclose(forward, [slope], rtol=1e-12)
    np.testing.assert_allclose(reverse, [slope], rtol=1e-12)


def test_the_gradient_of_a_complex_function_is_the_derivative_less_i_times_the_other() -> None:
    from_parts = lambda z: arithmetic.mul(  # noqa: E731
        exponential.integer_pow(parts.real(z), exponent=2), parts.imag(z)
    )
    with chosen("numpy"):
        z = np.array([1.5 - 2.0j])
        gradient = pulled(lambda x: (from_parts(x),), [z], [True], [np.ones(1)], "numpy")[0]
    np.testing.assert_allclose(gradient, [2 * 1.5 * -2.0 - 1j * 1.5**2])
