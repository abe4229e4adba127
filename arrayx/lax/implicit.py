"""Solutions defined by the equations they solve: `custom_linear_solve`, `custom_root`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import check_callable, flatten_result, name_of
from arrayx.api.autodiff import jvp
from arrayx.api.custom_forward import custom_jvp
from arrayx.api.custom_rules import given_to_rule
from arrayx.api.operands import arrays_of, home_of, split_aux, working_at
from arrayx.control.linear_solve import custom_linear_solve as linear_solve
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.lax.loop_parts import closed
from arrayx.primitives.arithmetic import neg
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import stage
from arrayx.transforms.vjp import transpose_graph
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten, flatten_with_path, unflatten

__all__ = ["custom_linear_solve", "custom_root"]

Solver = Callable[[Callable[[Any], Any], Any], Any]


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Solver,
    transpose_solve: Solver | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution x of `matvec(x) = b` that `solve` finds, differentiated as what it is.

    The derivative does not go through `solve`, which may be any program: forward mode solves
    the same equations for another right side, reverse mode the transposed ones.

    Args:
        matvec: a linear function of trees like `b`, which may use arrays from around it.
        b: the right side, a tree of arrays.
        solve: `solve(matvec, b)` gives the solution.
        transpose_solve: `transpose_solve(vecmat, b)` gives the solution of the transposed
            equations; without it there is no reverse mode.
        symmetric: promises that `matvec` is symmetric: `solve` serves both.
        has_aux: the solvers return `(x, auxiliary)`, and so does `custom_linear_solve`.

    Raises:
        ArgumentError: `matvec` or the solver gives another structure, shape or dtype than `b`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> def solve(a, b):
    ...     return ax.lax.custom_linear_solve(
    ...         lambda x: a * x, b, lambda matvec, b: b / a, symmetric=True)
    >>> float(solve(2.0, 3.0)), float(ax.grad(solve)(2.0, 3.0))
    (1.5, -0.75)
    """
    transform = "ax.lax.custom_linear_solve"
    for fun in (matvec, solve, *([] if transpose_solve is None else [transpose_solve])):
        check_callable(fun, transform)
    leaves, tree = flatten(b)
    device = home_of(leaves)
    with working_at(device):
        arrays = arrays_of(leaves, device, transform, lambda: paths_of_tree("b", b))
        avals = [a.aval.strong() for a in arrays]
        product, product_consts, _ = staged(transform, matvec, matvec, tree, avals, None, device)
        solver, solver_consts, aux_tree = staged(
            transform, solve, lambda v: solve(matvec, v), tree, avals, has_aux, device
        )
        back: Graph | None = None
        back_solver: Graph | None = None
        back_consts: Sequence[Any] = ()
        back_solver_consts: Sequence[Any] = ()
        if symmetric:
            back, back_consts = product, product_consts
            back_solver, back_solver_consts = solver, solver_consts
        elif transpose_solve is not None:
            back, back_consts = transposed(product, len(avals)), product_consts
            graph, consts = back, back_consts

            def vecmat(v: Any) -> Any:
                given = flatten(v)[0]
                return unflatten(tree, evaluate(graph, [*consts, *given]))

            chosen = transpose_solve
            back_solver, back_solver_consts, _ = staged(
                transform, chosen, lambda v: chosen(vecmat, v), tree, avals, has_aux, device
            )
        results = linear_solve(
            *product_consts,
            *solver_consts,
            *back_consts,
            *back_solver_consts,
            *arrays,
            matvec=product,
            solve=solver,
            vecmat=back,
            transpose_solve=back_solver,
            counts=tuple(
                map(len, (product_consts, solver_consts, back_consts, back_solver_consts))
            ),
        )
    x = unflatten(tree, list(results[: len(arrays)]))
    return (x, unflatten(aux_tree, list(results[len(arrays) :]))) if has_aux else x


def paths_of_tree(name: str, tree: Any) -> list[str]:
    """How the user would write each leaf."""
    return [name + keystr(path) for path, _ in flatten_with_path(tree)[0]]


