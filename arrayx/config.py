"""The settings, one table of them, apart because every floor reads them and caches key on them.

Settings belong to the running thread or context, never to the process: all of them together are
one immutable `Snapshot` in one context variable, so using them as a cache key costs one read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Literal, NoReturn

from arrayx.errors import ArgumentError

__all__ = ["Option", "Snapshot", "config", "define"]

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its name, default, the values it takes, its meaning, and its variable."""

    name: str
    default: Any
    type: type
    choices: tuple[Any, ...]
    doc: str
    env: str
    raw: str | None  # what the environment said when the option was defined

    def allowed(self) -> str:
        """The values it takes, in words.

        >>> OPTIONS["default_dtype_bits"].allowed()
        '32, 64'
        """
        if self.type is bool:
            return "True, False (1, 0, on, off, yes, no in the environment)"
        if self.choices:
            return ", ".join(map(repr, self.choices))
        return f"any {self.type.__name__} that is not empty"

    def check(self, value: Any) -> Any:
        """`value`, or an `ArgumentError` that lists what is allowed."""
        # The exact type, since True == 1: equal snapshots have to mean equal settings.
        if type(value) is not self.type or (self.choices and value not in self.choices):
            raise ArgumentError(f"config.{self.name} = {value!r}: allowed are {self.allowed()}")
        if value == "":
            raise ArgumentError(f"config.{self.name} is empty: allowed are {self.allowed()}")
        return value

    def initial(self) -> Any:
        """What a new thread starts with: the environment's value if there is one."""
        if self.raw is None:
            return self.default
        text = self.raw.strip()
        value: Any = text
        if self.type is bool:
            lower = text.lower()
            value = True if lower in _TRUE else False if lower in _FALSE else text
        elif self.type is int:
            value = int(text) if text.lstrip("-").isdigit() else text
        try:
            return self.check(value)
        except ArgumentError:
            raise ArgumentError(
                f"the environment variable {self.env} is {self.raw!r}, "
                f"which config.{self.name} cannot be: allowed are {self.allowed()}"
            ) from None


OPTIONS: Final[dict[str, Option]] = {}


def define(
    name: str,
    default: Any,
    choices: type | tuple[Any, ...],
    doc: str,
    env: str | None = None,
) -> Option:
    """Add a setting to `config`, readable from the environment variable `env`.

    `choices` is the tuple of values it takes, or a type (`bool`, `int`, `str`) of which it takes
    any. `env` is `ARRAYX_<NAME>` unless given; it is read here, once, and judged when the setting
    is first read, so a wrong value never breaks `import arrayx`.

    >>> define("example_level", 1, (1, 2, 3), "An example.").env
    'ARRAYX_EXAMPLE_LEVEL'
    >>> config.example_level
    1
    >>> del OPTIONS["example_level"]
    """
    if name in OPTIONS:
        raise ArgumentError(f"config.{name} is defined already")
    env = f"ARRAYX_{name.upper()}" if env is None else env
    if isinstance(choices, type):
        option = Option(name, default, choices, (), doc, env, os.environ.get(env))
    else:
        option = Option(name, default, type(default), choices, doc, env, os.environ.get(env))
    option.check(default)
    OPTIONS[name] = option
    # A property, since `__getattr__` alone costs an AttributeError inside Python at each reading.
    setattr(Config, name, property(lambda _: getattr(_CURRENT.get(), name)))
    return option


def _no_such_option(name: str) -> NoReturn:
    hint = _JAX_INSTEAD.get(name.removeprefix(_JAX), "") if name.startswith(_JAX) else ""
    raise AttributeError(
        f"config has no setting {name!r}; {hint and hint + '. '}there are "
        f"{', '.join(sorted(OPTIONS))}"
    )


# ----------------------------------------------------------------- JAX's names of settings

_JAX: Final = "jax_"


@dataclass(frozen=True, slots=True)
class Alias:
    """A setting under JAX's name: which of ours it is, and what its values are called here."""

    option: str
    values: tuple[tuple[Any, Any], ...] = ()

    def ours(self, value: Any) -> Any:
        """The value of our setting that a value of JAX's means; others are left to be refused."""
        return next((b for a, b in self.values if a == value and type(a) is type(value)), value)

    def theirs(self, value: Any) -> Any:
        """The first of JAX's values that means this one of ours."""
        return next((a for a, b in self.values if b == value), value)


