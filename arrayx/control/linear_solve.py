"""`custom_linear_solve`: a solution of linear equations that has the derivatives of one."""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.control.layout import runs
from arrayx.core.array import typeof
from arrayx.core.aval import NOWHERE, Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.arithmetic import neg
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.creation import instantiate
from arrayx.primitives.families import add_tangents, is_linear
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.varying import nothing_varies, retyped, varying_of
from arrayx.transforms.vmap import vmap_graph

NAMES = ("matvec", "solve", "vecmat", "transpose_solve")


class CustomLinearSolve(Primitive):
    """The `x` for which `matvec(x)` is `b`, found by `solve(b)`, and what that gives beside it.

    Operands are the constants of the four graphs, `counts` of them each, then the parts of
    `b`.  Each graph takes its constants and a vector; `vecmat` and `transpose_solve` are those
    of the transposed equations, None where they cannot be had.  The derivative is that of the
    solution (implicit function theorem), and does not look into `solve`.
    """

    name = "custom_linear_solve"
    multiple = True
    holds_graphs = True
    # Of its graphs only the solver runs, which costs the most.
    exclusive = True

    def type_rule(self, *avals: Any, solve: Graph, **params: Any) -> tuple[Aval, ...]:
        return solve.out_avals

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        # Each graph works with the solution, which varies over what anything varies over.
        graphs = {name: params[name] for name in NAMES if params[name] is not None}
        if nothing_varies(avals, *graphs.values()):
            return params
        over = NOWHERE.union(*varying_of(avals))
        return params | {
            name: retyped(g, [over] * len(g.inputs), [over] * len(g.outputs))
            for name, g in graphs.items()
        }

    def effects(self, **params: Any) -> frozenset[str]:
        return params["solve"].effects  # type: ignore[no-any-return]

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        return ()

    def expand(self, *args: Any, solve: Graph, counts: tuple[int, ...], **params: Any) -> Any:
        _, consts, _, _, b = runs(args, *counts)
        return tuple(evaluate(solve, [*consts, *b]))

    def evaluate(self, *args: Any, **params: Any) -> Any:
        return self.expand(*args, **params)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        counts, matvec = params["counts"], params["matvec"]
        results = self(*primals, **params)
        *consts, b = runs(primals, *counts)
        *dconsts, db = runs(tangents, *counts)
        n = len(b)
        x = results[:n]
        # d(A x) = dA x + A dx = db
        active = tuple(t is not Zero for t in dconsts[0])
        by_matrix: list[Any] = [Zero] * n
        if any(active):
            both, found = jvp_graph(matvec, (*active, *(False,) * n))
            given = iter(
                evaluate(both, [*consts[0], *x, *(t for t in dconsts[0] if t is not Zero)])[n:]
            )
            by_matrix = [next(given) if f else Zero for f in found]
        right = [
            add_tangents(d, t if t is Zero else neg(t)) for d, t in zip(db, by_matrix, strict=True)
        ]
        if all(t is Zero for t in right):
            return results, (Zero,) * len(results)
        right = [instantiate(t, typeof(v).strong()) for t, v in zip(right, b, strict=True)]
        dx = self(*(c for group in consts for c in group), *right, **params)[:n]
        return results, (*dx, *(Zero,) * (len(results) - n))

    def transpose(self, cts: Any, *args: Any, **params: Any) -> Any:
        counts = params["counts"]
        matrix, solver, transposed, solver_transposed, b = runs(args, *counts)
        if params["transpose_solve"] is None:
            raise errors.GradError(
                "reverse-mode differentiation of ax.lax.custom_linear_solve needs the solution of "
                "the transposed equations: pass transpose_solve (a function like solve), or "
                "symmetric=True if matvec is symmetric; or use forward mode (ax.jvp, ax.jacfwd)."
            )
        assert all(is_linear(v) for v in b)
        given = [instantiate(ct, v.aval.strong()) for ct, v in zip(cts, b, strict=False)]
        results = self(
            *transposed,
            *solver_transposed,
            *matrix,
            *solver,
            *given,
            matvec=params["vecmat"],
            solve=params["transpose_solve"],
            vecmat=params["matvec"],
            transpose_solve=params["solve"],
            counts=(counts[2], counts[3], counts[0], counts[1]),
        )
        return (*(None,) * sum(counts), *results[: len(b)])

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        counts = params["counts"]
        *const_dims, b_dims = runs(dims, *counts)
        *consts, b = runs(args, *counts)
        b = [move_batch_dim(size, v, d, 0) for v, d in zip(b, b_dims, strict=True)]
        graphs = {}
        for name, own in zip(NAMES, const_dims, strict=True):
            graph = params[name]
            if graph is not None:
                places = (0,) * len(graph.outputs)
                graph = vmap_graph(graph, size, (*own, *(0,) * len(b)), places)[0]
            graphs[name] = graph
        results = self(*(c for group in consts for c in group), *b, **params | graphs)
        return results, (0,) * len(results)


custom_linear_solve = CustomLinearSolve()
