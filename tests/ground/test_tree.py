"""Trees: nodes and leaves, their order and paths, structures as keys, registration, errors."""

import collections
import copy
import dataclasses
import enum
import functools
import pickle
import time
from typing import Any, NamedTuple

import numpy as np
import pytest

from arrayx import tree, tree_util
from arrayx.errors import ArgumentError, TreeError
from arrayx.tree_util import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    SequenceKey,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from arrayx.treedef import flatten_up_to


class Point(NamedTuple):
    x: Any
    y: Any


@register_dataclass
@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any = 0
    name: str = tree.static(default="dense")


@register_pytree_node_class
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return iter((self.a, self.b)), None

    @classmethod
    def tree_unflatten(cls, rest, children):
        return cls(*children)


@register_pytree_with_keys_class
class Keyed:
    def __init__(self, a, tag):
        self.a, self.tag = a, tag

    def tree_flatten_with_keys(self):
        return [(GetAttrKey("a"), self.a)], self.tag

    @classmethod
    def tree_unflatten(cls, tag, children):
        return cls(*children, tag)


@register_static
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Word(str):
    __slots__ = ()


def ordered(*items):
    return collections.OrderedDict(items)


def defaulting(factory, **items):
    return collections.defaultdict(factory, items)


# tree: (leaves, paths, num_nodes)
TREES = {
    "a leaf": (7, [7], [""], 1),
    "None": (None, [], [], 1),
    "empty": (((), [], {}), [], [], 4),
    "a tuple": ((1, 2), [1, 2], ["[0]", "[1]"], 3),
    "a tuple of one": ((1,), [1], ["[0]"], 2),
    "a list": ([1, [2, None]], [1, 2], ["[0]", "[1][0]"], 5),
    "a dict": ({"b": 1, "a": [2, (3,)]}, [2, 3, 1], ["['a'][0]", "['a'][1][0]", "['b']"], 6),
    "a dict of one": ({"b": 1}, [1], ["['b']"], 2),
    "integer keys": ({10: "x", 9: "y"}, ["y", "x"], ["[9]", "[10]"], 3),
    "mixed keys": ({"b": 1, 2: 2, "a": 3, 1: 4}, [4, 2, 3, 1], ["[1]", "[2]", "['a']", "['b']"], 5),
    "an OrderedDict": (ordered(("b", 1), ("a", 2)), [1, 2], ["['b']", "['a']"], 3),
    "a defaultdict": (defaulting(list, b=1, a=2), [2, 1], ["['a']", "['b']"], 3),
    "a named tuple": (Point(1, [2]), [1, 2], [".x", ".y[0]"], 4),
    "a deque": (collections.deque([1]), [collections.deque([1])], [""], 1),
    "a set": ({1}, [{1}], [""], 1),
    "a struct sequence": (time.gmtime(0), [time.gmtime(0)], [""], 1),
    "a dataclass": (Layer(1, (2, 3)), [1, 2, 3], [".weight", ".bias[0]", ".bias[1]"], 5),
    "a custom node": (Pair(1, {"k": 2}), [1, 2], ["[<flat index 0>]", "[<flat index 1>]['k']"], 4),
    "a node with keys": (Keyed([1], "t"), [1], [".a[0]"], 3),
    "static": ([Mode.FAST, 1], [1], ["[1]"], 3),
    "a Partial": (
        tree_util.Partial(max, 1, key=2),
        [1, 2],
        [".args[0]", ".keywords['key']"],
        5,
    ),
}


@pytest.fixture(params=TREES, name="case")
def _case(request):
    return TREES[request.param]


def same(a, b):
    """Equal trees, container types and the order of dictionaries' items apart."""
    return tree.structure(a) == tree.structure(b) and tree.leaves(a) == tree.leaves(b)


def test_flattening_gives_leaves_in_order_and_unflattening_gives_the_tree_again(case):
    value, leaves, _, num_nodes = case
    found, structure = tree.flatten(value)
    assert found == leaves == tree.leaves(value)
    assert (structure.num_leaves, structure.num_nodes) == (len(leaves), num_nodes)
    again = tree.unflatten(structure, iter(leaves))
    assert type(again) is type(value)
    assert same(again, value)


def test_paths_say_where_a_leaf_is_and_the_structure_is_the_same(case):
    value, leaves, paths, _ = case
    found, structure = tree.flatten_with_path(value)
    assert [keystr(path) for path, _ in found] == paths
    assert [leaf for _, leaf in found] == leaves
    assert structure is tree.structure(value) or structure == tree.structure(value)


