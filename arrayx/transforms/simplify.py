"""Smaller graphs that compute the same, bit for bit.

One pass forwards finds equal equations, folds what is known, and leaves out what does
nothing; one pass backwards removes what nobody needs.  Each looks at an equation once, and at
the makers of its operands, so the time is linear.  A rewriting is allowed only if it is exact:
x·1 is x, but x + 0.0 is not, because it turns -0.0 into 0.0 (the sign and payload of nan are
not kept, nor is the sign of a zero that `absorb_mul` gives, which is defined to be 0 alone).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.aval import Aval
from arrayx.core.checking import checked
from arrayx.core.graph import Equation, Graph, Var, graphs_in, literal_key, param_key
from arrayx.core.primitive import NO_EFFECTS, Primitive
from arrayx.primitives.arithmetic import mul
from arrayx.primitives.axes import broadcast_in_dim
from arrayx.primitives.creation import full

# Stands on a graph that is its own simplification: a graph that held itself would not be
# freed before the next run of the cycle collector.
_ITSELF = object()


def simplify(graph: Graph) -> Graph:
    """The graph with equal equations merged, constants folded, dead equations removed.

    The result computes the same for every input, and keeps all effects in their order.
    It is remembered on the graph.
    """
    found = graph.memo.get("simplified")
    if found is None:
        found = checked(dead_code_removed(_rewritten(dead_code_removed(graph))))
        graph.memo["simplified"] = _ITSELF if found is graph else found
        found.memo["simplified"] = _ITSELF
    return graph if found is _ITSELF else found


def dead_code_removed(graph: Graph) -> Graph:
    """The graph without equations and constants that no output and no effect needs."""
    live = {*graph.outputs}
    kept: list[Equation] = []
    pruned = False
    for e in reversed(graph.equations):
        if e.effects or any(v in live for v in e.outputs):
            if e.primitive.prune is not None:
                smaller = e.primitive.prune(e, tuple(v in live for v in e.outputs))
                pruned = pruned or smaller is not e
                e = smaller
            kept.append(e)
            live.update(a for a in e.inputs if type(a) is Var)
    whole = len(kept) == len(graph.equations) and not pruned
    if whole and all(v in live for v in graph.constants):
        return graph
    constants = [
        (v, x) for v, x in zip(graph.constants, graph.constant_values, strict=True) if v in live
    ]
    return Graph(
        graph.inputs,
        reversed(kept),
        graph.outputs,
        (v for v, _ in constants),
        (x for _, x in constants),
    )


# ----------------------------------------------------------------- the forward pass


class Known(NamedTuple):
    """The answer of a rule: every element of the result is this scalar."""

    value: Any


class Instead(NamedTuple):
    """The answer of a rule: this application gives the same."""

    primitive: Primitive
    inputs: tuple[Any, ...]
    params: dict[str, Any]


# How many rules in a row may rewrite one equation.
_MOST_REWRITES = 4


def _rewritten(graph: Graph) -> Graph:
    state = _State()
    for equation in graph.equations:
        state.enter(equation)
    outputs = tuple(state.same.get(v, v) for v in graph.outputs)
    kept = state.equations
    if (
        outputs == graph.outputs
        and len(kept) == len(graph.equations)
        and all(a is b for a, b in zip(kept, graph.equations, strict=True))
    ):
        return graph
    return Graph(graph.inputs, kept, outputs, graph.constants, graph.constant_values)


class _State:
    """What the forward pass knows of the equations before the one it looks at."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        # Variables that stand for others now.
        self.same: dict[Var, Var] = {}
        self.makers: dict[Var, Equation] = {}
        # The one value of all elements, by variable.
        self.known: dict[Var, Any] = {}
        self.seen: dict[Any, tuple[Var, ...]] = {}

    def value(self, atom: Any) -> Any:
        """The scalar that all elements of an operand are, or None where that is not known."""
        return self.known.get(atom) if type(atom) is Var else atom

    def maker(self, atom: Any, primitive: Primitive) -> Equation | None:
        """The equation that made an operand, if it applies this primitive."""
        made = self.makers.get(atom) if type(atom) is Var else None
        return made if made is not None and made.primitive is primitive else None

    def enter(self, equation: Equation) -> None:
        """Adds an equation, in a simpler form or not at all."""
        equation = self.renamed(equation)
        if equation.effects or equation.primitive.callable_params:
            self.equations.append(equation)
            return
        if len(equation.outputs) == 1 and not equation.primitive.multiple:
            for _ in range(_MOST_REWRITES):
                answer = self.answer(equation)
                if isinstance(answer, Var):
                    self.same[equation.outputs[0]] = answer
                    return
                if answer is None:
                    break
                equation = answer
            equation = self.with_literals(equation)
            equation = sunk(self, equation)
        key = equation_key(equation)
        earlier = self.seen.get(key)
        if earlier is not None:
            self.same.update(zip(equation.outputs, earlier, strict=True))
            return
        self.seen[key] = equation.outputs
        self.add(equation)

    def add(self, equation: Equation) -> None:
        self.equations.append(equation)
        for var in equation.outputs:
            self.makers[var] = equation
        if equation.primitive is full:
            (var,) = equation.outputs
            value = rounded(equation.params["value"], var.aval.dtype)
            if value is not None:
                self.known[var] = value

    def renamed(self, equation: Equation) -> Equation:
        """The equation on the variables that remain, its sub-graphs simplified."""
        inputs = equation.inputs
        if not self.same.keys().isdisjoint(inputs):
            inputs = tuple(self.same.get(a, a) if type(a) is Var else a for a in inputs)
        params = equation.params
        if any(next(graphs_in(v), None) is not None for v in params.values()):
            simpler = {k: _simplified_inside(v) for k, v in params.items()}
            if any(simpler[k] is not v for k, v in params.items()):
                params = simpler
        if inputs is equation.inputs and params is equation.params:
            return equation
        return equation.replace(inputs=inputs, params=params)

    def answer(self, equation: Equation) -> Var | Equation | None:
        """What may stand for the equation, of the very same type; None for no better."""
        rule = RULES.get(equation.primitive.name)
        if rule is None:
            return None
        answer = rule(self, equation)
        (out,) = equation.outputs
        if answer is None:
            return None
        if isinstance(answer, Var):
            return answer if answer.aval is out.aval else None
        if isinstance(answer, Known):
            answer = _full_of(answer.value, out.aval)
        primitive, inputs, params = answer
        avals = tuple(a.aval if type(a) is Var else type(a) for a in inputs)
        if primitive.infer(avals, params) is not out.aval:
            return None
        return Equation(primitive, inputs, params, (out,), NO_EFFECTS, equation.source)

    def with_literals(self, equation: Equation) -> Equation:
        """Operands of elementwise primitives whose elements are all the same, as literals."""
        if not equation.primitive.elementwise or not self.known:
            return equation
        (out,) = equation.outputs
        inputs = list(equation.inputs)
        for i, atom in enumerate(equation.inputs):
            if type(atom) is not Var or atom not in self.known:
                continue
            inputs[i] = self.known[atom]
            avals = tuple(a.aval if type(a) is Var else type(a) for a in inputs)
            try:
                fits = any(type(a) is Var for a in inputs) and (
                    equation.primitive.infer(avals, equation.params) is out.aval
                )
            except errors.ArrayxError:  # an operand that has to be an array
                fits = False
            if not fits:
                inputs[i] = atom
        if inputs == list(equation.inputs):
            return equation
        return equation.replace(inputs=tuple(inputs))


