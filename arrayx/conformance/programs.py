"""Random whole programs: hypothesis strategies for graphs, and for operands to run them on.

What is true of every program (its text reads back, simplified it computes the same, its plan
equals the whole) is tested on these.  Sizes are small, and whatever a program does is decided
by the draws alone, so a failing one is shrunk to a few equations.

    @given(st.data())
    def test_my_backend_runs_every_program(data):
        graph = data.draw(graphs())
        arguments = data.draw(arguments_of(graph))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from arrayx import dtypes
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph, literal_key
from arrayx.primitives import (
    arithmetic,
    axes,
    bitwise,
    contraction,
    conversion,
    creation,
    exponential,
    numeric,
    reduction,
    slicing,
    trigonometric,
)
from arrayx.transforms.stage import stage

Draw = Callable[[st.SearchStrategy[Any]], Any]

_LENGTHS = st.integers(1, 3)
_SHAPES = st.lists(_LENGTHS, max_size=3).map(tuple)
_MOST_ELEMENTS = 64
_LITERALS = {
    "float": (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, math.nan),
    "int": (0, 1, -1, 2),
    "uint": (0, 1, 2),
    "bool": (True, False),
}
_NUMERIC = ("int", "uint", "float")
# What elements and literals are drawn from; nan and infinities are part of the truth.
_ELEMENTS = {**_LITERALS, "float": (*_LITERALS["float"], -math.inf, 1.5, -0.75, 3.0)}


class _Writer:
    """Chooses operations by drawing; each method adds one to what `pool` holds, or nothing."""

    def __init__(self, draw: Draw, pool: list[Any], finite: bool) -> None:
        self.draw = draw
        self.pool = pool
        self.finite = finite

    def one_of(self, items: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(items))

    def pick(self, *kinds: str) -> Any:
        """A value of one of these kinds, None if there is none."""
        # Late ones first, so that programs are deep rather than wide.
        fitting = [x for x in reversed(self.pool) if dtypes.kind(x.dtype) in kinds]
        return self.one_of(fitting) if fitting else None

    def like(self, x: Any) -> Any:
        """A value of the same shape and dtype, or x itself."""
        same = [y for y in self.pool if y.shape == x.shape and y.dtype == x.dtype]
        return self.one_of(same or [x])

    def literal(self, x: Any) -> Any:
        values = _LITERALS[dtypes.kind(x.dtype)]
        return self.one_of([v for v in values if math.isfinite(v)] if self.finite else values)

    def unary(self) -> Any:
        x = self.pick("float")
        return x if x is None else self.one_of(_UNARY)(x)

    def negation(self) -> Any:
        x = self.pick(*_NUMERIC, "bool")
        if x is None:
            return None
        return (bitwise.bitwise_not if dtypes.kind(x.dtype) == "bool" else arithmetic.neg)(x)

    def binary(self) -> Any:
        x = self.pick(*_NUMERIC)
        if x is None:
            return None
        names = _BINARY + ((arithmetic.absorb_mul,) if dtypes.kind(x.dtype) == "float" else ())
        y = self.literal(x) if self.draw(st.booleans()) else self.like(x)
        pair = (y, x) if self.draw(st.booleans()) else (x, y)
        return self.one_of(names)(*pair)

    def logical(self) -> Any:
        x = self.pick("bool")
        if x is None:
            return None
        return self.one_of((bitwise.bitwise_and, bitwise.bitwise_or))(x, self.like(x))

    def comparison(self) -> Any:
        x = self.pick(*_NUMERIC)
        if x is None:
            return None
        y = self.literal(x) if self.draw(st.booleans()) else self.like(x)
        return self.one_of(_COMPARISONS)(x, y)

    def selection(self) -> Any:
        x = self.pick(*_NUMERIC, "bool")
        if x is None:
            return None
        conditions = [c for c in self.pool if c.shape == x.shape and c.dtype == bool]
        if not conditions:
            return creation.fill(x.shape, np.dtype(bool), self.draw(st.booleans()))
        y = self.literal(x) if self.draw(st.booleans()) else self.like(x)
        return arithmetic.select(self.one_of(conditions), x, y)

    def fill(self) -> Any:
        x = self.one_of(self.pool)
        shape = self.one_of((x.shape, self.draw(_SHAPES)))
        return creation.fill(shape, x.dtype, self.literal(x))

    def count(self) -> Any:
        x = self.pick(*_NUMERIC)
        if x is None or x.ndim == 0:
            return None
        axis = self.draw(st.integers(0, x.ndim - 1))
        return creation.iota(shape=x.shape, dtype=x.dtype, axis=axis)

    def conversion(self) -> Any:
        x = self.one_of(self.pool)
        names = ("float32", "float64", "bool") if self.finite else _CONVERTED
        return conversion.convert(x, dtype=np.dtype(self.one_of(names)), weak_type=False)

    def broadcast(self) -> Any:
        x = self.one_of(self.pool)
        ndim = self.draw(st.integers(x.ndim, 3))
        places = st.lists(
            st.integers(0, max(ndim - 1, 0)), min_size=x.ndim, max_size=x.ndim, unique=True
        )
        dims = tuple(sorted(self.draw(places)))
        shape = [self.draw(_LENGTHS) for _ in range(ndim)]
        for n, d in zip(x.shape, dims, strict=True):
            shape[d] = shape[d] if n == 1 else n
        return axes.broadcast_in_dim(x, shape=tuple(shape), dims=dims)

    def movement(self) -> Any:
        x = self.one_of(self.pool)
        how = self.draw(st.integers(0, 3))
        if how == 0:
            perm = self.draw(st.permutations(range(x.ndim)))
            return axes.transpose(x, perm=tuple(perm))
        if how == 1:
            shape = self.one_of(((x.size,), (1, x.size), (x.size, 1), x.shape[::-1], x.shape))
            return axes.reshape(x, shape=shape)
        if how == 2:
            return axes.rev(x, axes=tuple(i for i in range(x.ndim) if self.draw(st.booleans())))
        starts = tuple(self.draw(st.integers(0, n - 1)) if n else 0 for n in x.shape)
        limits = tuple(
            self.draw(st.integers(a + 1, n)) if n else 0
            for a, n in zip(starts, x.shape, strict=True)
        )
        return slicing.slice(x, starts=starts, limits=limits, strides=(1,) * x.ndim)

    def reduction(self) -> Any:
        x = self.pick(*_NUMERIC)
        if x is None:
            return None
        first = self.draw(st.integers(0, x.ndim))
        over = tuple(range(first, x.ndim)) if self.draw(st.booleans()) else tuple(range(first))
        return self.one_of((axes.reduce_sum, reduction.reduce_max))(x, axes=over)

    def product(self) -> Any:
        x = self.pick("float")
        if x is None or x.ndim not in (1, 2):
            return None
        y = self.like(x)
        last = (x.ndim - 1,)
        params = {"contracting": (last, last), "batch": ((), ()), "precision": None}
        return contraction.dot_general(x, y, **params)

    def application(self) -> Any:
        """The call of a small graph, sometimes of the same graph twice."""
        x = self.pick("float")
        if x is None:
            return None

        def body(y: Any) -> list[Any]:
            inner = _Writer(self.draw, [y], self.finite)
            inner.fill_pool(2, inner_too=False)
            return inner.pool[-1:]

        graph = stage(body, [x.aval]).graph
        (result,) = call(x, graph=graph, name="inner")
        if self.draw(st.booleans()):
            (again,) = call(x, graph=graph, name="inner")
            self.pool.append(again)
        return result

    def fill_pool(self, size: int, inner_too: bool = True) -> None:
        """Adds `size` results, give or take those that had no operand."""
        steps = _STEPS + ((_Writer.application,) if inner_too else ())
        for _ in range(size):
            result = self.one_of(steps)(self)
            if result is not None and result.size <= _MOST_ELEMENTS:
                self.pool.append(result)


_UNARY = (trigonometric.sin, trigonometric.cos, trigonometric.tanh, exponential.logistic)
_BINARY = (arithmetic.add, arithmetic.sub, arithmetic.mul, numeric.max, numeric.min)
_COMPARISONS = (
    arithmetic.eq,
    arithmetic.ne,
    arithmetic.lt,
    arithmetic.le,
    arithmetic.gt,
    arithmetic.ge,
)
_CONVERTED = ("float32", "float64", "bfloat16", "int32", "int8", "uint8", "bool")
_STEPS = (
    _Writer.binary,
    _Writer.unary,
    _Writer.binary,
    _Writer.negation,
    _Writer.movement,
    _Writer.broadcast,
    _Writer.reduction,
    _Writer.comparison,
    _Writer.selection,
    _Writer.logical,
    _Writer.fill,
    _Writer.count,
    _Writer.conversion,
    _Writer.product,
)


@st.composite
def graphs(draw: Draw, size: int = 10, finite: bool = False) -> Graph:
    """Graphs of up to `size` equations or a few more, with one to three inputs.

    `finite` leaves out what makes derivatives large or undefined: literals that are not
    finite and conversions to narrow dtypes.
    """
    names = ("float32", "float32", "float64") if finite else ("float32", *_CONVERTED)
    avals = draw(
        st.lists(
            st.builds(lambda s, n: Aval(s, np.dtype(n)), _SHAPES, st.sampled_from(names)),
            min_size=1,
            max_size=3,
        )
    )
    length = draw(st.integers(1, size))

    def program(*inputs: Any) -> list[Any]:
        writer = _Writer(draw, list(inputs), finite)
        writer.fill_pool(length)
        made = writer.pool[len(inputs) :] or writer.pool
        outputs = draw(st.lists(st.sampled_from(made), min_size=1, max_size=3))
        return [made[-1], *outputs]

    return stage(program, avals).graph


def elements_of(aval: Aval, finite: bool = False) -> st.SearchStrategy[np.ndarray]:
    """Arrays of a type, with elements that computations like to get wrong."""
    values: Sequence[Any] = _ELEMENTS[dtypes.kind(aval.dtype)]
    if finite:
        values = [v for v in values if math.isfinite(v)]
    lists = st.lists(st.sampled_from(values), min_size=aval.size, max_size=aval.size)
    return lists.map(lambda items: np.array(items, aval.dtype).reshape(aval.shape))


def arguments_of(graph: Graph, finite: bool = False) -> st.SearchStrategy[tuple[np.ndarray, ...]]:
    """Operands for a graph, as NumPy arrays."""
    return st.tuples(*(elements_of(aval, finite) for aval in graph.in_avals))


def same_elements(x: np.ndarray, y: np.ndarray) -> bool:
    """Equal bit for bit, but for the sign and payload of nan."""
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return False
    if x.dtype.kind in "bui":
        return bool(np.array_equal(x, y))
    # bfloat16 and its like know no signbit; a wider float keeps sign and value.
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    a, b = x.astype(wide).reshape(-1).tolist(), y.astype(wide).reshape(-1).tolist()
    return [literal_key(v) for v in a] == [literal_key(v) for v in b]


def host_values(results: Sequence[Any]) -> list[np.ndarray]:
    """What a program gave, as NumPy arrays; operands handed through may be such already."""
    return [np.asarray(r.host() if hasattr(r, "host") else r) for r in results]