def test_asking_whether_each_node_is_a_leaf_changes_nothing_if_the_answer_is_no(case):
    value, leaves, _, _ = case
    assert tree.flatten(value, is_leaf=lambda _: False) == (leaves, tree.structure(value))


def test_a_structure_is_a_key_that_copies_and_pickles(case):
    structure = tree.structure(case[0])
    for other in (
        tree.structure(case[0]),
        pickle.loads(pickle.dumps(structure)),
        copy.deepcopy(structure),
        tree.structure(structure.unflatten(case[1])),
    ):
        assert structure == other
        assert hash(structure) == hash(other)
    assert structure != tree.structure([case[0]])
    assert structure != "another thing"


def test_a_structure_has_its_children_and_can_be_composed(case):
    value, leaves, _, _ = case
    structure = tree.structure(value)
    assert sum(child.num_leaves for child in structure.children()) in (0, len(leaves))
    nested = tree.map(lambda x: (x, [x]), value)
    assert structure.compose(tree.structure((0, [0]))) == tree.structure(nested)
    assert structure.flatten_up_to(nested) == [(x, [x]) for x in leaves]


def test_structures_that_differ_are_not_equal():
    structures = [tree.structure(value) for value, *_ in TREES.values()]
    leaf = tree.structure(0)
    assert len({s for s in structures if s != leaf}) == sum(s != leaf for s in structures)


def test_equal_structures_of_plain_containers_are_one_object():
    def make():
        return {"layers": [Layer(1, 2), Point(1, (2, None))], "step": 3, "none": {}}

    assert tree.structure(make()) is tree.structure(make())
    assert tree.structure({"a": 1, "b": 2}) is tree.structure({"b": 1, "a": 2})
    assert tree.structure({"a": 1}) is tree.structure({"a": 1}, is_leaf=lambda _: False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({1: 0}, {True: 0}),
        ({"a": 0}, {Word("a"): 0}),
        ({Word("a"): 0, "b": 0}, {"a": 0, "b": 0}),
        (Keyed(0, 1), Keyed(0, True)),
        (Keyed(0, (1, 2.0)), Keyed(0, (1, 2))),
        (Keyed(0, 0.0), Keyed(0, -0.0)),
    ],
)
def test_equal_keys_and_metadata_of_other_types_are_not_exchanged(first, second):
    for value in (first, second, first):
        again = tree.map(lambda x: x, value)
        if isinstance(value, dict):
            assert list(map(type, again)) == list(map(type, sorted(value)))
        else:
            assert repr(again.tag) == repr(value.tag)


def test_forgotten_structures_compare_by_value():
    before = tree.structure({"kept": [1, (2,)]})
    for i in range(6000):  # more than are kept
        tree.structure({f"a{i}": (1, [2])})
    after = tree.structure({"kept": [1, (2,)]})
    assert before == after and hash(before) == hash(after)
    assert tree.structure([{"kept": [1, (2,)]}]).children()[0] == before


def test_a_dictionary_comes_back_in_the_order_of_its_sorted_keys():
    assert list(tree.map(lambda x: x, {"b": 1, "a": 2})) == ["a", "b"]
    assert list(tree.map(lambda x: x, ordered(("b", 1), ("a", 2)))) == ["b", "a"]
    assert tree.map(lambda x: x, defaulting(list, b=1))["new"] == []


def test_keys_without_any_order_get_the_same_one_in_equal_dictionaries():
    a, b = (1, "x"), ("x", 1)
    assert tree.structure({a: 1, b: 2}) == tree.structure({b: 1, a: 2})
    assert tree.leaves({1j: "i", 2j: "j"}) == tree.leaves({2j: "j", 1j: "i"})


@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("PyTreeDef(*)", 0),
        ("PyTreeDef((*,))", (0,)),
        ("PyTreeDef({'a': [*, None], 'b': (*, *)})", {"b": (0, 0), "a": [0, None]}),
        ("PyTreeDef(OrderedDict({'a': *}))", ordered(("a", 0))),
        ("PyTreeDef(Point(*, *))", Point(0, 0)),
        ("PyTreeDef(Layer[('dense',)](*, *))", Layer(0)),
    ],
)
def test_a_structure_reads_like_the_tree(shown, value):
    assert repr(tree.structure(value)) == shown


