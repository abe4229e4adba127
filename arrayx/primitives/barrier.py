"""A wall that compilers do not move work across."""

from __future__ import annotations

from typing import Any

from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.families import is_linear


class OptimizationBarrier(Primitive):
    """The operands themselves, as values that nothing is known of.

    What is computed from the results is not merged with what was computed from the operands,
    and comes after all of them.
    """

    name = "optimization_barrier"
    multiple = True

    def type_rule(self, *xs: Aval) -> tuple[Aval, ...]:
        return xs

    def evaluate(self, *xs: Any) -> Any:
        return xs

    def expand(self, *xs: Any) -> Any:
        # Where a backend has no such wall: it only ever costs memory.
        return xs

    def jvp(self, primals: Any, tangents: Any) -> Any:
        moving = [t for t in tangents if t is not Zero]
        given = iter(self(*moving))
        return self(*primals), tuple(t if t is Zero else next(given) for t in tangents)

    def transpose(self, cts: Any, *xs: Any) -> Any:
        wanted = [ct for x, ct in zip(xs, cts, strict=True) if is_linear(x) and ct is not Zero]
        given = iter(self(*wanted))
        return tuple(
            next(given) if is_linear(x) and ct is not Zero else None
            for x, ct in zip(xs, cts, strict=True)
        )

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(*args), tuple(dims)

    def on_keys(self, avals: Any, *words: Any) -> Any:
        return self(*words)


optimization_barrier = OptimizationBarrier()
