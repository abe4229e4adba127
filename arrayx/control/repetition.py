"""Sums of series whose terms follow from each other, as loops that end where nothing is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx.control.while_loop import while_loop
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import add, ge, lt, mul
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.bitwise import bitwise_and, bitwise_or
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import fill
from arrayx.primitives.numeric import abs as absolute
from arrayx.primitives.numeric import max as maximum
from arrayx.primitives.reduction import reduce_or
from arrayx.transforms.stage import derive

INDEX = np.dtype(np.int32)
# How much smaller than rounding the last term is: derivatives converge later than values.
MARGIN = 1e-4


def series(ratio: Callable[..., Any], first: Any, *operands: Any, most: int) -> Any:
    """The sum of terms that begin with `first`; `ratio(k, *operands)` leads from term k to the
    next, and `k` is given as an array.  It ends with term `most` at the latest.
    """
    aval = first.aval.strong()
    axes = tuple(range(len(aval.shape)))
    smallest = float(np.finfo(aval.dtype).eps) * MARGIN

    def going(*args: Any) -> Any:
        i, term, total = args[-3:]
        size = mul(maximum(absolute(total), float(np.finfo(aval.dtype).tiny)), smallest)
        # Terms may grow before they fall, so the first few do not count.
        early = lt(i, 8)
        more = reduce_or(ge(absolute(term), size), axes=axes)
        return [bitwise_and(lt(i, most), bitwise_or(early, more))]

    def step(*args: Any) -> Any:
        i, term, total = args[-3:]
        k = broadcast_in_dim(
            convert(i, dtype=aval.dtype, weak_type=False), shape=aval.shape, dims=()
        )
        following = mul(term, ratio(k, *args[:-3]))
        return [add(i, 1), following, add(total, following)]

    carry = [Aval((), INDEX), aval, aval]
    given = [x.aval.strong() for x in operands]
    _, _, total = while_loop(
        *operands,
        fill((), INDEX, 0),
        first,
        first,
        cond=derive(going, carry),
        body=derive(step, [*given, *carry]),
        n_cond=0,
        n_body=len(operands),
    )
    return total


def repeated(
    going: Callable[..., Any],
    step: Callable[..., Sequence[Any]],
    constants: Sequence[Any],
    carry: Sequence[Any],
) -> Sequence[Any]:
    """Carried arrays after as many steps as `going`, an array of booleans made of them, has a true
    element.  `step` takes the constants and the carried arrays and gives the next ones.
    """
    avals = [x.aval.strong() for x in carry]
    given = [x.aval.strong() for x in constants]

    def any_goes(*args: Any) -> list[Any]:
        mask = going(*args)
        return [reduce_or(mask, axes=tuple(range(len(mask.aval.shape))))]

    results: Sequence[Any] = while_loop(
        *constants,
        *carry,
        cond=derive(any_goes, avals),
        body=derive(step, [*given, *avals]),
        n_cond=0,
        n_body=len(constants),
    )
    return results
