"""Functions on trees, JAX's `jax.tree`: short names, apart since they hide builtins like `map`.

A tree is any nest of tuples, lists, dictionaries, named tuples and registered classes; None is a
node without leaves, and everything else, deques included, is a leaf. Dictionaries have their
leaves in the order of their sorted keys. Functions of several trees take containers of different
types (a dict and an OrderedDict) for different structures.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

from arrayx.errors import TreeError
from arrayx.tree_nodes import KeyPath
from arrayx.treedef import (
    IsLeaf,
    TreeDef,
    broadcast_prefix,
    flatten,
    flatten_up_to,
    flatten_with_path,
    unflatten,
)

__all__ = [
    "all",
    "broadcast",
    "broadcast_prefix",
    "flatten",
    "flatten_up_to",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

_MISSING: Any = object()


def leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of `tree`, in order.

    >>> leaves({"b": 1, "a": [2, None, (3,)]})
    [2, 3, 1]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf | None = None) -> TreeDef:
    """The structure of `tree`, without its leaves.

    >>> structure([1, {"a": 2}])
    PyTreeDef([*, {'a': *}])
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of `f(leaf, *parts)`: `rest` are trees that have at least the structure of `tree`.

    >>> map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    found, treedef = flatten(tree, is_leaf)
    if not rest:
        return unflatten(treedef, [f(leaf) for leaf in found])
    others = [flatten_up_to(treedef, other) for other in rest]
    return unflatten(treedef, [f(*parts) for parts in zip(found, *others, strict=True)])


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """`map` of an `f` that takes the path of the leaf first.

    >>> from arrayx.tree_util import keystr
    >>> map_with_path(lambda path, x: f"{keystr(path)}={x}", {"a": [1]})
    {'a': ["['a'][0]=1"]}
    """
    found, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [flatten_up_to(treedef, other) for other in rest]
    return unflatten(
        treedef, [f(*pair, *parts) for pair, *parts in zip(found, *others, strict=True)]
    )


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of `tree`, each after its path.

    >>> leaves_with_path([5])
    [((SequenceKey(idx=0),), 5)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Whether every leaf is true.

    >>> all({"a": True, "b": [1, None]})
    True
    """
    return builtins.all(leaves(tree, is_leaf))


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """The leaves joined by `function` from left to right, after `initializer` if there is one.

    >>> reduce(lambda total, x: total + x, {"a": 1, "b": [2, 3]}, 10)
    16
    """
    if initializer is _MISSING:
        return functools.reduce(function, leaves(tree, is_leaf))
    return functools.reduce(function, leaves(tree, is_leaf), initializer)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """The leaves joined by an associative `operation`, in pairs, so that the depth is logarithmic.

    >>> reduce_associative(lambda x, y: f"({x}{y})", list("abcd"))
    '((ab)(cd))'
    """
    found = leaves(tree, is_leaf)
    if not found:
        if identity is _MISSING:
            raise TreeError("reduce_associative: the tree has no leaves and there is no identity")
        return identity
    while len(found) > 1:
        pairs = [operation(*found[i : i + 2]) for i in range(0, len(found) - 1, 2)]
        found = pairs + found[len(found) - len(found) % 2 :]
    return found[0]


def transpose(
    outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: Any
) -> Any:
    """A tree of trees turned inside out; `inner_treedef` is found out if it is None.

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    parts = flatten_up_to(outer_treedef, pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = structure(parts[0]) if parts else structure(None)
    if not parts or inner_treedef.num_leaves == 0:
        raise TreeError("transpose: both structures need at least one leaf")
    rows = [flatten_up_to(inner_treedef, part) for part in parts]
    return unflatten(
        inner_treedef, [unflatten(outer_treedef, column) for column in zip(*rows, strict=True)]
    )


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of `full_tree`'s structure with the leaves of `prefix_tree`, repeated.

    >>> broadcast([0, 1], [{"a": 5, "b": 6}, 7])
    [{'a': 0, 'b': 0}, 1]
    """
    return unflatten(structure(full_tree), broadcast_prefix(prefix_tree, full_tree, is_leaf))


def static(**kwargs: Any) -> Any:
    """`dataclasses.field(...)` for a field that is part of the structure, not a child.

    >>> static(default="add").metadata["static"]
    True
    """
    metadata = {**kwargs.pop("metadata", {}), "static": True}
    return dataclasses.field(**kwargs, metadata=metadata)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf | None = None) -> bool:
    """Whether no element of `iterable` is a node.

    >>> all_leaves([1, 2]), all_leaves([1, [2]])
    (True, False)
    """
    found = list(iterable)
    parts = leaves(found, is_leaf and (lambda x: x is not found and is_leaf(x)))
    return len(parts) == len(found) and builtins.all(
        a is b for a, b in zip(parts, found, strict=True)
    )
