"""Functions of vectors or numbers applied along the axes of arrays."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.mapping import vmap
from arrayx.core.array import Array
from arrayx.numpy.inspection import ndim
from arrayx.numpy.matrices import indices
from arrayx.numpy.naming import named
from arrayx.numpy.promotion import as_array, broadcast_shapes, check_axis
from arrayx.numpy.shapes import expand_dims, moveaxis, reshape
from arrayx.treedef import flatten, unflatten

Dims = tuple[str, ...]
_NAMES = r"\(\s*(?:[\w]+\s*(?:,\s*[\w]+\s*)*)?\)"
_SIGNATURE = re.compile(
    rf"^\s*{_NAMES}(?:\s*,\s*{_NAMES})*\s*->\s*{_NAMES}(?:\s*,\s*{_NAMES})*\s*$"
)


def _parsed(signature: str) -> tuple[list[Dims], list[Dims]]:
    """The names of the core dimensions of every argument and result."""
    if not isinstance(signature, str) or not _SIGNATURE.match(signature):
        raise errors.ArgumentError(
            f"vectorize: {signature!r} is no signature such as '(n),(n,m)->(m)'"
        )
    sides = []
    for side in signature.split("->"):
        groups = re.findall(r"\(([^)]*)\)", side)
        sides.append([tuple(n.strip() for n in g.split(",") if n.strip()) for g in groups])
    return sides[0], sides[1]


def _bind(sizes: dict[str, int], names: Dims, shape: tuple[int, ...], what: str) -> None:
    """Records the lengths of core dimensions; raises where one differs from before."""
    if len(shape) < len(names):
        raise errors.ShapeError(
            f"vectorize: {what} of shape {shape} has fewer dimensions than ({', '.join(names)})"
        )
    for name, n in zip(names, shape[len(shape) - len(names) :], strict=True):
        fixed = int(name) if name.isdigit() else sizes.setdefault(name, n)
        if fixed != n:
            raise errors.ShapeError(
                f"vectorize: the dimension {name} has length {n} in {what}, and {fixed} elsewhere"
            )


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function that applies `pyfunc` to every element, or core array, of broadcast arguments.

    Without `signature` `pyfunc` is a function of numbers.  A signature such as
    `"(n),(n,m)->(m)"` names the last dimensions that each argument and result keeps; all others
    are broadcast.  `excluded` holds positions and names of arguments that are passed as they are,
    as None always is.

    >>> import arrayx.numpy as anp
    >>> matvec = anp.vectorize(anp.dot, signature="(n,m),(m)->(n)")
    >>> matvec(anp.ones((4, 2, 3)), anp.ones(3)).shape
    (4, 2)
    """
    if any(not isinstance(e, int | str) for e in excluded):
        raise errors.ArgumentError(
            f"vectorize: excluded holds positions and names, got {excluded!r}"
        )
    named = None if signature is None else _parsed(signature)

    @functools.wraps(pyfunc)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        fixed = {i for i, a in enumerate(args) if i in excluded or a is None}
        looped = [i for i in range(len(args)) if i not in fixed]
        keywords = [k for k, v in kwargs.items() if k not in excluded and v is not None]
        arrays = [as_array(args[i], "vectorize", f"args[{i}]") for i in looped]
        arrays += [as_array(kwargs[k], "vectorize", k) for k in keywords]
        cores: list[Dims] = [()] * len(arrays)
        if named is not None:
            if len(named[0]) != len(args):
                raise errors.ArgumentError(
                    f"vectorize: {len(args)} arguments for the signature {signature!r}"
                )
            cores[: len(looped)] = [named[0][i] for i in looped]
            if any(named[0][i] for i in fixed if args[i] is not None):
                raise errors.ArgumentError(
                    "vectorize: an excluded argument must have the signature ()"
                )
        sizes: dict[str, int] = {}
        for i, (a, core) in enumerate(zip(arrays, cores, strict=True)):
            _bind(sizes, core, a.shape, f"argument {i}")

        def call(*given: Any) -> Any:
            values = list(args)
            for i, v in zip(looped, given, strict=False):
                values[i] = v
            return pyfunc(*values, **{**kwargs, **dict(zip(keywords, given[len(looped) :]))})

        def checked(*given: Any) -> Any:
            out = call(*given)
            if named is not None:
                outs = out if isinstance(out, tuple) else (out,)
                if len(outs) != len(named[1]):
                    raise errors.ArgumentError(
                        f"vectorize: the function returned {len(outs)} results, its signature "
                        f"{signature!r} has {len(named[1])}"
                    )
                bound = dict(sizes)
                for i, (o, names) in enumerate(zip(outs, named[1], strict=True)):
                    if ndim(o) != len(names):
                        raise errors.ShapeError(
                            f"vectorize: result {i} has {ndim(o)} dimensions, its signature "
                            f"({', '.join(names)})"
                        )
                    _bind(bound, names, tuple(as_array(o).shape), f"result {i}")
            return out

        return _looped(checked, arrays, [len(c) for c in cores])

    return vectorized


