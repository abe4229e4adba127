"""`while_loop`: a graph applied again and again, as long as another graph says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.control.feeding import chosen_lanes, fed, harmless
from arrayx.control.layout import Mask, chosen, order, reached, rearranged, runs, settled, spread
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.creation import instantiate
from arrayx.primitives.reduction import reduce_or
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph
from arrayx.transforms.stage import derive
from arrayx.transforms.varying import nothing_varies, retyped, varying_of
from arrayx.transforms.vmap import batched_outputs, vmap_graph

BOOL = np.dtype(bool)


class WhileLoop(Primitive):
    """The values carried by a loop, once `cond` is false of them.

    Operands are `n_cond` constants of `cond`, `n_body` constants of `body`, and the values that
    the loop starts from.  `cond` takes its constants and the carried values, and gives a bool
    of rank 0; `body` takes its constants and the carried values, and gives the next ones, of
    the same types.
    """

    name = "while_loop"
    multiple = True
    holds_graphs = True
    # How a batch runs element by element: handed over by `lanes`.
    one_by_one: Callable[..., Any]

    def repeats(self, **params: Any) -> int | None:
        return None

    def type_rule(
        self, *avals: Any, cond: Graph, body: Graph, n_cond: int, n_body: int, **bound: int
    ) -> tuple[Aval, ...]:
        params = {"cond": cond, "body": body, "n_cond": n_cond, "n_body": n_body}
        params = self.widen(avals, params)
        cond, body = params["cond"], params["body"]  # type: ignore[assignment]
        tests, steps, carry = runs(avals, n_cond, n_body)
        if not fitting([*tests, *carry], cond.in_avals):
            raise errors.GraphError(f"cond of while_loop takes {cond.in_avals}, not {avals}")
        begins = strong(body.in_avals[n_body:])
        if not fitting([*steps, *carry], body.in_avals) or strong(body.out_avals) != begins:
            raise errors.GraphError(
                f"body of while_loop takes {body.in_avals} and gives {body.out_avals}; "
                f"carried are {carry}"
            )
        if [(a.shape, a.dtype) for a in cond.out_avals] != [((), BOOL)]:
            raise errors.GraphError(f"cond of while_loop gives {cond.out_avals}, not one bool")
        return body.out_avals

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        cond, body = params["cond"], params["body"]
        n_cond, n_body = params["n_cond"], params["n_body"]
        if nothing_varies(avals, cond, body):
            return params
        tests, steps, carry = runs(varying_of(avals), n_cond, n_body)
        while True:
            test = retyped(cond, [*tests, *carry])
            # Where the number of steps differs between lanes, so do the values carried.
            over = test.out_avals[0].varying
            steps = [v | over for v in steps]
            step = retyped(body, [*steps, *carry])
            made = varying_of(step.out_avals)
            begins = varying_of(step.in_avals[n_body:])
            wider = [a | b | over for a, b in zip(begins, made, strict=True)]
            if wider == carry:
                step = retyped(body, [*steps, *carry], carry)
                return params | {"cond": test, "body": step}
            carry = wider

    def effects(self, *, cond: Graph, body: Graph, **params: int) -> frozenset[str]:
        return cond.effects | body.effects

    def jvp(
        self,
        primals: Any,
        tangents: Any,
        *,
        cond: Graph,
        body: Graph,
        n_cond: int,
        n_body: int,
        **bound: int,
    ) -> Any:
        tests, steps, carry = runs(primals, n_cond, n_body)
        _, moving_steps, moving = runs(tangents, n_cond, n_body)
        known = tuple(t is not Zero for t in moving_steps)
        active = self.active(body, known, tuple(t is not Zero for t in moving))
        if not any(active):
            out = self(*primals, cond=cond, body=body, n_cond=n_cond, n_body=n_body, **bound)
            return out, (Zero,) * len(carry)
        graphs = differentiated(cond, body, n_cond, known, active)
        results = self(
            *tests,
            *steps,
            *chosen(moving_steps, known),
            *carry,
            *(
                instantiate(t, typeof(x).strong())
                for t, x in chosen([*zip(moving, carry, strict=True)], active)
            ),
            cond=graphs[0],
            body=graphs[1],
            n_cond=n_cond,
            n_body=n_body + sum(known),
            **bound,
        )
        n = len(carry)
        return results[:n], tuple(spread(results[n:], active, Zero))

    def active(self, body: Graph, known: Mask, start: Mask) -> Mask:
        """Which carried values have a tangent at some time."""
        return settled(start, lambda mask: jvp_graph(body, (*known, *mask))[1])

    def linearize(self, tape: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        n_cond, n_body = params["n_cond"], params["n_body"]
        _, steps, carry = runs([t is not Zero for t in tangents], n_cond, n_body)
        if any(self.active(params["body"], tuple(steps), tuple(carry))):
            raise errors.GradError(
                "reverse-mode differentiation (ax.grad, ax.vjp, ax.linearize) came to a "
                "while_loop whose number of steps is only known when it runs, so that what the "
                "backward pass needs cannot be saved. Say how many there are at most "
                "(max_steps=), use ax.lax.scan, or ax.lax.fori_loop with bounds that are Python "
                "ints; or forward mode: ax.jvp, ax.jacfwd."
            )
        return self(*primals, **params), (Zero,) * len(carry)

    def reach(
        self, active: Mask, *, cond: Graph, body: Graph, n_cond: int, n_body: int, **bound: int
    ) -> Mask:
        tests, steps, carry = runs(active, n_cond, n_body)

        def step(mask: Mask) -> Mask:
            if reached(cond, (*tests, *mask))[0]:  # the number of steps depends on them
                return (True,) * len(mask)
            return reached(body, (*steps, *mask))

        return settled(tuple(carry), step)

    def vmap(
        self,
        size: int,
        args: Any,
        dims: Any,
        *,
        cond: Graph,
        body: Graph,
        n_cond: int,
        n_body: int,
        **bound: int,
    ) -> Any:
        tests, steps, carry = runs(args, n_cond, n_body)
        test_dims, step_dims, carry_dims = runs(dims, n_cond, n_body)

        def step(mask: Mask) -> Mask:
            places = [0 if batched else None for batched in mask]
            if batched_outputs(cond, size, (*test_dims, *places))[0]:
                return (True,) * len(mask)
            return batched_outputs(body, size, (*step_dims, *places))

        batched = settled(tuple(d is not None for d in carry_dims), step)
        places = tuple(0 if b else None for b in batched)
        carry = [
            move_batch_dim(size, x, d, 0) if b else x
            for x, d, b in zip(carry, carry_dims, batched, strict=True)
        ]
        test, (test_dim,) = vmap_graph(cond, size, (*test_dims, *places))
        next_step, _ = vmap_graph(body, size, (*step_dims, *places), places)
        if test_dim is None:
            params = {"cond": test, "body": next_step, "n_cond": n_cond, "n_body": n_body}
            return self(*tests, *steps, *carry, **params, **bound), places
        if cond.effects or body.effects:
            # Effects of lanes that have finished must not happen again.
            params = {"cond": cond, "body": body, "n_cond": n_cond, "n_body": n_body, **bound}
            return self.one_by_one(self, size, args, dims, params)
        # The first carried value says who goes on; finished lanes keep their values.
        test, _ = vmap_graph(cond, size, (*test_dims, *places), (0,))
        (lanes,) = evaluate(test, [*tests, *carry])
        both = lanewise(test, next_step, size, n_cond, n_body, tuple(step_dims))
        results = self(
            *tests,
            *steps,
            lanes,
            *carry,
            cond=any_lane(size, [typeof(x) for x in carry]),
            body=both,
            n_cond=0,
            n_body=n_cond + n_body,
            **bound,
        )
        return results[1:], places


def fitting(avals: Sequence[Any], wanted: Sequence[Aval]) -> bool:
    """True where values of the first types can stand where the others are taken."""
    return len(avals) == len(wanted) and all(
        type(a) is Aval and a.fits(b) for a, b in zip(avals, wanted, strict=True)
    )


def strong(avals: Any) -> list[Any]:
    """The same types without weak marks; Python types, which stand for literals, stay."""
    return [a.strong() if type(a) is Aval else a for a in avals]


def differentiated(
    cond: Graph, body: Graph, n_cond: int, known: Mask, active: Mask
) -> tuple[Graph, Graph]:
    """`cond` and `body` for values and tangents, where the masks say which have tangents."""
    key = "while_loop jvp", cond, known, active
    if key not in body.memo:
        n_body, n, moving = len(known), len(active), sum(active)
        both, _ = jvp_graph(body, (*known, *active), active)
        sizes = (n_body, n, sum(known), moving)
        step = rearranged(both, order(sizes, (0, 2, 1, 3)))
        more = derive(
            lambda *args: evaluate(cond, args[: n_cond + n]),
            [*cond.in_avals, *both.in_avals[n_body + n + sum(known) :]],
        )
        body.memo[key] = more, step
    return body.memo[key]  # type: ignore[no-any-return]


def any_lane(size: int, carry: list[Aval]) -> Graph:
    """The graph that says whether a lane goes on, from the carried values."""
    return derive(lambda lanes, *_: [reduce_or(lanes, axes=(0,))], [Aval((size,), BOOL), *carry])


def lanewise(
    test: Graph,
    step: Graph,
    size: int,
    n_cond: int,
    n_body: int,
    step_dims: tuple[int | None, ...],
) -> Graph:
    """A step of the lanes that go on; `test` and `step` are over the whole batch.

    Lanes that have finished are fed with one that goes on, and keep their values.
    """
    key = "while_loop lanes", test, n_cond, n_body, step_dims
    if key not in step.memo:

        def both(*args: Any) -> list[Any]:
            tests, steps, (lanes,), carry = runs(args, n_cond, n_body, 1)
            given = [*steps, *carry]
            if not harmless((step,)):
                given = fed(lanes, given, (*step_dims, *(0,) * len(carry)))
            results = [
                chosen_lanes(lanes, new, old)
                for new, old in zip(evaluate(step, given), carry, strict=True)
            ]
            return [*evaluate(test, [*tests, *results]), *results]

        avals = [
            *test.in_avals[:n_cond],
            *step.in_avals[:n_body],
            Aval((size,), BOOL),
            *step.in_avals[n_body:],
        ]
        step.memo[key] = derive(both, avals)
    return step.memo[key]  # type: ignore[no-any-return]


while_loop = WhileLoop()
