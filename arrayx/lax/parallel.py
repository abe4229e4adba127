"""Collective operations: functions of all lanes of named axes (of `vmap`, `pmap`, `shard_map`).

All take trees of arrays, and one axis name or a tuple of them, of which the first counts slowest.
What they do to derivatives is told in `docs/spmd.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.operands import arrays_of, as_array, described, home_of, working_at
from arrayx.core.array import Array, is_scalar
from arrayx.core.named_axes import NamedAxis, find_axis
from arrayx.lax.loop_parts import paths_in
from arrayx.lax.slicing import dynamic_index_in_dim
from arrayx.lax.structural import expand_dims, squeeze
from arrayx.numpy.promotion import check_axes, check_axis
from arrayx.primitives import collectives
from arrayx.primitives.arithmetic import add, mul, select
from arrayx.primitives.axes import broadcast_in_dim, reduce_sum, reshape, transpose
from arrayx.primitives.collectives import varied
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import zeros
from arrayx.primitives.reduction import reduce_max, reduce_min
from arrayx.treedef import flatten, unflatten

__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pbroadcast",
    "pcast",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
    "pvary",
]

Groups = tuple[tuple[int, ...], ...] | None
_INT = np.dtype(np.int32)


# ----------------------------------------------------------------- arguments


def _named(transform: str, axis_name: Any) -> list[NamedAxis]:
    """The open axes of one name or several."""
    names = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)
    found = [find_axis(name, transform) for name in names]
    if len({a.name for a in found}) != len(found):
        raise errors.ArgumentError(f"{transform}: an axis is named twice in {axis_name!r}")
    return found


def _groups(transform: str, axes: Sequence[NamedAxis], groups: Any, equal: bool = True) -> Groups:
    """`axis_index_groups` as tuples; raises where they are no partition of the lanes."""
    if groups is None:
        return None
    if len(axes) != 1:
        raise errors.ArgumentError(f"{transform}: axis_index_groups go with one axis name alone")
    parts = tuple(tuple(int(i) for i in group) for group in groups)
    n = axes[0].size
    if sorted(i for part in parts for i in part) != list(range(n)):
        raise errors.ArgumentError(
            f"{transform}: axis_index_groups has to name each lane of axis {axes[0].name!r}, 0 to "
            f"{n - 1}, exactly once, got {groups!r}"
        )
    if equal and len({len(part) for part in parts}) > 1:
        raise errors.ArgumentError(
            f"{transform}: axis_index_groups has to be of groups of one size, got {groups!r}"
        )
    return parts


def _members(axes: Sequence[NamedAxis], groups: Groups) -> int:
    """How many lanes work together."""
    return len(groups[0]) if groups is not None else math.prod(a.size for a in axes)


def _each(transform: str, x: Any, fun: Callable[[Any], Any]) -> Any:
    """`fun` of every leaf, as an array."""
    leaves, tree = flatten(x)
    device = home_of(leaves)
    with working_at(device):
        arrays = arrays_of(leaves, device, transform, lambda: paths_in("x", x))
        return unflatten(tree, [fun(a) for a in arrays])


def _lanes(axis: NamedAxis) -> dict[str, Any]:
    return {"axis_name": axis.name, "tracked": axis.tracked}


# ----------------------------------------------------------------- reductions


def _reduced(
    transform: str, x: Any, axis_name: Any, groups: Any, lanes: Any, positions: Any
) -> Any:
    """A reduction over named axes, and over axes of the arrays, which are given by numbers."""
    given = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)
    numbers = [a for a in given if isinstance(a, int)]
    axes = _named(transform, tuple(a for a in given if not isinstance(a, int)))
    parts = _groups(transform, axes, groups, equal=False)
    if numbers and parts is not None:
        raise errors.ArgumentError(f"{transform}: axis_index_groups go with one axis name alone")

    def one(a: Any) -> Any:
        if numbers:
            a = positions(a, axes=tuple(sorted(check_axes(tuple(numbers), a.ndim, transform))))
        if parts is not None:
            # The groups differ, so the result does: each lane counts.
            a = varied(a, frozenset(x.name for x in axes if x.tracked))
            return lanes(a, axes=(axes[0].name,), groups=parts, tracked=False)
        for tracked in (False, True):
            names = tuple(x.name for x in axes if x.tracked == tracked)
            if names:
                a = lanes(a, axes=names, groups=None, tracked=tracked)
        return a

    return _each(transform, x, one)


def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The sum over all lanes of a named axis.

    Args:
        x: a tree of arrays; a Python number is multiplied by the number of lanes, so that
            `psum(1, name)` is that number.
        axis_name: a name, or a tuple of names; an int stands for an axis of the arrays.
        axis_index_groups: a partition of the lanes, each part of which is summed alone.

    Returns:
        A tree like `x`; booleans are counted as int32.

    Raises:
        UnboundAxisError: no such axis is open.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: x / ax.lax.psum(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    if is_scalar(x):
        axes = _named("ax.lax.psum", axis_name)
        parts = _groups("ax.lax.psum", axes, axis_index_groups)
        return x * _members(axes, parts)

    counted = _each("ax.lax.psum", x, _countable)
    return _reduced(
        "ax.lax.psum", counted, axis_name, axis_index_groups, collectives.psum, reduce_sum
    )


def _countable(a: Any) -> Any:
    """Booleans as integers."""
    if dtypes.kind(a.aval.dtype) == "bool":
        return convert(a, dtype=_INT, weak_type=False)
    return a


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The mean over all lanes of a named axis; see `psum`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: x - ax.lax.pmean(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    axes = _named("ax.lax.pmean", axis_name)
    count = _members(axes, _groups("ax.lax.pmean", axes, axis_index_groups))
    leaves, tree = flatten(psum(x, axis_name, axis_index_groups=axis_index_groups))
    return unflatten(tree, [total / count for total in leaves])


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The greatest value of all lanes of a named axis, element by element; see `psum`.

    Lanes that reach it share its derivative.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.pmax(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([3., 3.], dtype=float32)
    """
    return _reduced("ax.lax.pmax", x, axis_name, axis_index_groups, collectives.pmax, reduce_max)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Any:
    """The least value of all lanes of a named axis, element by element; see `psum`.

    Lanes that reach it share its derivative.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.pmin(x, "i"), axis_name="i")(anp.array([1.0, 3.0]))
    Array([1., 1.], dtype=float32)
    """
    return _reduced("ax.lax.pmin", x, axis_name, axis_index_groups, collectives.pmin, reduce_min)