_JAX_NAMES: Final[dict[str, Alias]] = {
    "jax_enable_x64": Alias("default_dtype_bits", ((True, 64), (False, 32))),
    "jax_enable_checks": Alias("check_graphs"),
    "jax_disable_jit": Alias("disable_jit"),
    "jax_numpy_dtype_promotion": Alias("numpy_dtype_promotion"),
    "jax_numpy_rank_promotion": Alias("numpy_rank_promotion"),
    "jax_traceback_filtering": Alias(
        "traceback",
        (
            ("auto", "short"),
            ("off", "full"),
            ("tracebackhide", "short"),
            ("remove_frames", "short"),
        ),
    ),
}
# What to do where JAX has a setting and there is none here.
_JAX_INSTEAD: Final[dict[str, str]] = {
    "platform_name": "choose where arrays live with ax.default_backend('xla') or ARRAYX_BACKEND",
    "platforms": "choose where arrays live with ax.default_backend('xla') or ARRAYX_BACKEND",
    "default_device": "place arrays with ax.default_backend or ax.device_put(x, device)",
    "threefry_partitionable": "random bits are always those of the partitionable form",
    "default_prng_impl": "keys are always of the generator threefry2x32",
    "default_matmul_precision": "give precision= to the products that need it",
    "dynamic_shapes": "shapes are always static",
}


class Snapshot:
    """All settings at one moment: immutable, and the same object whenever they are equal.

    Hash and equality are therefore those of the object, which makes it a cheap cache key.

    >>> config.snapshot() is config.snapshot()
    True
    >>> config.snapshot().default_dtype_bits
    32
    """

    # Holds what differs from the defaults; defaults are filled in when first read, so that an
    # option defined later neither changes a snapshot's identity nor makes it incomplete.
    _overrides: tuple[tuple[str, Any], ...]

    def __init__(self, overrides: tuple[tuple[str, Any], ...]) -> None:
        self.__dict__.update(overrides, _overrides=overrides)

    def __getattr__(self, name: str) -> Any:
        option = OPTIONS.get(name)
        if option is None:
            alias = _JAX_NAMES.get(name)
            if alias is not None:
                return alias.theirs(getattr(self, alias.option))
            _no_such_option(name)
        value = self.__dict__[name] = option.initial()
        return value

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a snapshot of the settings does not change; set them on `config`")

    def items(self) -> tuple[tuple[str, Any], ...]:
        """Every setting and its value, by name: the form to keep in a file or hash in a key."""
        return tuple((name, getattr(self, name)) for name in sorted(OPTIONS))

    def replace(self, changes: Mapping[str, Any]) -> Snapshot:
        """The snapshot that differs from this one by `changes`, which are checked."""
        overrides = dict(self._overrides)
        for name, value in changes.items():
            option = OPTIONS.get(name)
            if option is None:
                alias = _JAX_NAMES.get(name)
                if alias is None:
                    _no_such_option(name)
                option, value = OPTIONS[alias.option], alias.ours(value)
            overrides[option.name] = option.check(value)
        return _intern(overrides)

    def __reduce__(self) -> tuple[Any, ...]:
        # By value: the process that reads it may have been started with other defaults.
        return _intern, (dict(self.items()),)

    def __repr__(self) -> str:
        return f"Snapshot({', '.join(f'{name}={value!r}' for name, value in self.items())})"


_SNAPSHOTS: Final[dict[tuple[tuple[str, Any], ...], Snapshot]] = {}


def _intern(settings: Mapping[str, Any]) -> Snapshot:
    def is_default(name: str, value: Any) -> bool:
        try:
            return bool(OPTIONS[name].initial() == value)
        except ArgumentError:  # the environment's value is wrong: any other one differs from it
            return False

    key = tuple(sorted(item for item in settings.items() if not is_default(*item)))
    snapshot = _SNAPSHOTS.get(key)
    if snapshot is None:  # setdefault, so that two threads agree on one object
        snapshot = _SNAPSHOTS.setdefault(key, Snapshot(key))
    return snapshot


_DEFAULTS: Final = _intern({})
# The default is given here and not set later: a value set at import is missing in other threads.
_CURRENT: Final[ContextVar[Snapshot]] = ContextVar("arrayx_config", default=_DEFAULTS)