def _simplified_inside(value: Any) -> Any:
    """A param with the graphs in it simplified; itself where that changes nothing."""
    if isinstance(value, Graph):
        return simplify(value)
    if type(value) is tuple:
        items = tuple(_simplified_inside(v) for v in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def equation_key(equation: Equation) -> Any:
    """Equal for equations that compute the same; tells 0.0 from -0.0, False and 0."""
    inputs = tuple([a if type(a) is Var else literal_key(a) for a in equation.inputs])
    if not equation.params:
        return equation.primitive, inputs
    params = tuple([(k, param_key(v)) for k, v in sorted(equation.params.items())])
    return equation.primitive, inputs, params


def sunk(state: _State, e: Equation) -> Equation:
    """An elementwise equation whose operands all repeat elements alike, moved before that.

    What it computes on the smaller arrays is entered, and the answer repeats its result: the
    same operation on fewer equal elements.  Equations are looked at once, and the smaller one
    is entered like any other, so the time stays linear.
    """
    if not e.primitive.elementwise or e.primitive.multiple:
        return e
    small: list[Any] = []
    first: Equation | None = None
    for a in e.inputs:
        if type(a) is not Var:
            small.append(a)
            continue
        made = state.maker(a, broadcast_in_dim)
        if made is None or type(made.inputs[0]) is not Var:
            return e
        if first is None:
            first = made
        elif made.params != first.params or made.inputs[0].aval.shape != first.inputs[0].aval.shape:
            return e
        small.append(made.inputs[0])
    (out,) = e.outputs
    if first is None or first.inputs[0].aval.size >= out.aval.size:
        return e
    aval = e.primitive.infer(tuple(a.aval if type(a) is Var else type(a) for a in small), e.params)
    if broadcast_in_dim.infer((aval,), first.params) is not out.aval:
        return e
    result = Var(aval)
    state.enter(e.replace(inputs=tuple(small), outputs=(result,)))
    result = state.same.get(result, result)
    return Equation(broadcast_in_dim, (result,), first.params, (out,), NO_EFFECTS, e.source)


def _full_of(value: Any, aval: Aval) -> Instead:
    params = {
        "shape": aval.shape,
        "dtype": aval.dtype,
        "value": value,
        "weak_type": aval.weak_type,
    }
    return Instead(full, (), params)


# ----------------------------------------------------------------- scalars of a dtype

_FOLDED = frozenset({*dtypes.BOOLS, *dtypes.INTS, *dtypes.UINTS, *dtypes.FLOATS})
_PYTHON: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "uint": int, "float": float}


