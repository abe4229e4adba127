"""The barrier that keeps optimizers from looking through it."""

from __future__ import annotations

from typing import Any

from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.creation import zeros


class OptimizationBarrier(Primitive):
    """The operands as they are, all of them computed before any result is used.

    What stands on its two sides is neither merged, nor fused, nor reordered.
    """

    name = "optimization_barrier"
    multiple = True

    def type_rule(self, *avals: Aval) -> tuple[Aval, ...]:
        return avals

    def jvp(self, primals: Any, tangents: Any) -> Any:
        given = iter(self(*(t for t in tangents if t is not Zero)))
        return self(*primals), tuple(Zero if t is Zero else next(given) for t in tangents)

    def transpose(self, cts: Any, *args: Any) -> Any:
        # Together, as they came; where one is missing it is zeros.
        known = [
            zeros(a.aval.strong()) if ct is Zero else ct for ct, a in zip(cts, args, strict=True)
        ]
        return self(*known)

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(*args), tuple(dims)

    def expand(self, *args: Any) -> Any:
        return args


optimization_barrier = OptimizationBarrier()
