"""A program as data: variables, equations, and the closed, typed graph they form."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

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
    """

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
        return bool(self.key()[1:] == other.key()[1:])


def literal_key(value: Any) -> Any:
    """A key that tells 0.0 from -0.0, False and 0, and finds nan equal to itself."""
    return type(value), repr(value)


def param_key(value: Any) -> Any:
    """A hashable key for a param, by type and value: 1, 1.0 and True differ."""
    if type(value) is tuple:
        return tuple(param_key(v) for v in value)
    if isinstance(value, bool | int | float | complex):
        return literal_key(value)
    return value


def _structure(graph: Graph) -> Any:
    numbers: dict[Var, int] = {}
    for var in (*graph.constants, *graph.inputs):
        numbers[var] = len(numbers)
    equations = []
    for equation in graph.equations:
        inputs = tuple(
            numbers[a] if type(a) is Var else literal_key(a) for a in equation.inputs
        )
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


def check_param(name: str, value: Any) -> None:
    """Refuses a param that is not of the closed set that makes graphs data."""
    if value is None or isinstance(
        value, bool | int | float | complex | str | np.dtype | dtypes.KeyDtype | Graph | Aval
    ):
        return
    if type(value) is tuple:
        for item in value:
            check_param(name, item)
        return
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        for field in dataclasses.fields(value):
            check_param(name, getattr(value, field.name))
        return
    raise errors.GraphError(
        f"param {name}={value!r} of type {type(value).__name__} is not one of: bool, int, "
        "float, complex, str, dtype, tuple, None, aval, frozen dataclass, graph"
    )


def subgraphs(equation: Equation) -> tuple[Graph, ...]:
    """The graphs among an equation's params, in order."""
    found: list[Graph] = []
    for value in equation.params.values():
        if isinstance(value, Graph):
            found.append(value)
        elif type(value) is tuple:
            found.extend(v for v in value if isinstance(v, Graph))
    return tuple(found)