def test_structures_are_of_types_registered_here_when_they_are_read_from_a_file():
    class Local:
        pass

    register_static(Local)
    with pytest.raises(Exception, match="Local"):
        pickle.dumps(tree.structure(Local()))


# ----------------------------------------------------------------- functions


def test_map_takes_further_trees_that_have_at_least_the_structure_of_the_first():
    assert tree.map(lambda x, y: (x, y), {"a": 1, "b": None}, {"a": [5], "b": None}) == {
        "a": (1, [5]),
        "b": None,
    }
    assert tree.map(lambda x: x * 2, [1, (2,)]) == [2, (4,)]
    is_point = lambda x: isinstance(x, Point)  # noqa: E731
    assert tree.map(lambda p: p.x, [Point(1, 2)], is_leaf=is_point) == [1]


DIFFERENT = [
    ({"a": 1}, ordered(("a", 1)), "at the top: expected a dict with the keys ['a'], got an Ord"),
    (ordered(("a", 1)), {"a": 1}, "at the top: expected an OrderedDict, got a dict"),
    (defaulting(list, a=1), {"a": 1}, "at the top: expected a defaultdict, got a dict"),
    (defaulting(list, a=1), defaulting(int, a=1), "at the top: expected a defaultdict with"),
    (
        ordered(("a", 1), ("b", 2)),
        ordered(("b", 1), ("a", 2)),
        "expected an OrderedDict with ('a', 'b'), got one with ('b', 'a')",
    ),
    (ordered(("a", 1)), ordered(("b", 1)), "OrderedDict differ: missing ['a'] and unexpected"),
    ([1, (2, 3)], [1, (2, 3, 4)], "at [1]: expected a tuple of length 2, got a tuple of length 3"),
    ([1, (2, 3)], [1, [2, 3]], "at [1]: expected a tuple of length 2, got a list of length 2"),
    ((1, 2), Point(1, 2), "expected a tuple of length 2, got a Point"),
    ({"a": {"w": 1}}, {"a": {"v": 1}}, "at ['a']: the keys of the dict differ: missing ['w'] and"),
    ({"a": {"w": 1}}, {"a": {"w": 1, "v": 1}}, "at ['a']: the keys of the dict differ: unexpecte"),
    ({"a": None}, {"a": 3}, "at ['a']: expected None, got a leaf of type int"),
    (Point([1], 2), Point(1, 2), "at .x: expected a list of length 1, got a leaf of type int"),
    (Pair(0, [1]), Pair(0, 1), "at [<flat index 1>]: expected a list"),
    (Layer(1), Layer(1, name="other"), "at the top: expected a Layer with ('dense',), got one wit"),
    ([Mode.FAST], [Mode.SLOW], "at [0]: expected a Mode with"),
]


@pytest.mark.parametrize(("first", "second", "words"), DIFFERENT, ids=[d[2] for d in DIFFERENT])
def test_trees_that_differ_are_refused_with_the_place_and_the_reason(first, second, words):
    for attempt in (
        lambda: tree.map(lambda x, y: x, first, second),
        lambda: flatten_up_to(tree.structure(first), second),
    ):
        with pytest.raises(TreeError) as caught:
            attempt()
        assert str(caught.value).startswith("the trees differ at ")
        assert words in str(caught.value)


def test_a_prefix_is_broadcast_to_the_leaves_below_it():
    full = {"a": [1, (2, None)], "b": 3}
    assert tree.broadcast_prefix(0, full) == [0, 0, 0]
    assert tree.broadcast_prefix({"a": 0, "b": 1}, full) == [0, 0, 1]
    assert tree.broadcast_prefix({"a": [0, 1], "b": 2}, full) == [0, 1, 2]
    assert tree.broadcast({"a": 0, "b": 1}, full) == {"a": [0, (0, None)], "b": 1}
    with pytest.raises(TreeError, match=r"at \['a'\]: expected a list of length 1, got a list of"):
        tree.broadcast_prefix({"a": [0], "b": 1}, full)


def test_none_in_a_prefix_is_a_leaf_only_if_asked_for():
    is_none = lambda x: x is None  # noqa: E731
    assert tree.broadcast_prefix((None, 0), ([1, 2], 3), is_leaf=is_none) == [None, None, 0]
    assert tree.broadcast_prefix(None, [1, 2], is_leaf=is_none) == [None, None]
    assert tree.broadcast_prefix((None, 0), (None, 3)) == [0]
    with pytest.raises(TreeError, match=r"at \[0\]: expected None, got a list of length 2"):
        tree.broadcast_prefix((None, 0), ([1, 2], 3))


