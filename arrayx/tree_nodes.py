"""Which types are nodes of trees, and the keys of paths through them, apart from the structures.

The registry is one dictionary from the exact class, so no base class makes a node of anything.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeVar

from arrayx.errors import ArgumentError, TreeError

T = TypeVar("T")
C = TypeVar("C", bound=type)

# ----------------------------------------------------------------- the parts of a path


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A step of a path into a list or tuple; `str` of it is `[idx]`."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """A step of a path into a dictionary; `str` of it is `['key']`."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A step of a path into an object with named fields; `str` of it is `.name`."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """A step into a registered node that has no keys of its own: the position of the child."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as text: as Python would write the access, or only the names if `simple`.

    >>> keystr((DictKey("layers"), SequenceKey(0), GetAttrKey("w")))
    "['layers'][0].w"
    >>> keystr((DictKey("layers"), SequenceKey(0)), simple=True, separator="/")
    'layers/0'
    """
    return separator.join(map(_bare if simple else str, keys))


def _bare(key: KeyEntry) -> str:
    if isinstance(key, SequenceKey):
        return str(key.idx)
    if isinstance(key, (DictKey, FlattenedIndexKey)):
        return str(key.key)
    return key.name if isinstance(key, GetAttrKey) else str(key)


# ----------------------------------------------------------------- node types


@dataclasses.dataclass(frozen=True, eq=False)
class NodeType:
    """How one container type comes apart and together again; there is one for each type."""

    type: type
    flatten: Callable[[Any], tuple[Sequence[Any], Any]]
    unflatten: Callable[[Any, list[Any]], Any]  # may keep the list
    keys: Callable[[Any], Iterable[KeyEntry]]

    def __reduce__(self) -> tuple[Any, ...]:
        return node_type, (self.type,)


def node_type(cls: type) -> NodeType:
    node = NODES[cls]
    if node is None:
        raise TreeError(f"{cls.__qualname__} is not registered as a node of trees in this process")
    return node


class _Registry(dict[type, NodeType | None]):
    """The node type of each class, None for a leaf's: one look-up for all, by the exact class."""

    def __missing__(self, cls: type) -> NodeType | None:
        node = _namedtuple(cls) if issubclass(cls, tuple) and hasattr(cls, "_fields") else None
        if node is None:
            LEAF_TYPES.add(cls)
        return self.setdefault(cls, node)


NODES: Final = _Registry()
LEAF_TYPES: Final[set[type]] = set()  # those met, so that a flat container is one C call


def _positions(tree: Sequence[Any]) -> Iterable[KeyEntry]:
    return map(SequenceKey, range(len(tree)))


def _namedtuple(cls: Any) -> NodeType:
    fields = tuple(map(GetAttrKey, cls._fields))
    return NodeType(cls, lambda x: (x, None), lambda _, xs: cls(*xs), lambda _: fields)


def sorted_keys(tree: Iterable[Any]) -> list[Any]:
    """The keys of a dictionary in the order of its leaves: sorted, by type first if they mix.

    >>> sorted_keys({"b": 1, 2: 1, "a": 1})
    [2, 'a', 'b']
    """
    try:
        return sorted(tree)
    except TypeError:
        pass

    def by_type(key: Any) -> str:
        return f"{type(key).__module__}.{type(key).__qualname__}"

    try:
        return sorted(tree, key=lambda key: (by_type(key), key))
    except TypeError:  # keys without any order: at least the same one for equal dictionaries
        return sorted(tree, key=lambda key: (by_type(key), repr(key)))


def flatten_dict(tree: dict[Any, Any]) -> tuple[list[Any], Any]:
    keys = sorted_keys(tree)
    return [tree[key] for key in keys], tuple(keys)


