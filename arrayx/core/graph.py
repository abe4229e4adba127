"""A program as data: variables, equations, and the closed, typed graph they form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TypeVar

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.primitive import NO_EFFECTS, Primitive


class Var:
    """A name in a graph.  Two variables are the same only if they are one object."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({self.aval})"


# An operand is a variable or a literal: a bool, int, float or complex.
Atom = Any


class Equation:
    """One application: `outputs = primitive[params](*inputs)`."""

    __slots__ = ("effects", "inputs", "outputs", "params", "primitive", "source")

    def __init__(
        self,
        primitive: Primitive,
        inputs: tuple[Atom, ...],
        params: dict[str, Any],
        outputs: tuple[Var, ...],
        effects: frozenset[str] = NO_EFFECTS,
        source: Any = None,
    ) -> None:
        self.primitive = primitive
        self.inputs = inputs
        self.params = params
        self.outputs = outputs
        self.effects = effects
        self.source = source

    def replace(self, **changes: Any) -> Equation:
        """The same equation with some of its parts changed."""
        parts = {name: changes.get(name, getattr(self, name)) for name in self.__slots__}
        return Equation(**parts)

    def __repr__(self) -> str:
        outs = ", ".join(repr(v) for v in self.outputs)
        return f"{outs} = {self.primitive.name}{list(self.inputs)}"


class Graph:
    """A closed program in single-assignment form.

    `constants` are variables bound to `constant_values` (arrays); every other variable is
    an input or the output of an earlier equation.  Graphs are immutable, hashable by
    structure (constants by identity), and carry in `memo` what was derived from them:
    their transforms and executables, which die with them.

    `str(graph)` is text that reads well and that `parse_graph` reads back.
    """

    # The form of the text is the matter of `printing.py`, which hands it in.
    text: ClassVar[Callable[[Graph], str]]
    # The picture as text, in a form: "svg", "html" or "dot"; handed in from above.
    draw: ClassVar[Callable[..., str]]

    __slots__ = (
        "__weakref__",
        "_hash",
        "_key",
        "constant_values",
        "constants",
        "effects",
        "equations",
        "inputs",
        "memo",
        "outputs",
    )

    def __init__(
        self,
        inputs: Iterable[Var],
        equations: Iterable[Equation],
        outputs: Iterable[Var],
        constants: Iterable[Var] = (),
        constant_values: Iterable[Any] = (),
    ) -> None:
        self.inputs = tuple(inputs)
        self.equations = tuple(equations)
        self.outputs = tuple(outputs)
        self.constants = tuple(constants)
        self.constant_values = tuple(constant_values)
        effects = [e.effects for e in self.equations if e.effects]
        self.effects: frozenset[str] = NO_EFFECTS.union(*effects) if effects else NO_EFFECTS
        self.memo: dict[Any, Any] = {}
        self._key: Any = None
        self._hash: int | None = None

    @property
    def in_avals(self) -> tuple[Aval, ...]:
        """The types of the inputs."""
        return tuple(v.aval for v in self.inputs)

    @property
    def out_avals(self) -> tuple[Aval, ...]:
        """The types of the outputs."""
        return tuple(v.aval for v in self.outputs)

    def key(self) -> Any:
        """A hashable description of the structure: equal for equal graphs."""
        if self._key is None:
            self._key = _structure(self)
        return self._key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.key())
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Graph) and hash(self) == hash(other) and self.key() == other.key()

    def same_structure(self, other: Graph) -> bool:
        """Equality apart from the values of the constants, as for a parsed graph."""
        return bool(shape_key(self) == shape_key(other))

    def __str__(self) -> str:
        return Graph.text(self)

    def __repr__(self) -> str:
        inputs = ", ".join(map(repr, self.in_avals))
        outputs = ", ".join(map(repr, self.out_avals))
        return f"<Graph ({inputs}) -> ({outputs}), {len(self.equations)} equations>"


