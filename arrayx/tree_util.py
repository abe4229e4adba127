"""The names of `jax.tree_util`, apart so that code written for it only changes its import."""

from __future__ import annotations

from arrayx.tree import all as tree_all
from arrayx.tree import all_leaves
from arrayx.tree import broadcast as tree_broadcast
from arrayx.tree import leaves as tree_leaves
from arrayx.tree import leaves_with_path as tree_leaves_with_path
from arrayx.tree import map as tree_map
from arrayx.tree import map_with_path as tree_map_with_path
from arrayx.tree import reduce as tree_reduce
from arrayx.tree import reduce_associative as tree_reduce_associative
from arrayx.tree import structure as tree_structure
from arrayx.tree import transpose as tree_transpose
from arrayx.tree_nodes import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    Partial,
    SequenceKey,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from arrayx.treedef import TreeDef as PyTreeDef
from arrayx.treedef import (
    broadcast_prefix,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    treedef_tuple,
)
from arrayx.treedef import flatten as tree_flatten
from arrayx.treedef import flatten_with_path as tree_flatten_with_path
from arrayx.treedef import unflatten as tree_unflatten

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "broadcast_prefix",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the node at the top.

    >>> treedef_children(tree_structure([1, (2,)]))
    [PyTreeDef(*), PyTreeDef((*,))]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is one node with nothing below it: a leaf, or None.

    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure([1]))
    (True, False)
    """
    return treedef.num_nodes == 1
