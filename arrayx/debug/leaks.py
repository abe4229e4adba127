"""`check_leaks`: traced values that outlive the transformation they belong to."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arrayx import errors
from arrayx.core.interpreter import Tracer

_SHOWN = 10


@contextmanager
def check_leaks() -> Iterator[None]:
    """Raises at the end of the block where traced values of ended transformations are still held.

    Such a value was stored by the function, in a global, an attribute or a list, instead of
    being returned; using it raises `LeakedTracerError` later, maybe far away.  The error names
    each one, where it was made, and what holds it.  It looks at every object of the program, so
    it takes some time.

    >>> import arrayx as ax
    >>> kept = []
    >>> with ax.debug.check_leaks():
    ...     y = ax.jit(lambda x: kept.append(x) or x * 2)(1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    arrayx.errors.LeakedTracerError: 1 traced value is held after its transformation ended:
      Traced<float32[]~> in ax.jit of <lambda>, it is the argument x, held by a list
    ...
    """
    before = {id(t) for t in _leaked()}
    yield
    found = [t for t in _leaked() if id(t) not in before]
    if not found:
        return
    lines = []
    for i in range(min(len(found), _SHOWN)):  # no further list, which would hold them too
        origin = found[i].origin()
        holder = _holder(found[i], found)
        lines.append(f"  {found[i]!r}{f', {origin}' if origin else ''}, {holder}")
    count = f"{len(found)} traced values are" if len(found) > 1 else "1 traced value is"
    text = "\n".join([f"{count} held after its transformation ended:", *lines])
    raise errors.LeakedTracerError(
        f"{text}\nReturn values from the function instead of storing them."
    )


def _leaked() -> list[Tracer]:
    gc.collect()
    return [o for o in gc.get_objects() if isinstance(o, Tracer) and o.interpreter.closed]


def _holder(tracer: Tracer, found: list[Tracer]) -> str:
    """What holds a traced value, in words."""
    for holder in gc.get_referrers(tracer):
        if holder is found or isinstance(holder, types.FrameType):
            continue
        if isinstance(holder, dict):
            name = _name_in(holder, tracer)
            owner = _owner(holder)
            return f"held by {name!r} of {owner}" if owner else f"held by a dict as {name!r}"
        if isinstance(holder, types.CellType):
            return "held by a closure"
        kind = type(holder).__name__
        return f"held by {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    return "held by what is running"


def _name_in(namespace: dict[Any, Any], value: Any) -> Any:
    for name, held in namespace.items():  # no generator, whose cell would hold the value too
        if held is value:
            return name
    return None


def _owner(namespace: dict[str, Any]) -> str:
    """The module or object whose attributes a dict holds."""
    if "__name__" in namespace and "__spec__" in namespace:
        return f"module {namespace['__name__']}"
    for owner in gc.get_referrers(namespace):
        if getattr(owner, "__dict__", None) is namespace:
            return f"an object of {type(owner).__name__}"
    return ""
