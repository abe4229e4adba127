"""`trace_nans`: every operation runs alone, and the first that makes a nan is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from arrayx import dtypes, errors, source
from arrayx.backend.concrete import ConcreteArray
from arrayx.core.interpreter import current, installed
from arrayx.core.primitive import Primitive
from arrayx.debug.observing import Stepper
from arrayx.primitives.arithmetic import absorb_mul


class NanReport:
    """What `trace_nans` saw without raising: products in which a zero absorbed an inf or nan.

    `absorbed` has one text for each line where that happened.  There the derivative is taken to
    be 0, which is right for a branch that was not taken, and hides a true 0·inf.
    """

    def __init__(self) -> None:
        self.absorbed: list[str] = []

    def __str__(self) -> str:
        if not self.absorbed:
            return "no zero absorbed an inf or nan"
        return "\n".join(self.absorbed)


@contextmanager
def trace_nans() -> Iterator[NanReport]:
    """Inside the block every operation runs alone, and the first to make a nan raises.

    The error names the operation, the values it got, the line, and whether that is in the
    backward pass.  What jitted functions and loops do is seen as well: they are run operation by
    operation, which is slow.  A nan that was given is nobody's fault.

    Products in which a zero absorbed an inf or nan (see docs/gradients.md) are collected in the
    report that `with` gives.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> with ax.debug.trace_nans():
    ...     ax.jit(lambda x: anp.log(x) * 2)(-1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    arrayx.errors.NanError: log made nan
      at: ...
      of: float32[] = -1.0
    >>> with ax.debug.trace_nans() as report:
    ...     g = ax.grad(lambda x: anp.log(anp.exp(x)))(-200.0)
    >>> float(g), len(report.absorbed)
    (0.0, 1)
    """
    watcher = NanWatcher(NanReport())
    with installed(watcher):
        yield watcher.report


class NanWatcher(Stepper):
    """Runs operations of concrete values one by one and looks at each result."""

    __slots__ = ("report",)
    word = "ax.debug.trace_nans"

    def __init__(self, report: NanReport) -> None:
        super().__init__(current.get())
        self.report = report

    def see(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        result = self.under(primitive, args, params)
        results = result if primitive.multiple else (result,)
        made = [has_nan(r) for r in results]
        if any(made) and not any(has_nan(a) for a in args):
            refuse(primitive, args, results)
        if primitive is absorb_mul and not any(made):
            self.note_absorbed(args, result)
        return result

    def note_absorbed(self, args: tuple[Any, ...], result: Any) -> None:
        """Reports a product that would have been nan if zeros did not absorb."""
        factors = [host(a) for a in args]
        if any(f is None for f in factors):
            return
        with np.errstate(all="ignore"):
            hidden = np.isnan(np.multiply(*factors))
        if hidden.any():
            text = f"0 times inf or nan was taken to be 0\n  at: {source.current()}"
            if text not in self.report.absorbed:
                self.report.absorbed.append(text)


def host(x: Any) -> Any:
    """The elements of a concrete operand; None where they are not known."""
    if isinstance(x, ConcreteArray):
        return x.host() if dtypes.is_inexact(x.dtype) else None
    if isinstance(x, np.ndarray | np.generic | float | complex):
        return np.asarray(x)
    return None


def has_nan(x: Any) -> bool:
    """True where a concrete operand holds a nan."""
    elements = host(x)
    return elements is not None and bool(np.isnan(elements).any())


def refuse(primitive: Primitive, args: tuple[Any, ...], results: Any) -> None:
    """Raises the error that names who made a nan of what."""
    bad = next(np.isnan(host(r)) for r in results if has_nan(r))
    where = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    lines = [f"{primitive.name} made nan", f"  at: {source.current()}"]
    for a in args:
        lines.append(f"  of: {described(a, bad.shape, where)}")
    if bad.ndim:
        lines.append(f"  {int(bad.sum())} of {bad.size} elements are nan, the first at {where}")
    raise errors.NanError("\n".join(lines))


def described(x: Any, shape: tuple[int, ...], where: tuple[int, ...]) -> str:
    """An operand's type, and its value where the result is nan, or its range."""
    elements = np.asarray(x.host()) if isinstance(x, ConcreteArray) else np.asarray(x)
    aval = getattr(x, "aval", None)
    name = str(aval.strong()) if aval is not None else type(x).__name__
    if not elements.ndim:
        return f"{name} = {elements}"
    if elements.shape == shape:
        return f"{name}, there {elements[where]}"
    if not elements.size:
        return name
    return f"{name}, from {elements.min()} to {elements.max()}"
