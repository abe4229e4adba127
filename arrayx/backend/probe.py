"""The simplest things that a backend must do: what `doctor` tries of each."""

from __future__ import annotations

import numpy as np

from arrayx import errors
from arrayx.backend.contract import Backend
from arrayx.backend.dispatch import as_concrete, run_graph
from arrayx.core.aval import Aval
from arrayx.primitives.arithmetic import add
from arrayx.transforms.stage import stage

_DTYPES = ("float32", "float64", "int32", "int64", "bfloat16", "float16", "int8", "uint8")


def probe(backend: Backend) -> None:
    """Puts an array there, adds it to itself, eagerly and compiled, and reads everything back.

    Raises an error that says what came back instead.  What the backend declares that it
    lacks is not asked of it.
    """
    have = backend.dtypes
    names = [name for name in _DTYPES if have is None or name in have]
    if not names or backend.takes(add) is not True:
        return
    elements = np.arange(6).reshape(2, 3).astype(np.dtype(names[0]))
    device = backend.devices()[0]
    x = as_concrete(elements, device)
    expect("an array that was put there", x.host(), elements)
    expect("x + x", add(x, x).host(), elements + elements)
    graph = stage(lambda v: (add(v, v),), [Aval(x.shape, x.dtype)]).graph
    (result,) = run_graph(graph, [x], device)
    expect("a compiled x + x", result.host(), elements + elements)


def expect(what: str, got: np.ndarray, wanted: np.ndarray) -> None:
    """Raises where elements are not what they have to be."""
    if not np.array_equal(got, wanted):
        raise errors.BackendError(f"{what} came back as {got.tolist()}, not {wanted.tolist()}")
