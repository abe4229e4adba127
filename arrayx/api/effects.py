"""Calls of Python functions from programs: `pure_callback`, `io_callback`, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.arguments import ShapeDtypeStruct, check_callable, is_value, name_of
from arrayx.api.operands import as_array, home_of, working_at
from arrayx.control.callback import METHODS
from arrayx.control.callback import callback as callback_primitive
from arrayx.core.array import Array, is_scalar
from arrayx.core.aval import Aval
from arrayx.dtypes import as_dtype
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten, flatten_up_to, flatten_with_path, unflatten

__all__ = ["effects_barrier", "io_callback", "pure_callback"]


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """The result of a Python function without side effects, also inside compiled programs.

    Args:
        callback: gets the arguments with NumPy arrays (its own copies) in place of arrays, and
            returns arrays.  A program may call it any number of times, also never.
        result_shape_dtypes: the types of its result: a tree of arrays or ShapeDtypeStructs.
        args, kwargs: trees of arrays; what is no array reaches `callback` as it is.
        sharding: accepted for JAX's sake; there is one device.
        vmap_method: what `vmap` does: "sequential" calls once for each element,
            "expand_dims" and "broadcast_all" call once for all, with one more axis in front of
            arguments (of length 1, or repeated, for those that all elements share) and
            results; "legacy_vectorized" leaves shared arguments as they are.

    Raises:
        GradError: it is differentiated: wrap it in `ax.custom_jvp`, with a rule.
        ShapeError, DtypeError: the result has other types than promised.
        Whatever `callback` raises.

    >>> import arrayx as ax, arrayx.numpy as anp, numpy as np
    >>> ax.jit(lambda x: ax.pure_callback(np.sort, x, x))(anp.array([3.0, 1.0, 2.0]))
    Array([1., 2., 3.], dtype=float32)
    """
    transform = "ax.pure_callback"
    if vmap_method is not None and vmap_method not in METHODS:
        raise errors.ArgumentError(
            f"{transform}: vmap_method has to be None or one of {', '.join(map(repr, METHODS))}, "
            f"got {vmap_method!r}"
        )
    return called_back(
        transform, callback, result_shape_dtypes, args, kwargs, "pure", False, vmap_method
    )


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """The result of a Python function with side effects, called once each time it is reached.

    The arguments are those of `pure_callback`; `result_shape_dtypes` is None for a function
    that returns nothing.  Calls happen one after the other, in the order of the program;
    `ordered` is accepted for JAX's sake.  Under `vmap` it is called for each element, in a
    branch only where that is taken, and never again in a backward pass.

    >>> import arrayx as ax, numpy as np
    >>> seen = []
    >>> def note(x):
    ...     seen.append(float(x))
    ...     return np.int32(len(seen))
    >>> count = ax.jit(lambda x: ax.io_callback(note, ax.ShapeDtypeStruct((), "int32"), x))
    >>> int(count(2.0)), int(count(3.0)), seen
    (1, 2, [2.0, 3.0])
    """
    return called_back(
        "ax.io_callback", callback, result_shape_dtypes, args, kwargs, "io", ordered, "sequential"
    )


def effects_barrier() -> None:
    """Returns once the effects of all programs called so far have happened.

    Programs with effects return after them, so that there is nothing to wait for.

    >>> effects_barrier()
    """


def called_back(
    transform: str,
    callback: Callable[..., Any],
    result_types: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kind: str,
    ordered: bool,
    vmap_method: str | None,
) -> Any:
    """Applies the primitive to the arrays among the arguments."""
    check_callable(callback, transform)
    avals, out_tree = promised(transform, result_types)
    leaves, tree = flatten((args, kwargs))
    name = name_of(callback)
    # Scalars too stay what they are: a function may want an index or an axis.
    moving = [is_value(x) and not is_scalar(x) for x in leaves]
    fixed = [None if m else x for x, m in zip(leaves, moving, strict=True)]

    def flat(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        full = [next(given) if m else x for x, m in zip(fixed, moving, strict=True)]
        positional, keywords = unflatten(tree, full)
        return results_of(transform, name, callback(*positional, **keywords), out_tree)

    arrays = [x for x, m in zip(leaves, moving, strict=True) if m]
    device = home_of(arrays)
    with working_at(device):
        results = callback_primitive(
            *[as_array(x, device) for x in arrays],
            function=flat,
            avals=tuple(avals),
            name=name,
            kind=kind,
            ordered=ordered,
            vmap_method=vmap_method,
        )
    return unflatten(out_tree, list(results))


def promised(transform: str, types: Any) -> tuple[list[Aval], TreeDef]:
    """The types of a callback's results, flat, and their structure."""
    leaves, tree = flatten(types)
    avals = []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, ShapeDtypeStruct | Array):
            avals.append(leaf.aval.strong())
        elif hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            avals.append(Aval(tuple(leaf.shape), as_dtype(leaf.dtype)))
        else:
            path = keystr(flatten_with_path(types)[0][i][0])
            raise errors.ArgumentError(
                f"{transform}: result_shape_dtypes{path} has to be an ax.ShapeDtypeStruct, or an "
                f"array of the type that the callback returns, got {leaf!r} of type "
                f"{type(leaf).__name__}"
            )
        if not isinstance(avals[-1].dtype, np.dtype):
            raise errors.DtypeError(
                f"{transform}: a callback cannot return {avals[-1]}: return the words of keys "
                "(ax.random.key_data), and wrap them (ax.random.wrap_key_data)"
            )
    return avals, tree


def results_of(transform: str, name: str, result: Any, tree: TreeDef) -> list[Any]:
    """The leaves of what a callback returned; raises for another structure than promised."""
    if tree.num_leaves == 0:
        return []
    try:
        return flatten_up_to(tree, result)
    except errors.TreeError as error:
        raise errors.TreeError(
            f"{transform}: the callback {name} has to return the structure of "
            f"result_shape_dtypes, {tree}: {error}"
        ) from None