class _Override:
    """What `config(...)` returns: the settings it was made with hold inside `with`."""

    __slots__ = ("_changes", "_previous")

    def __init__(self, changes: Mapping[str, Any]) -> None:
        _CURRENT.get().replace(changes)  # a wrong name or value fails here, not at `with`
        self._changes = changes
        self._previous: list[Snapshot] = []

    def __enter__(self) -> None:
        previous = _CURRENT.get()
        _CURRENT.set(previous.replace(self._changes))
        self._previous.append(previous)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not ContextVar.reset: it refuses when a generator or a test leaves in another context.
        _CURRENT.set(self._previous.pop())


class Config:
    """The settings of this thread: read and set as attributes, or hold inside a `with`.

    Settings that JAX has too are found under its names as well (`jax_enable_x64`).

    >>> config.default_dtype_bits
    32
    >>> with config(default_dtype_bits=64):
    ...     config.default_dtype_bits
    64
    >>> config.update("zeros_absorb", False)
    >>> config.zeros_absorb
    False
    >>> config.zeros_absorb = True
    >>> with config(jax_enable_x64=True):
    ...     config.default_dtype_bits, config.jax_enable_x64
    (64, True)
    """

    __slots__ = ()

    default_dtype_bits: Literal[32, 64]
    zeros_absorb: bool
    residual_policy: Literal["recompute", "save"]
    check_graphs: bool
    checks: bool
    traceback: Literal["short", "full"]
    default_backend: str
    eager_xla: Literal["host", "compile"]
    numpy_dtype_promotion: Literal["standard", "strict"]
    numpy_rank_promotion: Literal["allow", "warn", "raise"]
    disable_jit: bool

    # The context variable's own method: one C call, since caches make it at every look-up.
    snapshot = staticmethod(_CURRENT.get)

    def __getattr__(self, name: str) -> Any:
        return getattr(_CURRENT.get(), name)  # not an option: says which there are

    def __setattr__(self, name: str, value: Any) -> None:
        _CURRENT.set(_CURRENT.get().replace({name: value}))

    def update(self, name: str, value: Any) -> None:
        """Set `name` to `value` in this thread, until it is set again."""
        setattr(self, name, value)

    def __call__(self, **changes: Any) -> _Override:
        """A context manager inside which the named settings hold; always undone."""
        return _Override(changes)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *OPTIONS})

    def __repr__(self) -> str:
        lines = [
            f"{option.name} = {getattr(self, option.name)!r}"
            f"  # {option.doc} One of {option.allowed()}. {option.env}"
            for option in OPTIONS.values()
        ]
        return "\n".join(lines)


config: Final = Config()

for _row in (
    (
        "default_dtype_bits",
        32,
        (32, 64),
        "Width of the dtype that values without one get: `zeros(3)`, `arange(3)`, `1.5`.",
    ),
    (
        "zeros_absorb",
        True,
        bool,
        "In derivatives 0 times anything is 0, so a branch not taken cannot make NaN.",
    ),
    (
        "residual_policy",
        "recompute",
        ("recompute", "save"),
        "What reverse mode does with elementwise values: makes them again, or keeps them.",
    ),
    (
        "checks",
        False,
        bool,
        "Whether `debug.check` is written into programs; `checked` sees to that itself.",
    ),
    ("check_graphs", False, bool, "Check the types of the graph after each transformation."),
    (
        "traceback",
        "short",
        ("short", "full"),
        "Whether tracebacks hide arrayx's own frames or show them.",
    ),
    (
        "default_backend",
        "numpy",
        str,
        "The backend of arrays that no argument or `with` places elsewhere.",
        "ARRAYX_BACKEND",
    ),
    (
        "eager_xla",
        "host",
        ("host", "compile"),
        "Where xla on CPU runs a small operation called alone: on host views, or compiled.",
        "ARRAYX_XLA_EAGER",
    ),
    (
        "numpy_dtype_promotion",
        "standard",
        ("standard", "strict"),
        "Whether operands of different dtypes are promoted, or only Python numbers adapt.",
    ),
    (
        "numpy_rank_promotion",
        "allow",
        ("allow", "warn", "raise"),
        "What happens where operands of different numbers of axes are broadcast together.",
    ),
    (
        "disable_jit",
        False,
        bool,
        "Run compiled functions, loops and branches as the Python that they are.",
    ),
):
    define(*_row)
del _row