# ----------------------------------------------------------------- exchanges


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Any = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """The values of all lanes of a named axis, in every lane.

    Args:
        x: a tree of arrays.
        axis_name: a name, or a tuple of names.
        axis_index_groups: a partition of the lanes into groups of one size, each of which
            gathers alone.
        axis: where the lanes stand in the result: a new axis, or where `tiled` an axis of
            `x`, along which they are joined.
        tiled: join the values instead of stacking them.
        to: under `shard_map`, "invarying" for a result whose type says that it is the same in
            all lanes (and which counts once in derivatives), "varying" for one that does not.

    Raises:
        UnboundAxisError: no such axis is open.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.all_gather(x, "i"), axis_name="i")(anp.arange(2.0))
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    transform = "ax.lax.all_gather"
    if to not in ("varying", "invarying"):
        raise errors.ArgumentError(f"{transform}: to is 'varying' or 'invarying', got {to!r}")
    axes = _named(transform, axis_name)
    parts = _groups(transform, axes, axis_index_groups)
    if to == "invarying" and parts is not None:
        raise errors.ArgumentError(
            f"{transform}: with axis_index_groups the result differs between the groups, so it "
            "cannot be 'invarying'"
        )

    def one(a: Any) -> Any:
        place = check_axis(axis, a.ndim + (not tiled), transform)
        if not tiled:
            a = expand_dims(a, (place,))
        for named in reversed(axes):
            a = collectives.all_gather(
                a,
                size=_members((named,), parts),
                axis=place,
                groups=parts,
                same=to == "invarying" and named.tracked,
                **_lanes(named),
            )
        return a

    return _each(transform, x, one)


def psum_scatter(
    x: Any,
    axis_name: Any,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """The sum over all lanes of a named axis, of which each lane keeps its own part.

    Args:
        x: a tree of arrays.
        axis_name: a name, or a tuple of names.
        scatter_dimension: the axis that is cut, of a length that is the number of lanes, or
            where `tiled` a multiple of it.
        axis_index_groups: a partition of the lanes into groups of one size, each of which
            works alone.
        tiled: keep the axis instead of dropping it.

    Raises:
        UnboundAxisError: no such axis is open.
        ShapeError: the axis cannot be cut into a part for each lane.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.psum_scatter(x, "i"), axis_name="i")(anp.ones((2, 2)))
    Array([2., 2.], dtype=float32)
    """
    transform = "ax.lax.psum_scatter"
    axes = _named(transform, axis_name)
    parts = _groups(transform, axes, axis_index_groups)
    count = _members(axes, parts)

    def one(a: Any) -> Any:
        place = check_axis(scatter_dimension, a.ndim, transform)
        _check_parts(transform, a, place, count, tiled)
        a = _countable(a)
        for named in axes:
            a = collectives.psum_scatter(
                a,
                size=_members((named,), parts),
                axis=place,
                groups=parts,
                **_lanes(named),
            )
        return a if tiled else squeeze(a, (place,))

    return _each(transform, x, one)


def _check_parts(transform: str, a: Any, axis: int, count: int, tiled: bool) -> None:
    length = a.shape[axis]
    if length % count if tiled else length != count:
        wanted = f"a multiple of {count}" if tiled else str(count)
        raise errors.ShapeError(
            f"{transform}: axis {axis} of {a.aval.strong()} has the length {length}, but it has to "
            f"be {wanted}, the number of lanes" + ("" if tiled else ", unless tiled=True")
        )


def all_to_all(
    x: Any,
    axis_name: Any,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Sends part i of each lane to lane i: a transposition of the named axis with one of `x`.

    Args:
        x: a tree of arrays.
        axis_name: a name, or a tuple of names.
        split_axis: the axis that is cut into a part for each lane; it vanishes unless `tiled`.
        concat_axis: where the parts that come in stand: a new axis, or where `tiled` an axis
            along which they are joined.
        axis_index_groups: a partition of the lanes into groups of one size, each of which
            works alone.
        tiled: keep the axes instead of dropping one and making one.

    Raises:
        UnboundAxisError: no such axis is open.
        ShapeError: the axis cannot be cut into a part for each lane.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> x = anp.arange(4.0).reshape(2, 2)
    >>> ax.vmap(lambda row: ax.lax.all_to_all(row, "i", 0, 0), axis_name="i")(x)
    Array([[0., 2.],
           [1., 3.]], dtype=float32)
    """
    transform = "ax.lax.all_to_all"
    axes = _named(transform, axis_name)
    parts = _groups(transform, axes, axis_index_groups)
    count = _members(axes, parts)

    def one(a: Any) -> Any:
        split = check_axis(split_axis, a.ndim, transform)
        concat = check_axis(concat_axis, a.ndim, transform)
        _check_parts(transform, a, split, count, tiled)
        if tiled:
            return _exchanged(a, axes, parts, split, concat)
        # The axis that comes stands where it is to be once the one that is cut is gone.
        place = concat + 1 if split < concat else concat
        if split == concat:
            return _exchanged(a, axes, parts, split, concat)
        a = expand_dims(a, (place,))
        split += split >= place
        return squeeze(_exchanged(a, axes, parts, split, place), (split,))

    return _each(transform, x, one)


