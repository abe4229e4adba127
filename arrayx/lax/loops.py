"""Loops that are staged once, however long they run: `while_loop`, `scan`, `fori_loop`, `map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.mapping import vmap
from arrayx.api.operands import arrays_of, described, home_of, working_at
from arrayx.config import config
from arrayx.control.bounded_loop import bounded_while_loop
from arrayx.control.scan import scan as scan_primitive
from arrayx.control.while_loop import while_loop as while_primitive
from arrayx.lax.loop_parts import (
    bound,
    common_length,
    known_int,
    most_steps,
    paths_in,
    refuse_structure,
    rounds,
    settled_body,
    staged_test,
)
from arrayx.lax.python_control import runs_python, scan_in_python, while_in_python
from arrayx.primitives.arithmetic import add, lt
from arrayx.primitives.axes import reshape
from arrayx.primitives.conversion import convert
from arrayx.primitives.slicing import concatenate, cut
from arrayx.promotion import promote_pair
from arrayx.treedef import flatten, unflatten

__all__ = ["fori_loop", "map", "scan", "while_loop"]


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    max_steps: int | None = None,
) -> Any:
    """Applies `body_fun` to a value again and again, as long as `cond_fun` of it is true.

    Both functions are staged, and may use arrays from around them.  Under `vmap` with
    conditions that differ, the loop runs as long as one of them is true, and what has finished
    keeps its value.  It can be differentiated in forward mode; reverse mode needs `max_steps`,
    and then saves about 2·√max_steps carried values and runs the loop a second time.

    Args:
        cond_fun: a function of the carried value that gives a boolean scalar.
        body_fun: a function of the carried value that gives the next one, of the same
            structure, shapes and dtypes.  Python scalars among the initial values take the
            dtypes that the loop gives them.
        init_val: the first value, a tree of arrays.
        max_steps: end after so many steps, whatever `cond_fun` says.

    Raises:
        ArgumentError: the carried value changes its structure or a type, or `cond_fun` does not
            give a boolean scalar.

    >>> import arrayx as ax
    >>> ax.lax.while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    transform = "ax.lax.while_loop"
    check_callable(cond_fun, transform)
    check_callable(body_fun, transform)
    paths = paths_in("init_val", init_val)
    return looped(transform, cond_fun, body_fun, cond_fun, body_fun, init_val, paths, max_steps)


