"""Functions from outside by name: `ax.ffi.register` and `ax.ffi.call`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx import errors
from arrayx.api.arguments import argument_paths, check_callable
from arrayx.api.effects import promised
from arrayx.api.operands import arrays_of, home_of, working_at
from arrayx.control.callback import METHODS
from arrayx.control.external import attributes_of, external, targets
from arrayx.treedef import unflatten

__all__ = ["call", "register"]


def register(name: str, target: Any, *, backend: str | None = None) -> None:
    """Makes an external function known under a name, for `ax.ffi.call`.

    Args:
        name: what `ax.ffi.call` asks for; put the name of your package in front.
        target: the function.  Without `backend`: a Python function of NumPy arrays, which
            every backend can call that can call Python.  For `"numpy"`: the same, called with
            what NumPy's programs hold, without a copy (contiguous; not to be written to): a
            function of a library opened with `ctypes` fits well.  For `"xla"`: a capsule of, or
            a ctypes pointer to, a handler of XLA's typed foreign-function interface, on CPU.
            For any other `KernelBackend`: a function of its buffers.  Functions give an array,
            or a tuple of them, and get static arguments by keyword.
        backend: the backend whose function it is; None for all that have none of their own.

    A second registration replaces the first in programs compiled from then on.

    >>> import arrayx as ax, arrayx.numpy as anp, numpy as np
    >>> ax.ffi.register("docs_cumulative", lambda x, *, axis: np.cumsum(x, axis, x.dtype))
    >>> ax.jit(lambda x: ax.ffi.call("docs_cumulative", x)(x, axis=0))(anp.ones(3))
    Array([1., 2., 3.], dtype=float32)
    """
    if not isinstance(name, str) or not name:
        raise errors.ArgumentError(f"ax.ffi.register: name has to be a string, got {name!r}")
    if backend is None:
        check_callable(target, "ax.ffi.register")
    targets.setdefault(name, {})[backend] = target


def call(
    name: str, result_shape_dtypes: Any, *, vmap_method: str | None = None
) -> Callable[..., Any]:
    """A function that calls the external function registered under a name.

    Args:
        name: as given to `ax.ffi.register`; looked up when the call runs or is compiled.
        result_shape_dtypes: the type of the result, or a tree of types: arrays or
            `ax.ShapeDtypeStruct`s.
        vmap_method: what `vmap` does, as for `ax.pure_callback`: None refuses, "sequential"
            calls once for each element, "expand_dims" and "broadcast_all" once for all.

    Returns:
        a function of arrays, by position, and of static arguments, by keyword: numbers,
        strings, NumPy scalars and vectors (which keep their dtype), tuples of numbers.

    The external function is taken for pure: it may be called any number of times, or never.
    Its derivative is what `ax.custom_jvp` or `ax.custom_vjp` around the call says.

    Raises:
        UnsupportedError: when it is to run and nothing is registered that can.
        GradError: it is differentiated without a rule.

    >>> import arrayx as ax, arrayx.numpy as anp, numpy as np
    >>> ax.ffi.register("docs_scaled", lambda x, *, factor: x * x.dtype.type(factor))
    >>> x = anp.arange(3.0)
    >>> ax.ffi.call("docs_scaled", x)(x, factor=2.0)
    Array([0., 2., 4.], dtype=float32)
    """
    word = "ax.ffi.call"
    if vmap_method is not None and vmap_method not in METHODS:
        raise errors.ArgumentError(
            f"{word}: vmap_method has to be None or one of {', '.join(map(repr, METHODS))}, got "
            f"{vmap_method!r}"
        )
    avals, tree = promised(word, result_shape_dtypes)

    def called(*arrays: Any, **attributes: Any) -> Any:
        device = home_of(arrays)
        with working_at(device):
            given = arrays_of(arrays, device, word, lambda: argument_paths(called, arrays, {}))
            results = external(
                *given,
                target=name,
                avals=tuple(avals),
                attributes=attributes_of(attributes, word),
                vmap_method=vmap_method,
            )
        return unflatten(tree, list(results))

    called.__name__ = called.__qualname__ = name
    return called
