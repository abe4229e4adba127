"""`associative_scan`: running results in few rounds, each of which works on whole arrays.

The method is Blelloch's (Prefix sums and their applications, 1990): combine neighbours, scan the
half as many results, and fill in between.  It needs about twice the work of a loop, in
2·log2(n) rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import check_callable, flatten_result, name_of
from arrayx.api.operands import arrays_of, home_of, working_at
from arrayx.lax.loop_parts import paths_in
from arrayx.primitives.axes import reshape, rev
from arrayx.primitives.slicing import concatenate, cut
from arrayx.treedef import flatten, unflatten

__all__ = ["associative_scan"]


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Running results of an associative function along an axis.

    Element i of the result is `fn(...fn(fn(x0, x1), x2)..., xi)`.  `fn` is called with whole
    slices of the arrays, about 2·log2(n) times.

    Args:
        fn: an associative function of two trees like `elems`, which works on each element along
            the axis on its own, such as `anp.add`, and keeps shapes and dtypes.
        elems: a tree of arrays of the same length along `axis`.
        reverse: begin at the end.
        axis: the axis to go along; negative counts from the end.

    Returns:
        A tree like `elems`.

    Raises:
        ArgumentError: lengths differ, or `fn` changes the structure, a shape or a dtype.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.lax.associative_scan(anp.maximum, anp.array([3.0, 1.0, 4.0, 1.0, 5.0]))
    Array([3., 3., 4., 4., 5.], dtype=float32)
    """
    transform = "ax.lax.associative_scan"
    check_callable(fn, transform)
    leaves, tree = flatten(elems)
    paths = paths_in("elems", elems)
    device = home_of(leaves)

    def combine(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        result = fn(unflatten(tree, list(a)), unflatten(tree, list(b)))
        made, made_tree = flatten_result(result, name_of(fn))
        if made_tree != tree:
            raise errors.ArgumentError(
                f"{transform}: fn ({name_of(fn)}) has to return the structure of elems, {tree}, "
                f"but it returns {made_tree}"
            )
        for x, y, path in zip(a, made, paths, strict=True):
            if (x.aval.shape, x.aval.dtype) != (y.aval.shape, y.aval.dtype):
                raise errors.ArgumentError(
                    f"{transform}: fn ({name_of(fn)}) has to keep shapes and dtypes, but from "
                    f"{path}, {x.aval.strong()}, it makes {y.aval.strong()}"
                )
        return made

    with working_at(device):
        arrays = arrays_of(leaves, device, transform, lambda: paths)
        places = [axis_of(transform, axis, x, path) for x, path in zip(arrays, paths, strict=True)]
        if not arrays:
            raise errors.ArgumentError(f"{transform} needs an array in elems, got none")
        lengths = {x.aval.shape[p] for x, p in zip(arrays, places, strict=True)}
        if len(lengths) > 1:
            shown = ", ".join(
                f"{path} is {x.aval.strong()}" for path, x in zip(paths, arrays, strict=True)
            )
            raise errors.ArgumentError(
                f"{transform} needs arrays of one length along axis {axis}, but {shown}"
            )
        if reverse:
            arrays = [rev(x, axes=(p,)) for x, p in zip(arrays, places, strict=True)]
        results = running(combine, arrays, places)
        if reverse:
            results = [rev(x, axes=(p,)) for x, p in zip(results, places, strict=True)]
    return unflatten(tree, results)


def axis_of(transform: str, axis: int, x: Any, path: str) -> int:
    """The axis counted from the front; raises where there is none."""
    ndim = x.aval.ndim
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise errors.AxisError(f"{transform}: {path} is {x.aval.strong()} and has no axis {axis}")
    return int(axis % ndim)


def running(
    combine: Callable[[Sequence[Any], Sequence[Any]], list[Any]],
    arrays: list[Any],
    places: Sequence[int],
) -> list[Any]:
    """Running results of arrays along the axes `places`."""
    levels = []
    # Down: neighbours are combined until one element is left.
    while (n := arrays[0].aval.shape[places[0]]) > 1:
        levels.append(arrays)
        arrays = combine(sliced(arrays, places, 0, n - n % 2, 2), sliced(arrays, places, 1, n, 2))
    # Up: those are every other result; the ones between take one element more.
    for level in reversed(levels):
        n = level[0].aval.shape[places[0]]
        first = sliced(level, places, 0, 1)
        if n > 2:
            between = combine(
                sliced(arrays, places, 0, (n - 1) // 2), sliced(level, places, 2, n, 2)
            )
            first = [
                concatenate(a, b, axis=p) for a, b, p in zip(first, between, places, strict=True)
            ]
        arrays = [alternating(a, b, p) for a, b, p in zip(first, arrays, places, strict=True)]
    return arrays


def sliced(
    arrays: Sequence[Any], places: Sequence[int], start: int, end: int, stride: int = 1
) -> list[Any]:
    """The same part of all arrays."""
    return [cut(x, p, start, end, stride) for x, p in zip(arrays, places, strict=True)]


def alternating(a: Any, b: Any, axis: int) -> Any:
    """Elements of `a` and `b` in turn along an axis; `a` may have one more."""
    n = b.aval.shape[axis]
    shape = b.aval.shape
    pairs = concatenate(
        *(
            reshape(x, shape=(*shape[: axis + 1], 1, *shape[axis + 1 :]))
            for x in (cut(a, axis, 0, n), b)
        ),
        axis=axis + 1,
    )
    joined = reshape(pairs, shape=(*shape[:axis], 2 * n, *shape[axis + 1 :]))
    if a.aval.shape[axis] == n:
        return joined
    return concatenate(joined, cut(a, axis, n, n + 1), axis=axis)