def _exchanged(a: Any, axes: Sequence[NamedAxis], parts: Groups, split: int, concat: int) -> Any:
    if len(axes) == 1:
        return collectives.all_to_all(
            a,
            size=_members(axes, parts),
            split=split,
            concat=concat,
            groups=parts,
            **_lanes(axes[0]),
        )
    # Each named axis has an axis of its own that it cuts, and one at the end that it makes.
    shape, n, k = a.shape, a.ndim, len(axes)
    sizes = [x.size for x in axes]
    count = math.prod(sizes)
    a = reshape(
        a,
        shape=(*shape[:split], *sizes, shape[split] // count, *shape[split + 1 :], *([1] * k)),
    )
    for i, named in enumerate(axes):
        a = collectives.all_to_all(
            a, size=named.size, split=split + i, concat=n + k + i, groups=None, **_lanes(named)
        )
    a = squeeze(a, tuple(range(split, split + k)))
    perm = list(range(n))
    perm[concat:concat] = range(n, n + k)
    a = transpose(a, perm=tuple(perm))
    joined = count * a.shape[concat + k]
    return reshape(a, shape=(*a.shape[:concat], joined, *a.shape[concat + k + 1 :]))


def ppermute(x: Any, axis_name: Any, perm: Any) -> Any:
    """Sends values from lane to lane: for each pair (i, j) of `perm` that of lane i to lane j.

    Args:
        x: a tree of arrays.
        axis_name: a name, or a tuple of names.
        perm: pairs of lanes; no lane sends twice or receives twice.  A lane that receives
            nothing has zeros.

    Raises:
        UnboundAxisError: no such axis is open.
        ArgumentError: `perm` is not of this kind.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> shift = lambda x: ax.lax.ppermute(x, "i", [(0, 1), (1, 2)])
    >>> ax.vmap(shift, axis_name="i")(anp.array([5.0, 6.0, 7.0]))
    Array([0., 5., 6.], dtype=float32)
    """
    transform = "ax.lax.ppermute"
    axes = _named(transform, axis_name)
    n = _members(axes, None)
    pairs = tuple((int(i), int(j)) for i, j in perm)
    for word, lanes in (("sends", [i for i, _ in pairs]), ("receives", [j for _, j in pairs])):
        if len(set(lanes)) != len(lanes) or not all(0 <= i < n for i in lanes):
            raise errors.ArgumentError(
                f"{transform}: perm has pairs (from, to) of lanes 0 to {n - 1}, in which no lane "
                f"{word} twice, got {perm!r}"
            )
    if len(axes) == 1:
        return _each(transform, x, lambda a: collectives.ppermute(a, perm=pairs, **_lanes(axes[0])))
    sender = {j: i for i, j in pairs}
    names = tuple(a.name for a in axes)

    def one(a: Any) -> Any:
        whole = all_gather(a, names)
        here = axis_index(names)
        senders = as_array(np.array([max(sender.get(j, -1), 0) for j in range(n)], _INT))
        heard = as_array(np.array([j in sender for j in range(n)]))
        source = dynamic_index_in_dim(senders, here, keepdims=False)
        value = dynamic_index_in_dim(whole, source, keepdims=False)
        there = dynamic_index_in_dim(heard, here, keepdims=False)
        there = broadcast_in_dim(there, shape=value.shape, dims=())
        return select(there, value, zeros(value.aval))

    return _each(transform, x, one)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """A permutation of the lanes: lane j gets the value of lane `perm[j]`.

    Raises:
        UnboundAxisError: no such axis is open.
        ArgumentError: `perm` is no permutation of the lanes.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(anp.arange(3.0))
    Array([2., 0., 1.], dtype=float32)
    """
    n = _members(_named("ax.lax.pshuffle", axis_name), None)
    order = [int(i) for i in perm]
    if sorted(order) != list(range(n)):
        raise errors.ArgumentError(
            f"ax.lax.pshuffle: perm has to be a permutation of the lanes 0 to {n - 1}, got {perm!r}"
        )
    return ppermute(x, axis_name, [(i, j) for j, i in enumerate(order)])


def pswapaxes(x: Any, axis_name: Any, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Swaps a named axis with an axis of `x` of the same length: `all_to_all` with one axis.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> x = anp.arange(4.0).reshape(2, 2)
    >>> ax.vmap(lambda row: ax.lax.pswapaxes(row, "i", 0), axis_name="i")(x)
    Array([[0., 2.],
           [1., 3.]], dtype=float32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: Any, axis_name: Any, source: int) -> Any:
    """The value of lane `source` in every lane of a named axis.

    Raises:
        UnboundAxisError: no such axis is open.
        ArgumentError: there is no such lane.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.pbroadcast(x, "i", 1), axis_name="i")(anp.array([5.0, 6.0]))
    Array([6., 6.], dtype=float32)
    """
    transform = "ax.lax.pbroadcast"
    axes = _named(transform, axis_name)
    n = _members(axes, None)
    if not isinstance(source, int | np.integer) or not 0 <= source < n:
        raise errors.ArgumentError(
            f"{transform}: source is a lane, 0 to {n - 1}, got {described(source)}"
        )
    places = np.unravel_index(int(source), [a.size for a in axes])

    def one(a: Any) -> Any:
        for named, place in zip(axes, places, strict=True):
            a = collectives.pbroadcast(a, source=int(place), **_lanes(named))
        return a

    return _each(transform, x, one)


# ----------------------------------------------------------------- about the lane


def axis_index(axis_name: Any) -> Array:
    """The number of the lane along a named axis, an int32; over several axes the first is slowest.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: x + ax.lax.axis_index("i"), axis_name="i")(anp.zeros(3))
    Array([0., 1., 2.], dtype=float32)
    """
    index: Any = None
    for named in _named("ax.lax.axis_index", axis_name):
        own = collectives.axis_index(**_lanes(named))
        index = own if index is None else add(mul(index, named.size), own)
    return index if index is not None else as_array(np.zeros((), _INT))  # type: ignore[no-any-return]


def axis_size(axis_name: Any) -> int:
    """The number of lanes of a named axis, or of several together.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: x / ax.lax.axis_size("i"), axis_name="i")(anp.ones(4))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return _members(_named("ax.lax.axis_size", axis_name), None)


def pvary(x: Any, axis_name: Any) -> Any:
    """`x` as a value that may differ between the lanes of mesh axes; only its type changes.

    It is needed rarely, since operations do it where they meet values that differ.  Over the axes
    of `vmap` and `pmap`, whose values always may differ, it does nothing.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(lambda x: ax.lax.pvary(x, "i"), axis_name="i")(anp.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    axes = _named("ax.lax.pvary", axis_name)
    over = frozenset(a.name for a in axes if a.tracked)
    return _each("ax.lax.pvary", x, lambda a: varied(a, over))


def pcast(x: Any, axis_name: Any, *, to: str) -> Any:
    """`pvary`, where `to` is "varying": the only cast there is.

    Raises:
        ArgumentError: another `to`; a value becomes one that is the same in all lanes by `psum`,
            `pmax`, or `all_gather(..., to="invarying")`.
    """
    if to != "varying":
        raise errors.ArgumentError(
            f"ax.lax.pcast: to is 'varying', got {to!r}. A value becomes the same in all lanes by "
            "ax.lax.psum, ax.lax.pmean, ax.lax.pmax, or ax.lax.all_gather(..., to='invarying')."
        )
    return pvary(x, axis_name)
