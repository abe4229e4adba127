"""`linear_transpose`: the transpose of a linear function, without a derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from arrayx import errors
from arrayx.api.arguments import argument_paths, check_callable, leaf_aval, name_of
from arrayx.api.operands import given_tangents, instantiated, is_differentiable, result_arrays
from arrayx.core.array import typeof
from arrayx.core.interpreter import current, installed
from arrayx.core.linear import Zero
from arrayx.transforms.linearize import PRODUCT, Linearized, LinearTracer, Tape
from arrayx.transforms.vjp import backward
from arrayx.tree_nodes import keystr
from arrayx.treedef import flatten, flatten_with_path, unflatten

# Linear in each of two operands, but not in both.
_BILINEAR = frozenset({"mul", "absorb_mul", "dot_general", "conv_general_dilated"})
# Operands that have to be known.
_KNOWN = {"div": (1,), "select": (0,)}


def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Sequence[str] = ()
) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a function that is linear in all its arguments together.

    For such a function it is what `vjp` gives, without computing a value.

    Args:
        fun: a linear function of trees of floating-point arrays, which is run once.
        primals: its arguments, or ShapeDtypeStructs: only types matter.
        reduce_axes: accepted for JAX's sake; must be empty.

    Returns:
        A function of cotangents with the structure and types of the result, that returns a
        tuple of the cotangents of the arguments.

    Raises:
        GradError: `fun` is not linear, as far as that shows.

    >>> import arrayx as ax
    >>> transpose = ax.linear_transpose(lambda x, y: 2 * x - y, 0.0, 0.0)
    >>> transpose(1.0)
    (Array(2., dtype=float32), Array(-1., dtype=float32))
    """
    transform = "ax.linear_transpose"
    check_callable(fun, transform)
    if tuple(reduce_axes):
        raise errors.ArgumentError(f"{transform}: reduce_axes has to be empty, got {reduce_axes!r}")
    leaves, tree = flatten(primals)
    paths = functools.cache(lambda: argument_paths(fun, primals, {}))

    def described(i: int) -> str:
        return f"argument {paths()[i]} of {name_of(fun)}"

    avals = [leaf_aval(x, functools.partial(described, i)) for i, x in enumerate(leaves)]
    for i, aval in enumerate(avals):
        if not is_differentiable(aval):
            raise errors.GradError(
                f"{transform}: argument {paths()[i]} is {aval.strong()}, which has no cotangent. "
                "Close over it (lambda x: f(x, n)): only arrays of floating point are transposed."
            )
    tape = Tape(current.get())
    inputs = [tape.new(aval.strong()) for aval in avals]
    with installed(tape):
        result = fun(*unflatten(tree, inputs))
        outs, out_tree = result_arrays(result, transform, fun)
    tape.closed = True
    check_linear(transform, fun, tape)
    mine = [type(x) is LinearTracer and x.interpreter is tape for x in outs]
    tangents = [x if m else Zero for x, m in zip(outs, mine, strict=True)]
    linear = Linearized(outs, tangents, tape, list(inputs))
    out_avals = [typeof(x) for x in outs]

    def out_paths() -> list[str]:
        marks = unflatten(out_tree, list(range(len(outs))))
        return ["the result" + keystr(path) for path, _ in flatten_with_path(marks)[0]]

    def transposed(cotangents: Any) -> tuple[Any, ...]:
        cts = given_tangents(
            "the function returned by ax.linear_transpose",
            "cotangent",
            cotangents,
            out_tree,
            out_avals,
            out_paths,
        )
        found = backward(linear, cts)
        answers = [instantiated(ct, aval) for ct, aval in zip(found, avals, strict=True)]
        return unflatten(tree, answers)  # type: ignore[no-any-return]

    return transposed


def check_linear(transform: str, fun: Any, tape: Tape) -> None:
    """Raises for an operation on the tape that is not linear in what it is applied to."""
    for primitive, args, params, _ in tape.entries:
        if params is PRODUCT:
            continue
        moving = [type(a) is LinearTracer and a.interpreter is tape for a in args]
        known = _KNOWN.get(primitive.name, ())
        if (
            primitive.transpose is None
            or (primitive.name in _BILINEAR and sum(moving) > 1)
            or any(moving[i] for i in known if i < len(moving))
        ):
            refuse_nonlinear(transform, fun, primitive.name)


def refuse_nonlinear(transform: str, fun: Any, name: str) -> NoReturn:
    """Raises the error for a function that is not linear."""
    raise errors.GradError(
        f"{transform}: {name_of(fun)} is not linear in its arguments: it applies {name!r} to "
        "them. For the derivative of a function use ax.vjp."
    )