def test_a_question_about_leaves_may_take_the_path():
    value = {"a": [1, 2], "b": [3]}
    found = tree.leaves_with_path(
        value, is_leaf=lambda path, _: path == (DictKey("a"),), is_leaf_takes_path=True
    )
    assert found == [((DictKey("a"),), [1, 2]), ((DictKey("b"), SequenceKey(0)), 3)]


def test_map_with_path_gives_the_path_before_the_parts():
    def name(path, x, y):
        return keystr(path, simple=True, separator="/"), x + y

    assert tree.map_with_path(name, {"a": Point(1, 2)}, {"a": Point(3, 4)}) == {
        "a": Point(("a/x", 4), ("a/y", 6))
    }


def test_a_path_reads_as_python_or_as_names():
    path = (DictKey("a"), SequenceKey(0), GetAttrKey("w"), FlattenedIndexKey(3))
    assert keystr(path) == "['a'][0].w[<flat index 3>]"
    assert keystr(path, simple=True, separator="/") == "a/0/w/3"
    assert repr(path[:2]) == "(DictKey(key='a'), SequenceKey(idx=0))"
    assert len({*path, DictKey("a")}) == 4


def test_reducing_goes_from_left_to_right_or_in_pairs():
    join = lambda a, b: f"({a}{b})"  # noqa: E731
    letters = {"a": "a", "b": ["b", None, "c"], "d": ("d", "e")}
    assert tree.reduce(join, letters) == "((((ab)c)d)e)"
    assert tree.reduce(join, letters, "_") == "(((((_a)b)c)d)e)"
    assert tree.reduce_associative(join, letters) == "(((ab)(cd))e)"
    assert tree.reduce_associative(join, [], identity="none") == "none"
    with pytest.raises(TypeError):
        tree.reduce(join, [])
    with pytest.raises(TreeError, match="no leaves and there is no identity"):
        tree.reduce_associative(join, [])


def test_all_is_true_for_no_leaves_and_does_not_count_none():
    assert tree.all([])
    assert tree.all([True, None, {"a": 1}])
    assert not tree.all([True, {"a": 0}])


def test_transposing_swaps_the_outer_and_the_inner_structure():
    outer, inner = tree.structure([0, 0]), tree.structure({"a": 0, "b": (0,)})
    value = [{"a": 1, "b": (2,)}, {"a": 3, "b": (4,)}]
    expected = {"a": [1, 3], "b": ([2, 4],)}
    assert tree.transpose(outer, inner, value) == expected
    assert tree.transpose(outer, None, value) == expected
    with pytest.raises(TreeError, match="at the top: expected a list of length 2"):
        tree.transpose(outer, inner, value[:1])
    with pytest.raises(TreeError, match="at least one leaf"):
        tree.transpose(tree.structure([]), inner, [])


def test_small_questions_are_answered():
    assert tree_util.all_leaves([1, "a"]) and not tree_util.all_leaves([1, None])
    assert tree_util.is_tree_node(Point) and not tree_util.is_tree_node(np.ndarray)
    assert tree_util.flatten_one_level({"b": [1], "a": 2}) == ([2, [1]], ("a", "b"))
    assert tree_util.flatten_one_level_with_keys(Point(1, 2))[0] == [
        (GetAttrKey("x"), 1),
        (GetAttrKey("y"), 2),
    ]
    with pytest.raises(TreeError, match="a leaf has no levels: 3 of type int"):
        tree_util.flatten_one_level(3)
    parts = [tree.structure(0), tree.structure([0, 0])]
    assert tree_util.treedef_tuple(parts) is tree.structure((0, [0, 0]))
    assert tree_util.treedef_children(tree.structure((0, [0, 0]))) == parts
    assert tree_util.treedef_is_leaf(parts[0]) and not tree_util.treedef_is_leaf(parts[1])


def test_unflattening_counts_the_leaves():
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(TreeError, match=f"has 2 leaves, {len(leaves)} were given"):
            tree.unflatten(tree.structure([0, 0]), leaves)
    with pytest.raises(ArgumentError, match="takes a structure first, not \\[1\\]"):
        tree.unflatten([1], tree.structure([0]))


def test_unflattening_never_hands_out_the_list_it_was_given():
    leaves = [1, 2]
    assert tree.unflatten(tree.structure([0, 0]), leaves) is not leaves