def staged(
    transform: str,
    fun: Any,
    call: Callable[[Any], Any],
    tree: TreeDef,
    avals: Sequence[Aval],
    has_aux: bool | None,
    device: Any,
) -> tuple[Graph, Sequence[Any], Any]:
    """A function of vectors like the right side as a graph, and what it closes over."""
    aux_tree: Any = None

    def flat(*given: Any) -> list[Any]:
        nonlocal aux_tree
        result = call(unflatten(tree, list(given)))
        aux: Any = ()
        if has_aux:
            result, aux = split_aux(result, transform, fun)
        outs, out_tree = flatten_result(result, name_of(fun))
        if out_tree != tree:
            raise errors.ArgumentError(
                f"{transform}: {name_of(fun)} has to return the structure of b, {tree}, but it "
                f"returned {out_tree}"
            )
        for i, (x, aval) in enumerate(zip(outs, avals, strict=True)):
            have = typeof(x).strong()
            if have is not aval:
                marks = unflatten(tree, list(range(len(avals))))
                path = keystr(flatten_with_path(marks)[0][i][0])
                raise errors.ArgumentError(
                    f"{transform}: {name_of(fun)} has to return the types of b: result{path} is "
                    f"{have}, not {aval}"
                )
        more, aux_tree = flatten_result(aux, name_of(fun))
        return [*outs, *more]

    # Constants become operands: rules expect arrays.
    whole, values = closed(stage(flat, avals, word=f"{transform} of {name_of(fun)}"), device)
    return whole, values, aux_tree


def transposed(graph: Graph, count: int) -> Graph:
    """The transpose of a graph that is linear in its last `count` inputs."""
    known = len(graph.inputs) - count
    linear = (*(False,) * known, *(True,) * count)
    wanted = (True,) * count
    return transpose_graph(graph, linear, (True,) * count, wanted)[0]


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Solver,
    tangent_solve: Solver,
    has_aux: bool = False,
) -> Any:
    """A root x of `f` that `solve` finds, differentiated as what it is.

    By the implicit function theorem its derivative by whatever `f` closes over is
    -(df/dx)⁻¹ df; the derivative does not go through `solve`, which may be any program.

    Args:
        f: a function of trees of arrays, with results like its argument, which may use arrays
            from around it.
        initial_guess: a tree of arrays, where `solve` begins; it has no derivative.
        solve: `solve(f, initial_guess)` gives the root.
        tangent_solve: `tangent_solve(g, y)` gives the x for which the linear function `g` is
            y: for numbers `lambda g, y: y / g(1.0)`, else for example
            `ax.lax.custom_linear_solve`.
        has_aux: `solve` returns `(root, auxiliary)`, and so does `custom_root`.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> def root(a):
    ...     def newton(f, x):
    ...         for _ in range(20):
    ...             x = x - f(x) / (2 * x)
    ...         return x
    ...     return ax.lax.custom_root(
    ...         lambda x: x**2 - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> float(root(4.0)), float(ax.grad(root)(4.0))
    (2.0, 0.25)
    """
    transform = "ax.lax.custom_root"
    for fun in (f, solve, tangent_solve):
        check_callable(fun, transform)
    leaves, tree = flatten(initial_guess)
    device = home_of(leaves)
    with working_at(device):
        guess = arrays_of(
            leaves, device, transform, lambda: paths_of_tree("initial_guess", initial_guess)
        )
        avals = [a.aval.strong() for a in guess]
        graph, consts, _ = staged(transform, f, f, tree, avals, None, device)
        solver, solver_consts, aux_tree = staged(
            transform, solve, lambda x: solve(f, x), tree, avals, has_aux, device
        )
        n = len(avals)

        def value(own: Any, of_solver: Any, start: Any) -> tuple[Any, Any]:
            results = evaluate(solver, [*of_solver, *start])
            return results[:n], results[n:]

        def flat(own: Sequence[Any], x: Any) -> Any:
            return unflatten(tree, evaluate(graph, [*own, *flatten(x)[0]]))

        root = custom_jvp(value)

        @root.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            own, down, (x, aux) = primals[0], tangents[0], root(*primals)
            at = unflatten(tree, x)
            zero = [given_to_rule(Zero, typeof(v), False) for v in aux]
            # df + (df/dx) dx = 0
            _, df = jvp(lambda *own: flat(own, at), tuple(own), tuple(down))
            dx = tangent_solve(lambda y: jvp(lambda x: flat(own, x), (at,), (y,))[1], df)
            moved = [neg(t) for t in flatten_result(dx, name_of(tangent_solve))[0]]
            return (x, aux), (moved, zero)

        x, aux = root(list(consts), list(solver_consts), list(guess))
    result = unflatten(tree, x)
    return (result, unflatten(aux_tree, aux)) if has_aux else result
