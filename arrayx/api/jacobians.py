"""All first and second derivatives of array-valued functions: Jacobians and Hessians.

They are apart from `autodiff.py` because they are made of differentiation and batching.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import name_of
from arrayx.api.autodiff import check_differentiable, check_input, check_output
from arrayx.api.operands import (
    arrays_of,
    check_argnums,
    home_of,
    is_differentiable,
    result_arrays,
    select,
    split_aux,
    working_at,
)
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.linear import Zero
from arrayx.primitives.arithmetic import eq
from arrayx.primitives.arithmetic import select as select_primitive
from arrayx.primitives.axes import move_batch_dim, reshape
from arrayx.primitives.creation import fill, iota, zero_literal, zeros
from arrayx.transforms.jvp import jvp_flat
from arrayx.transforms.linearize import linearize_flat
from arrayx.transforms.vjp import backward
from arrayx.transforms.vmap import vmap_flat
from arrayx.treedef import TreeDef, flatten, unflatten


def basis(aval: Aval) -> Any:
    """The unit directions of a type, along a new axis 0: `(size, *shape)`."""
    n = aval.size
    counts = np.dtype(np.int32)
    diagonal = eq(
        iota(shape=(n, n), dtype=counts, axis=0), iota(shape=(n, n), dtype=counts, axis=1)
    )
    zero = zero_literal(aval.dtype)
    ones = fill((n, n), aval.dtype, type(zero)(1))
    return reshape(select_primitive(diagonal, ones, zero), shape=(n, *aval.shape))


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `fun`, column by column, in forward mode.

    It costs one derivative for each input element, so it is for functions with few inputs;
    `jacrev` is for few outputs.

    Args:
        fun: a function of arrays; the arguments `argnums` are real (complex if holomorphic).
        argnums: the positional argument(s) to differentiate.
        has_aux: `fun` returns `(result, auxiliary)`; so does the new function.
        holomorphic: promises that `fun` is holomorphic.

    Returns:
        A function with the arguments of `fun`.  Its result has the structure of `fun`'s
        result, each leaf replaced by the structure of the argument, each of whose leaves has
        the shape `output.shape + input.shape`.

    Raises:
        GradError: an argument is not of floating point.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.jacfwd(lambda x: anp.sin(x))(anp.zeros(2))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    transform = "ax.jacfwd"
    check_differentiable(fun, transform)
    argnums = check_argnums(transform, argnums)

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = select(transform, fun, argnums, args, kwargs)
        device = home_of(chosen.leaves)
        out_tree: Any = None
        aux: Any = None
        n_outs = 0

        def flat(*leaves: Any) -> list[Any]:
            nonlocal out_tree, aux, n_outs
            result = chosen.call(*leaves)
            rest: list[Any] = []
            if has_aux:
                result, more = split_aux(result, transform, fun)
                rest, aux = flatten(more)
            outs, out_tree = result_arrays(result, transform, fun)
            n_outs = len(outs)
            return [*outs, *rest]

        with working_at(device):
            primals = arrays_of(chosen.leaves, device, transform, chosen.paths)
            for i, p in enumerate(primals):
                _check_forward(p.aval, chosen.paths, i, holomorphic)
            columns: list[list[Any]] = []
            outs: list[Any] = []
            for i, p in enumerate(primals):

                def along(tangent: Any, i: int = i) -> list[Any]:
                    nonlocal outs
                    tangents = [tangent if j == i else Zero for j in range(len(primals))]
                    word = f"{transform} of {name_of(fun)}"
                    outs, found = jvp_flat(flat, primals, tangents, word)
                    return found[:n_outs]

                tangents, dims = vmap_flat(along, p.aval.size, [basis(p.aval)], [0])
                columns.append(
                    [
                        _column(t, d, typeof(o), p.aval)
                        for t, d, o in zip(tangents, dims, outs[:n_outs], strict=True)
                    ]
                )
            if not primals:
                outs = flat()
        for o in outs[:n_outs]:
            _check_forward_output(typeof(o), fun, holomorphic)
        rows = [[column[k] for column in columns] for k in range(n_outs)]
        result = _nested(out_tree, chosen.tree, rows)
        return (result, unflatten(aux, outs[n_outs:])) if has_aux else result

    return jacobian


def _check_forward(
    aval: Aval, paths: Callable[[], Sequence[str]], i: int, holomorphic: bool
) -> None:
    check_input("ax.jacfwd", aval, paths, i, holomorphic, False)
    if dtypes.kind(aval.dtype) == "complex" and not holomorphic:
        raise errors.GradError(
            f"ax.jacfwd needs real inputs, but argument {paths()[i]} is {aval.strong()}. Pass "
            "holomorphic=True if the function is holomorphic, or differentiate with respect to "
            "the real and the imaginary part."
        )


def _check_forward_output(aval: Aval, fun: Any, holomorphic: bool) -> None:
    if dtypes.kind(aval.dtype) == "complex" and not holomorphic:
        return
    check_output("ax.jacfwd", aval, name_of(fun), holomorphic)


def _column(tangent: Any, dim: int | None, out: Aval, given: Aval) -> Any:
    """The derivatives of one output with respect to one input, whose axes come last."""
    shape = out.shape + given.shape
    if tangent is Zero:
        return zeros(Aval(shape, out.dtype))
    last = move_batch_dim(given.size, tangent, dim, out.ndim)
    return reshape(last, shape=shape)


def _row(ct: Any, dim: int | None, out: Aval, given: Aval) -> Any:
    """The derivatives of one output, whose axes come first, with respect to one input."""
    shape = out.shape + given.shape
    if not is_differentiable(given):
        return np.zeros(shape, dtypes.float0)
    if ct is Zero:
        return zeros(Aval(shape, given.dtype))
    return reshape(move_batch_dim(out.size, ct, dim, 0), shape=shape)


def _nested(out_tree: TreeDef, in_tree: TreeDef, rows: list[list[Any]]) -> Any:
    return unflatten(out_tree, [unflatten(in_tree, row) for row in rows])


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `fun`, row by row, in reverse mode.

    It costs one derivative for each output element, so it is for functions with few outputs;
    `jacfwd` is for few inputs.  Arguments and result are those of `jacfwd`; with `allow_int`
    integer arguments are allowed and have derivatives of dtype float0.

    Raises:
        GradError: an argument or a result is not of floating point.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.jacrev(lambda x: 2 * x)(anp.ones(2))
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    transform = "ax.jacrev"
    check_differentiable(fun, transform)
    argnums = check_argnums(transform, argnums)

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = select(transform, fun, argnums, args, kwargs)
        device = home_of(chosen.leaves)
        out_tree: Any = None
        aux: Any = None
        n_outs = 0

        def flat(*leaves: Any) -> list[Any]:
            nonlocal out_tree, aux, n_outs
            result = chosen.call(*leaves)
            rest: list[Any] = []
            if has_aux:
                result, more = split_aux(result, transform, fun)
                rest, aux = flatten(more)
            outs, out_tree = result_arrays(result, transform, fun)
            for o in outs:
                check_output(transform, typeof(o), name_of(fun), holomorphic)
            n_outs = len(outs)
            return [*outs, *rest]

        with working_at(device):
            primals = arrays_of(chosen.leaves, device, transform, chosen.paths)
            for i, p in enumerate(primals):
                check_input(transform, p.aval, chosen.paths, i, holomorphic, allow_int)
            moving = [is_differentiable(p.aval) for p in primals]
            linear = linearize_flat(flat, primals, moving, f"{transform} of {name_of(fun)}")
            rows = []
            for k, out in enumerate(linear.outs[:n_outs]):

                def along(ct: Any, k: int = k) -> list[Any]:
                    cts = [ct if j == k else Zero for j in range(len(linear.outs))]
                    return backward(linear, cts)

                found, dims = vmap_flat(along, out.aval.size, [basis(out.aval)], [0])
                each = iter(zip(found, dims, strict=True))
                row = []
                for p, t in zip(primals, linear.inputs, strict=True):
                    ct, dim = next(each) if t is not None else (Zero, None)
                    row.append(_row(ct, dim, out.aval, p.aval))
                rows.append(row)
        result = _nested(out_tree, chosen.tree, rows)
        return (result, unflatten(aux, linear.outs[n_outs:])) if has_aux else result

    return jacobian


jacobian = jacrev


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that computes all second derivatives of `fun`: forward over reverse mode.

    The result has the structure of `fun`'s result, each leaf replaced by the structure of
    the argument twice; leaves have the shape `output.shape + input.shape + input.shape`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.hessian(lambda x: anp.sum(x * x * x))(anp.arange(1.0, 3.0))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    check_differentiable(fun, "ax.hessian")
    rows = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(rows, argnums, has_aux, holomorphic)
