"""Choices that depend on traced values: `cond`, `switch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, flatten_result, name_of
from arrayx.api.operands import arrays_of, as_array, described, home_of, working_at
from arrayx.control.cond import cond as cond_primitive
from arrayx.control.cond import with_inputs, with_outputs
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.interpreter import Tracer
from arrayx.lax.python_control import as_arrays, runs_python
from arrayx.primitives.arithmetic import ne
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import zero_literal
from arrayx.primitives.numeric import clamp
from arrayx.promotion import promote_pair
from arrayx.transforms.stage import stage
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten, flatten_up_to, flatten_with_path, unflatten

__all__ = ["cond", "switch"]

INDEX = np.dtype(np.int32)
_MISSING: Any = object()


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """`true_fun(*operands)` if `pred` is true, else `false_fun(*operands)`.

    Both functions are staged, and one of them runs.  Under `vmap` with a `pred` that differs
    between the calls both run and the results are selected.

    Args:
        pred: a boolean scalar; a number stands for "it is not 0".
        true_fun, false_fun: functions of the operands, which may also use arrays from around
            them; their results have the same structure, shapes and dtypes.
        operands: trees of arrays.
        operand: the same as one operand, unless it is None.

    Raises:
        ArgumentError: `pred` is no scalar, or the results of the functions differ in type.

    >>> import arrayx as ax
    >>> ax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    if operand is not _MISSING:
        if operands:
            raise errors.ArgumentError("ax.lax.cond takes operands, or operand=, not both")
        operands = () if operand is None else (operand,)
    transform = "ax.lax.cond"
    for fun in (true_fun, false_fun):
        check_callable(fun, transform)
    chosen = as_array(pred)
    if chosen is None or chosen.aval.shape != () or dtypes.kind(chosen.aval.dtype) == "key":
        given = "a function" if callable(pred) else described(pred)
        raise errors.ArgumentError(
            f"{transform}: pred has to be a boolean scalar, got {given}. Use anp.all or anp.any "
            "to reduce an array, anp.where to choose for each element, or ax.vmap."
        )
    dtype = chosen.aval.dtype
    if dtypes.kind(dtype) != "bool":
        chosen = ne(chosen, zero_literal(dtype))
    index = convert(chosen, dtype=INDEX, weak_type=False)
    names = ("false_fun", "true_fun")
    return choose(transform, index, names, (false_fun, true_fun), operands)


def switch(
    index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _MISSING
) -> Any:
    """`branches[index](*operands)`, with an index beyond the ends clamped to them.

    Args:
        index: an integer scalar.
        branches: functions of the operands, whose results have the same structure, shapes
            and dtypes.
        operands: trees of arrays.

    Raises:
        ArgumentError: `index` is no integer scalar, there are no branches, or their results
            differ in type.

    >>> import arrayx as ax
    >>> ax.lax.switch(1, [lambda x: x, lambda x: -x], 2.0)
    Array(-2., dtype=float32, weak_type=True)
    """
    transform = "ax.lax.switch"
    if operand is not _MISSING:
        operands = (operand,)
    branches = tuple(branches)
    if not branches:
        raise errors.ArgumentError(f"{transform} needs at least one branch, got none")
    for fun in branches:
        check_callable(fun, transform)
    chosen = as_array(index)
    kind = "" if chosen is None else dtypes.kind(chosen.aval.dtype)
    if chosen is None or chosen.aval.shape != () or kind not in ("int", "uint"):
        raise errors.ArgumentError(
            f"{transform}: index has to be an integer scalar, got {described(index)}"
        )
    if len(branches) == 1:
        return branches[0](*operands)
    # Clamped first: a wide index must not wrap around in 32 bits.
    chosen = convert(clamp(0, chosen, len(branches) - 1), dtype=INDEX, weak_type=False)
    names = tuple(f"branches[{i}]" for i in range(len(branches)))
    return choose(transform, chosen, names, branches, operands)


