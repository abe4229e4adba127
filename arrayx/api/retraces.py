"""Why a compiled function was traced again: what each trace was keyed by, told as differences.

Every trace of a jitted function leaves a `Trace`: where the call stood, and what decided the
graph.  `explain` compares each with the earlier one that it resembles most.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from arrayx import source
from arrayx.config import Snapshot
from arrayx.core.aval import Aval
from arrayx.errors import RetraceWarning
from arrayx.lazy import lazy
from arrayx.treedef import TreeDef

logging = lazy("logging")  # 6 ms that a program without log_recompiles need not wait

_KEPT = 256
_MOST_FROM_ONE_LINE = 5

_logging: ContextVar[bool] = ContextVar(
    "arrayx_log_recompiles",
    default=os.environ.get("ARRAYX_LOG_RECOMPILES", "").lower() in ("1", "true", "yes", "on"),
)


class Trace(NamedTuple):
    """One trace of a function: where it was called, and what decided its graph."""

    site: source.Source | None
    tree: TreeDef
    leaves: tuple[tuple[str, Aval], ...]
    static: tuple[tuple[Any, Any], ...]
    settings: Snapshot
    axes: Any

    def where(self) -> str:
        """The line of the call, in words."""
        return str(self.site) if self.site is not None else "an unknown line"


class Difference(NamedTuple):
    """What differs between two traces, and what would make them one."""

    text: str
    remedy: str


_SHAPES = "each shape has its own program: pad to one shape, or call it with few different ones"
_DTYPES = "convert the argument to one dtype before the call"
_WEAK = (
    "a Python number and an array of the same dtype are different types: pass "
    "anp.asarray(value, dtype) each time, or the number each time"
)
_STATIC = "each static value has its own program: make it an ordinary argument, or use few values"
_TREES = "pass the same structure (keys, lengths, None) each time"
_AXES = "the named axes around the call differ; call it outside of vmap, or always inside"


def differences(old: Trace, new: Trace) -> list[Difference]:
    """What in the key of a trace differs from that of another, in the words of the arguments."""
    found = []
    before, after = dict(old.leaves), dict(new.leaves)
    for path in before.keys() & after.keys():
        a, b = before[path], after[path]
        if a is not b:
            found.append(Difference(f"{path} was {_type(a)}, is {_type(b)}", _remedy(a, b)))
    if old.tree != new.tree:
        gone = sorted(before.keys() - after.keys())
        come = sorted(after.keys() - before.keys())
        parts = [f"{p} is gone" for p in gone] + [f"{p} is new" for p in come]
        text = ", ".join(parts) or f"the containers were {old.tree}, are {new.tree}"
        found.append(Difference(f"the structure of the arguments differs: {text}", _TREES))
    values, others = dict(old.static), dict(new.static)
    for place in [*values, *(p for p in others if p not in values)]:
        a, b = values.get(place, _LEFT_OUT), others.get(place, _LEFT_OUT)
        if type(a) is not type(b) or a != b:
            text = f"static argument {place!r} was {_short(a)}, is {_short(b)}"
            found.append(Difference(text, _STATIC))
    if old.settings is not new.settings:
        for (name, a), (_, b) in zip(old.settings.items(), new.settings.items(), strict=True):
            if a != b:
                text = f"the setting config.{name} was {a!r}, is {b!r}"
                found.append(Difference(text, "set it once, before the first call"))
    if old.axes != new.axes:
        found.append(Difference(f"the named axes were {old.axes}, are {new.axes}", _AXES))
    return sorted(found)


def _type(aval: Aval) -> str:
    return f"{aval.strong()} (weak)" if aval.weak_type else str(aval)


def _remedy(a: Aval, b: Aval) -> str:
    if a.shape != b.shape:
        return _SHAPES
    return _DTYPES if a.dtype != b.dtype else _WEAK


_LEFT_OUT = object()


def _short(value: Any) -> str:
    text = "left out" if value is _LEFT_OUT else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class History:
    """The traces of one function under one set of options, the latest of them."""

    __slots__ = ("count", "traces")

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.count = 0

    def clear(self) -> None:
        """Forgets everything."""
        self.traces.clear()
        self.count = 0

    def add(self, name: str, trace: Trace, function: Any) -> None:
        """Notes a trace; logs it where that is asked for; warns when one line does it often."""
        self.traces.append(trace)
        self.count += 1
        if len(self.traces) > _KEPT:
            del self.traces[0]
        if _logging.get():
            logging.getLogger("arrayx").warning(
                "%s", "\n".join(self.lines(name, len(self.traces) - 1))
            )
        if trace.site is not None:
            _count(name, trace.site, function, self)

    def lines(self, name: str, i: int) -> list[str]:
        """What there is to say of trace number `i`."""
        trace = self.traces[i]
        number = self.count - len(self.traces) + i + 1
        head = f"{name}, trace {number}, called at {trace.where()}"
        if not i:
            kinds = ", ".join(f"{path}: {_type(aval)}" for path, aval in trace.leaves)
            return [f"{head}: the first one" + (f", with {kinds}" if kinds else "")]
        # Of several that are equally near, the latest.
        nearest = min((differences(t, trace) for t in reversed(self.traces[:i])), key=len)
        if not nearest:
            return [f"{head}: nothing differs; the cache was cleared, or a tracer was captured"]
        remedies = dict.fromkeys(d.remedy for d in nearest)
        return [
            head + ":",
            *(f"    {d.text}" for d in nearest),
            *(f"    -> {remedy}" for remedy in remedies),
        ]

    def text(self, name: str) -> str:
        """The whole history in words."""
        times = "once" if self.count == 1 else f"{self.count} times"
        head = f"{name} was traced {times}"
        if not self.count:
            head = f"{name} was not traced yet"
        lines = [line for i in range(len(self.traces)) for line in self.lines(name, i)]
        return "\n".join([head, *lines])


# By function and line: how often a trace began there. A function that is made anew at each
# call has a new cache each time, but its code stands where it stood.
_begun: dict[tuple[Any, ...], int] = {}


def _count(name: str, site: source.Source, function: Any, history: History) -> None:
    function = inspect.unwrap(function)  # the user's, not a transformation's
    code = getattr(function, "__code__", None)
    made = (code.co_filename, code.co_firstlineno) if code is not None else id(function)
    # A new function each time is waste where nothing else is new.
    signature = history.traces[0].leaves if history.count == 1 else None
    key = made, site.file, site.line, signature
    if len(_begun) > 10_000:
        _begun.clear()
    times = _begun[key] = _begun.get(key, 0) + 1
    if times != _MOST_FROM_ONE_LINE + (signature is not None):
        return
    if signature is not None:
        why = (
            f"each time {name} was a new function object with a cache of its own: call ax.jit "
            "once, outside of the loop or function that makes it"
        )
    else:
        lines = history.lines(name, len(history.traces) - 1)
        why = "\n".join(
            ["the latest because", *(lines[1:] or lines), f"{name}.explain() tells all of it"]
        )
    text = f"{name} was traced again {_MOST_FROM_ONE_LINE} times by one line, {why}"
    warnings.warn_explicit(text, RetraceWarning, site.file, site.line)


@contextmanager
def log_recompiles(enabled: bool = True) -> Iterator[None]:
    """Logs every trace of a jitted function inside the block, with its line and its reason.

    The records go to the logger "arrayx" as warnings; `ARRAYX_LOG_RECOMPILES=1` turns them on
    for a whole program.

    >>> import logging, sys, arrayx as ax
    >>> handler = logging.StreamHandler(sys.stdout)
    >>> logging.getLogger("arrayx").addHandler(handler)
    >>> double = ax.jit(lambda x: x * 2)
    >>> with ax.log_recompiles():
    ...     y = double(1.0)  # doctest: +ELLIPSIS
    <lambda>, trace 1, called at ...: the first one, with x: float32[] (weak)
    >>> logging.getLogger("arrayx").removeHandler(handler)
    """
    token = _logging.set(enabled)
    try:
        yield
    finally:
        _logging.reset(token)


def trace_of(
    tree: TreeDef,
    paths: Sequence[str],
    avals: Sequence[Aval],
    static: dict[Any, Any],
    settings: Snapshot,
    axes: Any,
) -> Trace:
    """The record of a trace that begins now."""
    leaves = tuple(zip(paths, avals, strict=True))
    return Trace(source.current(2), tree, leaves, tuple(static.items()), settings, axes)