def rounded(value: Any, dtype: Any) -> Any:
    """A scalar as the Python number that an element of `dtype` is, None where there is none."""
    kind = dtypes.kind(dtype)
    if kind == "complex":
        return complex(dtype.type(value))
    if dtype not in _FOLDED or not dtypes.scalar_fits(value, dtype):
        return None
    with np.errstate(all="ignore"):
        return _PYTHON[kind](dtype.type(value))


# Only what IEEE 754 or two's complement defines to the last bit: the same on every backend.
_SCALAR_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.invert,
}


def _folded(state: _State, e: Equation) -> Known | None:
    """The value of an application to operands that are all known."""
    dtype = next(a.aval.dtype for a in e.inputs if type(a) is Var)
    if dtype not in _FOLDED:
        return None
    values = [state.value(a) for a in e.inputs]
    if any(v is None for v in values):
        return None
    with np.errstate(all="ignore"):
        result = _SCALAR_FUNCTIONS[e.primitive.name](*(dtype.type(v) for v in values))
    value = rounded(result, e.outputs[0].aval.dtype)
    return None if value is None else Known(value)


# ----------------------------------------------------------------- rules

Answer = Var | Known | Instead | None


def _kind(e: Equation) -> str:
    return dtypes.kind(e.outputs[0].aval.dtype)


def _is_zero(value: Any, negative: bool) -> bool:
    """True for the float zero of this sign."""
    return type(value) is float and value == 0 and (math.copysign(1, value) < 0) == negative


def _both_ways(e: Equation) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    x, y = e.inputs
    return (x, y), (y, x)


def _add(state: _State, e: Equation) -> Answer:
    integer = _kind(e) in ("int", "uint")
    for x, y in _both_ways(e):
        value = state.value(y)
        if value is None or type(x) is not Var:
            continue
        if (integer and value == 0) or _is_zero(value, negative=True):
            return x
    return _folded(state, e)


def _sub(state: _State, e: Equation) -> Answer:
    x, y = e.inputs
    integer = _kind(e) in ("int", "uint")
    value = state.value(y)
    if value is not None and type(x) is Var:
        if (integer and value == 0) or _is_zero(value, negative=False):
            return x
    elif integer and x is y:
        return Known(0)
    return _folded(state, e)


def _mul(state: _State, e: Equation) -> Answer:
    kind = _kind(e)
    for x, y in _both_ways(e):
        value = state.value(y)
        if value is None or kind == "complex":
            continue
        if value == 1 and type(x) is Var:
            return x
        if value == 0 and kind != "float":
            return Known(0)
    return _folded(state, e)


def _absorb_mul(state: _State, e: Equation) -> Answer:
    for _, y in _both_ways(e):
        value = state.value(y)
        if value is None:
            continue
        if value == 0:
            return Known(0j if _kind(e) == "complex" else 0.0)
        if cmath.isfinite(value):
            # Zero times what is finite is zero: nothing is left to absorb.
            return Instead(mul, e.inputs, {})
    return None


def _div(state: _State, e: Equation) -> Answer:
    x, y = e.inputs
    one = state.value(y) == 1 and _kind(e) != "complex"
    return x if one and type(x) is Var else None


def _involution(state: _State, e: Equation) -> Answer:
    """Twice the same with the same params is nothing: neg, bitwise_not, rev, conj."""
    made = state.maker(e.inputs[0], e.primitive)
    if made is not None and made.params == e.params:
        return made.inputs[0]  # type: ignore[no-any-return]
    if e.primitive.name == "rev":
        return _same_elements(state, e)
    return _folded(state, e) if e.primitive.name in _SCALAR_FUNCTIONS else None


def _compare(state: _State, e: Equation) -> Answer:
    x, y = e.inputs
    if x is y and type(x) is Var and dtypes.kind(x.aval.dtype) in ("bool", "int", "uint"):
        return Known(e.primitive.name in ("eq", "le", "ge"))
    return _folded(state, e)


