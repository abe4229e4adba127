"""Small programs that a compiler likes to shorten: it may, where not one bit changes.

Each is run as it is written, simplified, in the planner's groups, and compiled: on nan,
infinities and zeros of both signs, on integers of the whole range, and on booleans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from arrayx.backend.registry import chosen
from arrayx.conformance.checks import put_all
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item
from arrayx.control.call import call
from arrayx.core.graph import Var
from arrayx.primitives import (
    arithmetic,
    axes,
    bitwise,
    conversion,
    creation,
    numeric,
    reduction,
    slicing,
)
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.fuse import ROW_REDUCTIONS, Group, Policy, plan, run_plan
from arrayx.transforms.simplify import simplify
from arrayx.transforms.stage import stage

_FLOATS = np.array([[0.0, -0.0, 1.5], [-1.0, np.inf, -np.inf], [np.nan, 2.0, 0.1]], np.float32)
_INTEGERS = np.array([[0, 1, -1], [2**31 - 1, -(2**31), 7], [3, -5, 64]], np.int32)
_BOOLS = np.array([[True, False, True], [False, False, True], [True, True, False]])
_SHAPE = (3, 3)
_FLOAT, _INT, _BOOL = np.dtype(np.float32), np.dtype(np.int32), np.dtype(bool)

add, sub, mul, neg = arithmetic.add, arithmetic.sub, arithmetic.mul, arithmetic.neg
select, absorb_mul = arithmetic.select, arithmetic.absorb_mul


def _full(value: Any, dtype: Any = _FLOAT, shape: Any = _SHAPE) -> Any:
    return creation.full(shape=shape, dtype=dtype, value=value, weak_type=False)


def _convert(x: Any, dtype: Any) -> Any:
    return conversion.convert(x, dtype=np.dtype(dtype), weak_type=False)


def _repeated(x: Any, along: int) -> Any:
    return axes.broadcast_in_dim(x, shape=_SHAPE, dims=(along,))


def _line(x: Any, k: int) -> Any:
    row = slicing.slice(x, starts=(k, 0), limits=(k + 1, 3), strides=(1, 1))
    return axes.reshape(row, shape=(3,))


def _pairs(x: Any) -> Any:
    """Every comparison of a value with itself and with its neighbour."""
    turned = axes.rev(x, axes=(0, 1))
    names = ("eq", "ne", "lt", "le", "gt", "ge")
    found = [getattr(arithmetic, n)(x, y) for n in names for y in (x, turned)]
    return slicing.concatenate(*found, axis=0)


def _with_literals(x: Any, *literals: Any) -> Any:
    """Every comparison and ring operation with literals, on both sides."""
    compared = []
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        f = getattr(arithmetic, name)
        compared += [f(x, v) for v in literals] + [f(v, x) for v in literals]
    made = [f(x, v) for f in (add, sub, mul) for v in literals]
    made += [f(v, x) for f in (add, sub, mul) for v in literals]
    return slicing.concatenate(*compared, axis=0), slicing.concatenate(*made, axis=0)


def _folded(dtype: Any, *values: Any) -> Any:
    """The same of constants, which are known when the program is compiled."""
    results = []
    for value in values:
        results += _with_literals(_full(value, dtype), *values)
    return tuple(results)


def _logic(x: Any) -> Any:
    found = []
    for f in (bitwise.bitwise_and, bitwise.bitwise_or, bitwise.bitwise_xor):
        found += [f(x, x), f(x, bitwise.bitwise_not(x))]
        found += [f(x, _full(v, _BOOL)) for v in (True, False)]
        found += [f(_full(v, _BOOL), x) for v in (True, False)]
    return slicing.concatenate(*found, axis=0)


def _extremes(x: Any) -> Any:
    both = [f(a, b) for f in (numeric.max, numeric.min) for a, b in ((x, x), (x, neg(x)))]
    return slicing.concatenate(*both, axis=0)


def _reductions(x: Any) -> Any:
    names = ("reduce_max", "reduce_min", "reduce_prod")
    found = [axes.reduce_sum(x, axes=()), *(getattr(reduction, n)(x, axes=()) for n in names)]
    return slicing.concatenate(*found, axis=0)


def _of_equals(value: Any, shape: Any) -> Any:
    """Reductions of elements that are known to be equal, or of none."""
    x = _full(value, _FLOAT, shape)
    names = ("reduce_max", "reduce_min", "reduce_prod")
    return (axes.reduce_sum(x, axes=(0,)), *(getattr(reduction, n)(x, axes=(0,)) for n in names))


def _moves(x: Any) -> Any:
    """Rearrangements of rearrangements, of which some undo each other and some do not."""
    # Of equal lengths, so that no mistake shows in the shape.
    cube = axes.reshape(slicing.concatenate(x, neg(x), add(x, 1.0), axis=0), shape=(3, 3, 3))
    turned = axes.transpose(axes.transpose(cube, perm=(1, 2, 0)), perm=(1, 0, 2))
    back = axes.transpose(axes.transpose(cube, perm=(1, 2, 0)), perm=(2, 0, 1))
    wide = axes.broadcast_in_dim(
        axes.broadcast_in_dim(_line(x, 0), shape=(3, 2), dims=(0,)), shape=(2, 3, 2), dims=(1, 2)
    )
    return (
        axes.rev(axes.rev(x, axes=(0,)), axes=(1,)),
        axes.rev(axes.rev(x, axes=(0,)), axes=(0,)),
        turned,
        back,
        axes.reshape(axes.reshape(cube, shape=(27,)), shape=(9, 3)),
        wide,
        slicing.slice(x, starts=(0, 0), limits=(3, 3), strides=(2, 1)),
    )


def _alike(x: Any) -> Any:
    """Applications that are nearly the same."""
    return (
        axes.reduce_sum(x, axes=(0,)),
        axes.reduce_sum(x, axes=(1,)),
        numeric.max(x, 0.0),
        numeric.max(x, -0.0),
        mul(x, 0.0),
        mul(x, -0.0),
        axes.rev(x, axes=(0,)),
        axes.rev(x, axes=(1,)),
        _convert(x, np.int32),
        _convert(x, bool),
        add(_repeated(_line(x, 0), 0), _repeated(_line(x, 1), 1)),
        mul(_repeated(_line(x, 1), 0), _repeated(_line(x, 2), 0)),
    )


def _choices(x: Any) -> Any:
    which = arithmetic.gt(x, 0.0)
    signs = select(which, _full(0.0), _full(-0.0))
    return (
        select(_full(True, _BOOL), x, neg(x)),
        select(_full(False, _BOOL), x, neg(x)),
        signs,
        numeric.div(1.0, signs),
        select(which, x, x),
        select(which, _full(2.0), _full(2.0)),
    )


def _conversions(value: float) -> Any:
    x = _full(value)
    return tuple(_convert(x, d) for d in (bool, np.int32, np.int8, np.float64, np.float16))


def _zeros(x: Any) -> Any:
    """Sums and products with zeros of both signs, which matter to -0.0, nan and inf."""
    results = []
    for f in (add, sub, mul):
        for value in (0.0, -0.0, 1.0, -1.0):
            constant = _full(value)
            results += [f(x, value), f(x, constant), f(value, x), f(constant, x)]
    for value in (1.0, -1.0, 2.0):
        results += [numeric.div(x, value), numeric.div(x, _full(value))]
    return slicing.concatenate(*results, sub(x, x), axis=0)


def _absorbing(x: Any) -> Any:
    """Products in which zeros absorb; they leave the sign of a zero open, the sum does not."""
    values = (0.0, -0.0, 1.0, -1.0, float("inf"), float("nan"))
    found = [f for v in values for f in (absorb_mul(x, v), absorb_mul(x, _full(v)))]
    return slicing.concatenate(*(add(f, 0.0) for f in found), axis=0)


def _integers(x: Any) -> Any:
    return tuple(f(x, v) for f in (add, sub, mul, numeric.div) for v in (0, 1, -1, 2, x))


def _groups(x: Any) -> Any:
    """Loops over several shapes whose values later loops read, some of them twice."""
    a, b = add(x, 1.0), mul(x, 2.0)
    top = reduction.reduce_max(a, axes=(0,))
    along = axes.broadcast_in_dim(top, shape=_SHAPE, dims=(1,))
    count = creation.iota(shape=_SHAPE, dtype=_FLOAT, axis=0)
    c = add(mul(b, 0.5), count)
    d = sub(numeric.max(along, a), c)
    total = reduction.reduce_min(d, axes=(0, 1))
    spread = axes.broadcast_in_dim(total, shape=_SHAPE, dims=())
    turned = axes.transpose(c, perm=(1, 0))
    line = add(mul(top, 2.0), _line(b, 1))
    e = add(numeric.min(spread, turned), mul(along, count))
    same = axes.broadcast_in_dim(mul(d, 0.5), shape=_SHAPE, dims=(0, 1))
    low = reduction.reduce_min(mul(a, 3.0), axes=(0, 1))
    last = add(axes.broadcast_in_dim(low, shape=_SHAPE, dims=()), mul(a, 3.0))
    once = sub(last, numeric.max(b, 0.25))
    return (
        add(e, a),
        add(d, same),
        once,
        line,
        mul(axes.broadcast_in_dim(line, shape=_SHAPE, dims=(0,)), b),
    )


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "zeros": (_zeros, (_FLOATS,)),
    "absorbing": (_absorbing, (_FLOATS,)),
    "integers": (_integers, (_INTEGERS,)),
    "negation": (lambda x: (neg(neg(x)), neg(sub(0.0, x)), neg(sub(x, -0.0))), (_FLOATS,)),
    "comparisons": (_pairs, (_FLOATS,)),
    "comparisons_of_integers": (_pairs, (_INTEGERS,)),
    "literals": (lambda x: _with_literals(x, 0.0, -0.0, 0.1, float("nan")), (_FLOATS,)),
    "constants": (lambda: _folded(_FLOAT, 0.0, -0.0, 0.1, float("inf"), float("nan")), ()),
    "constants_of_integers": (lambda: _folded(_INT, 0, 1, -1, 2**31 - 1), ()),
    "logic": (_logic, (_BOOLS,)),
    "extremes": (_extremes, (_FLOATS,)),
    "reductions_of_one": (_reductions, (_FLOATS,)),
    "reductions_of_equals": (lambda: _of_equals(3.0, (3, 2)), ()),
    "reductions_of_zeros": (lambda: _of_equals(-0.0, (3, 2)), ()),
    "reductions_of_nothing": (lambda: _of_equals(3.0, (0, 2)), ()),
    "moves": (_moves, (_FLOATS,)),
    "alike": (_alike, (_FLOATS,)),
    "choices": (_choices, (_FLOATS,)),
    "conversions": (lambda: _conversions(-1.5), ()),
    "conversions_of_fractions": (lambda: _conversions(0.1), ()),
    "groups": (_groups, (np.arange(9, dtype=np.float32).reshape(3, 3) / 4 - 1,)),
    "conversions_of_large": (lambda: _conversions(3e9), ()),
    "conversions_of_nan": (lambda: _conversions(float("nan")), ()),
}


def items(backend: str) -> Iterator[Item]:
    """Each program, simplified and compiled."""
    for name in PROGRAMS:
        yield item("graphs", "rewritings", check, name, backend, detail=name, owed=True, core=True)


def assert_loops(groups: Sequence[Group]) -> None:
    """A loop reads no element that another step of it makes: so it can run in any pieces."""
    for group in groups:
        if group.shape is None:
            continue
        made: set[Any] = set()
        for e in group.graph.equations:
            if e.primitive.name == "broadcast_in_dim":
                inside = made.intersection(e.inputs)
                assert not inside, f"a loop repeats what it makes itself:\n{group.graph}"
            for v in e.inputs:
                whole = type(v) is not Var or v not in made or v.aval.shape == group.shape
                assert whole, f"a loop reads its own reduction:\n{group.graph}"
            made.update(e.outputs)


def check(name: str, backend: str) -> None:
    """Simplified, and in groups, it gives the same bits but those of nan; compiled its values."""
    function, arrays = PROGRAMS[name]
    with chosen(backend):
        operands = put_all(arrays, backend)

        def flat(*xs: Any) -> tuple[Any, ...]:
            result = function(*xs)
            return result if type(result) is tuple else (result,)

        graph = stage(flat, [x.aval for x in operands]).graph
        wanted = [np.asarray(r.host()) for r in evaluate(graph, operands)]
        short = [np.asarray(r.host()) for r in evaluate(simplify(graph), operands)]
        cut = []
        for policy in (Policy(), Policy(reductions=ROW_REDUCTIONS), Policy(duplicate=False)):
            groups = plan(graph, policy)
            assert_loops(groups)
            cut.append([np.asarray(r.host()) for r in run_plan(graph, groups, operands)])
        compiled = [np.asarray(r.host()) for r in call(*operands, graph=graph, name=name)]
    for how, found in (
        ("simplified", short),
        *(("in groups", c) for c in cut),
        ("compiled", compiled),
    ):
        for i, (g, w) in enumerate(zip(found, wanted, strict=True)):
            what = f"result {i} of {name!r}, {how}, is {g.tolist()}, expected {w.tolist()}"
            assert (g.shape, g.dtype) == (w.shape, w.dtype), what
            inexact = w.dtype.kind == "f"
            assert np.array_equal(g, w, equal_nan=inexact), what
            # Compilers that others wrote take x + 0 for x.
            if inexact and how != "compiled":
                signs = np.isnan(w) | (np.signbit(g) == np.signbit(w))
                assert signs.all(), f"{what}: the sign of a zero"
