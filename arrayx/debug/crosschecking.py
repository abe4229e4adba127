"""`crosscheck`: a function on several backends, and the first operation they disagree on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors, source, tree, tree_util
from arrayx.api import backends as installed_backends
from arrayx.api.arguments import check_callable
from arrayx.api.compilation import jit
from arrayx.api.placement import device_put
from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.registry import chosen
from arrayx.control.call import call
from arrayx.core.interpreter import current, installed
from arrayx.core.primitive import Primitive
from arrayx.debug.observing import Stepper
from arrayx.transforms.stage import derive

# Sums: the error of one is relative to the sum of the magnitudes.
_SUMS = frozenset(("reduce_sum", "cumsum", "dot_general", "conv_general_dilated"))
_ULPS = 64.0


def crosscheck(
    fun: Callable[..., Any], backends: Sequence[str] | None = None, ulps: float = _ULPS
) -> Callable[..., Any]:
    """`fun`, run compiled on several backends whose results are compared.

    Where they agree, the results of the first backend are returned.  Where they do not, `fun` is
    run again operation by operation, each with the same operands on every backend, and the first
    operation whose results differ is named with its line.

    - `backends`: names of two or more; by default all that are installed, "numpy" first.
    - `ulps`: how many units in the last place two results may be apart, those of a sum relative
      to the sum of the magnitudes; the results of the whole function may be 16 times as far.

    Arguments may lie anywhere; they are copied to each backend.

    Raises:
        CrosscheckError: results differ; the message says where.
        ArgumentError: fewer than two backends.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.crosscheck(anp.sin, backends=["numpy", "numpy"])(anp.zeros(()))
    Array(0., dtype=float32)
    """
    check_callable(fun, "ax.crosscheck")
    if isinstance(backends, str):
        raise errors.ArgumentError(
            f"ax.crosscheck: backends is a list of names, got the text {backends!r}"
        )

    @functools.wraps(fun)
    def checked(*args: Any, **kwargs: Any) -> Any:
        names = installed_backends.available() if backends is None else list(backends)
        if len(names) < 2:
            raise errors.ArgumentError(
                f"ax.crosscheck compares two backends or more, here there is {names}: install "
                "another, or name them in backends=[...]"
            )
        results = [_run(fun, name, args, kwargs) for name in names]
        for name, other in zip(names[1:], results[1:], strict=True):
            told = _difference_of_trees(results[0], other, 16 * ulps)
            if told:
                _find(fun, names[0], name, args, kwargs, ulps, told)
        return results[0]

    return checked


def _moved(values: Any, backend: str) -> Any:
    return tree.map(lambda x: device_put(x, backend) if isinstance(x, ConcreteArray) else x, values)


def _run(fun: Callable[..., Any], backend: str, args: Any, kwargs: Any) -> Any:
    with chosen(backend):
        args, kwargs = _moved((args, kwargs), backend)
        return jit(lambda *a, **k: fun(*a, **k))(*args, **kwargs)


def _find(
    fun: Callable[..., Any],
    first: str,
    second: str,
    args: Any,
    kwargs: Any,
    ulps: float,
    told: str,
) -> None:
    """Raises the error that names the first operation with different results."""
    with chosen(first):
        args, kwargs = _moved((args, kwargs), first)
        comparer = Comparer(first, second, ulps)
        with installed(comparer):
            fun(*args, **kwargs)
    where = f"\n  the farthest apart is {comparer.farthest}" if comparer.farthest else ""
    raise errors.CrosscheckError(
        f"the results of backends {first!r} and {second!r} differ, although each operation alone "
        f"agrees on equal operands within {ulps:g} units in the last place: roundings add up, or "
        f"the programs are compiled to something else than their operations\n  {told}{where}"
    )


class Comparer(Stepper):
    """Runs each operation on two backends and raises at the first that differs."""

    __slots__ = ("apart", "farthest", "first", "second", "ulps")
    word = "ax.crosscheck"

    def __init__(self, first: str, second: str, ulps: float) -> None:
        super().__init__(current.get())
        self.first = first
        self.second = second
        self.ulps = ulps
        self.apart = 0.0
        self.farthest = ""

    def see(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        result = self.under(primitive, args, params)
        concrete = all(not hasattr(a, "aval") or isinstance(a, ConcreteArray) for a in args)
        if not concrete or primitive.has_effects:
            return result
        assert self.parent is not None
        with installed(self.parent):
            other = self.elsewhere(primitive, args, params)
        scales = self.scales(primitive, args, params, result)
        for r, o, scale in zip(_several(result), other, scales, strict=True):
            told, apart = _difference(_host(r), _host(o), scale, self.ulps)
            line = f"{primitive.name}\n  at: {source.current()}"
            if told:
                operands = "".join(f"\n  of: {_described(a)}" for a in args)
                raise errors.CrosscheckError(
                    f"backends {self.first!r} and {self.second!r} disagree on {line}{operands}"
                    f"\n  {told}"
                )
            if apart > self.apart:
                self.apart, self.farthest = apart, line
        return result

    def elsewhere(
        self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The results on the second backend, as a compiled program of this one operation."""
        arrays = [a for a in args if hasattr(a, "aval")]

        def alone(*given: Any) -> tuple[Any, ...]:
            coming = iter(given)
            operands = [next(coming) if hasattr(a, "aval") else a for a in args]
            return _several(primitive(*operands, **params))

        with chosen(self.second):
            graph = derive(alone, [a.aval for a in arrays])
            moved = [device_put(a, self.second) for a in arrays]
            return tuple(call(*moved, graph=graph, name=primitive.name))

    def scales(
        self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any], result: Any
    ) -> Iterator[Any]:
        """What the errors of the results are relative to."""
        if primitive.name in _SUMS:
            sizes = [device_put(np.abs(_host(a)), self.first) for a in args]
            yield _host(self.under(primitive, tuple(sizes), params))
            return
        for r in _several(result):
            elements = np.abs(_host(r))
            finite = elements[np.isfinite(elements)] if elements.dtype.kind in "fc" else elements
            whole = not primitive.elementwise and finite.size
            yield np.max(finite) if whole else elements


