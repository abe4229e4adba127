"""Batches in which not every element takes part: the others get what one that does has.

So nothing is computed from values that the program meant to keep away from there, and neither
nan nor a loop without end can come of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.core.graph import Graph
from arrayx.primitives.arithmetic import select
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.combined import stop_gradient
from arrayx.primitives.reduction import argmax
from arrayx.primitives.slicing import dynamic_slice

# What makes no nan of ordinary numbers, takes about as long as the choice between two results,
# and whose derivatives are of this kind too.
_HARMLESS = frozenset(
    "abs absorb_mul add bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_in_dim ceil "  # noqa: SIM905
    "clamp convert cos eq floor full ge gt integer_pow iota is_finite le logistic lt max min mul "
    "ne neg reshape round select sign sin slice square stop_gradient sub tanh transpose".split()
)
_MOST_HARMLESS = 16


def harmless(graphs: Sequence[Graph]) -> bool:
    """True for little work that can run for lanes that take no part: nothing comes of it."""
    equations = [e for graph in graphs for e in graph.equations]
    return len(equations) <= _MOST_HARMLESS and all(
        e.primitive.name in _HARMLESS
        # The power is negative: a quotient.
        and not (e.primitive.name == "integer_pow" and e.params["exponent"] < 0)
        for e in equations
    )


_INDEX = np.dtype(np.int32)


def fed(lanes: Any, xs: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    """Batched values with those of the first lane that takes part in place of the others'.

    `lanes` says who takes part, at least one; `dims` are the batch axes.
    """
    if all(d is None for d in dims) or lanes.aval.size == 0:
        return list(xs)
    first = argmax(lanes, axis=0, dtype=_INDEX)
    return [x if d is None else _fed(lanes, first, x, d) for x, d in zip(xs, dims, strict=True)]


def _fed(lanes: Any, first: Any, x: Any, dim: int) -> Any:
    shape = x.aval.shape
    starts = [first if axis == dim else 0 for axis in range(len(shape))]
    sizes = tuple(1 if axis == dim else n for axis, n in enumerate(shape))
    one = dynamic_slice(x, *starts, sizes=sizes)
    repeated = broadcast_in_dim(one, shape=shape, dims=tuple(range(len(shape))))
    if dtypes.is_inexact(x.aval.dtype):
        # What is computed from it is dropped: no derivative has to come back.
        repeated = stop_gradient(repeated)
    return chosen_lanes(lanes, x, repeated, dim)


def chosen_lanes(lanes: Any, x: Any, y: Any, dim: int = 0) -> Any:
    """`x` in the lanes that take part, `y` in the others; `dim` is the batch axis of both."""
    return select(broadcast_in_dim(lanes, shape=x.aval.shape, dims=(dim,)), x, y)
