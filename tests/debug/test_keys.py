"""Random keys that are used twice, in every form of program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import random
from arrayx.errors import KeyReuseError


def split_first(key: Any) -> Any:
    first, second = random.split(key)
    return random.normal(first) + random.uniform(second)


def folded(key: Any) -> Any:
    keys = [random.fold_in(key, i) for i in range(3)]
    return sum(random.normal(k) for k in keys)


def loop_with_a_key_each(key: Any) -> Any:
    body = lambda i, c: c + random.normal(random.fold_in(key, i))  # noqa: E731
    return ax.lax.fori_loop(0, 3, body, 0.0)


def carried(key: Any) -> Any:
    def step(key: Any, _: Any) -> Any:
        key, own = random.split(key)
        return key, random.normal(own)

    return anp.sum(ax.lax.scan(step, key, None, length=3)[1])


GOOD = {
    "split first": split_first,
    "folded": folded,
    "a key each step": loop_with_a_key_each,
    "carried": carried,
    "one branch each": lambda k: ax.lax.cond(True, random.normal, random.uniform, k),
    "mapped": lambda k: anp.sum(ax.vmap(random.normal)(random.split(k, 4))),
    "jitted": ax.jit(split_first),
    # Samplers that draw several times split the key themselves.
    "permutation": lambda k: random.permutation(k, 10).sum(),
    "choice": lambda k: random.choice(k, 10, (4,), replace=False).sum(),
    "randint": lambda k: random.randint(k, (3,), 0, 10).sum(),
    "truncated normal": lambda k: random.truncated_normal(k, -1, 1, (3,)).sum(),
    "categorical": lambda k: random.categorical(k, anp.zeros(3)),
}

BAD = {
    "twice": lambda k: random.normal(k) + random.uniform(k),
    "after a split": lambda k: (random.split(k), random.normal(k))[1],
    "jitted": ax.jit(lambda k: random.normal(k) + random.uniform(k)),
    "jitted twice": lambda k: ax.jit(random.normal)(k) + ax.jit(random.normal)(k),
    "in a loop": lambda k: ax.lax.fori_loop(0, 3, lambda i, c: c + random.normal(k), 0.0),
    "after a branch": lambda k: (
        ax.lax.cond(True, random.normal, random.uniform, k) + random.normal(k)
    ),
    "mapped": lambda k: ax.vmap(lambda x: x + random.normal(k))(np.ones(3)) + random.normal(k),
}


@pytest.mark.parametrize("name", GOOD)
def test_keys_that_are_used_once_are_let_through(name: str) -> None:
    key = random.key(7)
    expected = GOOD[name](key)
    with ax.debug.check_keys():
        assert float(GOOD[name](key)) == float(expected)
    np.testing.assert_allclose(ax.checked(GOOD[name])(key), expected, rtol=1e-6)


@pytest.mark.parametrize("name", BAD)
def test_both_lines_are_named(name: str) -> None:
    key = random.key(7)
    with (
        pytest.raises(KeyReuseError, match=r"first at: .*test_keys(.|\n)*again at: .*test_keys"),
        ax.debug.check_keys(),
    ):
        BAD[name](key)
    with pytest.raises(KeyReuseError, match=r"first at: .*test_keys\.py(.|\n)*again at"):
        ax.checked(BAD[name])(key)


def test_a_copy_is_the_same_key() -> None:
    with pytest.raises(KeyReuseError), ax.debug.check_keys():
        random.normal(random.key(3))
        random.normal(random.key(3))


def test_each_watch_begins_anew() -> None:
    key = random.key(1)
    for _ in range(2):
        with ax.debug.check_keys():
            random.normal(key)