def choose(
    transform: str,
    index: Any,
    names: Sequence[str],
    branches: Sequence[Callable[..., Any]],
    operands: tuple[Any, ...],
) -> Any:
    """Stages the branches on the operands and applies the primitive."""
    if runs_python(index):
        return as_arrays(branches[int(index)](*operands))
    leaves, in_tree = flatten(operands)
    device = home_of((*leaves, index))

    def paths() -> list[str]:
        return ["operands" + keystr(path) for path, _ in flatten_with_path(operands)[0]]

    with working_at(device):
        arrays = arrays_of(leaves, device, transform, paths)
        avals = [a.aval for a in arrays]
        shown = paths()
        staged = [staged_branch(transform, fun, in_tree, avals, shown) for fun in branches]
        captured: dict[int, Tracer] = {}
        for _, tracers, _ in staged:
            captured.update((id(t), t) for t in tracers)
        graphs = [with_inputs(g, own, [*captured.values()]) for g, own, _ in staged]
        out_tree = staged[0][2]
        graphs = agreeing(transform, names, branches, graphs, [tree for *_, tree in staged])
        results = cond_primitive(index, *captured.values(), *arrays, branches=tuple(graphs))
    return unflatten(out_tree, list(results))


def staged_branch(
    transform: str, fun: Any, in_tree: TreeDef, avals: Sequence[Aval], paths: Sequence[str]
) -> tuple[Graph, tuple[Tracer, ...], TreeDef]:
    """The graph of a branch, the tracers from around it that it uses, its result's structure."""
    out_tree: Any = None

    def flat(*given: Any) -> list[Any]:
        nonlocal out_tree
        outs, out_tree = flatten_result(fun(*unflatten(in_tree, list(given))), name_of(fun))
        return outs

    graph, captured = stage(flat, avals, word=f"{transform} of {name_of(fun)}", paths=paths)
    return graph, captured, out_tree


def agreeing(
    transform: str,
    names: Sequence[str],
    branches: Sequence[Any],
    graphs: Sequence[Graph],
    trees: Sequence[TreeDef],
) -> list[Graph]:
    """The branches with results of the same types: weak results give way to strong ones."""
    marks = unflatten(trees[0], list(range(trees[0].num_leaves)))
    shown = [f"{name} ({name_of(fun)})" for name, fun in zip(names, branches, strict=True)]
    for i, tree in enumerate(trees[1:], 1):
        if tree == trees[0]:
            continue
        try:
            flatten_up_to(tree, marks)
            reason = ""
        except errors.TreeError as error:
            reason = f": {error}"
        raise errors.ArgumentError(
            f"{transform}: the branches have to return the same structure, but {shown[0]} returns "
            f"{trees[0]} and {shown[i]} returns {tree}{reason}"
        )
    wanted: list[Aval] = []
    for k, types in enumerate(zip(*(g.out_avals for g in graphs), strict=True)):
        common = common_type(types)
        if common is None:
            path = keystr(flatten_with_path(marks)[0][k][0])
            i = next(j for j, t in enumerate(types) if common_type((types[0], t)) is None)
            raise errors.ArgumentError(
                f"{transform}: the branches have to return the same types, but the result{path} is "
                f"{types[0].strong()} in {shown[0]} and {types[i].strong()} in {shown[i]}. "
                "Convert one of them (x.astype), or give it the same shape (anp.broadcast_to)."
            )
        wanted.append(common)
    return [converted(g, wanted) for g in graphs]


def common_type(types: Sequence[Aval]) -> Aval | None:
    """The type that results of these types can all have without loss, or None."""
    first = types[0]
    if any(t.shape != first.shape for t in types):
        return None
    strong = {t.dtype for t in types if not t.weak_type}
    if len(strong) > 1:
        return None
    dtype, weak = first.dtype, first.weak_type
    for t in types[1:]:
        if t.dtype != dtype or t.weak_type != weak:
            dtype, weak = promote_pair(dtype, weak, t.dtype, t.weak_type)
    if strong and dtype not in strong:
        return None
    return first.update(dtype=dtype, weak_type=weak)


def converted(graph: Graph, wanted: Sequence[Aval]) -> Graph:
    """The graph with its outputs converted to these types."""
    outputs: list[Var] = []
    equations = []
    for var, aval in zip(graph.outputs, wanted, strict=True):
        if (var.aval.dtype, var.aval.weak_type) != (aval.dtype, aval.weak_type):
            params = {"dtype": aval.dtype, "weak_type": aval.weak_type}
            made = Var(var.aval.update(dtype=aval.dtype, weak_type=aval.weak_type))
            equations.append(Equation(convert, (var,), params, (made,)))
            var = made
        outputs.append(var)
    return with_outputs(graph, equations, outputs) if equations else graph