def _several(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _host(x: Any) -> np.ndarray:
    """Elements on the host, floats in float64."""
    host = np.asarray(x.host()) if isinstance(x, ConcreteArray) else np.asarray(x)
    return host


def _described(x: Any) -> str:
    aval = getattr(x, "aval", None)
    elements = np.asarray(_host(x))
    name = str(aval.strong()) if aval is not None else type(x).__name__
    return f"{name} = {elements}" if elements.size <= 8 else name


def _difference_of_trees(one: Any, other: Any, ulps: float) -> str:
    """Where two results differ, in words; nothing where they agree."""
    for (path, a), b in zip(tree.leaves_with_path(one), tree.leaves(other), strict=True):
        x, y = _host(a), _host(b)
        finite = np.abs(x)[np.isfinite(x)] if x.dtype.kind in "fc" else np.abs(x)
        scale = np.max(finite) if finite.size else 0.0
        told, _ = _difference(x, y, scale, ulps)
        if told:
            return f"result{tree_util.keystr(path)}: {told}" if path else told
    return ""


def _difference(x: np.ndarray, y: np.ndarray, scale: Any, ulps: float) -> tuple[str, float]:
    """In words where two arrays differ by more than `ulps`; and by how many they do at most."""
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return f"{x.dtype}{list(x.shape)} on the one, {y.dtype}{list(y.shape)} on the other", 0.0
    if not x.size:
        return "", 0.0
    with np.errstate(all="ignore"):
        if not dtypes.is_inexact(x.dtype):
            wrong, apart = x != y, np.zeros(x.shape)
        else:
            wide = np.complex128 if x.dtype.kind == "c" else np.float64
            a, b = x.astype(wide), y.astype(wide)
            info = dtypes.finfo(x.dtype)
            unit = float(info.eps) * np.abs(np.asarray(scale, np.float64)) + float(info.tiny)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            apart = np.where(same, 0.0, np.abs(a - b) / unit)
            wrong = ~(apart <= ulps)
    if not wrong.any():
        return "", float(np.max(apart))
    where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    left, right = np.atleast_1d(x)[where], np.atleast_1d(y)[where]
    place = f"at {where} " if x.ndim else ""
    return f"{place}{left} against {right}; {int(wrong.sum())} of {x.size} elements differ", np.inf