def _flatten_defaultdict(tree: defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    children, keys = flatten_dict(tree)
    return children, (tree.default_factory, keys)


NONE: Final = NodeType(type(None), lambda _: ((), None), lambda _, __: None, lambda _: ())
TUPLE: Final = NodeType(tuple, lambda x: (x, None), lambda _, xs: tuple(xs), _positions)
LIST: Final = NodeType(list, lambda x: (x, None), lambda _, xs: xs, _positions)
DICT: Final = NodeType(
    dict,
    flatten_dict,
    lambda keys, xs: dict(zip(keys, xs, strict=True)),
    lambda x: map(DictKey, sorted_keys(x)),
)
ORDERED_DICT: Final = NodeType(
    OrderedDict,
    lambda x: (list(x.values()), tuple(x)),
    lambda keys, xs: OrderedDict(zip(keys, xs, strict=True)),
    lambda x: map(DictKey, x),
)
DEFAULT_DICT: Final = NodeType(
    defaultdict,
    _flatten_defaultdict,
    lambda aux, xs: defaultdict(aux[0], zip(aux[1], xs, strict=True)),
    lambda x: map(DictKey, sorted_keys(x)),
)
for _node in (NONE, TUPLE, LIST, DICT, ORDERED_DICT, DEFAULT_DICT):
    NODES[_node.type] = _node
del _node


# ----------------------------------------------------------------- registration


def _register(node: NodeType) -> None:
    if not isinstance(node.type, type):
        raise ArgumentError(f"only a class can be registered as a node, not {node.type!r}")
    if NODES.get(node.type) is not None:
        raise ArgumentError(f"{node.type.__qualname__} is registered as a node of trees already")
    NODES[node.type] = node
    LEAF_TYPES.discard(node.type)  # an instance may have been met before


def _positional(flatten_func: Callable[[Any], tuple[Iterable[Any], Any]]) -> Callable[[Any], Any]:
    return lambda x: map(FlattenedIndexKey, range(len(tuple(flatten_func(x)[0]))))


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Make `nodetype` a node: from now on its children are part of every tree it is in.

    `flatten_func(x)` gives the children and the rest (hashable, comparable by `==`);
    `unflatten_func(rest, children)` makes the object again, from children of any kind.

    >>> from arrayx.tree import flatten
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
    >>> flatten(Pair(1, [2, 3]))[0]
    [1, 2, 3]
    """

    def apart(x: T) -> tuple[Sequence[Any], Any]:
        children, aux = flatten_func(x)
        return tuple(children), aux

    keys = _positional(flatten_func)
    if flatten_with_keys_func is not None:
        with_keys = flatten_with_keys_func
        keys = lambda x: [key for key, _ in with_keys(x)[0]]  # noqa: E731
    _register(NodeType(nodetype, apart, lambda aux, xs: unflatten_func(aux, tuple(xs)), keys))


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """`register_pytree_node` of a type whose children have names: `(key, child)` pairs.

    >>> from arrayx.tree import flatten_with_path
    >>> class Named:
    ...     def __init__(self, a):
    ...         self.a = a
    >>> register_pytree_with_keys(
    ...     Named, lambda x: (((GetAttrKey("a"), x.a),), None), lambda _, xs: Named(*xs)
    ... )
    >>> keystr(flatten_with_path(Named(1))[0][0][0])
    '.a'
    """

    def without_keys(x: T) -> tuple[Iterable[Any], Any]:
        pairs, aux = flatten_with_keys(x)
        return [child for _, child in pairs], aux

    register_pytree_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: C) -> C:
    """Class decorator: a node that has `tree_flatten()` and the class method `tree_unflatten`.

    >>> from arrayx.tree import flatten
    >>> @register_pytree_node_class
    ... class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten(self):
    ...         return (self.x,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, rest, children):
    ...         return cls(*children)
    >>> flatten(Box(3))[0]
    [3]
    """
    node: Any = cls
    register_pytree_node(cls, lambda x: x.tree_flatten(), node.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: C) -> C:
    """Class decorator: a node with `tree_flatten_with_keys()` and `tree_unflatten`.

    >>> from arrayx.tree import flatten_with_path
    >>> @register_pytree_with_keys_class
    ... class Labelled:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten_with_keys(self):
    ...         return ((GetAttrKey("x"), self.x),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, rest, children):
    ...         return cls(*children)
    >>> flatten_with_path(Labelled(3))[0]
    [((GetAttrKey(name='x'),), 3)]
    """
    node: Any = cls
    register_pytree_with_keys(
        cls,
        lambda x: x.tree_flatten_with_keys(),
        node.tree_unflatten,
        (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None,
    )
    return cls


def register_static(cls: C) -> C:
    """Class decorator: a node without leaves; the object itself is part of the structure.

    Instances have to be hashable and comparable.

    >>> from arrayx.tree import flatten
    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> flatten([1, Mode("fast")])[0]
    [1]
    """
    _register(NodeType(cls, lambda x: ((), x), lambda aux, _: aux, lambda _: ()))
    return cls


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)  # one C call; with one name it gives no tuple
    return lambda x: tuple(getattr(x, name) for name in names)


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Make a dataclass a node: data fields are children, meta fields part of the structure.

    Without lists, fields made by `ax.tree.static()` are meta and all others data. A field that
    the constructor does not take, or can do without, may be left out by `drop_fields`.

    >>> from arrayx.tree import flatten
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = dataclasses.field(default="dense", metadata={"static": True})
    >>> flatten(Layer(2.0))
    ([2.0], PyTreeDef(Layer[('dense',)](*)))
    """
    if (data_fields is None) != (meta_fields is None):
        raise ArgumentError("register_dataclass: give both data_fields and meta_fields, or neither")
    fields = dataclasses.fields(nodetype) if dataclasses.is_dataclass(nodetype) else None
    if data_fields is None or meta_fields is None:
        if fields is None:
            raise ArgumentError(
                f"register_dataclass: {nodetype.__qualname__} is not a dataclass, so data_fields "
                f"and meta_fields have to be given"
            )
        taken = [f for f in fields if f.init and f.name not in drop_fields]
        data_fields = [f.name for f in taken if not f.metadata.get("static", False)]
        meta_fields = [f.name for f in taken if f.metadata.get("static", False)]
    if fields is not None:
        expected = {f.name for f in fields if f.init} - set(drop_fields)
        given = {*data_fields, *meta_fields}
        if given != expected:
            raise ArgumentError(
                f"register_dataclass: the fields given for {nodetype.__qualname__} are not those "
                f"of its constructor: missing {sorted(expected - given)}, "
                f"unexpected {sorted(given - expected)}; see drop_fields"
            )
    data, meta = tuple(data_fields), tuple(meta_fields)
    get_data, get_meta, names = _getter(data), _getter(meta), data + meta
    keys = tuple(map(GetAttrKey, data))

    def together(aux: tuple[Any, ...], children: list[Any]) -> Any:
        return nodetype(**dict(zip(names, (*children, *aux), strict=True)))

    _register(NodeType(nodetype, lambda x: (get_data(x), get_meta(x)), together, lambda _: keys))
    return nodetype


class Partial(functools.partial):
    """`functools.partial` that is a node: its arguments are children, its function is not.

    >>> from arrayx.tree import flatten
    >>> add = Partial(int.__add__, 2)
    >>> flatten(add)[0], add(3)
    ([2], 5)
    """


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
