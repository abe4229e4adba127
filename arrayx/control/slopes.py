"""`slope`: derivatives that have no formula, by differentiating what a function expands into.

Apart because it is what parameters of special functions have in common: the incomplete gamma
function, say, has no derivative by its parameter in terms of named functions, but its expansion is
made of operations that all have one, to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.creation import fill, instantiate
from arrayx.primitives.expanded import in_float32
from arrayx.primitives.families import FLOAT, Differentiable, add_tangents, scaled
from arrayx.transforms.jvp import jvp_flat

Function = Callable[..., Any]


class Slope(Differentiable):
    """The derivative of the `Special` of that name, `orders[i]` times by its operand number i."""

    name = "slope"
    kinds = FLOAT
    costly = True
    cheap = False

    def jvp(self, primals: Any, tangents: Any, *, function: str, orders: tuple[int, ...]) -> Any:
        result = self(*primals, function=function, orders=orders)
        tangent: Any = Zero
        for i, dx in enumerate(tangents):
            if dx is not Zero:
                more = (*orders[:i], orders[i] + 1, *orders[i + 1 :])
                factor = self(*primals, function=function, orders=more)
                tangent = add_tangents(tangent, scaled(dx, factor))
        return result, tangent

    def expand(self, *operands: Any, function: str, orders: tuple[int, ...]) -> Any:
        special: Any = Primitive.named[function]
        return in_float32(derivative(special.computed, orders), operands)


def derivative(function: Function, orders: tuple[int, ...]) -> Function:
    """The derivative of a function of arrays, `orders[i]` times by argument number i."""
    i = next((i for i, n in enumerate(orders) if n), None)
    if i is None:
        return function
    inner = derivative(function, (*orders[:i], orders[i] - 1, *orders[i + 1 :]))

    def along(*operands: Any) -> Any:
        aval = operands[i].aval.strong()
        tangents = [Zero] * len(operands)
        tangents[i] = fill(aval.shape, aval.dtype, 1.0)
        _, (tangent,) = jvp_flat(lambda *xs: [inner(*xs)], operands, tangents)
        return instantiate(tangent, aval)

    return along


def by_expansion(name: str, operand: int, count: int) -> Function:
    """The partial derivative of a `Special` of `count` operands by one of them."""
    orders = tuple(int(i == operand) for i in range(count))

    def partial(*operands_and_result: Any) -> Any:
        return slope(*operands_and_result[:-1], function=name, orders=orders)

    return partial


slope = Slope()
