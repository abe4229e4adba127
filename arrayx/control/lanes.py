"""A batch run one element at a time: for what must happen once for each, and only there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx.control.scan import scan
from arrayx.control.while_loop import WhileLoop
from arrayx.core.array import is_scalar, typeof
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.stage import derive


def one_by_one(
    primitive: Primitive,
    size: int,
    args: Sequence[Any],
    dims: Sequence[int | None],
    params: dict[str, Any],
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """A primitive with several results, applied to each element of a batch in turn."""
    shared = [i for i, d in enumerate(dims) if d is None and not is_scalar(args[i])]
    mapped = [i for i, d in enumerate(dims) if d is not None]
    xs = [move_batch_dim(size, args[i], dims[i], 0) for i in mapped]
    consts = [args[i] for i in shared]

    def one(*given: Any) -> Any:
        operands = list(args)
        for i, x in zip((*shared, *mapped), given, strict=True):
            operands[i] = x
        return primitive(*operands, **params)

    elements = [typeof(x) for x in xs]
    avals = [*map(typeof, consts), *(a.update(shape=a.shape[1:]) for a in elements)]
    results = scan(
        *consts,
        *xs,
        body=derive(one, avals),
        length=size,
        reverse=False,
        unroll=1,
        n_consts=len(consts),
        n_carry=0,
    )
    return results, (0,) * len(results)


# A scan is a while_loop, so that one cannot import this.
WhileLoop.one_by_one = staticmethod(one_by_one)