def _idempotent(state: _State, e: Equation) -> Answer:
    """max, min, and, or of a value with itself."""
    x, y = e.inputs
    if x is y:
        return x  # type: ignore[no-any-return]
    if e.primitive.name not in _SCALAR_FUNCTIONS:
        return None
    if _kind(e) == "bool":
        for a, b in _both_ways(e):
            value = state.value(b)
            if value is None:
                continue
            if value == (e.primitive.name == "bitwise_or"):
                return Known(value)
            if type(a) is Var:
                return a
    return _folded(state, e)


def _select(state: _State, e: Equation) -> Answer:
    which, x, y = e.inputs
    value = state.value(which)
    if value is not None:
        chosen = x if value else y
        return chosen if type(chosen) is Var else Known(chosen)
    if x is y and type(x) is Var:
        return x
    value_x, value_y = state.value(x), state.value(y)
    if value_x is not None and value_y is not None:
        # Two literals of one dtype: compared after rounding to it.
        dtype = e.outputs[0].aval.dtype
        a, b = rounded(value_x, dtype), rounded(value_y, dtype)
        if a is not None and literal_key(a) == literal_key(b):
            return Known(a)
    return None


def _same_elements(state: _State, e: Equation) -> Answer:
    """Moving, repeating or dropping elements that are all equal changes none of them."""
    (x,) = e.inputs
    value = state.value(x)
    return None if value is None else Known(value)


def _convert(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    (out,) = e.outputs
    if type(x) is not Var:
        return None
    if x.aval is out.aval:
        return x
    value = state.value(x)
    if value is None:
        return None
    source, target = x.aval.dtype, out.aval.dtype
    if target not in _FOLDED or source not in _FOLDED:
        return None
    if _kind(e) == "float":
        result = rounded(value, target)
        # A narrowing is rounded once from float32 or into it; in other pairs some libraries
        # round twice.
        once = dtypes.FLOATS[2] in (source, target) and dtypes.kind(source) == "float"
        exact = result == value or math.isnan(value)
        return Known(result) if result is not None and (once or exact) else None
    if _kind(e) == "bool":
        return Known(value != 0)
    if math.isfinite(value) and value == int(value) and dtypes.scalar_fits(int(value), target):
        return Known(int(value))
    return None


def _transpose(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    perm = e.params["perm"]
    if perm == tuple(range(len(perm))):
        return x  # type: ignore[no-any-return]
    made = state.maker(x, e.primitive)
    if made is not None:
        inner = made.params["perm"]
        return Instead(e.primitive, made.inputs, {"perm": tuple(inner[p] for p in perm)})
    return _same_elements(state, e)


def _reshape(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    if x.aval.shape == e.params["shape"]:
        return x  # type: ignore[no-any-return]
    made = state.maker(x, e.primitive)
    if made is not None:
        return Instead(e.primitive, made.inputs, e.params)
    return _same_elements(state, e)


def _broadcast(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    if type(x) is not Var:
        return None
    if x.aval.shape == e.params["shape"]:
        return x
    made = state.maker(x, e.primitive)
    if made is not None and type(made.inputs[0]) is Var:
        outer = e.params["dims"]
        dims = tuple(outer[d] for d in made.params["dims"])
        return Instead(e.primitive, made.inputs, {"shape": e.params["shape"], "dims": dims})
    return _same_elements(state, e)


def _slice(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    # Of the same shape, with positive strides, it has all elements in their order.
    return x if x.aval.shape == e.outputs[0].aval.shape else _same_elements(state, e)


def _reduction(state: _State, e: Equation) -> Answer:
    (x,) = e.inputs
    if not e.params["axes"]:
        # A sum starts from 0.0, which makes 0.0 of -0.0; complex products mix the parts.
        kept = {"reduce_sum": ("int", "uint"), "reduce_prod": ("int", "uint", "float")}
        kinds = kept.get(e.primitive.name)
        return x if kinds is None or _kind(e) in kinds else None
    if e.primitive.name == "reduce_sum":
        value = state.value(x)
        zero = (type(value) is int and value == 0) or _is_zero(value, negative=False)
        return Known(value) if zero else None
    if e.primitive.name == "reduce_prod" or x.aval.size == 0:
        return None
    return _same_elements(state, e)


# By name, so that no module of primitives has to be loaded that the program does not use.
RULES: dict[str, Callable[[_State, Equation], Answer]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "absorb_mul": _absorb_mul,
    "div": _div,
    **dict.fromkeys(("neg", "bitwise_not", "rev", "conj"), _involution),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _compare),
    **dict.fromkeys(("max", "min", "bitwise_and", "bitwise_or"), _idempotent),
    "bitwise_xor": _folded,
    "select": _select,
    "convert": _convert,
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"),
        _reduction,
    ),
}
