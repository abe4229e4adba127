"""`vmap`: a function of one example as a function of a whole axis of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.arguments import argument_paths, check_callable, name_of
from arrayx.api.operands import (
    as_array,
    float0_zeros,
    home_of,
    is_float0,
    result_arrays,
    working_at,
)
from arrayx.core.array import Array, is_scalar
from arrayx.core.aval import Aval
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.vmap import vmap_flat
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    LEAF,
    TreeDef,
    broadcast_prefix,
    flatten,
    flatten_with_path,
    unflatten,
)

# The error for mixed sizes names so many arguments of each.
_MOST_SHOWN = 3


def vmap(
    fun: Callable[..., Any],
    in_axes: int | Sequence[Any] | None = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies `fun` along an axis of its arguments, in one program.

    Args:
        fun: a function of trees of arrays.
        in_axes: for each positional argument the axis to map over, None for an argument that
            every call shares; a tuple with one entry for each argument (an entry may be a
            tree like the argument, or the upper part of one), or one int for all.  Keyword
            arguments are mapped over axis 0.
        out_axes: where the mapped axis stands in the results: an int, or a tree that is the
            upper part of the result's.  None for a result that is the same for all.
        axis_name: a name by which collective operations inside `fun` reach the axis.
        axis_size: the length of the axis; only needed where no argument has it.

    Returns:
        A function with the arguments of `fun`, whose mapped ones have one more axis.

    Raises:
        ArgumentError: in_axes does not fit the arguments, or nothing is mapped.
        ShapeError: the mapped axes have different lengths.
        AxisError: an argument or result has no such axis.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.vmap(anp.dot, in_axes=(0, None))(anp.ones((2, 3)), anp.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    return mapping("ax.vmap", fun, in_axes, out_axes, axis_name, axis_size)


def mapping(
    transform: str,
    fun: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    axis_name: Any,
    axis_size: int | None,
    check_size: Callable[[int], None] | None = None,
) -> Callable[..., Any]:
    """`vmap` under the name `transform`; `check_size` may refuse the length of the axis."""
    check_callable(fun, transform)
    name = name_of(fun)
    in_axes = tuple(in_axes) if type(in_axes) is list else in_axes
    check_in_axes(transform, in_axes, name)
    _check_entries(transform, "out_axes", out_axes)

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten((args, kwargs))
        axes = axes_of_arguments(transform, in_axes, args, kwargs, name)
        if all(isinstance(x, Array) for x in leaves):
            values = leaves
            device = home_of(leaves)
        else:
            device = home_of(leaves)
            values = [
                x
                if a is None or isinstance(x, Array)
                else _mapped_array(transform, x, i, args, kwargs, device)
                for i, (x, a) in enumerate(zip(leaves, axes, strict=True))
            ]
        dims, size = size_of_axis(transform, values, axes, args, kwargs, axis_size, name)
        if check_size is not None:
            check_size(size)
        out_tree: TreeDef = LEAF

        def flat(*given: Any) -> list[Any]:
            nonlocal out_tree
            positional, keywords = unflatten(tree, list(given))
            outs, out_tree = result_arrays(fun(*positional, **keywords), transform, fun)
            return outs

        with working_at(device):
            word = f"{transform} of {name}"
            outs, out_dims = vmap_flat(
                flat, size, values, dims, axis_name, word, lambda: argument_paths(fun, args, kwargs)
            )
            places = out_axes
            if type(places) is int:
                wanted: list[Any] = [places] * len(outs)
            else:
                wanted = axes_of_results(transform, places, out_tree, len(outs), name)
            results = [
                placed(transform, o, d, to, size, i, out_tree, name)
                for i, (o, d, to) in enumerate(zip(outs, out_dims, wanted, strict=True))
            ]
        return unflatten(out_tree, results)

    return mapped


def _is_none(x: Any) -> bool:
    return x is None


def check_in_axes(transform: str, in_axes: Any, name: str) -> None:
    """Raises for an `in_axes` that cannot be right for any arguments."""
    if in_axes is None or _is_axis(in_axes):
        return
    if type(in_axes) is not tuple:
        raise errors.ArgumentError(
            f"{transform}: in_axes has to be an int, None, or a tuple with one entry for each "
            f"positional argument, got {in_axes!r} of type {type(in_axes).__name__}. For one "
            f"argument that is mapped like this write {transform}({name}, in_axes=({in_axes!r},))."
        )
    _check_entries(transform, "in_axes", in_axes)


def _is_axis(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def _check_entries(transform: str, word: str, axes: Any) -> None:
    for path, axis in flatten_with_path(axes, _is_none)[0]:
        if axis is not None and not _is_axis(axis):
            raise errors.ArgumentError(
                f"{transform}: {word}{keystr(path)} has to be an int or None, got {axis!r} of type "
                f"{type(axis).__name__}"
            )


def axes_of_arguments(
    transform: str, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> list[int | None]:
    """The axis of each leaf of `(args, kwargs)`; None for what is not mapped."""
    keywords: list[int | None] = [0] * len(flatten(kwargs)[0]) if kwargs else []
    if in_axes is None or type(in_axes) is int:
        return [in_axes] * len(flatten(args)[0]) + keywords
    if _is_axis(in_axes):
        return [int(in_axes)] * len(flatten(args)[0]) + keywords
    if len(in_axes) != len(args):
        raise errors.ArgumentError(
            f"{transform}: in_axes={in_axes!r} has {len(in_axes)} entries, but {name} was called "
            f"with {len(args)} positional argument{'' if len(args) == 1 else 's'}. in_axes has "
            "one entry for each; keyword arguments are mapped over axis 0."
        )
    found: list[int | None] = []
    for i, (axes, arg) in enumerate(zip(in_axes, args, strict=True)):
        if axes is None or type(axes) is int:
            found += [axes] * len(flatten(arg)[0])
            continue
        try:
            found += broadcast_prefix(axes, arg, _is_none)
        except errors.TreeError as error:
            raise errors.TreeError(
                f"{transform}: in_axes[{i}]={axes!r} is not the upper part of args[{i}]: {error}"
            ) from None
    return found + keywords


def _mapped_array(transform: str, x: Any, i: int, args: Any, kwargs: Any, device: Any) -> Any:
    if is_scalar(x):
        _refuse_scalar(transform, argument_name(i, args, kwargs))
    array = as_array(x, device)
    if array is None:
        raise errors.ArgumentError(
            f"{transform}: {argument_name(i, args, kwargs)} is {x!r} of type {type(x).__name__}, "
            "which is not an array and cannot be mapped: give it in_axes=None, or close over it"
        )
    return array


def _refuse_scalar(transform: str, path: str) -> None:
    raise errors.AxisError(
        f"{transform}: {path} has rank 0, so there is no axis to map over. Give it in_axes=None if "
        "every call shares it."
    )


def argument_name(i: int, args: Any, kwargs: Any) -> str:
    """The path of leaf `i` of `(args, kwargs)`: `args[0]['w']`, or `kwargs['y']`."""
    path = flatten_with_path((args, kwargs))[0][i][0]
    root = "args" if path[0].idx == 0 else "kwargs"
    return root + keystr(path[1:])


def size_of_axis(
    transform: str,
    values: Sequence[Any],
    axes: Sequence[int | None],
    args: Any,
    kwargs: Any,
    axis_size: int | None,
    name: str,
) -> tuple[list[int | None], int]:
    """The mapped axis of each leaf, counted from the front, and its length."""
    dims: list[int | None] = []
    size = axis_size
    for i, (x, a) in enumerate(zip(values, axes, strict=True)):
        if a is None:
            dims.append(None)
            continue
        ndim = x.aval.ndim
        if not -ndim <= a < ndim:
            path = argument_name(i, args, kwargs)
            if ndim == 0:
                _refuse_scalar(transform, path)
            raise errors.AxisError(
                f"{transform}: {path} has shape {x.aval.shape}, so there is no axis {a} to map "
                f"over; its axes are {-ndim} to {ndim - 1}"
            )
        d = int(a) % ndim
        dims.append(d)
        if size is None:
            size = x.aval.shape[d]
        elif x.aval.shape[d] != size:
            _refuse_sizes(transform, values, axes, args, kwargs, axis_size)
    if size is None:
        raise errors.ArgumentError(
            f"{transform} of {name}: no argument is mapped, so the length of the axis is unknown. "
            "Map at least one argument (in_axes), or give axis_size."
            if values
            else f"{transform} of {name} was called without arrays: give axis_size, or an argument"
        )
    return dims, size


def _refuse_sizes(
    transform: str,
    values: Sequence[Any],
    axes: Sequence[Any],
    args: Any,
    kwargs: Any,
    axis_size: int | None,
) -> None:
    by_size: dict[int, list[str]] = {}
    for i, (x, a) in enumerate(zip(values, axes, strict=True)):
        if a is not None and -x.aval.ndim <= a < x.aval.ndim:
            words = f"{argument_name(i, args, kwargs)} of shape {x.aval.shape} along axis {a}"
            by_size.setdefault(x.aval.shape[a], []).append(words)
    parts = []
    for size, arguments in by_size.items():
        shown = ", ".join(arguments[:_MOST_SHOWN])
        if len(arguments) > _MOST_SHOWN:
            shown += f" and {len(arguments) - _MOST_SHOWN} more"
        parts.append(f"size {size}: {shown}")
    given = f"axis_size is {axis_size}, and " if axis_size is not None else ""
    raise errors.ShapeError(
        f"{transform}: {given}the mapped axes have different sizes. " + "; ".join(parts) + ". Map "
        "other axes (in_axes), or give in_axes=None to what every call shares."
    )


def axes_of_results(
    transform: str, out_axes: Any, tree: TreeDef, count: int, name: str
) -> list[int | None]:
    """The axis of each leaf of the result."""
    marks = unflatten(tree, list(range(count)))
    try:
        return broadcast_prefix(out_axes, marks, _is_none)
    except errors.TreeError as error:
        raise errors.TreeError(
            f"{transform}: out_axes={out_axes!r} is not the upper part of the result of {name}, "
            f"whose structure is {tree}: {error}"
        ) from None


def placed(
    transform: str,
    out: Any,
    dim: int | None,
    to: int | None,
    size: int,
    i: int,
    tree: TreeDef,
    name: str,
) -> Any:
    """One result with the mapped axis where `out_axes` wants it."""
    if to is None:
        if dim is None:
            return out
        raise errors.ArgumentError(
            f"{transform}: out_axes is None for {_result_path(i, tree)} of {name}, but that "
            "differs between the calls: give it an axis, or make it the same for all (by a "
            "collective such as ax.lax.psum, or by not using the mapped arguments)"
        )
    ndim = out.ndim + (dim is None)
    if not -ndim <= to < ndim:
        raise errors.AxisError(
            f"{transform}: out_axes is {to} for {_result_path(i, tree)} of {name}, which has "
            f"{ndim} axes with the mapped one: {-ndim} to {ndim - 1}"
        )
    at = int(to) % ndim
    if is_float0(out):
        return float0_zeros(Aval((*out.shape[:at], size, *out.shape[at:]), out.dtype))
    return move_batch_dim(size, out, dim, at)


def _result_path(i: int, tree: TreeDef) -> str:
    marks = unflatten(tree, list(range(tree.num_leaves)))
    return "the result" + keystr(flatten_with_path(marks)[0][i][0])
