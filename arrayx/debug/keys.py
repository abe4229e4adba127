"""Random keys that are used twice: noticed by their values eagerly, by their names when staged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from arrayx import errors, source
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.interpreter import current, installed
from arrayx.core.primitive import Primitive
from arrayx.debug.observing import Stepper
from arrayx.primitives.random import random_bits, random_split, random_unwrap

# What draws from a key.  To fold data in gives a new key for each datum, and uses none up.
CONSUMERS = frozenset({random_bits, random_split})


def refuse(first: Any, second: Any) -> NoReturn:
    """Raises the error of a key that is used a second time."""
    raise errors.KeyReuseError(
        "a random key is used twice, so both uses draw the same numbers.\n"
        f"  first at: {first}\n"
        f"  again at: {second}\n"
        "Split it before: key, subkey = ax.random.split(key), and use each part once; or make "
        "a key for each step of a loop: ax.random.fold_in(key, i)."
    )


class KeyUses:
    """Which keys have been used, and where."""

    def __init__(self, used: dict[Any, Any] | None = None) -> None:
        self.used: dict[Any, Any] = dict(used or {})

    def use(self, key: Any, where: Any) -> None:
        """Notes a use; raises for the second one of the same key."""
        if key in self.used:
            refuse(self.used[key], where)
        self.used[key] = where


@contextmanager
def check_keys() -> Iterator[None]:
    """Inside the block a random key that is used twice raises `KeyReuseError`.

    Drawing from a key and splitting it use it up; `fold_in` does not.  Keys are known by their
    values, so a copy counts as the same key.  What jitted functions and loops do is seen as well,
    operation by operation, which is slow.  `ax.checked` looks for it in a staged program.

    >>> import arrayx as ax
    >>> with ax.debug.check_keys():
    ...     key = ax.random.key(0)
    ...     x = ax.random.normal(key)
    ...     y = ax.random.uniform(key)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    arrayx.errors.KeyReuseError: a random key is used twice, so both uses draw the same numbers.
      first at: ...
      again at: ...
    """
    with installed(KeyWatcher()):
        yield


class KeyWatcher(Stepper):
    """Runs operations one by one and remembers the keys that were used."""

    __slots__ = ("uses",)
    word = "ax.debug.check_keys"

    def __init__(self) -> None:
        super().__init__(current.get())
        self.uses = KeyUses()

    def see(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive in CONSUMERS and isinstance(args[0], ConcreteArray):
            where = source.current()
            words = self.under(random_unwrap, (args[0],), {})
            for pair in np.asarray(words.host()).reshape(-1, words.shape[-1]):
                self.uses.use(tuple(pair.tolist()), where)
        return self.under(primitive, args, params)
