"""The loop that primitives are written with: a step for each number up to a length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from arrayx.control.scan import scan
from arrayx.control.scan_bodies import index_dtype
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.primitives.creation import iota
from arrayx.transforms.stage import derive

# step(index, shared values, carried values) gives the next carried values and what is stacked.
Step = Callable[[Any, Sequence[Any], Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]


def counted_loop(
    step: Step, shared: Sequence[Any], carry: Sequence[Any], length: int
) -> tuple[Any, ...]:
    """The last carried values and the stacked ones; `step` must be a function of a module."""
    avals = tuple(x.aval.strong() for x in (*shared, *carry))
    return scan(  # type: ignore[no-any-return]
        *shared,
        *carry,
        iota(shape=(length,), dtype=index_dtype(length), axis=0),
        body=_body(step, avals, len(shared), length),
        length=length,
        reverse=False,
        unroll=1,
        n_consts=len(shared),
        n_carry=len(carry),
    )


@lru_cache(maxsize=256)
def _body(step: Step, avals: tuple[Aval, ...], n_shared: int, length: int) -> Graph:
    def flat(*args: Any) -> list[Any]:
        *given, index = args
        carried, stacked = step(index, given[:n_shared], given[n_shared:])
        return [*carried, *stacked]

    return derive(flat, [*avals, Aval((), index_dtype(length))])
