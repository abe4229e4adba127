"""Which dtypes a backend has, that they are kept, and how narrow ones are added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import dtypes
from arrayx.backend.registry import chosen
from arrayx.conformance.case import ANY, FLOAT8, HALF, INTEGERS
from arrayx.conformance.item import OWED_DTYPES, Item
from arrayx.conformance.sections.statement import item

Statement = Callable[[str, str], None]


def items(backend: str) -> Iterator[Item]:
    """Every statement of this file for every dtype that it is about."""
    for statement, names in _STATEMENTS.items():
        for dtype in names:
            yield item(
                "dtypes",
                statement.__name__,
                statement,
                dtype,
                backend,
                dtype=dtype,
                owed=dtype in OWED_DTYPES,
                core=dtype not in FLOAT8,
            )


def _extremes(dtype: str) -> np.ndarray:
    """Elements that do not survive a detour through a narrower dtype."""
    wanted: Any = dtypes.as_dtype(dtype)
    kind = dtypes.kind(wanted)
    if kind == "bool":
        return np.array([False, True])
    if kind in ("int", "uint"):
        limits = np.iinfo(dtype)
        return np.array([limits.min, 0, 1, limits.max - 1, limits.max], dtype)
    if kind == "complex":
        part = np.finfo(dtype)
        return np.array([0, 1j, 1 + float(part.eps), complex(float(part.max), -1)], dtype)
    floats = dtypes.finfo(wanted)
    values = [0.0, -0.0, 1 + float(floats.eps), float(floats.max), float(floats.tiny)]
    return np.array(values).astype(wanted)


def _ones(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    wanted: Any = dtypes.as_dtype(dtype)
    return np.ones(shape).astype(wanted)


def elements_are_kept(dtype: str, backend: str) -> None:
    """Every element of the dtype's range comes back bit for bit, also through a program."""
    given = _extremes(dtype)
    with chosen(backend):
        x = ax.device_put(given, backend)
        moved = ax.jit(lambda a: anp.flip(anp.stack([a, a]), 1))(x)
    for got, wanted in ((x, given), (moved, np.stack([given, given])[:, ::-1])):
        host = np.asarray(got)
        assert host.dtype == given.dtype, f"{dtype} became {host.dtype}"
        assert host.tobytes() == wanted.tobytes(), f"{wanted} became {host}"


def operations_keep_the_dtype(dtype: str, backend: str) -> None:
    """Nothing is widened or narrowed on the way, eagerly and compiled."""
    with chosen(backend):
        x = ax.device_put(_ones((2, 3), dtype), backend)

        def f(a: Any) -> Any:
            return anp.where(a == a, a * a, a)

        for result in (f(x), ax.jit(f)(x)):
            assert result.dtype == x.dtype, f"{dtype} became {result.dtype}"
            assert np.asarray(result).dtype == x.dtype, f"{dtype} became {np.asarray(result).dtype}"


def integers_wrap(dtype: str, backend: str) -> None:
    """One more than the largest integer is the smallest."""
    limits = np.iinfo(dtype)
    with chosen(backend):
        x = ax.device_put(np.array([limits.max], dtype), backend)
        for result in (x + 1, ax.jit(lambda a: a + 1)(x)):
            assert int(np.asarray(result)[0]) == limits.min, np.asarray(result)


def sums_are_wide(dtype: str, backend: str) -> None:
    """Sums, means and products of 16-bit floats are added up in at least 32 bits."""
    n = 4096
    with chosen(backend):
        ones = ax.device_put(_ones((n,), dtype), backend)
        forms: dict[str, Callable[[Any], Any]] = {
            "sum": anp.sum,
            "mean": lambda a: anp.mean(a) * n,
            "dot": lambda a: a @ a,
            "cumsum": lambda a: anp.cumsum(a)[-1],
            "adding up": lambda a: anp.zeros_like(a[:2]).at[anp.zeros(n, "int32")].add(a)[0],
        }
        for name, form in forms.items():
            for how, f in (("eager", form), ("compiled", ax.jit(form))):
                got = float(np.asarray(f(ones)))
                assert got == n, f"{name} of {n} ones is {got}, {how}"


_STATEMENTS: dict[Statement, tuple[str, ...]] = {
    elements_are_kept: (*ANY, *FLOAT8),
    operations_keep_the_dtype: ANY,
    integers_wrap: INTEGERS,
    sums_are_wide: HALF,
}
