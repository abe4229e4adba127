"""Random keys: how they are made, how arrays of them move, and what is refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax, random
from arrayx.dtypes import KeyDtype
from arrayx.primitives.slicing import dynamic_slice, dynamic_update_slice


def data(keys: Any) -> np.ndarray:
    return np.asarray(random.key_data(keys))


def some(*shape: int) -> Any:
    """Different keys, as an array of this shape."""
    return random.split(random.key(1), shape)


def test_a_key_is_an_array_of_its_own_dtype() -> None:
    key = random.key(0)
    assert isinstance(key, ax.Array)
    assert (key.shape, key.ndim, key.size, key.dtype) == ((), 0, 1, KeyDtype())
    assert ax.dtypes.issubdtype(key.dtype, ax.dtypes.prng_key)
    assert random.key_impl(key) == "threefry2x32"


def test_keys_show_their_words() -> None:
    assert "key<threefry2x32>" in repr(random.key(7))
    assert "7" in repr(random.key(7))


def test_wrapping_undoes_unwrapping() -> None:
    keys = some(2, 3)
    again = random.wrap_key_data(random.key_data(keys))
    assert again.dtype is keys.dtype and again.shape == (2, 3)
    np.testing.assert_array_equal(data(again), data(keys))


def test_the_old_form_of_a_key_gives_the_same_numbers() -> None:
    old, new = random.PRNGKey(3), random.key(3)
    assert old.dtype == np.uint32 and old.shape == (2,)
    np.testing.assert_array_equal(random.uniform(old, (4,)), random.uniform(new, (4,)))
    np.testing.assert_array_equal(random.uniform(np.asarray(old)), random.uniform(new))
    assert random.split(old, 3).shape == (3, 2)
    np.testing.assert_array_equal(random.split(old, 3), data(random.split(new, 3)))
    np.testing.assert_array_equal(random.fold_in(old, 3), data(random.fold_in(new, 3)))
    assert random.key_impl(old) == "threefry2x32"


def test_cloned_keys_are_equal() -> None:
    assert bool(random.clone(random.key(3)) == random.key(3))


def test_keys_can_be_compared() -> None:
    keys = some(4)
    assert np.asarray(keys == keys).all() and not np.asarray(keys != keys).any()
    np.testing.assert_array_equal(keys == keys[2], [False, False, True, False])
    # Keys that share one of their words are not equal.
    first = random.wrap_key_data(np.array([[1, 2], [1, 3], [0, 2]], np.uint32))
    np.testing.assert_array_equal(first == first[0], [True, False, False])
    np.testing.assert_array_equal(first != first[0], [False, True, True])


# Moves elements the same way whether they are numbers or keys.
MOVES: dict[str, Callable[[Any], Any]] = {
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "element": lambda x: x[1, 2],
    "slice": lambda x: x[1:, ::2],
    "reversed": lambda x: x[::-1],
    "new axis": lambda x: x[:, None],
    "list": lambda x: x[np.array([2, 0, 2])],
    "mask": lambda x: x[np.array([True, False, True])],
    "points": lambda x: x[np.array([0, 2]), np.array([1, 3])],
    "computed": lambda x: x[anp.arange(3, dtype=np.int32) // 2],
    "reshape": lambda x: anp.reshape(x, (2, 6)),
    "ravel": lambda x: x.ravel(),
    "transpose": lambda x: x.T,
    "broadcast": lambda x: anp.broadcast_to(x, (2, 3, 4)),
    "flip": lambda x: anp.flip(x, 1),
    "stack": lambda x: anp.stack([x[0], x[2]]),
    "concatenate": lambda x: anp.concatenate([x, x[:1]]),
    "expand": lambda x: anp.expand_dims(x, (0, 2)),
    "squeeze": lambda x: anp.squeeze(x[:1], 0),
    "moveaxis": lambda x: anp.moveaxis(x, 0, 1),
    "where": lambda x: anp.where(np.arange(4) > 1, x, x[::-1]),
    "take": lambda x: anp.take(x, np.array([3, 0]), axis=1),
    "dynamic_slice": lambda x: dynamic_slice(x, anp.int32(1), anp.int32(2), sizes=(2, 2)),
    "update": lambda x: dynamic_update_slice(x, x[:1, :1], anp.int32(2), anp.int32(3)),
    "set": lambda x: x.at[1].set(x[0]),
}


def moved_words(move: Callable[[Any], Any]) -> np.ndarray:
    """What a move does to keys, by doing it to each of their words."""
    words = data(some(3, 4))
    return np.stack([np.asarray(move(anp.asarray(words[..., i]))) for i in (0, 1)], axis=-1)


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_arrays_of_keys_move_like_arrays_of_numbers(move: Callable[[Any], Any]) -> None:
    keys = some(3, 4)
    expected = moved_words(move)
    moved = move(keys)
    assert moved.dtype is keys.dtype
    np.testing.assert_array_equal(data(moved), expected)
    np.testing.assert_array_equal(data(ax.jit(move)(keys)), expected)


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_arrays_of_keys_move_under_vmap(move: Callable[[Any], Any], axis: int) -> None:
    keys = anp.moveaxis(some(2, 3, 4), 0, axis)
    got = ax.vmap(move, in_axes=axis)(keys)
    for i in range(2):
        one = move(keys[(slice(None),) * axis + (i,)])
        np.testing.assert_array_equal(data(got[i]), data(one))


def test_keys_can_be_iterated_over_and_unpacked() -> None:
    first, second = random.split(random.key(0))
    np.testing.assert_array_equal(data(first), data(random.split(random.key(0))[0]))
    np.testing.assert_array_equal(data(second), data(random.split(random.key(0))[1]))


def test_compiled_functions_take_and_give_keys() -> None:
    @ax.jit
    def step(state: Any) -> Any:
        key, draw = random.split(state["key"])
        return {"key": key, "x": state["x"] + random.uniform(draw)}

    state = {"key": random.key(5), "x": 0.0}
    by_hand_key, total = random.key(5), 0.0
    for _ in range(3):
        state = step(state)
        by_hand_key, draw = random.split(by_hand_key)
        total = total + random.uniform(draw)
    np.testing.assert_array_equal(data(state["key"]), data(by_hand_key))
    np.testing.assert_allclose(state["x"], total, rtol=1e-6)


def test_keys_may_be_constants_of_a_compiled_function() -> None:
    keys = some(3)
    draw = ax.jit(lambda i: random.uniform(keys[i], (2,)))
    for i in range(3):
        np.testing.assert_array_equal(draw(anp.int32(i)), random.uniform(keys[i], (2,)))
    given_back = ax.jit(lambda: keys)()
    np.testing.assert_array_equal(data(given_back), data(keys))


def test_seeds_may_be_traced() -> None:
    for seed in (np.int32(-5), np.uint32(2**32 - 1), np.int8(-1), np.uint8(9), np.bool_(True)):
        np.testing.assert_array_equal(ax.jit(random.PRNGKey)(seed), random.PRNGKey(seed))
    with ax.config(default_dtype_bits=64):
        for big in (np.int64(-5), np.uint64(2**64 - 3), np.int64(2**40)):
            np.testing.assert_array_equal(ax.jit(random.PRNGKey)(big), random.PRNGKey(big))


def test_vmap_over_seeds_keys_and_data_equals_a_loop() -> None:
    seeds = np.arange(4, dtype=np.int32)
    keys = ax.vmap(random.key)(seeds)
    np.testing.assert_array_equal(data(keys), [data(random.key(int(s))) for s in seeds])
    for f in (lambda k: random.split(k, 3), random.split, lambda k: random.fold_in(k, 7)):
        np.testing.assert_array_equal(data(ax.vmap(f)(keys)), [data(f(k)) for k in keys])
    numbers = np.arange(4, dtype=np.uint32)
    np.testing.assert_array_equal(
        data(ax.vmap(random.fold_in)(keys, numbers)),
        [data(random.fold_in(k, int(n))) for k, n in zip(keys, numbers, strict=True)],
    )
    np.testing.assert_array_equal(
        data(ax.vmap(random.fold_in, in_axes=(None, 0))(keys[0], numbers)),
        [data(random.fold_in(keys[0], int(n))) for n in numbers],
    )
    np.testing.assert_array_equal(
        data(ax.vmap(random.fold_in, in_axes=(0, None))(keys, 3)),
        [data(random.fold_in(k, 3)) for k in keys],
    )
    np.testing.assert_array_equal(data(ax.vmap(random.wrap_key_data)(data(keys))), data(keys))
    np.testing.assert_array_equal(ax.vmap(random.key_data)(keys), data(keys))


def test_nested_vmap_over_keys_equals_loops() -> None:
    keys = some(2, 3)
    got = ax.vmap(ax.vmap(lambda k: random.bits(k, (2,)), in_axes=0), in_axes=1)(keys)
    want = [[np.asarray(random.bits(keys[i, j], (2,))) for i in range(2)] for j in range(3)]
    np.testing.assert_array_equal(got, want)


def test_keys_carry_through_scan() -> None:
    def body(key: Any, x: Any) -> Any:
        key, draw = random.split(key)
        return key, random.uniform(draw) * x

    last, draws = lax.scan(body, random.key(0), anp.ones(3))
    key = random.key(0)
    for i in range(3):
        key, draw = random.split(key)
        np.testing.assert_array_equal(draws[i], random.uniform(draw))
    np.testing.assert_array_equal(data(last), data(key))

    keys = some(3)
    _, per_key = lax.scan(lambda c, k: (c, random.uniform(k)), 0.0, keys)
    np.testing.assert_array_equal(per_key, [np.asarray(random.uniform(k)) for k in keys])


def test_keys_made_inside_a_loop_stay_there() -> None:
    def total(x: Any) -> Any:
        numbers = anp.arange(3, dtype=np.int32)
        return lax.scan(lambda c, i: (c + random.uniform(random.key(i)), i), x, numbers)[0]

    expected = sum(np.asarray(random.uniform(random.key(i))) for i in range(3))
    np.testing.assert_allclose(ax.jit(total)(anp.float32(0)), expected, rtol=1e-6)


def test_keys_pass_through_cond() -> None:
    key = random.key(0)
    pick = ax.jit(lambda p, k: lax.cond(p, lambda k: k, lambda k: random.fold_in(k, 1), k))
    np.testing.assert_array_equal(data(pick(True, key)), data(key))
    np.testing.assert_array_equal(data(pick(False, key)), data(random.fold_in(key, 1)))
    # Keys that a branch holds, though none goes in.
    held = ax.jit(lambda p: lax.cond(p, lambda: key, lambda: random.key(9)))
    np.testing.assert_array_equal(data(held(True)), data(key))
    np.testing.assert_array_equal(data(held(False)), data(random.key(9)))
    keys = some(3)
    mapped = ax.vmap(pick, in_axes=(0, 0))(np.array([True, False, True]), keys)
    np.testing.assert_array_equal(data(mapped[1]), data(random.fold_in(keys[1], 1)))
    np.testing.assert_array_equal(data(mapped[2]), data(keys[2]))


def test_keys_carry_through_while_loops() -> None:
    key = random.key(0)
    split_n = ax.jit(lambda n, k: lax.fori_loop(0, n, lambda i, k: random.split(k)[0], k))
    twice = random.split(random.split(key)[0])[0]
    np.testing.assert_array_equal(data(split_n(anp.int32(2), key)), data(twice))


def test_gradients_pass_by_keys() -> None:
    def loss(x: Any, key: Any) -> Any:
        return anp.sum(x * random.normal(key, (3,)))

    key = random.key(0)
    noise = np.asarray(random.normal(key, (3,)))
    x = anp.ones(3)
    np.testing.assert_allclose(ax.grad(loss)(x, key), noise, rtol=1e-6)
    np.testing.assert_allclose(ax.grad(ax.jit(loss))(x, key), noise, rtol=1e-6)
    np.testing.assert_allclose(ax.jit(ax.grad(loss))(x, key), noise, rtol=1e-6)
    closed = ax.grad(lambda x: anp.where(x > 0, x, -x).sum() * random.uniform(some(2)[1]))(x)
    np.testing.assert_allclose(closed, np.full(3, random.uniform(some(2)[1])), rtol=1e-6)


def test_keys_can_be_copied_and_pickled() -> None:
    keys = some(3)
    for again in (pickle.loads(pickle.dumps(keys)), copy.copy(keys), copy.deepcopy(keys)):
        assert again.dtype is keys.dtype
        np.testing.assert_array_equal(data(again), data(keys))


def test_keys_are_leaves_of_trees() -> None:
    keys = random.split(random.key(0))
    doubled = ax.tree.map(lambda k: random.split(k, 2), {"a": keys[0], "b": [keys[1]]})
    assert doubled["a"].shape == (2,) and doubled["b"][0].dtype is keys.dtype


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a number for a key": (
        lambda: random.uniform(0, (2,)),
        TypeError,
        r"uniform: the first argument must be a random key, got 0.*ax\.random\.key\(0\)",
    ),
    "numbers for a key": (
        lambda: random.uniform(np.zeros(2, np.float32)),
        TypeError,
        r"must be a random key, got an array of type float32\[2\]",
    ),
    "many keys": (
        lambda: random.uniform(some(3)),
        ValueError,
        r"takes one key, got an array of keys of shape \(3,\); use ax\.vmap",
    ),
    "a float seed": (lambda: random.key(1.5), TypeError, r"a seed must be an integer, got 1\.5"),
    "an array of floats": (
        lambda: random.key(np.float32(1)),
        TypeError,
        "a seed must be an integer",
    ),
    "many seeds": (
        lambda: random.key(np.arange(3)),
        TypeError,
        r"a seed must be a scalar, got an array of shape \(3,\)",
    ),
    "a seed beyond 64 bits": (lambda: random.key(2**63), OverflowError, "out of range for int64"),
    "another generator": (
        lambda: random.key(0, impl="rbg"),
        ValueError,
        "no random generator 'rbg'; there is 'threefry2x32'",
    ),
    "a negative number folded in": (
        lambda: random.fold_in(random.key(0), -1),
        OverflowError,
        "out of range for uint32",
    ),
    "a float folded in": (
        lambda: random.fold_in(random.key(0), 1.5),
        TypeError,
        "data must be an integer",
    ),
    "an array folded in": (
        lambda: random.fold_in(random.key(0), np.arange(3)),
        TypeError,
        "data must be a scalar",
    ),
    "key data of another dtype": (
        lambda: random.wrap_key_data(np.zeros(2, np.int32)),
        TypeError,
        "must be an array of uint32",
    ),
    "key data of another shape": (
        lambda: random.wrap_key_data(np.zeros(3, np.uint32)),
        TypeError,
        r"last axis of key data must have length 2, got the shape \(3,\)",
    ),
    "a traced shape": (
        lambda: ax.jit(lambda n: random.uniform(random.key(0), (n,)))(3),
        TypeError,
        "a shape is a tuple of integers known before the program runs",
    ),
    "a word for a shape": (
        lambda: random.uniform(random.key(0), "ab"),
        TypeError,
        "a shape is a tuple of integers",
    ),
    "a negative length": (
        lambda: random.uniform(random.key(0), (2, -1)),
        ValueError,
        "negative length",
    ),
    "a sum of keys": (lambda: random.key(0) + 1, TypeError, "key<threefry2x32>"),
    "NumPy's view of a key": (
        lambda: np.asarray(random.key(0)),
        TypeError,
        r"ax\.random\.key_data",
    ),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_makes_no_sense_is_refused_with_advice(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()