def looped(
    transform: str,
    cond_fun: Any,
    body_fun: Any,
    test: Callable[[Any], Any],
    step: Callable[[Any], Any],
    init: Any,
    paths: Sequence[str],
    max_steps: Any,
) -> Any:
    """`while_loop` of `test` and `step`; messages speak of the functions that users gave."""
    leaves, tree = flatten(init)
    device = home_of(leaves)
    with working_at(device):
        carry = arrays_of(leaves, device, transform, lambda: paths)
        if runs_python(*carry, test(unflatten(tree, carry)) if config.disable_jit else None):
            most = None if max_steps is None else most_steps(transform, max_steps)
            return while_in_python(test, step, unflatten(tree, carry), most)
        body, steps, carry, _ = settled_body(
            transform,
            body_fun,
            "body_fun",
            lambda *xs: (step(unflatten(tree, list(xs))), None),
            tree,
            carry,
            (),
            paths,
            device,
        )
        avals = [x.aval for x in carry]
        cond, tests = staged_test(transform, cond_fun, test, tree, avals, paths, device)
        primitive, bound = while_primitive, {}
        if max_steps is not None:
            primitive = bounded_while_loop
            bound["max_steps"] = most_steps(transform, max_steps)
        results = primitive(
            *tests,
            *steps,
            *carry,
            cond=cond,
            body=body,
            n_cond=len(tests),
            n_body=len(steps),
            **bound,
        )
    return unflatten(tree, list(results))


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Carries a value along the first axis of `xs`, and stacks what each step gives.

    It means the same as this loop, but is staged once, whatever the length:

        for x in xs:
            carry, y = f(carry, x)
            ys.append(y)

    Args:
        f: a function `(carry, x) -> (carry, y)` of trees of arrays, which may use arrays from
            around it; the carry keeps its structure, shapes and dtypes.  Python scalars
            among the initial values take the dtypes that the loop gives them.
        init: the first carry.
        xs: a tree of arrays of the same length, or None.
        length: the number of steps; needed where `xs` has no arrays.
        reverse: begin at the end; `ys` are in the order of `xs` all the same.
        unroll: steps in one round of the compiled loop, where a backend loops itself; True
            for all.

    Returns:
        The last carry, and the `ys`, with a first axis of that length.

    Raises:
        ArgumentError: the carry changes its structure or a type, `f` does not return a pair, or
            lengths differ.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.lax.scan(lambda total, x: (total + x, 2 * x), 0.0, anp.arange(4.0))
    (Array(6., dtype=float32), Array([0., 2., 4., 6.], dtype=float32))
    """
    transform = "ax.lax.scan"
    check_callable(f, transform)

    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        result = f(carry, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise errors.ArgumentError(
                f"{transform}: f ({name_of(f)}) has to return a pair (carry, y), got "
                f"{described(result)}. Where there is nothing to stack, return (carry, None)."
            )
        return result

    paths = paths_in("init", init)
    return scanned(transform, f, "f", step, init, paths, xs, length, reverse, unroll)


def scanned(
    transform: str,
    fun: Any,
    role: str,
    step: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    paths: Sequence[str],
    xs: Any,
    length: Any,
    reverse: bool,
    unroll: Any,
) -> tuple[Any, Any]:
    """`scan` of `step`; messages speak of the function `fun` that the user gave."""
    leaves, tree = flatten(init)
    x_leaves, x_tree = flatten(xs)
    device = home_of((*leaves, *x_leaves))
    x_paths = paths_in("xs", xs)
    n = len(leaves)

    def flat(*given: Any) -> Any:
        return step(unflatten(tree, list(given[:n])), unflatten(x_tree, list(given[n:])))

    with working_at(device):
        carry = arrays_of(leaves, device, transform, lambda: paths)
        arrays = arrays_of(x_leaves, device, transform, lambda: x_paths)
        count = common_length(transform, arrays, x_paths, length)
        if config.disable_jit and count:
            start = unflatten(tree, carry)
            return scan_in_python(step, start, unflatten(x_tree, arrays), count, reverse)
        others = [x.aval.update(shape=x.aval.shape[1:]) for x in arrays]
        body, constants, carry, out_tree = settled_body(
            transform, fun, role, flat, tree, carry, others, paths, device, x_paths
        )
        results = scan_primitive(
            *constants,
            *carry,
            *arrays,
            body=body,
            length=count,
            reverse=bool(reverse),
            unroll=rounds(transform, unroll, count),
            n_consts=len(constants),
            n_carry=n,
        )
    return unflatten(tree, list(results[:n])), unflatten(out_tree, list(results[n:]))


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool = 1,
    max_steps: int | None = None,
) -> Any:
    """Applies `body_fun(i, value)` for i from `lower` up to, not including, `upper`.

    With bounds that are known when it is called it is a `scan`, which can be differentiated in
    reverse mode; with traced bounds it is a `while_loop`, which can if it has `max_steps`.

    Args:
        lower, upper: integer scalars.
        body_fun: a function of the counter and the carried value that gives the next one, of
            the same structure, shapes and dtypes.
        init_val: the first value, a tree of arrays.
        unroll: as in `scan`; only for bounds that are known.
        max_steps: end after so many steps, whatever the bounds are.

    Raises:
        ArgumentError: a bound is no integer scalar, or the carried value changes its type.

    >>> import arrayx as ax
    >>> ax.lax.fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    transform = "ax.lax.fori_loop"
    check_callable(body_fun, transform)
    leaves, tree = flatten(init_val)
    with working_at(home_of((lower, upper, *leaves))):
        first, last = bound(transform, "lower", lower), bound(transform, "upper", upper)
        dtype, weak = promote_pair(
            first.aval.dtype, first.aval.weak_type, last.aval.dtype, last.aval.weak_type
        )
        first, last = (convert(x, dtype=dtype, weak_type=weak) for x in (first, last))
    low, high = known_int(lower), known_int(upper)
    paths = ["the counter", *paths_in("init_val", init_val)]

    def step(carry: Any, _: Any = None) -> tuple[Any, None]:
        i, value = carry
        result = body_fun(i, value)
        made = flatten(result)[1]
        if made != tree:
            refuse_structure(transform, f"body_fun ({name_of(body_fun)})", tree, made, result)
        return (add(i, 1), result), None

    if low is not None and high is not None:
        count = max(high - low, 0)
        if max_steps is not None:
            count = min(count, most_steps(transform, max_steps))
        (_, result), _ = scanned(
            transform,
            body_fun,
            "body_fun",
            step,
            (first, init_val),
            paths,
            None,
            count,
            False,
            unroll,
        )
        return result
    if rounds(transform, unroll, 1) != 1:
        raise errors.ArgumentError(
            f"{transform}: unroll needs bounds that are known, but one of them is traced"
        )
    return looped(
        transform,
        body_fun,
        body_fun,
        lambda carry: lt(carry[0], last),
        lambda carry: step(carry)[0],
        (first, init_val),
        paths,
        max_steps,
    )[1]


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` of each element along the first axis of `xs`, one after the other; results stacked.

    Unlike `vmap` it needs the memory of one call only.

    Args:
        f: a function of a tree of arrays.
        xs: a tree of arrays of the same length.
        batch_size: how many elements are worked on at once, by `vmap`.

    Raises:
        ArgumentError: lengths differ, or there are no arrays.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.lax.map(lambda x: x * x, anp.arange(4.0))
    Array([0., 1., 4., 9.], dtype=float32)
    """
    transform = "ax.lax.map"
    check_callable(f, transform)
    if batch_size is None:
        return mapped(transform, f, f, xs)
    if not isinstance(batch_size, int) or batch_size < 1:
        raise errors.ArgumentError(f"{transform}: batch_size is a positive int, got {batch_size!r}")
    leaves, tree = flatten(xs)
    device = home_of(leaves)
    paths = paths_in("xs", xs)
    with working_at(device):
        arrays = arrays_of(leaves, device, transform, lambda: paths)
        count = common_length(transform, arrays, paths, None)
        whole, left = divmod(count, batch_size)
        over_batch = vmap(f)
        if not whole:
            return over_batch(xs)
        full = whole * batch_size
        batches = [
            reshape(cut(x, 0, 0, full), shape=(whole, batch_size, *x.aval.shape[1:]))
            for x in arrays
        ]
        results, out_tree = flatten(mapped(transform, f, over_batch, unflatten(tree, batches)))
        results = [reshape(y, shape=(full, *y.aval.shape[2:])) for y in results]
        if left:
            rest = unflatten(tree, [cut(x, 0, full, count) for x in arrays])
            results = [
                concatenate(a, b, axis=0)
                for a, b in zip(results, flatten(over_batch(rest))[0], strict=True)
            ]
    return unflatten(out_tree, results)


def mapped(transform: str, f: Any, fun: Callable[[Any], Any], xs: Any) -> Any:
    """`fun` of each element, `f` being what the user gave."""
    step = lambda _, x: ((), fun(x))  # noqa: E731
    return scanned(transform, f, "f", step, (), [], xs, None, False, 1)[1]
