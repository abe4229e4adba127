"""Writes StableHLO line by line: values, constants, functions, but not which ones.

A rule gets an `Emitter` and the operands of an equation, and returns the `Value` of its result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.source import Source
from arrayx_xla.text import dense, donated, literal, location, tensor_type

Rule = Callable[..., Any]
BOOL = np.dtype(bool)
# The number of a run: callbacks are told it, and those with effects hand it on, which is what
# keeps them in order.  The array stands for it among the arguments of a program.
RUN = np.zeros((), np.int32)
ORDER = Aval((), RUN.dtype)
# Constants up to this many bytes stand in the text, where XLA folds them; longer ones would
# make it slow to read, and are handed over as arguments.
MOST_INLINE_BYTES = 1024


# Numbers of less than 8 bits, and the dtypes in which they are moved about.
WIDER = {
    **dict.fromkeys(map(id, dtypes.NARROW_INTS), np.dtype(np.int8)),
    **dict.fromkeys(map(id, dtypes.NARROW_UINTS), np.dtype(np.uint8)),
    **dict.fromkeys(map(id, dtypes.NARROW_FLOATS), dtypes.HALFS[0]),
}
# What XLA makes of them itself: numbers out of nothing or of others, and whole programs.
TAKE_NARROW = frozenset({"convert", "full", "call", "cond", "while_loop"})


def is_narrow(aval: Aval) -> bool:
    """True for numbers of less than 8 bits."""
    return id(aval.dtype) in WIDER


def wide_dtype(aval: Aval) -> Any:
    """The dtype in which elements of this type are moved about."""
    return WIDER.get(id(aval.dtype), aval.dtype)


def type_of(aval: Aval) -> str:
    """The MLIR type of an aval, kept on it."""
    try:
        return aval.memo["mlir"]  # type: ignore[no-any-return]
    except KeyError:
        text = aval.memo["mlir"] = tensor_type(aval.shape, aval.dtype)
        return text


class Value:
    """An SSA value: its name, its type, and the scalar that it is, where it is a literal."""

    __slots__ = ("aval", "literal", "name")

    def __init__(self, name: str, aval: Aval, literal: Any = None) -> None:
        self.name = name
        self.aval = aval
        self.literal = literal

    @property
    def type(self) -> str:
        """The MLIR type."""
        return type_of(self.aval)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of every axis."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.aval.dtype

    def __repr__(self) -> str:
        return f"{self.name} : {self.type}"


class Module:
    """The functions of one program, and the arrays that `@main` takes besides its arguments."""

    def __init__(self, rules: Mapping[str, Rule], locations: bool = False) -> None:
        self.rules = rules
        self.locations = locations
        self.functions: dict[Graph, Emitter] = {}
        self.names: dict[str, int] = {"main": 1}
        # The Python functions that the program calls, in the order of their numbers.
        self.callbacks: list[Callable[..., Any]] = []

    def function(self, graph: Graph, name: str) -> Emitter:
        """The private function for a graph: one for all equal graphs."""
        found = self.functions.get(graph)
        if found is None:
            found = Emitter(self, self.unused(name))
            # Callees are written before their callers, so a function never misses one.
            found.write(graph)
            self.functions[graph] = found
        return found

    def unused(self, name: str) -> str:
        """A function name made of letters that MLIR takes, with a number where it is taken."""
        name = re.sub(r"[^A-Za-z0-9_]+", "_", name.strip("<>")) or "function"
        if name[0].isdigit():
            name = f"_{name}"
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}_{count}" if count else name


class Emitter:
    """Writes one function."""

    def __init__(self, module: Module, name: str, private: bool = True) -> None:
        self.module = module
        self.name = name
        self.private = private
        self.lines: list[str] = []
        self.indent = "    "
        self.counts: dict[str, int] = {}
        # Constants by text, one table for each open region: an inner one sees the outer ones.
        self.scopes: list[dict[str, Value]] = [{}]
        # Arrays that come as arguments, by identity; each is held so that its id stays its own.
        self.arrays: dict[int, tuple[Value, Any]] = {}
        self.place = ""
        # The types of the results of the equation being written.
        self.results: tuple[Aval, ...] = ()
        # What the next effect takes, where there are effects.
        self.order: Value | None = None
        self.header = ""

    # ------------------------------------------------------------- whole functions

    def write(self, graph: Graph, donated_inputs: Sequence[int] = ()) -> None:
        """The function of a graph, header and all."""
        inputs = [Value(f"%arg{i}", a) for i, a in enumerate(graph.in_avals)]
        first = []
        if graph.effects:
            self.order = Value("%order_given", ORDER) if self.private else self.run()
            first = [self.order] if self.private else []
        results = self.graph(graph, inputs)
        if self.order is not None:
            results.append(self.order)
        marks = {i: f" {donated()}" for i in donated_inputs}
        given = [f"{v.name}: {v.type}{marks.get(i, '')}" for i, v in enumerate(inputs)]
        given += [f"{v.name}: {v.type}" for v in first]
        given += [f"{v.name}: {v.type}" for v, _ in self.arrays.values()]
        types = ", ".join(v.type for v in results)
        visible = "private" if self.private else "public"
        self.header = f"  func.func {visible} @{self.name}({', '.join(given)}) -> ({types}) {{"
        names = ", ".join(v.name for v in results)
        self.lines.append(f"    return {names} : {types}" if results else "    return")

    def text(self) -> str:
        """The function as text."""
        return "\n".join([self.header, *self.lines, "  }"])

    def graph(self, graph: Graph, operands: Sequence[Value]) -> list[Value]:
        """Writes a graph's equations here; gives the values of its outputs."""
        values: dict[Any, Any] = dict(zip(graph.inputs, operands, strict=True))
        for var, array in zip(graph.constants, graph.constant_values, strict=True):
            values[var] = self.array(var.aval, array)
        rules = self.module.rules
        outer = self.place
        for e in graph.equations:
            if self.module.locations:
                self.place = place_of(e) or outer
            self.results = tuple([v.aval for v in e.outputs])
            if not e.effects and not any(a.size for a in self.results):
                # Nothing to compute: XLA has rules of its own for some such operations.
                made: Any = tuple([self.empty(a) for a in self.results])
            else:
                operands = self.operands(e, values)
                rule = rules[e.primitive.name]
                if e.primitive.name not in TAKE_NARROW and any(map(is_narrow, self.results)):
                    rule = self.widened(rule)
                made = rule(self, *operands, **e.params)
            if type(made) is Value:
                values[e.outputs[0]] = made
            else:
                values.update(zip(e.outputs, made, strict=True))
        self.place = outer
        return [values[v] for v in graph.outputs]

    def operands(self, e: Equation, values: dict[Any, Any]) -> list[Any]:
        """An equation's operands; literals of elementwise ones as constants of their shape."""
        if not e.primitive.elementwise:
            return [values[a] if type(a) is Var else a for a in e.inputs]
        # The condition of a select, which comes first, is the only operand of another dtype.
        like = next((a.aval for a in reversed(e.inputs) if type(a) is Var), None)
        if e.primitive.name == "select":
            like = e.outputs[0].aval
        return [
            values[a] if type(a) is Var else self.constant(a, like.shape, like.dtype)  # type: ignore[union-attr]
            for a in e.inputs
        ]

    def widened(self, rule: Rule) -> Rule:
        """The rule, applied to numbers of less than 8 bits in a dtype of 8 bits or more.

        XLA:CPU ends the whole process where it joins arrays of such numbers.
        """
        narrow = self.results

        def apply(e: Emitter, *operands: Any, **params: Any) -> Any:
            wide = [self.wide(v) if type(v) is Value else v for v in operands]
            e.results = tuple(a.update(dtype=wide_dtype(a)) for a in narrow)
            made = rule(e, *wide, **params)
            if type(made) is Value:
                return e.convert(made, narrow[0].dtype)
            return tuple(e.convert(v, a.dtype) for v, a in zip(made, narrow, strict=True))

        return apply

    def wide(self, x: Value) -> Value:
        """`x`, of 8 bits or more."""
        return self.convert(x, wide_dtype(x.aval))

    def in_order(self, results: tuple[Value, ...], ordered: bool) -> tuple[Value, ...]:
        """Results without the last, which the next effect takes, where there is that."""
        if not ordered:
            return results
        self.order = results[-1]
        return results[:-1]

    @contextmanager
    def region(self) -> Iterator[list[str]]:
        """Lines written inside the block go into the list, one level further in."""
        lines, indent = self.lines, self.indent
        self.lines, self.indent = [], indent + "  "
        self.scopes.append({})
        try:
            yield self.lines
        finally:
            self.lines, self.indent = lines, indent
            self.scopes.pop()

    # ------------------------------------------------------------- single operations

    def fresh(self, hint: str) -> str:
        """A name that this function has not used yet."""
        count = self.counts.get(hint, 0)
        self.counts[hint] = count + 1
        return f"%{hint}_{count}" if count else f"%{hint}"

    def add(self, hint: str, body: str, aval: Aval) -> Value:
        """An operation with one result: `body` is what stands behind the equals sign."""
        name = self.fresh(hint)
        self.lines.append(f"{self.indent}{name} = {body}{self.place}")
        return Value(name, aval)

    def add_several(self, hint: str, body: str, avals: Sequence[Aval]) -> tuple[Value, ...]:
        """An operation with any number of results."""
        results = [Value(self.fresh(hint), a) for a in avals]
        names = ", ".join(v.name for v in results)
        equals = " = " if results else ""
        self.lines.append(f"{self.indent}{names}{equals}{body}{self.place}")
        return tuple(results)

    def op(self, name: str, *operands: Value) -> Value:
        """An operation of StableHLO whose operands and result are of one type."""
        names = ", ".join([v.name for v in operands])
        aval = operands[0].aval
        return self.add(name, f"stablehlo.{name} {names} : {type_of(aval)}", aval)

    def chlo(self, name: str, *operands: Value) -> Value:
        """The same for an operation of CHLO."""
        names = ", ".join([v.name for v in operands])
        types = ", ".join([v.type for v in operands])
        aval = operands[0].aval
        return self.add(name, f"chlo.{name} {names} : {types} -> {type_of(aval)}", aval)

    def to(self, name: str, body: str, aval: Aval, *operands: Value) -> Value:
        """An operation with a function type: `body` has its operands and attributes."""
        types = ", ".join([v.type for v in operands])
        return self.add(name, f"stablehlo.{name} {body} : ({types}) -> {type_of(aval)}", aval)

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """Booleans: EQ, NE, LT, LE, GT or GE."""
        aval = Aval(x.shape, BOOL)
        return self.to("compare", f"{direction}, {x.name}, {y.name}", aval, x, y)

    def select(self, which: Value, x: Value, y: Value) -> Value:
        """`x` where `which`, else `y`."""
        body = f"stablehlo.select {which.name}, {x.name}, {y.name} : {which.type}, {x.type}"
        return self.add("select", body, x.aval)

    def convert(self, x: Value, dtype: Any) -> Value:
        """`x` in another dtype, itself if that is its own."""
        if x.dtype == dtype:
            return x
        return self.to("convert", x.name, Aval(x.shape, dtype), x)

    def reshape(self, x: Value, shape: tuple[int, ...]) -> Value:
        """The elements of `x` in another shape."""
        if x.shape == shape:
            return x
        return self.to("reshape", x.name, Aval(shape, x.dtype), x)

    def reduce(self, op: str, x: Value, unit: Any, axes: Sequence[int], aval: Aval) -> Value:
        """`x` combined over `axes` by an operation whose neutral element is the scalar `unit`."""
        if not axes:
            return x
        start = self.constant(unit, (), x.dtype)
        body = (
            f"stablehlo.reduce({x.name} init: {start.name}) applies stablehlo.{op} across "
            f"dimensions = {list(axes)} : ({x.type}, {start.type}) -> {type_of(aval)}"
        )
        return self.add("reduce", body, aval)

    # ------------------------------------------------------------- constants

    def constant(self, value: Any, shape: tuple[int, ...], dtype: Any) -> Value:
        """One scalar in every element."""
        aval = Aval(shape, dtype)
        return self.known(f"dense<{literal(value, dtype)}>", aval, value)

    def like(self, value: Any, x: Value) -> Value:
        """One scalar in the type of `x`."""
        return self.constant(value, x.shape, x.dtype)

    def empty(self, aval: Aval) -> Value:
        """An array without elements."""
        return self.known("dense<>", aval)

    def known(self, text: str, aval: Aval, value: Any = None) -> Value:
        """A constant, written once in each function."""
        body = f"stablehlo.constant {text} : {type_of(aval)}"
        for scope in reversed(self.scopes):
            found = scope.get(body)
            if found is not None:
                return found
        made = self.add("c", body, aval)
        made.literal = value
        self.scopes[-1][body] = made
        return made

    def array(self, aval: Aval, array: Any) -> Value:
        """An array that a graph holds: in the text if it is short, else an argument."""
        if aval.nbytes <= MOST_INLINE_BYTES:
            host = array.host() if isinstance(array, ConcreteArray) else np.asarray(array)
            return self.known(dense(host), aval)
        return self.argument(aval, array)

    def run(self) -> Value:
        """The number of the run."""
        return self.argument(ORDER, RUN)

    def argument(self, aval: Aval, array: Any) -> Value:
        """An array that comes as an argument of the whole program."""
        found = self.arrays.get(id(array))
        if found is None:
            found = self.arrays[id(array)] = Value(f"%held{len(self.arrays)}", aval), array
        return found[0]

    # ------------------------------------------------------------- functions

    def call(self, graph: Graph, name: str, operands: Sequence[Value]) -> tuple[Value, ...]:
        """The results of the private function that is written for a graph."""
        callee = self.module.function(graph, name)
        ordered = [self.order] if graph.effects and self.order is not None else []
        held = [self.argument(v.aval, x) for v, x in callee.arrays.values()]
        operands = [*operands, *ordered, *held]
        names = ", ".join(v.name for v in operands)
        given = ", ".join(v.type for v in operands)
        avals = (*graph.out_avals, *(v.aval for v in ordered))
        made = ", ".join(type_of(a) for a in avals)
        body = f"func.call @{callee.name}({names}) : ({given}) -> ({made})"
        return self.in_order(self.add_several("call", body, avals), bool(ordered))


def place_of(e: Equation) -> str:
    """The user's line as it stands behind an operation; empty where it is not known."""
    if not isinstance(e.source, Source):
        return ""
    return " " + location(e.source.file, e.source.line, name=e.primitive.name)
