"""Derivatives: `grad`, `jvp`, `vjp`, `linearize` of functions of trees of arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.derivatives import Derivative, Outline, Pullback, Pushforward, pulled_back
from arrayx.api.operands import (
    Selected,
    arrays_of,
    as_array,
    check_argnums,
    given_tangents,
    home_of,
    instantiated,
    is_differentiable,
    one_like,
    primal_paths,
    result_arrays,
    select,
    split_aux,
    working_at,
)
from arrayx.core.array import Array, typeof
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.combined import stop_gradient as stop_gradient_primitive
from arrayx.transforms.jvp import jvp_flat
from arrayx.transforms.linearize import linearize_flat
from arrayx.treedef import LEAF, TreeDef, flatten, unflatten


def check_differentiable(fun: Any, transform: str) -> None:
    """Raises for what cannot be differentiated because it is no function of arrays."""
    check_callable(fun, transform)
    if inspect.isgeneratorfunction(fun):
        raise errors.NotCallableError(
            f"{transform} takes a function that returns arrays, but {name_of(fun)} is a "
            "generator function: collect what it yields, and return that"
        )


def check_input(
    transform: str,
    aval: Aval,
    paths: Callable[[], Sequence[str]],
    i: int,
    holomorphic: bool,
    allow_int: bool,
) -> None:
    """Raises for an argument, that of path `i`, that reverse mode has no derivative for."""
    kind = dtypes.kind(aval.dtype)
    if kind == "float" and not holomorphic:
        return
    if holomorphic and kind != "complex":
        raise errors.GradError(
            f"{transform} with holomorphic=True needs complex inputs, but argument {paths()[i]} is "
            f"{aval.strong()}. Convert it (x.astype(complex)), or leave holomorphic out."
        )
    if kind in ("float", "complex") or allow_int:
        return
    raise errors.GradError(
        f"{transform}: argument {paths()[i]} is {aval.strong()}, and there is no derivative "
        f"with respect to {_KINDS.get(kind, kind)}. Convert it (x.astype(float), or 1.0 instead "
        "of 1), leave it out of argnums, or pass allow_int=True for a gradient of dtype float0."
    )


_KINDS = {"int": "integers", "uint": "integers", "bool": "booleans", "key": "random keys"}


def check_value(transform: str, result: Any, fun: Any, holomorphic: bool) -> Any:
    """The scalar that `fun` returned; raises for anything that has no gradient."""
    value = as_array(result)
    name = name_of(fun)
    if value is None:
        leaves, tree = flatten(result)
        hint = ""
        if tree is not LEAF:
            hint = (
                f" returned {_shown(tree)}: return the scalar alone, with has_aux=True a pair "
                "(scalar, auxiliary), or use ax.jacrev for every derivative of every output."
            )
        elif leaves and leaves[0] is result:
            hint = f" returned {result!r} of type {type(result).__name__}"
        raise errors.GradError(
            f"{transform} needs a function whose result is a scalar, but {name}{hint}"
        )
    aval = value.aval
    if aval.shape != ():
        raise errors.GradError(
            f"{transform} needs a function whose result is a scalar, but {name} returned "
            f"{aval.strong()}. Sum or average it (anp.sum, anp.mean), use ax.jacrev for all "
            "derivatives of an array, or ax.vmap(ax.grad(f)) for one gradient for each example."
        )
    check_output(transform, aval, name, holomorphic)
    return value


def _shown(tree: TreeDef) -> str:
    data = tree.node_data()
    return "nothing (None)" if data is None or data[0] is type(None) else f"a {data[0].__name__}"


def check_output(transform: str, aval: Aval, name: str, holomorphic: bool) -> None:
    """Raises for a result that reverse mode cannot start from."""
    kind = dtypes.kind(aval.dtype)
    if holomorphic and kind != "complex":
        raise errors.GradError(
            f"{transform} with holomorphic=True needs complex outputs, but {name} returned "
            f"{aval.strong()}: a holomorphic function has a complex result"
        )
    if kind == "complex" and not holomorphic:
        raise errors.GradError(
            f"{transform} needs real outputs, but {name} returned {aval.strong()}. Take anp.real, "
            "anp.imag or anp.abs of it; pass holomorphic=True if it is a holomorphic function of "
            "complex inputs; or use ax.vjp, which takes any cotangent."
        )
    if kind not in ("float", "complex"):
        raise errors.GradError(
            f"{transform} needs floating-point outputs, but {name} returned {aval.strong()}, "
            "which does not vary continuously. Compute it with floats."
        )


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., tuple[Any, Any]]:
    """A function that computes `fun` and its gradient together.

    Args:
        fun: returns a real scalar (with `has_aux`, a pair of it and anything else).
        argnums: the positional argument(s) to differentiate: an int, or several in a tuple.
        has_aux: `fun` returns `(scalar, auxiliary)`; the result is
            `((scalar, auxiliary), gradient)`.
        holomorphic: promises that `fun` is holomorphic, with complex inputs and output.
        allow_int: integer arguments are allowed; their gradient has dtype float0.

    Returns:
        A function with the arguments of `fun` that returns `(value, gradient)`; the gradient
        has the structure, shapes and dtypes of the argument, in a tuple if `argnums` is one.

    Raises:
        GradError: the result is no real scalar, or an argument is not of floating point.

    >>> import arrayx as ax
    >>> ax.value_and_grad(lambda x: x * x)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32))
    """
    return _gradient("ax.value_and_grad", fun, argnums, has_aux, holomorphic, allow_int)


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that computes the gradient of `fun`, which returns a scalar.

    The arguments are those of `value_and_grad`.  With `has_aux` the result is a pair of the
    gradient and what `fun` returned beside its value.  The gradient of a real function of a
    complex argument x + iy is df/dx - i df/dy: descend along its conjugate.

    Raises:
        GradError: the result is no real scalar, or an argument is not of floating point.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.grad(anp.tanh)(0.0)
    Array(1., dtype=float32)
    """
    both = _gradient("ax.grad", fun, argnums, has_aux, holomorphic, allow_int)
    if has_aux:

        @functools.wraps(fun)
        def grad_with_aux(*args: Any, **kwargs: Any) -> Any:
            (_, aux), gradient = both(*args, **kwargs)
            return gradient, aux

        return grad_with_aux

    @functools.wraps(fun)
    def grad_of(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return grad_of


def _gradient(
    transform: str, fun: Any, argnums: Any, has_aux: bool, holomorphic: bool, allow_int: bool
) -> Callable[..., tuple[Any, Any]]:
    check_differentiable(fun, transform)
    argnums = check_argnums(transform, argnums)
    word = f"{transform} of {name_of(fun)}"

    @functools.wraps(fun)
    def value_and_grad_of(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        chosen = select(transform, fun, argnums, args, kwargs)
        device = home_of(chosen.leaves)
        with working_at(device):
            primals = arrays_of(chosen.leaves, device, transform, chosen.paths)
            for i, p in enumerate(primals):
                check_input(transform, p.aval, chosen.paths, i, holomorphic, allow_int)
            return differentiate(chosen, primals)

    def differentiate(chosen: Selected, primals: list[Any]) -> tuple[Any, Any]:
        aux_tree: Any = None

        def flat(*leaves: Any) -> list[Any]:
            nonlocal aux_tree
            result = chosen.call(*leaves)
            aux_leaves: list[Any] = []
            if has_aux:
                result, aux = split_aux(result, transform, fun)
                aux_leaves, aux_tree = flatten(aux)
            return [check_value(transform, result, fun, holomorphic), *aux_leaves]

        moving = [is_differentiable(p.aval) for p in primals]
        linear = linearize_flat(flat, primals, moving, word)
        value = linear.outs[0]
        cts = pulled_back(linear, [one_like(value), *([Zero] * (len(linear.outs) - 1))], primals)
        gradient = unflatten(chosen.tree, cts)
        if has_aux:
            return (value, unflatten(aux_tree, linear.outs[1:])), gradient
        return value, gradient

    return value_and_grad_of


class _Flat:
    """A function of trees as a flat one, which notes the structure of its result.

    What `fun` returns beside its result under `has_aux` follows it among the leaves.
    """

    def __init__(self, transform: str, fun: Any, tree: TreeDef, has_aux: bool) -> None:
        self.transform = transform
        self.fun = fun
        self.tree = tree
        self.has_aux = has_aux
        self.out_tree: TreeDef = LEAF
        self.aux_tree: TreeDef = LEAF
        self.count = 0

    def __call__(self, *leaves: Any) -> list[Any]:
        result = self.fun(*unflatten(self.tree, list(leaves)))
        aux: list[Any] = []
        if self.has_aux:
            result, rest = split_aux(result, self.transform, self.fun)
            aux, self.aux_tree = flatten(rest)
        outs, self.out_tree = result_arrays(result, self.transform, self.fun)
        self.count = len(outs)
        return [*outs, *aux]

    def result(self, outs: Sequence[Any]) -> Any:
        """The function's result."""
        return unflatten(self.out_tree, list(outs[: self.count]))

    def aux(self, outs: Sequence[Any]) -> Any:
        """What it returned beside it."""
        return unflatten(self.aux_tree, list(outs[self.count :]))


def _several(transform: str, name: str, given: Any) -> None:
    if not isinstance(given, tuple | list):
        raise errors.ArgumentError(
            f"{transform}: {name} has to be a tuple or list with one entry for each positional "
            f"argument, got {given!r} of type {type(given).__name__}. For one argument write "
            f"{transform}(f, (x,), (dx,))."
        )


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of `fun` at `primals` and its derivative along `tangents`: forward mode.

    Args:
        fun: a function of trees of arrays.
        primals: the positional arguments, in a tuple or list.
        tangents: the direction: the same structure, shapes and dtypes; float0 arrays for
            integer and boolean arguments.
        has_aux: `fun` returns `(result, auxiliary)`.

    Returns:
        `(result, tangent)`, or `(result, tangent, auxiliary)` with `has_aux`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.jvp(anp.sin, (0.0,), (2.0,))
    (Array(0., dtype=float32, weak_type=True), Array(2., dtype=float32))
    """
    transform = "ax.jvp"
    check_differentiable(fun, transform)
    _several(transform, "primals", primals)
    _several(transform, "tangents", tangents)
    if len(primals) != len(tangents):
        raise errors.ArgumentError(
            f"{transform}: {len(primals)} primals, but {len(tangents)} tangents were given; "
            "there has to be one for each"
        )
    leaves, tree = flatten(tuple(primals))
    device = home_of(leaves)

    def paths() -> list[str]:
        return primal_paths(fun, primals)

    with working_at(device):
        arrays = arrays_of(leaves, device, transform, paths)
        avals = [p.aval for p in arrays]
        given = given_tangents(transform, "tangent", tuple(tangents), tree, avals, paths)
        flat = _Flat(transform, fun, tree, has_aux)
        word = f"{transform} of {name_of(fun)}"
        outs, out_tangents = jvp_flat(flat, arrays, given, word)
        shown = [
            instantiated(t, typeof(o))
            for o, t in zip(outs[: flat.count], out_tangents[: flat.count], strict=True)
        ]
        tangent = unflatten(flat.out_tree, shown)
    if has_aux:
        return flat.result(outs), tangent, flat.aux(outs)
    return flat.result(outs), tangent


def _linearized(
    transform: str, kind: type[Derivative], fun: Any, primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    check_differentiable(fun, transform)
    leaves, tree = flatten(primals)
    device = home_of(leaves)

    def paths() -> list[str]:
        return primal_paths(fun, primals)

    with working_at(device):
        arrays = arrays_of(leaves, device, transform, paths)
        flat = _Flat(transform, fun, tree, has_aux)
        moving = [is_differentiable(p.aval) for p in arrays]
        linear = linearize_flat(flat, arrays, moving, f"{transform} of {name_of(fun)}")
    avals = [typeof(o) for o in linear.outs[: flat.count]]
    outline = Outline(
        name_of(fun), tree, flat.out_tree, tuple(p.aval for p in arrays), tuple(avals)
    )
    result = flat.result(linear.outs)
    derivative = kind(linear, outline, home_of(arrays), len(linear.outs), paths)
    return (result, derivative, flat.aux(linear.outs)) if has_aux else (result, derivative)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` at `primals`, and a function that pulls cotangents back: reverse mode.

    Args:
        fun: a function of trees of arrays.
        primals: its positional arguments.
        has_aux: `fun` returns `(result, auxiliary)`.

    Returns:
        `(result, pullback)`, or `(result, pullback, auxiliary)`.  `pullback` takes cotangents
        with the structure, shapes and dtypes of the result and returns a tuple of those of
        the primals; it may be called many times.  Integers have cotangents of dtype float0.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> value, pullback = ax.vjp(anp.multiply, 2.0, 3.0)
    >>> pullback(1.0)
    (Array(3., dtype=float32), Array(2., dtype=float32))
    """
    return _linearized("ax.vjp", Pullback, fun, primals, has_aux)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` at `primals`, and its derivative there as a linear function.

    What does not depend on the tangents is computed once, here; `jvp` at one point along
    many directions is cheaper this way, at the cost of keeping intermediate values.

    Returns:
        `(result, pushforward)`, or `(result, pushforward, auxiliary)`.  `pushforward` takes a
        tangent for each primal.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> value, pushforward = ax.linearize(anp.sin, 0.0)
    >>> pushforward(1.0), pushforward(2.0)
    (Array(1., dtype=float32), Array(2., dtype=float32))
    """
    return _linearized("ax.linearize", Pushforward, fun, primals, has_aux)


def stop_gradient(x: Any) -> Any:
    """A tree of arrays as it is, but constant for differentiation.

    >>> import arrayx as ax
    >>> ax.grad(lambda x: x * ax.lax.stop_gradient(x))(3.0)
    Array(3., dtype=float32)
    """
    leaves, tree = flatten(x)
    stopped = [
        stop_gradient_primitive(leaf)
        if isinstance(leaf, Array) and is_differentiable(leaf.aval)
        else leaf
        for leaf in leaves
    ]
    return unflatten(tree, stopped)
