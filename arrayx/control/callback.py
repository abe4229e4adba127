"""`callback`: a call of the user's own Python function while a program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.control.lanes import one_by_one
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph, subgraphs
from arrayx.core.interpreter import BASE, installed
from arrayx.core.linear import Zero
from arrayx.core.primitive import NO_EFFECTS, Primitive
from arrayx.dtypes import KeyDtype
from arrayx.primitives.axes import broadcast_in_dim, move_batch_dim

# What a function of each kind is called in messages.
WORDS = {
    "pure": "ax.pure_callback",
    "io": "ax.io_callback",
    "debug": "ax.debug.callback",
}
METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


class HostCall(Primitive):
    """A call of a function that arrayx cannot look into: what a batch is, `vmap_method` says."""

    def called(self, params: dict[str, Any]) -> str:
        """The call in messages."""
        raise NotImplementedError

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        method, avals = params["vmap_method"], params["avals"]
        if method is None:
            refuse_batch(self.called(params))
        if method in ("sequential", "sequential_unrolled"):
            return one_by_one(self, size, args, dims, params)
        if method == "broadcast_all":
            args = [move_batch_dim(size, x, d, 0) for x, d in zip(args, dims, strict=True)]
        elif method == "legacy_vectorized":
            args = [
                x if d is None else move_batch_dim(size, x, d, 0)
                for x, d in zip(args, dims, strict=True)
            ]
        else:
            args = [
                with_short_axis(x) if d is None else move_batch_dim(size, x, d, 0)
                for x, d in zip(args, dims, strict=True)
            ]
        avals = tuple(a.update(shape=(size, *a.shape)) for a in avals)
        return self(*args, **params | {"avals": avals}), (0,) * len(avals)


class Callback(HostCall):
    """What `function` gives for the operands, which it gets as NumPy arrays: `avals`.

    Of the kind "pure" it is called as often as the program likes, also never; of the kinds
    "io" and "debug" exactly once, one call after the other in the order of the program.
    `vmap_method` says what a batch is: one call for each element, or one for all.
    """

    name = "callback"
    multiple = True
    optional = True
    callable_params = True

    def type_rule(self, *operands: Any, avals: tuple[Aval, ...], **params: Any) -> Any:
        return avals

    def effects(self, *, kind: str, ordered: bool, **params: Any) -> frozenset[str]:
        if kind == "pure":
            return NO_EFFECTS
        return frozenset((kind, "ordered") if ordered else (kind,))

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()  # there is no eager kernel to find, and functions may have no hash

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        avals = params["avals"]
        if any(dtypes.is_inexact(a.dtype) for a in avals):
            refuse_derivative(params["kind"], params["name"])
        return self(*primals, **params), (Zero,) * len(avals)

    def called(self, params: dict[str, Any]) -> str:
        return f"ax.pure_callback of {params['name']}"

    def on_keys(self, operands: Any, *words: Any, function: Any, **params: Any) -> Any:
        return self(*words, function=OfKeys(function, tuple(operands)), **params)


def with_short_axis(x: Any) -> Any:
    """An array with an axis of length 1 in front."""
    shape = x.aval.shape
    return broadcast_in_dim(x, shape=(1, *shape), dims=tuple(range(1, len(shape) + 1)))


class OfKeys:
    """A function of random keys that gets their words."""

    # How keys are made of words: handed over by the backend floor.
    keys_of: Callable[[Any, Aval], Any]

    def __init__(self, function: Callable[..., Any], avals: tuple[Aval, ...]) -> None:
        self.function = function
        self.avals = avals

    def __call__(self, *arrays: Any) -> Any:
        given = [
            type(self).keys_of(x, a) if isinstance(a.dtype, KeyDtype) else x
            for x, a in zip(arrays, self.avals, strict=True)
        ]
        return self.function(*given)


def refuse_derivative(kind: str, name: str) -> NoReturn:
    """Raises the error for the derivative of a function that nothing is known of."""
    raise errors.GradError(
        f"{WORDS[kind]} of {name} cannot be differentiated: its derivative is not known, since it "
        "is a Python function that arrayx cannot look into. Put the call into a function with "
        "ax.custom_jvp (or ax.custom_vjp) and give it a rule, which may use another callback; or "
        "keep it out of the derivative by ax.lax.stop_gradient of its arguments."
    )


def refuse_batch(called: str) -> NoReturn:
    """Raises the error for a batch of calls where nothing says how."""
    raise errors.ArgumentError(
        f"ax.vmap came to {called}, which does not say what a batch of calls is. "
        "Pass vmap_method='sequential' to call it once for each element; 'expand_dims' or "
        "'broadcast_all' to call it once for all, with one more axis in front of its arguments "
        "(of length 1, or repeated, for those that all share) and results."
    )


def call_back(
    function: Callable[..., Any], avals: Sequence[Aval], name: str, arrays: Sequence[Any]
) -> list[np.ndarray]:
    """The results of a user's function for NumPy arrays, checked against their types."""
    with installed(BASE):
        results = function(*arrays)
    if len(results) != len(avals):
        raise errors.ArgumentError(
            f"the callback {name} returned {len(results)} arrays, but result_shape_dtypes has "
            f"{len(avals)}"
        )
    return [checked(x, a, name) for x, a in zip(results, avals, strict=True)]


def checked(result: Any, aval: Aval, name: str) -> np.ndarray:
    """A result as an array of its own of the promised type; raises where it is another."""
    if isinstance(result, bool | int | float | complex) and not isinstance(result, np.generic):
        array = np.asarray(result, aval.dtype)
    else:
        array = np.array(result)
    if array.shape != aval.shape:
        raise errors.ShapeError(
            f"the callback {name} returned an array of shape {array.shape}, where "
            f"result_shape_dtypes (with the axes that vmap adds) says {aval.shape}"
        )
    if array.dtype != aval.dtype:
        raise errors.DtypeError(
            f"the callback {name} returned an array of dtype {array.dtype}, where "
            f"result_shape_dtypes says {aval.dtype}: convert it (x.astype) in the callback, or "
            "change the promise"
        )
    return array


def calls_back(graph: Graph) -> bool:
    """True for a graph in which a callback stands, at any depth."""
    found = graph.memo.get("calls back")
    if found is None:
        found = graph.memo["calls back"] = any(
            e.primitive is callback or any(map(calls_back, subgraphs(e))) for e in graph.equations
        )
    return bool(found)


callback = Callback()
