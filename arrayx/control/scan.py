"""`scan`: a graph applied along an axis, from step to step carrying values and stacking others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.control.layout import (
    Mask,
    chosen,
    reached,
    rearranged,
    runs,
    settled,
    spread,
)
from arrayx.control.scan_bodies import (
    differentiated,
    expansion,
    index_dtype,
    linear_carry,
    linearized,
    moving_carry,
    needed,
    one_step,
    places,
    taken_apart,
    transposed,
    zeros_of,
)
from arrayx.control.while_loop import fitting, strong, while_loop
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import move_batch_dim
from arrayx.primitives.creation import fill, zeros
from arrayx.primitives.families import is_linear
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.jvp import jvp_graph, widened
from arrayx.transforms.partial import Split, linearize_graph
from arrayx.transforms.simplify import dead_code_removed
from arrayx.transforms.varying import nothing_varies, retyped, varying_of
from arrayx.transforms.vjp import transpose_graph
from arrayx.transforms.vmap import batched_outputs, vmap_graph


class Scan(Primitive):
    """The last carried values, and what the steps along an axis give, stacked.

    Operands are `n_consts` values that all steps share, `n_carry` values that the first step
    starts from, and arrays whose first axis has the length `length`: step number i gets their
    elements number i.  `body` takes shared values, carried ones and elements, and gives the
    next carried ones, of the same types, and what is stacked.  `reverse` begins at the end.
    `unroll` is the number of steps in one round, where the loop is expanded.
    """

    name = "scan"
    multiple = True
    holds_graphs = True

    def repeats(self, **params: Any) -> int:
        return int(params["length"])

    def type_rule(
        self,
        *avals: Any,
        body: Graph,
        length: int,
        reverse: bool,
        unroll: int,
        n_consts: int,
        n_carry: int,
    ) -> tuple[Aval, ...]:
        params = {"body": body, "n_consts": n_consts, "n_carry": n_carry}
        body = self.widen(avals, params)["body"]  # type: ignore[assignment]
        consts, carry, xs = runs(avals, n_consts, n_carry)
        if any(x.shape[:1] != (length,) for x in xs):
            raise errors.GraphError(f"scan of length {length} goes along {xs}")
        elements = [x.update(shape=x.shape[1:]) for x in xs]
        if not fitting([*consts, *carry, *elements], body.in_avals):
            raise errors.GraphError(
                f"body of scan takes {body.in_avals}, not {[*consts, *carry, *elements]}"
            )
        begins = body.in_avals[n_consts : n_consts + n_carry]
        if strong(body.out_avals[:n_carry]) != strong(begins):
            raise errors.GraphError(
                f"body of scan carries on {body.out_avals[:n_carry]}, but begins with {carry}"
            )
        outs = body.out_avals
        return (*outs[:n_carry], *(a.update(shape=(length, *a.shape)) for a in outs[n_carry:]))

    def widen(self, avals: Any, params: dict[str, Any]) -> dict[str, Any]:
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        if nothing_varies(avals, body):
            return params
        consts, carry, xs = runs(varying_of(avals), n_consts, n_carry)
        while True:
            step = retyped(body, [*consts, *carry, *xs])
            begins = varying_of(step.in_avals[n_consts : n_consts + n_carry])
            made = varying_of(step.out_avals)
            wider = [a | b for a, b in zip(begins, made, strict=False)]
            if wider == carry:
                return params | {
                    "body": retyped(body, [*consts, *carry, *xs], [*carry, *made[n_carry:]])
                }
            carry = wider

    def effects(self, *, body: Graph, **params: Any) -> frozenset[str]:
        return body.effects

    # ------------------------------------------------------------- in simpler operations

    def expand(
        self,
        *args: Any,
        body: Graph,
        length: int,
        reverse: bool,
        unroll: int,
        n_consts: int,
        n_carry: int,
    ) -> Any:
        consts, carry, xs = runs(args, n_consts, n_carry)
        ys = [zeros_of(a.update(shape=(length, *a.shape))) for a in body.out_avals[n_carry:]]
        index = index_dtype(length)
        rounds, left = divmod(length, unroll)
        if rounds == 1:
            rounds, left = 0, length
        state = [fill((), index, 0), *carry, *ys]
        if rounds:
            test, several = expansion(
                body, length, rounds * unroll, reverse, unroll, n_consts, n_carry
            )
            state = list(
                while_loop(
                    *consts,
                    *xs,
                    *state,
                    cond=test,
                    body=several,
                    n_cond=0,
                    n_body=len(consts) + len(xs),
                )
            )
        for _ in range(left):
            state = one_step(body, length, reverse, n_carry, consts, xs, state)
        return tuple(state[1:])

    def prune(self, equation: Equation, used: Mask) -> Equation:
        params = equation.params
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        if all(used) or body.effects:
            return equation
        ys = used[n_carry:]
        own = slice(n_consts, n_consts + n_carry)
        carry = settled(used[:n_carry], lambda mask: needed(body, (*mask, *ys))[own])
        outputs = (*carry, *ys)
        wanted = needed(body, outputs)
        inputs = (*wanted[:n_consts], *carry, *wanted[n_consts + n_carry :])
        if all(inputs) and all(outputs):
            return equation
        key = "scan pruned", inputs, outputs
        if key not in body.memo:
            graph = rearranged(body, places(inputs), places(outputs))
            body.memo[key] = dead_code_removed(graph)
        return equation.replace(
            inputs=tuple(chosen(equation.inputs, inputs)),
            params=params
            | {
                "body": body.memo[key],
                "n_consts": sum(inputs[:n_consts]),
                "n_carry": sum(carry),
            },
            outputs=tuple(chosen(equation.outputs, outputs)),
        )

    # ------------------------------------------------------------- derivatives

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        consts, carry, xs = runs(primals, n_consts, n_carry)
        dconsts, dcarry, dxs = runs(tangents, n_consts, n_carry)
        masks = [tuple(t is not Zero for t in d) for d in (dconsts, dcarry, dxs)]
        active = settled(
            masks[1], lambda m: jvp_graph(body, (*masks[0], *m, *masks[2]))[1][:n_carry]
        )
        both, active_ys = differentiated(body, masks[0], active, masks[2])
        results = self(
            *consts,
            *chosen(dconsts, masks[0]),
            *carry,
            *moving_carry(carry, dcarry, active),
            *xs,
            *chosen(dxs, masks[2]),
            **params
            | {
                "body": both,
                "n_consts": n_consts + sum(masks[0]),
                "n_carry": n_carry + sum(active),
            },
        )
        last, dlast, ys, dys = runs(results, n_carry, sum(active), len(active_ys))
        return (*last, *ys), (*spread(dlast, active, Zero), *spread(dys, active_ys, Zero))

    def linearize(self, tape: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        return self.linearize_by(linearize_graph, tape, primals, tangents, **params)

    def linearize_by(
        self,
        split: Callable[..., Split],
        tape: Any,
        primals: Any,
        tangents: Any,
        **params: Any,
    ) -> Any:
        """`linearize` with the body taken apart by `split`, which decides what is saved."""
        params = widened(self, primals, params)
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        consts, carry, xs = runs(primals, n_consts, n_carry)
        dconsts, dcarry, dxs = runs(tangents, n_consts, n_carry)
        masks = [tuple(t is not Zero for t in d) for d in (dconsts, dcarry, dxs)]
        active = settled(
            masks[1],
            lambda m: split(body, (*masks[0], *m, *masks[2])).out_active[:n_carry],
        )
        halves = linearized(split, body, masks[0], active, masks[2])
        if not any(halves.out_active):
            return self(*primals, **params), (Zero,) * len(halves.out_active)
        results = self(*primals, **params | {"body": halves.forward})
        shared = evaluate(halves.shared, [*consts, *carry])
        given = {"const": consts, "init": carry, "xs": xs, "shared": shared, "stacked": results}
        fixed = [given[kind][i] for kind, i in halves.fixed]
        stacked = [given[kind][i] for kind, i in halves.stacked]
        n_out = len(halves.out_active)
        avals = halves.linear.out_avals
        length = params["length"]
        moving = sum(active)
        outs = iter(
            tape.record(
                self,
                (
                    *fixed,
                    *chosen(dconsts, masks[0]),
                    *moving_carry(carry, dcarry, active),
                    *stacked,
                    *chosen(dxs, masks[2]),
                ),
                params
                | {
                    "body": halves.linear,
                    "n_consts": len(fixed) + sum(masks[0]),
                    "n_carry": moving,
                },
                (
                    *avals[:moving],
                    *(a.update(shape=(length, *a.shape)) for a in avals[moving:]),
                ),
            )
        )
        return results[:n_out], tuple(next(outs) if a else Zero for a in halves.out_active)

    def reach(self, active: Mask, *, body: Graph, n_consts: int, n_carry: int, **_: Any) -> Mask:
        consts, carry, xs = runs(active, n_consts, n_carry)

        def step(mask: Mask) -> Mask:
            return reached(body, (*consts, *mask, *xs))

        moving = settled(tuple(carry), lambda mask: step(mask)[:n_carry])
        return (*moving, *step(moving)[n_carry:])

    def transpose(self, cts: Any, *args: Any, **params: Any) -> Any:
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        consts, carry, xs = runs(args, n_consts, n_carry)
        moves = linear_carry(body, tuple(is_linear(a) for a in args), n_consts, n_carry)
        if not all(moves):
            return self.transpose_part(moves, cts, args, **params)
        # A carried value that is known here stands for a tangent that begins as zero.
        const_linear = tuple(is_linear(a) for a in consts)
        x_linear = tuple(is_linear(a) for a in xs)
        linear = (*const_linear, *(True,) * n_carry, *x_linear)
        ct_carry, ct_ys = runs(cts, n_carry)
        given_ys = tuple(ct is not Zero for ct in ct_ys)
        first = sum(const_linear)

        def step(mask: Mask) -> Mask:
            found = transpose_graph(body, linear, (*mask, *given_ys))[1]
            return found[first : first + n_carry]

        active = settled(tuple(ct is not Zero for ct in ct_carry), step)
        back = transposed(body, linear, active, given_ys, n_consts, n_carry)
        known = [a for a in consts if not is_linear(a)]
        sums = chosen([a for a in consts if is_linear(a)], back.consts)
        results = self(
            *known,
            *moving_carry(back.carry, ct_carry, active),
            *(zeros(a.aval.strong()) for a in sums),
            *(a for a in xs if not is_linear(a)),
            *chosen(ct_ys, given_ys),
            **params
            | {
                "body": back.graph,
                "reverse": not params["reverse"],
                "n_consts": len(known),
                "n_carry": sum(active) + len(sums),
            },
        )
        by_carry, by_consts, by_xs = runs(results, sum(active), len(sums))
        answers = spread(spread(by_consts, back.consts, None), const_linear, None)
        answers += [
            ct if is_linear(a) else None
            for a, ct in zip(carry, spread(by_carry, active, None), strict=True)
        ]
        answers += spread(spread(by_xs, back.xs, None), x_linear, None)
        return tuple(answers)

    def transpose_part(self, moves: Mask, cts: Any, args: Any, **params: Any) -> Any:
        """`transpose` where some carried values do not depend on what is linear, as counters do.

        They are computed forwards first, and stacked.
        """
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        consts, carry, xs = runs(args, n_consts, n_carry)
        linear = tuple(is_linear(a) for a in args)
        known, rest = taken_apart(body, linear, moves, n_consts)
        still = tuple(not m for m in moves)
        own = [a for a in consts if not is_linear(a)]
        results = self(
            *own,
            *chosen(carry, still),
            *(a for a in xs if not is_linear(a)),
            **params | {"body": known, "n_consts": len(own), "n_carry": sum(still)},
        )
        ct_carry, ct_ys = runs(cts, n_carry)
        answers = self.transpose(
            (*chosen(ct_carry, moves), *ct_ys),
            *consts,
            *chosen(carry, moves),
            *xs,
            *results[sum(still) :],
            **params | {"body": rest, "n_carry": sum(moves)},
        )
        by_consts, by_carry, by_xs = runs(answers, n_consts, sum(moves))
        return (*by_consts, *spread(by_carry, moves, None), *by_xs[: len(xs)])

    # ------------------------------------------------------------- batches

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        body, n_consts, n_carry = params["body"], params["n_consts"], params["n_carry"]
        consts, carry, xs = runs(args, n_consts, n_carry)
        const_dims, carry_dims, x_dims = runs(dims, n_consts, n_carry)
        # The batch axis stands behind the one that the scan goes along.
        xs = [x if d != 0 else move_batch_dim(size, x, 0, 1) for x, d in zip(xs, x_dims)]
        inner = [None if d is None else max(d, 1) - 1 for d in x_dims]

        def dims_for(mask: Sequence[bool]) -> tuple[int | None, ...]:
            return (*const_dims, *(0 if b else None for b in mask), *inner)

        batched = settled(
            tuple(d is not None for d in carry_dims),
            lambda mask: batched_outputs(body, size, dims_for(mask))[:n_carry],
        )
        carry = [
            move_batch_dim(size, x, d, 0) if b else x
            for x, d, b in zip(carry, carry_dims, batched, strict=True)
        ]
        made = (*batched, *batched_outputs(body, size, dims_for(batched))[n_carry:])
        out_dims = tuple(0 if b else None for b in made)
        graph, _ = vmap_graph(body, size, dims_for(batched), out_dims)
        results = self(*consts, *carry, *xs, **params | {"body": graph})
        return results, tuple(
            None if not b else 0 if i < n_carry else 1 for i, b in enumerate(made)
        )


scan = Scan()
