"""What loops are made of: staged steps whose carried values keep their types, checked arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import flatten_result, name_of
from arrayx.api.operands import as_array, described
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.aval import Aval
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Tracer
from arrayx.lax.control_flow import common_type, converted
from arrayx.primitives.arithmetic import ne
from arrayx.primitives.conversion import convert
from arrayx.primitives.creation import zero_literal
from arrayx.transforms.stage import stage
from arrayx.tree_nodes import keystr
from arrayx.treedef import TreeDef, flatten_up_to, flatten_with_path, unflatten


def most_steps(transform: str, max_steps: Any) -> int:
    """`max_steps` as an int; raises for what is none."""
    if not isinstance(max_steps, int | np.integer) or not 0 <= max_steps < 2**31:
        raise errors.ArgumentError(
            f"{transform}: max_steps is an int that is not negative, got {max_steps!r}"
        )
    return int(max_steps)


def staged_test(
    transform: str,
    fun: Any,
    test: Callable[[Any], Any],
    tree: TreeDef,
    avals: Sequence[Aval],
    paths: Sequence[str],
    device: Any,
) -> tuple[Graph, list[Any]]:
    """The graph of a condition, and the values that it closes over."""

    def flat(*given: Any) -> list[Any]:
        result = test(unflatten(tree, list(given)))
        chosen = as_array(result)
        if chosen is None or chosen.aval.shape != () or dtypes.kind(chosen.aval.dtype) == "key":
            raise errors.ArgumentError(
                f"{transform}: cond_fun ({name_of(fun)}) has to return a boolean scalar, got "
                f"{described(result)}. Use anp.all or anp.any to reduce an array."
            )
        dtype = chosen.aval.dtype
        return [chosen if dtypes.kind(dtype) == "bool" else ne(chosen, zero_literal(dtype))]

    return closed(stage(flat, avals, word=f"{transform} of {name_of(fun)}", paths=paths), device)


def closed(staged: Any, device: Any) -> tuple[Graph, list[Any]]:
    """A staged function whose first inputs are all that it closes over, and those values.

    Constants too become operands: equal bodies then are equal graphs, compiled once.
    """
    graph, captured = staged
    if not graph.constants:
        return graph, list(captured)
    held = [as_array(x, device) for x in graph.constant_values]
    whole = Graph((*graph.constants, *graph.inputs), graph.equations, graph.outputs)
    return whole, [*held, *captured]


class Body(NamedTuple):
    """A staged step: its graph, what it closes over, the carry it settled on, its outputs."""

    graph: Graph
    constants: list[Any]
    carry: list[Any]
    out_tree: TreeDef


def settled_body(
    transform: str,
    fun: Any,
    role: str,
    step: Callable[..., Any],
    tree: TreeDef,
    carry: list[Any],
    others: Sequence[Aval],
    paths: Sequence[str],
    device: Any,
    other_paths: Sequence[str] = (),
) -> Body:
    """Stages a step until the types of the carried values do not change any more.

    `step` takes the carried values and `others`, flat, and gives the next carried value, of
    the structure `tree`, and the rest.  A carried value that came from a Python scalar takes the
    type that the loop gives it.
    """
    name = name_of(fun)
    out_tree: Any = None
    makers: list[Any] = []

    def flat(*given: Any) -> list[Any]:
        nonlocal out_tree, makers
        following, rest = step(*given)
        next_leaves, next_tree = flatten_result(following, name)
        if next_tree != tree:
            refuse_structure(transform, f"{role} ({name})", tree, next_tree, following)
        makers = [getattr(x, "source", None) for x in next_leaves]
        more, out_tree = flatten_result(rest, name)
        return [*next_leaves, *more]

    word = f"{transform} of {name}"
    while True:
        avals = [x.aval for x in carry]
        staged = stage(flat, [*avals, *others], word=word, paths=[*paths, *other_paths])
        graph, constants = closed(staged, device)
        made = graph.out_avals[: len(carry)]
        wanted = []
        for k, (aval, new) in enumerate(zip(avals, made, strict=True)):
            common = common_type((aval, new))
            if common is None or (common is not aval and not aval.weak_type):
                refuse_type(transform, f"{role} ({name})", paths[k], aval, new, makers[k])
            wanted.append(common)
        if wanted == avals:
            outputs = [*avals, *graph.out_avals[len(carry) :]]
            return Body(converted(graph, outputs), constants, carry, out_tree)
        # Each round makes a type stronger or wider, so there are few.
        carry = [
            x if to is x.aval else convert(x, dtype=to.dtype, weak_type=to.weak_type)
            for x, to in zip(carry, wanted, strict=True)
        ]


def refuse_structure(transform: str, who: str, tree: TreeDef, given: TreeDef, result: Any) -> None:
    """Raises the error for a carried value that changes its structure."""
    reason = ""
    try:
        flatten_up_to(tree, result)
    except errors.TreeError as error:
        reason = f": {error}"
    raise errors.ArgumentError(
        f"{transform}: {who} has to return a carried value of the structure that it gets, but it "
        f"gets {tree} and returns {given}{reason}"
    )


def refuse_type(
    transform: str, who: str, path: str, aval: Aval, made: Aval, where: Any
) -> NoReturn:
    """Raises the error for a carried value that changes its type."""
    line = f"\n  made at: {where}" if where is not None else ""
    what = (
        f"Give it the shape {made.shape} from the start (anp.broadcast_to), or keep the shape"
        if aval.shape != made.shape
        else f"Convert the result (x.astype('{aval.dtype}')), or start with {made.dtype}"
    )
    raise errors.ArgumentError(
        f"{transform}: a carried value has to keep its type, but {path} is {aval.strong()} and "
        f"{who} makes it {made.strong()}.{line}\n{what}."
    )


def rounds(transform: str, unroll: Any, length: int) -> int:
    """The number of steps in one round."""
    if unroll is True:
        return max(length, 1)
    if unroll is False:
        return 1
    if not isinstance(unroll, int) or unroll < 1:
        raise errors.ArgumentError(
            f"{transform}: unroll is a positive int, or a bool, got {unroll!r}"
        )
    return unroll


def common_length(transform: str, arrays: Sequence[Any], paths: Sequence[str], length: Any) -> int:
    """The length of the first axis of all arrays; raises where they differ."""
    for x, path in zip(arrays, paths, strict=True):
        if x.aval.ndim == 0:
            raise errors.ArgumentError(
                f"{transform} goes along the first axis of xs, but {path} is a scalar, "
                f"{x.aval.strong()}. Close over what all steps share, or carry it."
            )
    if length is not None:
        concrete = int(length.host()) if isinstance(length, ConcreteArray) else length
        if isinstance(concrete, Tracer):
            concrete.concrete("the length of ax.lax.scan")
        try:
            length = concrete.__index__()
        except (AttributeError, TypeError):
            raise errors.ArgumentError(
                f"{transform}: length is an int, got {described(length)}"
            ) from None
        if length < 0:
            raise errors.ArgumentError(f"{transform}: length cannot be negative, got {length}")
    given = [(path, x.aval.shape[0]) for x, path in zip(arrays, paths, strict=True)]
    if length is not None:
        given.insert(0, ("length", length))
    if not given:
        raise errors.ArgumentError(
            f"{transform} without arrays in xs needs length=, the number of steps"
        )
    first = given[0]
    for path, n in given:
        if n != first[1]:
            raise errors.ArgumentError(
                f"{transform} needs one length for all, but {first[0]} is {first[1]} and the "
                f"length of {path} is {n}"
                if first[0] == "length"
                else f"{transform} needs arrays of one length, but that of {first[0]} is "
                f"{first[1]} and that of {path} is {n}"
            )
    return int(first[1])


def bound(transform: str, name: str, x: Any) -> Any:
    """A bound as an array; raises unless it is an integer scalar."""
    array = as_array(x)
    kind = "" if array is None else dtypes.kind(array.aval.dtype)
    if array is None or array.aval.shape != () or kind not in ("int", "uint"):
        raise errors.ArgumentError(
            f"{transform}: {name} has to be an integer scalar, got {described(x)}"
        )
    return array


def known_int(x: Any) -> int | None:
    """A bound as a Python int, None while it is traced."""
    if isinstance(x, ConcreteArray):
        x = x.host()
    return int(x) if isinstance(x, int | np.integer | np.ndarray) and np.ndim(x) == 0 else None


def paths_in(name: str, tree: Any) -> list[str]:
    """How the user would write each leaf of the argument of this name."""
    return [name + keystr(path) for path, _ in flatten_with_path(tree)[0]]