def literal_key(value: Any) -> Any:
    """A key that tells 0.0 from -0.0, False and 0, and finds nan equal to itself."""
    return type(value), repr(value)


def param_key(value: Any) -> Any:
    """A hashable key for a param, by type and value: 1, 1.0 and True differ."""
    if type(value) is tuple:
        return tuple(param_key(v) for v in value)
    if isinstance(value, bool | int | float | complex):
        return literal_key(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), *(param_key(v) for _, v in fields_of(value))
    return value


def fields_of(value: Any) -> list[tuple[str, Any]]:
    """The names and values of a dataclass object's fields."""
    return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]


_Class = TypeVar("_Class", bound=type)
param_classes: dict[str, type] = {}


def param_class(cls: _Class) -> _Class:
    """Decorates a frozen dataclass that occurs among params: text can name it from then on."""
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise errors.GraphError(f"{cls.__name__} is not a frozen dataclass, as params must be")
    if param_classes.setdefault(cls.__name__, cls) is not cls:
        raise errors.GraphError(f"another class of params is called {cls.__name__} already")
    return cls


def _structure(graph: Graph) -> Any:
    numbers: dict[Var, int] = {}
    for var in (*graph.constants, *graph.inputs):
        numbers[var] = len(numbers)
    equations = []
    for equation in graph.equations:
        inputs = tuple(numbers[a] if type(a) is Var else literal_key(a) for a in equation.inputs)
        params = tuple((k, param_key(v)) for k, v in sorted(equation.params.items()))
        for var in equation.outputs:
            numbers[var] = len(numbers)
        avals = tuple(v.aval for v in equation.outputs)
        equations.append((equation.primitive.name, inputs, params, avals))
    return (
        tuple(id(value) for value in graph.constant_values),
        tuple(v.aval for v in graph.constants),
        graph.in_avals,
        tuple(equations),
        tuple(numbers[v] for v in graph.outputs),
    )


def shape_key(key: Any) -> Any:
    """A graph's key without the identities of constants, its own and those of sub-graphs."""
    if isinstance(key, Graph):
        if "shape" not in key.memo:
            key.memo["shape"] = shape_key(key.key()[1:])
        return key.memo["shape"]
    return tuple(map(shape_key, key)) if type(key) is tuple else key


_PLAIN = frozenset({type(None), bool, int, float, complex, str, dtypes.KeyDtype, Graph, Aval})


def check_param(name: str, value: Any, callables: bool = False) -> None:
    """Refuses a param that is not of the closed set that makes graphs data.

    Functions are let through where `callables` says that the primitive takes them.
    """
    if type(value) in _PLAIN or isinstance(value, np.dtype) or (callables and callable(value)):
        return
    if type(value) is tuple:
        for item in value:
            check_param(name, item, callables)
        return
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        for _, item in fields_of(value):
            check_param(name, item, callables)
        return
    raise errors.GraphError(
        f"param {name}={value!r} of type {type(value).__name__} is not one of: bool, int, "
        "float, complex, str, dtype, tuple, None, aval, frozen dataclass, graph"
    )


def graphs_in(value: Any) -> Iterator[Graph]:
    """The graphs in a param, also those inside tuples and dataclasses, in order."""
    if isinstance(value, Graph):
        yield value
    elif type(value) is tuple:
        for item in value:
            yield from graphs_in(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for _, item in fields_of(value):
            yield from graphs_in(item)


def map_graphs(value: Any, function: Callable[[Graph], Graph]) -> Any:
    """A param with every graph in it, also those inside tuples, replaced by a function of it."""
    if isinstance(value, Graph):
        return function(value)
    if type(value) is tuple:
        return tuple([map_graphs(item, function) for item in value])
    return value


def subgraphs(equation: Equation) -> tuple[Graph, ...]:
    """The graphs among an equation's params, in order."""
    return tuple(graph for value in equation.params.values() for graph in graphs_in(value))