def _looped(function: Callable[..., Any], arrays: list[Array], cores: list[int]) -> Any:
    """`function` mapped over the broadcast leading axes, all but the last `cores` of each."""
    batches = [a.shape[: a.ndim - c] for a, c in zip(arrays, cores, strict=True)]
    shape = broadcast_shapes(*batches)
    mapped = [i for i, n in enumerate(shape) if n != 1]
    squeezed = []
    has: list[list[bool]] = []
    for a, batch in zip(arrays, batches, strict=True):
        # Axes of length 1 are dropped, so that what they hold is computed with once.
        offset = len(shape) - len(batch)
        own = [i >= offset and batch[i - offset] != 1 for i in range(len(shape))]
        kept = tuple(shape[i] for i in mapped if own[i])
        squeezed.append(reshape(a, (*kept, *a.shape[len(batch) :])))
        has.append(own)
    for i in reversed(mapped):
        function = vmap(function, in_axes=tuple(0 if own[i] else None for own in has))
    result = function(*squeezed)
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    if not ones:
        return result
    leaves, tree = flatten(result)
    return unflatten(tree, [expand_dims(as_array(x), ones) for x in leaves])


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Array:
    """`func1d` applied to every vector along an axis; its results take the place of the axis.

    >>> import arrayx.numpy as anp
    >>> anp.apply_along_axis(anp.sum, 0, anp.ones((3, 2))).tolist()
    [3.0, 3.0]
    """
    x = as_array(arr, "apply_along_axis", "arr")
    i = check_axis(axis, x.ndim, "apply_along_axis")

    def function(vector: Array) -> Any:
        return func1d(vector, *args, **kwargs)

    for _ in range(x.ndim - 1):
        function = vmap(function)
    result = as_array(function(moveaxis(x, i, -1)))
    added = result.ndim - (x.ndim - 1)
    source = tuple(range(x.ndim - 1, result.ndim))
    return moveaxis(result, source, tuple(range(i, i + added)))


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Sequence[int]) -> Array:
    """`func(a, axis)` for each of the axes in turn, the dimensions kept.

    >>> import arrayx.numpy as anp
    >>> anp.apply_over_axes(anp.sum, anp.ones((2, 3, 4)), [0, 2]).shape
    (1, 3, 1)
    """
    x = as_array(a, "apply_over_axes", "a")
    for axis in axes:
        i = check_axis(axis, x.ndim, "apply_over_axes")
        result = as_array(func(x, i))
        if result.ndim == x.ndim - 1:
            result = expand_dims(result, i)
        if result.ndim != x.ndim:
            raise errors.ShapeError(
                f"apply_over_axes: the function made an array of {result.ndim} dimensions from "
                f"one of {x.ndim}; it may drop the axis it is given, nothing else"
            )
        x = result
    return x


@named
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """`function` of the indices of every element, given as one array for each axis.

    >>> import arrayx.numpy as anp
    >>> anp.fromfunction(lambda i, j: i + j, (2, 2), dtype=int).tolist()
    [[0, 1], [1, 2]]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    grid = indices(shape, dtype)
    places = [grid[i] for i in range(len(shape))]
    return vectorize(lambda *given: function(*given, **kwargs))(*places)