def test_a_tree_that_contains_itself_is_an_error():
    endless = []
    endless.append(endless)
    with pytest.raises(TreeError, match="too deep, or it contains itself"):
        tree.leaves(endless)


# ----------------------------------------------------------------- registration


def test_a_class_met_as_a_leaf_becomes_a_node_when_registered():
    class Late:
        def __init__(self, x):
            self.x = x

    late = Late(5)
    assert tree.leaves([late, 1]) == [late, 1]
    register_pytree_node(Late, lambda v: ((v.x,), None), lambda _, xs: Late(*xs))
    assert tree.leaves([late, 1]) == [5, 1]
    with pytest.raises(ArgumentError, match=r"Late is registered as a node of trees already"):
        register_pytree_node(Late, lambda v: ((v.x,), None), lambda _, xs: Late(*xs))


def test_a_named_tuple_can_be_registered_otherwise_only_before_it_is_met():
    class Fresh(NamedTuple):
        x: Any
        name: str

    register_pytree_with_keys(
        Fresh, lambda v: ([(GetAttrKey("x"), v.x)], v.name), lambda name, xs: Fresh(*xs, name)
    )
    assert tree.leaves(Fresh(1, "n")) == [1]


def test_only_classes_can_be_registered():
    with pytest.raises(ArgumentError, match="only a class can be registered as a node, not 3"):
        register_pytree_node(3, None, None)


def test_metadata_need_not_be_hashable_until_the_structure_is():
    value = Keyed(1, {"not": "hashable"})
    assert tree.map(lambda x: x + 1, value).tag == {"not": "hashable"}
    assert tree.structure(value) == tree.structure(Keyed(2, {"not": "hashable"}))
    assert tree.structure([value]) != tree.structure([Keyed(2, {})])
    with pytest.raises(TypeError, match="unhashable"):
        hash(tree.structure([value]))


def test_children_given_to_unflatten_are_a_tuple():
    class Strict:
        def __init__(self, children):
            assert type(children) is tuple

    register_pytree_node(Strict, lambda _: ([1], None), lambda _, children: Strict(children))
    assert isinstance(tree.map(lambda x: x, Strict(())), Strict)


def test_a_subclass_of_a_node_is_a_leaf():
    class Mine(dict):
        pass

    class MyList(list):
        pass

    assert tree.leaves([Mine(a=1), MyList([1])]) == [Mine(a=1), MyList([1])]


def test_a_dataclass_can_be_registered_by_lists_of_fields():
    @functools.partial(register_dataclass, data_fields=["x"], meta_fields=["n"], drop_fields=["z"])
    @dataclasses.dataclass
    class Some:
        n: int
        x: Any
        z: int = 9
        made: int = dataclasses.field(init=False, default=0)

    again = tree.map(lambda x: x + 1, Some(3, 4, z=1))
    assert (again.n, again.x, again.z) == (3, 5, 9)
    assert tree.structure(Some(3, 4)) is tree.structure(Some(3, 5))
    assert tree.structure(Some(3, 4)) != tree.structure(Some(4, 4))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"data_fields": ["x"]}, "give both data_fields and meta_fields"),
        ({"data_fields": ["x"], "meta_fields": []}, r"missing \['y'\], unexpected \[\]"),
        ({"data_fields": ["x", "y", "q"], "meta_fields": []}, r"missing \[\], unexpected \['q'\]"),
    ],
)
def test_a_dataclass_s_fields_have_to_be_those_of_its_constructor(fields, words):
    @dataclasses.dataclass
    class Two:
        x: Any
        y: Any

    with pytest.raises(ArgumentError, match=words):
        register_dataclass(Two, **fields)


def test_a_class_that_is_no_dataclass_needs_its_fields_named():
    class Plain:
        def __init__(self, x):
            self.x = x

    with pytest.raises(ArgumentError, match="Plain is not a dataclass, so data_fields"):
        register_dataclass(Plain)
    register_dataclass(Plain, data_fields=["x"], meta_fields=[])
    assert tree.leaves(Plain((1, 2))) == [1, 2]


def test_a_partial_calls_its_function_and_maps_over_its_arguments():
    partial = tree_util.Partial(pow, 2)
    assert partial(3) == 8
    assert tree.map(lambda x: x + 1, partial)(3) == 27
    assert tree.structure(partial) == tree.structure(tree_util.Partial(pow, 5))
