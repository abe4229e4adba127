"""From text to native code: one file for each program, compiled once and kept on disk.

A file is called after the hash of its text, so programs that are equal share it, in one process and
from one to the next; Numba keeps the machine code beside it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import types
from numba.core.compiler import Compiler

# Sums may be made in lanes, and products be added without rounding in between; nan, infinities and
# the signs of zeros are kept.
_FAST = {"reassoc", "contract"}
_compiling = threading.Lock()
_loaded: dict[str, Callable[..., None]] = {}


class _Disjoint(Compiler):
    """Numba's compiler, told that arrays given to a nest do not overlap: none that is written to
    is anything else's memory, which is what lets loops become vectors.
    """

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


def array(dtype: Any, written: bool) -> Any:
    """A contiguous array of one axis."""
    return types.Array(dtype, 1, "C", readonly=not written)


def input_array(dtype: Any, ndim: int) -> Any:
    """A contiguous array that is not written to."""
    return types.Array(dtype, ndim, "C", readonly=True)


def nest(signature: tuple[Any, ...]) -> Callable[..., Any]:
    """Compiles the function of a nest."""
    return njit(  # type: ignore[no-any-return]
        types.void(*signature),
        nogil=True,
        cache=True,
        error_model="numpy",
        fastmath=_FAST,
        pipeline_class=_Disjoint,
    )


def main(signature: tuple[Any, ...], parallel: bool) -> Callable[..., Any]:
    """Compiles the function that calls the nests."""
    return njit(  # type: ignore[no-any-return]
        types.void(*signature), nogil=True, cache=True, error_model="numpy", parallel=parallel
    )


def directory() -> Path:
    """Where programs are kept: `ARRAYX_NUMBA_CACHE`, else the user's cache directory."""
    chosen = os.environ.get("ARRAYX_NUMBA_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "arrayx" / "numba"


def function(text: str) -> Callable[..., None]:
    """The function `run` of a program's text, compiled now or before."""
    version = f"{numba.__version__} {sys.version_info[:2]}"
    digest = hashlib.sha256(f"{version}\n{text}".encode()).hexdigest()[:32]
    with _compiling:
        found = _loaded.get(digest)
        if found is None:
            found = _loaded[digest] = _load(f"arrayx_numba_{digest}", text)
        return found


def _load(name: str, text: str) -> Callable[..., None]:
    path = directory() / f"{name}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(temporary, path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Numba finds the function of cached code by its module's name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.run  # type: ignore[no-any-return]
