"""A primitive that arrayx has never heard of, written in this one file, under everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.core.primitive import Primitive
from arrayx.primitives.families import INEXACT, Elementwise, same_type
from arrayx.transforms.jvp import jvp_flat

BACKENDS = ax.backends.available()


class SoftSign(Elementwise):
    """x / (1 + |x|), by expansion alone: every rule comes from what it expands to."""

    name = "stranger_softsign"
    kinds = INEXACT
    vmap = None

    def expand(self, x: Any) -> Any:
        return anp.divide(x, 1.0 + anp.abs(x))


class Cube(Primitive):
    """x³, with rules of its own and an expansion for backends that have no kernel."""

    name = "stranger_cube"

    def type_rule(self, x: Any) -> Any:
        return same_type(self.name, (x,), INEXACT)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return self(x), 3.0 * x * x * dx

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(args[0]), dims[0]

    def expand(self, x: Any) -> Any:
        return x * x * x


softsign = SoftSign()
cube = Cube()
PAIRS = [
    (softsign, lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2),
    (cube, lambda x: x**3, lambda x: 3 * x**2),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("primitive", "value", "slope"), PAIRS, ids=["expanded", "with_rules"])
def test_a_strangers_primitive_works_under_every_transformation(
    primitive: Any, value: Any, slope: Any, backend: str
) -> None:
    points = np.array([-2.0, -0.5, 0.25, 3.0])
    with ax.default_backend(backend):
        x = anp.asarray(points)

        def total(v: Any) -> Any:
            return anp.sum(primitive(v))

        close = {"rtol": 1e-12}
        np.testing.assert_allclose(primitive(x), value(points), **close)
        np.testing.assert_allclose(ax.jit(primitive)(x), value(points), **close)
        for gradient in (ax.grad(total), ax.jit(ax.grad(total)), ax.grad(ax.jit(total))):
            np.testing.assert_allclose(gradient(x), slope(points), **close)
        each = ax.vmap(ax.grad(primitive))
        np.testing.assert_allclose(each(x), slope(points), **close)
        np.testing.assert_allclose(ax.jit(each)(x), slope(points), **close)
        out, tangent = ax.jvp(primitive, (x,), (anp.ones_like(x),))
        np.testing.assert_allclose(out, value(points), **close)
        np.testing.assert_allclose(tangent, slope(points), **close)
        assert primitive(x).device.backend.name == backend


def test_a_primitive_without_rule_and_expansion_says_what_it_lacks() -> None:
    class Bare(Primitive):
        """Nothing but a type."""

        name = "stranger_bare"

        def type_rule(self, x: Any) -> Any:
            return x

    bare = Bare()
    x = anp.ones(2)
    with pytest.raises(ax.errors.ArrayxError, match="stranger_bare has no jvp rule"):
        jvp_flat(lambda v: [bare(v)], [x], [x])
    with pytest.raises(ax.errors.ArrayxError, match="stranger_bare has no vmap rule"):
        ax.vmap(bare)(x)
    with pytest.raises(ax.errors.UnsupportedError, match="stranger_bare"):
        bare(x)
