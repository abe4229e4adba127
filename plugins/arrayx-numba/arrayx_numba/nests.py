"""Nests of loops: which statements share loops, and the function that runs them.

A statement makes its elements in loops over its shape.  Statements whose outer loops are equally
long run in the same ones, where each reads of the others only what its own iteration has made; what
they hand to each other then needs no memory, or that of one iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from arrayx_numba.places import (
    ZERO,
    Index,
    Scalar,
    Stored,
    View,
    counters,
    flat,
    keeps_axes,
    through,
)
from arrayx_numba.scalars import Reduction, element, literal, operand_dtype, type_name

# Loops of at most so many iterations are written out, if they are not the outermost.
UNROLLED = 4
# Primitives whose elements take long.
SLOW = frozenset(
    "exp log tanh logistic pow sin cos tan asin acos atan atan2 sinh cosh asinh acosh "  # noqa: SIM905
    "atanh erf erfc expm1 log1p rem".split()
)


@dataclass(eq=False)
class Statement:
    """What is made in loops over `shape`: elements of `out`, or of `target` (a copy)."""

    shape: tuple[int, ...]
    equation: Any = None
    out: Any = None
    reduction: Reduction | None = None
    reduced: frozenset[int] = frozenset()
    # A copy: of which value, with which shift, to where.
    source: Any = None
    shift: tuple[Index, ...] = ()
    target: Stored | None = None
    target_shift: tuple[Index, ...] = ()
    lengths: list[int] = field(init=False)
    indices: list[Index] = field(init=False)

    def __post_init__(self) -> None:
        self.indices, self.lengths = counters(self.shape)

    def reads(self) -> list[tuple[Any, list[Index]]]:
        """The variables that one iteration reads, and where."""
        if self.equation is None:
            if not hasattr(self.source, "aval"):
                return []
            shift = self.shift or (ZERO,) * len(self.shape)
            return [(self.source, [i.plus(s) for i, s in zip(self.indices, shift, strict=True)])]
        return [(a, self.indices) for a in self.equation.inputs if hasattr(a, "aval")]

    def out_axes(self) -> list[int | None]:
        """For each axis of the result the loop that runs over it, None for a length of 1."""
        axes = []
        dropped = self.equation.params["axes"] if self.reduction is not None else ()
        for d, i in enumerate(self.indices):
            if d not in dropped:
                axes.append(next(iter(i.terms), None))
        return axes

    def cost(self) -> int:
        """About how many elementary operations it takes."""
        n = 1
        for length in self.lengths:
            n *= length
        slow = self.equation is not None and self.equation.primitive.name in SLOW
        return n * (12 if slow else 1)


class Loop:
    """A loop, its statements, and what its body is made of."""

    def __init__(self, axis: int, length: int) -> None:
        self.axis = axis
        self.length = length
        self.statements: list[Statement] = []
        self.body: list[Any] = []


Makers = Mapping[Any, Statement]
# Follows views: the variable whose elements are read in the end and where; None for the place
# where only the whole will do.
Bases = Callable[[Any, list[Index]], tuple[Any, list[Index] | None]]


def meets(maker: Statement, indices: list[Index] | None, depth: int) -> bool:
    """True where a value's iteration of the loop at `depth` is the reader's own."""
    if indices is None or depth in maker.reduced:
        return False
    axes = maker.out_axes()
    return depth in axes and indices[axes.index(depth)].is_counter(depth)


def loops(
    statements: list[Statement], depth: int, makers: Makers, bases: Bases
) -> list[Loop | Statement]:
    """Statements as loops, in an order in which each comes after what it reads."""
    nodes: list[Loop | Statement] = []
    where: dict[Any, int] = {}
    for s in statements:
        since = 0
        has_loop = len(s.lengths) > depth
        for atom, indices in s.reads():
            base, at = bases(atom, indices)
            k = where.get(base)
            if k is None:
                continue
            joined = has_loop and isinstance(nodes[k], Loop) and meets(makers[base], at, depth)
            since = max(since, k if joined else k + 1)
        place = len(nodes)
        if has_loop:
            for k in range(len(nodes) - 1, since - 1, -1):
                node = nodes[k]
                if isinstance(node, Loop) and node.length == s.lengths[depth]:
                    place = k
                    break
            if place == len(nodes):
                nodes.append(Loop(depth, s.lengths[depth]))
            node = nodes[place]
            assert isinstance(node, Loop)
            node.statements.append(s)
        else:
            nodes.append(s)
        if s.out is not None:
            where[s.out] = place
    for node in nodes:
        if isinstance(node, Loop):
            node.body = loops(node.statements, depth + 1, makers, bases)
    return nodes


class Local:
    """How a value is kept inside of a nest: as numbers, or as an array for one iteration."""

    def __init__(self, name: str, axes: list[int | None], lengths: list[int], depth: int) -> None:
        self.name = name
        self.dims = [d for d, a in enumerate(axes) if a is not None and a >= depth]
        self.shape = tuple(lengths[axes[d]] for d in self.dims)  # type: ignore[index]
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.as_numbers = all(n <= UNROLLED for n in self.shape)

    def place(self, indices: list[Index], counter: Mapping[int, Any]) -> int | str:
        return flat(self.shape, [indices[d] for d in self.dims]).value(counter)

    def text(self, indices: list[Index], counter: Mapping[int, Any]) -> str:
        place = self.place(indices, counter)
        if self.as_numbers:
            assert isinstance(place, int)
            return self.name if self.size == 1 else f"{self.name}_{place}"
        return f"{self.name}[U({place})]"


class NestWriter:
    """Writes the function of one outermost loop, for a range of its iterations."""

    def __init__(
        self,
        name: str,
        loop: Loop,
        env: Mapping[Any, Any],
        makers: Makers,
        bases: Bases,
        needed: Mapping[Any, Stored],
        partial: Callable[[Statement, int], str],
    ) -> None:
        self.name = name
        self.loop = loop
        self.env = env
        self.makers = {s.out: makers[s.out] for s in loop.statements if s.out is not None}
        self.bases = bases
        self.needed = needed
        self.partial = partial
        # Arrays and numbers that are handed over: names, and whether they are written to.
        self.arrays: dict[str, tuple[Any, bool]] = {}
        self.numbers: dict[str, Any] = {}
        self.preamble: list[str] = []
        self.lines: list[str] = []
        self.paths: dict[Statement, list[Loop]] = {}
        self.serial = 0
        self.find_paths([loop], [])
        self.locals = self.find_locals()
        self.accumulators: dict[Statement, Any] = {}
        self.emit([loop], {}, 1)

    # ------------------------------------------------------------- what is kept where

    def find_paths(self, nodes: list[Any], path: list[Loop]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.find_paths(node.body, [*path, node])
            else:
                self.paths[node] = path

    def find_locals(self) -> dict[Any, Local]:
        shared: dict[Any, int] = {}
        for s, path in self.paths.items():
            for atom, indices in s.reads():
                base, _ = self.bases(atom, indices)
                maker = self.makers.get(base)
                if maker is None:
                    continue
                depth = 0
                for x, y in zip(path, self.paths[maker]):
                    if x is not y or depth in maker.reduced:
                        break
                    depth += 1
                shared[base] = min(depth, shared.get(base, depth))
        found = {}
        for v, depth in shared.items():
            maker = self.makers[v]
            local = Local(f"v{self.number()}", maker.out_axes(), maker.lengths, depth)
            if local.as_numbers or v not in self.needed:
                found[v] = local
                if not local.as_numbers:
                    dtype = type_name(v.aval.dtype)
                    self.preamble.append(f"{local.name} = np.empty({local.size}, {dtype})")
        return found

    def number(self) -> int:
        self.serial += 1
        return self.serial

    # ------------------------------------------------------------- operands

    def index(self, index: Index, counter: Mapping[int, Any]) -> str:
        for k in index.terms:
            if not isinstance(k, int):
                self.numbers[k] = "int64"
        return str(index.value(counter))

    def load(self, stored: Stored, place: Index, counter: Mapping[int, Any]) -> str:
        self.arrays.setdefault(stored.name, (stored.dtype, False))
        return f"{stored.name}[U({self.index(place, counter)})]"

    def read(self, atom: Any, dtype: Any, indices: list[Index], counter: Mapping[int, Any]) -> str:
        """An element of an operand."""
        if not hasattr(atom, "aval"):
            return literal(atom, dtype)
        if atom in self.locals:
            return self.locals[atom].text(indices, counter)
        if atom in self.makers:
            stored = self.needed[atom]
            return self.load(stored, stored.place(indices), counter)
        ref = self.env[atom]
        if isinstance(ref, View):
            e = ref.equation
            if e.primitive.name == "full":
                return literal(e.params["value"], dtype)
            if e.primitive.name == "iota":
                return f"{type_name(dtype)}({self.index(indices[e.params['axis']], counter)})"
            if e.primitive.name == "reshape" and not keeps_axes(e):
                stored = self.env[e.inputs[0]]
                return self.load(
                    stored, flat(e.outputs[0].aval.shape, indices).plus(stored.first), counter
                )
            return self.read(e.inputs[0], dtype, through(ref, indices), counter)
        if isinstance(ref, Scalar):
            if ref.name.isidentifier() and ref.name not in ("True", "False"):
                self.numbers[ref.name] = ref.dtype
            return ref.name
        return self.load(ref, ref.place(indices), counter)

    # ------------------------------------------------------------- statements

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def emit(self, nodes: list[Any], counter: dict[int, Any], depth: int) -> None:
        for node in nodes:
            if not isinstance(node, Loop):
                self.emit_statement(node, counter, depth)
                continue
            ending = [
                s
                for s in node.statements
                if s.reduction is not None and min(s.reduced) == node.axis
            ]
            for s in ending:
                self.begin_reduction(s, depth)
            if node.axis and node.length <= UNROLLED:
                for i in range(node.length):
                    self.emit(node.body, {**counter, node.axis: i}, depth)
            else:
                name = f"i{node.axis}"
                extent = f"range({node.length})" if node.axis else "range(begin, end)"
                self.line(depth, f"for {name} in {extent}:")
                self.emit(node.body, {**counter, node.axis: name}, depth + 1)
            for s in ending:
                self.end_reduction(s, counter, depth)

    def emit_statement(self, s: Statement, counter: dict[int, Any], depth: int) -> None:
        if s.equation is None:
            assert s.target is not None
            dtype = s.target.dtype
            reads = s.reads()
            indices = reads[0][1] if reads else s.indices
            text = self.read(s.source, dtype, indices, counter)
            shift = s.target_shift or (ZERO,) * len(s.shape)
            place = s.target.place([i.plus(t) for i, t in zip(s.indices, shift, strict=True)])
            self.store(s.target, place, text, counter, depth)
            return
        e = s.equation
        operands = [
            self.read(a, operand_dtype(e, i), s.indices, counter) for i, a in enumerate(e.inputs)
        ]
        if s.reduction is not None:
            name, rest = self.accumulators[s]
            item = f"e{self.number()}"
            for text in s.reduction.value(operands[0], item):
                self.line(depth, text)
            self.line(depth, s.reduction.step(self.accumulator(name, rest, counter), item))
            return
        # Operands by name: a text that stands twice would be loaded twice.
        names = []
        for text in operands:
            if "[" in text:
                name = f"e{self.number()}"
                self.line(depth, f"{name} = {text}")
                text = name
            names.append(text)
        out = f"e{self.number()}"
        for text in element(e, out, names):
            self.line(depth, text)
        self.put(s.out, s.indices, out, counter, depth)

    def put(
        self, v: Any, indices: list[Index], text: str, counter: Mapping[int, Any], depth: int
    ) -> None:
        """Keeps an element of a value, wherever it is wanted."""
        local = self.locals.get(v)
        if local is not None:
            self.line(depth, f"{local.text(indices, counter)} = {text}")
            if local.as_numbers:
                text = local.text(indices, counter)
        stored = self.needed.get(v)
        if stored is not None:
            self.store(stored, stored.place(indices), text, counter, depth)

    def store(
        self, stored: Stored, place: Index, text: str, counter: Mapping[int, Any], depth: int
    ) -> None:
        self.arrays[stored.name] = stored.dtype, True
        self.line(depth, f"{stored.name}[U({self.index(place, counter)})] = {text}")

    # ------------------------------------------------------------- reductions

    def accumulator(
        self, name: str, rest: list[tuple[int, int]], counter: Mapping[int, Any]
    ) -> str:
        """The accumulator of what is not reduced inside of the loop that reduces."""
        place = flat(tuple(n for _, n in rest), [Index({a: 1}) for a, _ in rest]).value(counter)
        if all(n <= UNROLLED for _, n in rest):
            return f"{name}_{place}"
        return f"{name}[U({place})]"

    def begin_reduction(self, s: Statement, depth: int) -> None:
        assert s.reduction is not None
        first = min(s.reduced)
        rest = [(a, n) for a, n in enumerate(s.lengths) if a > first and a not in s.reduced]
        name = f"a{self.number()}"
        self.accumulators[s] = name, rest
        size = 1
        for _, n in rest:
            size *= n
        zero = s.reduction.first()
        if all(n <= UNROLLED for _, n in rest):
            for q in range(size):
                self.line(depth, f"{name}_{q} = {zero}")
            return
        self.preamble.append(f"{name} = np.empty({size}, {type_name(s.reduction.accumulator)})")
        self.line(depth, f"for q in range({size}):")
        self.line(depth + 1, f"{name}[U(q)] = {zero}")

    def end_reduction(self, s: Statement, counter: dict[int, Any], depth: int) -> None:
        assert s.reduction is not None
        name, rest = self.accumulators[s]
        as_numbers = all(n <= UNROLLED for _, n in rest)
        size = 1
        for _, n in rest:
            size *= n
        if min(s.reduced) == 0:
            partial = self.partial(s, size)
            self.arrays[partial] = s.reduction.accumulator, True
            if as_numbers:
                for q in range(size):
                    self.line(depth, f"{partial}[U(part * {size} + {q})] = {name}_{q}")
            else:
                self.line(depth, f"for q in range({size}):")
                self.line(depth + 1, f"{partial}[U(part * {size} + q)] = {name}[U(q)]")
            return
        indices = [ZERO if a is None else Index({a: 1}) for a in s.out_axes()]
        if as_numbers:
            for values in product(*(range(n) for _, n in rest)):
                at = {**counter, **{a: i for (a, _), i in zip(rest, values)}}
                text = s.reduction.last(self.accumulator(name, rest, at))
                self.put(s.out, indices, text, at, depth)
            return
        at = dict(counter)
        for a, n in rest:
            at[a] = f"q{a}"
            self.line(depth, f"for q{a} in range({n}):")
            depth += 1
        text = s.reduction.last(self.accumulator(name, rest, at))
        self.put(s.out, indices, text, at, depth)

    # ------------------------------------------------------------- the function

    def text(self) -> str:
        """The function with its signature."""
        types = ["int64", "int64", "int64"]
        names = ["begin", "end", "part"]
        for name, (dtype, written) in self.arrays.items():
            names.append(name)
            types.append(f"array({numba_type(dtype)}, {written})")
        for name, dtype in self.numbers.items():
            names.append(name)
            types.append(numba_type(dtype))
        return "\n".join(
            [
                f"@nest(({', '.join(types)}))",
                f"def {self.name}({', '.join(names)}):",
                *("    " + x for x in self.preamble),
                *self.lines,
                "",
            ]
        )

    def arguments(self) -> list[str]:
        """What the caller hands over after the range."""
        return [*self.arrays, *self.numbers]


def numba_type(dtype: Any) -> str:
    """A dtype by the name that Numba's types have."""
    name = str(dtype)
    return "boolean" if name == "bool" else name
