"""`vmap`: where axes go, and what every mistake with them is told."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

from arrayx import errors
from arrayx.api.autodiff import grad
from arrayx.api.compilation import jit
from arrayx.api.mapping import vmap
from arrayx.lax.parallel import axis_size
from arrayx.primitives.arithmetic import add, mul, sub
from arrayx.primitives.axes import reduce_sum
from arrayx.primitives.creation import fill
from arrayx.primitives.trigonometric import sin
from arrayx.tree_util import register_pytree_node

X = np.arange(6, dtype=np.float32).reshape(2, 3)
V = np.array([1.0, 2.0, 4.0], np.float32)


def total(x: Any) -> Any:
    return reduce_sum(x, axes=tuple(range(x.ndim)))


def host(x: Any) -> np.ndarray:
    return x.host() if hasattr(x, "host") else np.asarray(x)


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(host(got), want, rtol=2e-5, atol=1e-6)


def test_it_maps_over_axis_0_by_default() -> None:
    close(vmap(total)(X), X.sum(1))


@pytest.mark.parametrize("axis", [0, 1, -1, -2, np.int64(1)])
def test_in_axes_says_which_axis_is_mapped(axis: Any) -> None:
    close(vmap(total, in_axes=axis)(X), X.sum(1 - int(axis) % 2))


@pytest.mark.parametrize("in_axes", [(0, None), [0, None]])
def test_none_shares_an_argument(in_axes: Any) -> None:
    close(vmap(mul, in_axes=in_axes)(X, V), X * V)
    close(
        vmap(lambda x, y: total(mul(x, y)), in_axes=(1, None))(X, np.float32([1, 10])), [30, 41, 52]
    )


def test_in_axes_may_be_the_upper_part_of_a_tree() -> None:
    tree = {"a": (X, X), "b": [V]}

    def f(t: Any) -> Any:
        return add(total(t["a"][0]), mul(t["b"][0], total(t["a"][1])))

    want = [X[:, i].sum() * (1 + V[i]) for i in range(3)]
    close(vmap(f, in_axes=({"a": 1, "b": 0},))(tree), want)
    close(vmap(f, in_axes=({"a": (1, -1), "b": [0]},))(tree), want)
    shared = vmap(f, in_axes=({"a": 1, "b": None},))({"a": (X, X), "b": [V[1]]})
    close(shared, X.sum(0) * 3)


def test_none_in_a_tree_is_no_argument() -> None:
    close(vmap(lambda t: t["x"], in_axes=({"x": 0, "n": None},))({"x": V, "n": None}), V)


def test_in_axes_may_be_a_registered_class() -> None:
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
    got = vmap(lambda p: mul(p.a, p.b), in_axes=(Pair(0, None),))(Pair(V, 10.0))
    close(got, 10 * V)


def test_keyword_arguments_are_mapped_over_axis_0() -> None:
    close(vmap(lambda x, y: sub(x, y))(V, y=2 * V), -V)
    close(vmap(lambda x, y: sub(x, y), in_axes=None)(np.float32(1), y=V), 1 - V)


def test_out_axes_puts_the_mapped_axis() -> None:
    Out = collections.namedtuple("Out", "x y")
    f = lambda x: Out(x, {"s": add(x, x)})  # noqa: E731
    got = vmap(f, out_axes=Out(1, -1))(X)
    close(got.x, X.T)
    close(got.y["s"], 2 * X.T)
    assert isinstance(got, Out)


def test_out_axes_none_keeps_what_is_the_same_for_all() -> None:
    y, s = vmap(lambda x, k: (add(x, k), k), in_axes=(-1, None), out_axes=(-1, None))(
        X, np.float32([10, 20])
    )
    close(y, X + np.float32([[10], [20]]))
    close(s, [10, 20])


def test_results_that_do_not_depend_on_the_axis_are_repeated() -> None:
    close(vmap(lambda x: 3.0)(V), [3, 3, 3])
    close(vmap(lambda x: fill((2,), np.dtype("float32"), 1.0), out_axes=1)(V), np.ones((2, 3)))


def test_axis_size_maps_without_arguments() -> None:
    close(vmap(lambda: 1.0, axis_size=4)(), np.ones(4))
    close(vmap(sin, in_axes=None, axis_size=2)(np.float32(0)), [0, 0])


def test_a_named_axis_knows_its_size() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(axis_size("i"))
        return x

    vmap(f, axis_name="i")(V)
    assert seen == [3]
    with pytest.raises(errors.AxisError, match="no axis named 'i' is open"):
        axis_size("i")


def test_maps_inside_maps_keep_their_axes_apart() -> None:
    got = vmap(vmap(mul, (None, 0)), (0, None))(np.float32([1, 2]), V)
    close(got, np.outer([1, 2], V))
    got = vmap(lambda x: vmap(lambda y: sub(x, y))(V))(2 * V)
    close(got, 2 * V[:, None] - V[None])
    got = vmap(vmap(sub, in_axes=(0, 1), out_axes=1), in_axes=(1, 0), out_axes=2)(
        np.ones((2, 3, 4), np.float32), np.ones((3, 4, 2), np.float32)
    )
    assert got.shape == (4, 2, 3)


@pytest.mark.parametrize("wrap", [lambda f: f, jit])
def test_the_gradient_of_a_shared_argument_sums_over_the_axis(wrap: Any) -> None:
    def loss(w: Any) -> Any:
        return total(vmap(wrap(mul), in_axes=(None, 0))(w, V))

    close(grad(loss)(3.0), V.sum())
    close(wrap(grad(loss))(3.0), V.sum())


def test_it_maps_over_an_axis_of_size_zero() -> None:
    assert vmap(sin)(np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_objects_that_are_no_arrays_may_be_shared() -> None:
    close(vmap(lambda x, how: sin(x) if how == "sin" else x, in_axes=(0, None))(V, "id"), V)


MISTAKES = {
    "the result of a call": (
        lambda: vmap(sin(V)),
        errors.NotCallableError,
        ["ax.vmap", "an array of shape (3,)", "ax.vmap(f)(x)"],
    ),
    "a dictionary for one argument": (
        lambda: vmap(_by_name, in_axes={"a": 0}),
        errors.ArgumentError,
        ["in_axes=({'a': 0},)", "tuple", "_by_name"],
    ),
    "an axis that is no integer": (
        lambda: vmap(sin, in_axes=("a",)),
        errors.ArgumentError,
        ["in_axes[0]", "'a'", "int or None"],
    ),
    "a boolean axis": (lambda: vmap(sin, in_axes=(True,)), errors.ArgumentError, ["in_axes[0]"]),
    "an out axis that is no integer": (
        lambda: vmap(sin, out_axes=1.0),
        errors.ArgumentError,
        ["out_axes", "1.0"],
    ),
    "too few in_axes": (
        lambda: vmap(mul, in_axes=(0,))(V, V),
        errors.ArgumentError,
        ["1 entries", "2 positional arguments"],
    ),
    "in_axes of another structure": (
        lambda: vmap(_by_name, in_axes=({"b": 0},))({"a": V}),
        errors.TreeError,
        ["in_axes[0]={'b': 0}", "args[0]", "'a'"],
    ),
    "different sizes": (
        lambda: vmap(lambda d, y, z: y)({"w": np.ones((3, 2))}, np.ones(4), z=np.ones(4)),
        errors.ShapeError,
        [
            "size 3: args[0]['w'] of shape (3, 2) along axis 0",
            "size 4: args[1] of shape (4,) along axis 0, kwargs['z']",
            "in_axes=None",
        ],
    ),
    "another size than axis_size": (
        lambda: vmap(sin, axis_size=5)(V),
        errors.ShapeError,
        ["axis_size is 5", "size 3: args[0]"],
    ),
    "nothing mapped": (
        lambda: vmap(sin, in_axes=None)(V),
        errors.ArgumentError,
        ["no argument is mapped", "axis_size"],
    ),
    "no arrays": (lambda: vmap(lambda: 1.0)(), errors.ArgumentError, ["axis_size"]),
    "a scalar": (
        lambda: vmap(lambda d: d["x"])({"x": 2.0}),
        errors.AxisError,
        ["args[0]['x']", "rank 0", "in_axes=None"],
    ),
    "a scalar array": (
        lambda: vmap(sin)(np.float32(2)),
        errors.AxisError,
        ["args[0]", "rank 0"],
    ),
    "an axis out of range": (
        lambda: vmap(sin, in_axes=2)(X),
        errors.AxisError,
        ["args[0] has shape (2, 3)", "no axis 2", "-2 to 1"],
    ),
    "a string": (
        lambda: vmap(sin)("text"),
        errors.ArgumentError,
        ["args[0]", "'text'", "in_axes=None"],
    ),
    "a mapped result without an axis": (
        lambda: vmap(_by_name_out, out_axes=None)(V),
        errors.ArgumentError,
        ["out_axes is None", "result['y']", "_by_name_out"],
    ),
    "an out axis out of range": (
        lambda: vmap(lambda x: x, out_axes=2)(X),
        errors.AxisError,
        ["out_axes is 2", "2 axes", "-2 to 1"],
    ),
    "out_axes of another structure": (
        lambda: vmap(_by_name_out, out_axes={"z": 0})(V),
        errors.TreeError,
        ["out_axes={'z': 0}", "'y'"],
    ),
    "a result that is no array": (
        lambda: vmap(lambda x: {"y": "text"})(V),
        errors.ArgumentError,
        ["'text'", "result['y']"],
    ),
}


def _by_name(d: Any) -> Any:
    return d["a"]


def _by_name_out(x: Any) -> Any:
    return {"y": x}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_say_what_was_given_and_what_to_do(mistake: str) -> None:
    call, kind, parts = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"
