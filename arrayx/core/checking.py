"""What makes a graph well-formed, as a check that runs after every transform in tests.

It is apart from `graph.py`, which must stay cheap to import and make: a check asks every
primitive again for the types of its results.
"""

from __future__ import annotations

from typing import Any

from arrayx import errors
from arrayx.config import config
from arrayx.core.array import SCALARS, typeof
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var, check_param, subgraphs
from arrayx.core.primitive import NO_EFFECTS
from arrayx.core.printing import Absent, format_equation, names_of

_SCALARS = frozenset(SCALARS)


def checked(graph: Graph) -> Graph:
    """The same graph, checked where `config.check_graphs` is on: for what transforms return."""
    if config.check_graphs:
        check_graph(graph)
    return graph


def check_graph(graph: Graph) -> None:
    """Raises `GraphError` unless the graph is closed, assigned once, and typed by its rules.

    Each operand is an input, a constant, or the output of an earlier equation, or a Python
    scalar; each variable is made once; each output has the type that the primitive's
    `type_rule` answers; params are of the closed set, with functions only where the
    primitive has `callable_params`; effects are those the primitive states; and so for
    every sub-graph.  A graph that passed is not looked at again.
    """
    if "checked" in graph.memo:
        return
    defined: set[Var] = set()
    for kind, variables in (("input", graph.inputs), ("constant", graph.constants)):
        for var in variables:
            if type(var) is not Var:
                raise errors.GraphError(f"{var!r} stands as {kind}, where a variable should")
            if var in defined:
                raise errors.GraphError(f"{kind} {names_of(graph)[var]} is named twice")
            defined.add(var)
    _check_constants(graph)
    effects = NO_EFFECTS
    for equation in graph.equations:
        problem = _problem(equation, defined)
        if problem:
            names = names_of(graph)
            where = f"\n  made at {equation.source}" if equation.source is not None else ""
            text = format_equation(equation, names)
            raise errors.GraphError(f"{problem}\n  in: {text}{where}")
        defined.update(equation.outputs)
        effects |= equation.effects
    for i, var in enumerate(graph.outputs):
        if type(var) is not Var or var not in defined:
            raise errors.GraphError(f"output {i} of the graph, {var!r}, is not defined in it")
    if effects != graph.effects:
        raise errors.GraphError(
            f"the graph says it has the effects {sorted(graph.effects)}, its equations have "
            f"{sorted(effects)}"
        )
    graph.memo["checked"] = True


def _check_constants(graph: Graph) -> None:
    if len(graph.constants) != len(graph.constant_values):
        raise errors.GraphError(
            f"the graph has {len(graph.constants)} constants and "
            f"{len(graph.constant_values)} values for them"
        )
    for var, value in zip(graph.constants, graph.constant_values, strict=True):
        aval = value.aval if type(value) is Absent else typeof(value)
        # A value may be of strong type where the graph says weak: that is not in its elements.
        if (aval.shape, aval.dtype) != (var.aval.shape, var.aval.dtype):
            raise errors.GraphError(
                f"constant {names_of(graph)[var]} of type {var.aval} has a value of type {aval}"
            )


def _problem(equation: Equation, defined: set[Var]) -> str | None:
    """What is wrong with one equation, given what was defined before it."""
    primitive = equation.primitive
    avals: list[Any] = []
    for i, atom in enumerate(equation.inputs):
        if type(atom) is Var:
            if atom not in defined:
                return f"operand {i} of type {atom.aval} is not defined before its use"
            avals.append(atom.aval)
        elif type(atom) in _SCALARS:
            avals.append(type(atom))
        else:
            return f"operand {i} is {atom!r}, which is neither a variable nor a Python scalar"
    for j, var in enumerate(equation.outputs):
        if type(var) is not Var:
            return f"output {j} is {var!r}, which is not a variable"
        if var in defined or var in equation.outputs[:j]:
            return f"output {j} of type {var.aval} is assigned a second time"
    try:
        for name, value in equation.params.items():
            check_param(name, value, primitive.callable_params)
        for sub in subgraphs(equation):
            check_graph(sub)
    except errors.GraphError as error:
        return str(error)
    try:
        answer = primitive.infer(tuple(avals), equation.params)
        effects = primitive.effects(**equation.params)
    except Exception as error:  # a rule may raise anything on operands it does not expect
        return f"its type rule refuses it: {type(error).__name__}: {error}"
    types: tuple[Aval, ...] = answer if primitive.multiple else (answer,)
    made = tuple(v.aval for v in equation.outputs)
    if made != types:
        return f"the outputs have the types {_list(made)}, the type rule gives {_list(types)}"
    if equation.effects != effects:
        return f"it has the effects {sorted(equation.effects)}, its primitive {sorted(effects)}"
    return None


def _list(avals: tuple[Aval, ...]) -> str:
    return ", ".join(map(repr, avals)) or "none"
