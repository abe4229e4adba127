"""Functions as graphs and as types, without running or keeping a program."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

from arrayx.api.arguments import check_callable
from arrayx.api.compilation import Jitted, Options, integers
from arrayx.api.lowering import types_of
from arrayx.core.graph import Graph
from arrayx.core.named_axes import named_axis


def make_graph(fun: Callable[..., Any], static_argnums: Any = None) -> Callable[..., Graph]:
    """A function that returns the graph of `fun` for its arguments, which prints as text.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> print(ax.make_graph(lambda x: anp.sin(x) * 2)(anp.ones(3)))
    graph(a: float32[3]) {
      b: float32[3] = sin a
      c: float32[3] = mul b 2.0
      return c
    }
    """
    check_callable(fun, "ax.make_graph")
    jitted = Jitted(
        fun, Options(integers("static_argnums", static_argnums), (), (), (), None, False), False
    )

    @functools.wraps(fun)
    def graph_of(*args: Any, **kwargs: Any) -> Graph:
        return jitted.prepare(args, kwargs)[2].graph

    return graph_of


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: Any = (),
    axis_env: Sequence[tuple[str, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """`make_graph` under JAX's name and signature; the result is a graph of arrayx's.

    Args:
        fun, static_argnums: as in `make_graph`.
        axis_env: names and sizes of axes that `fun` finds open, for collective operations.
        return_shape: also return the types of the result, as `eval_shape` does.

    >>> import arrayx as ax
    >>> ax.make_jaxpr(lambda x: 2 * x)(1.0).out_avals
    (float32[]~,)
    """
    check_callable(fun, "ax.make_jaxpr")
    jitted = Jitted(
        fun, Options(integers("static_argnums", static_argnums), (), (), (), None, False), False
    )

    @functools.wraps(fun)
    def graph_of(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as axes:
            for name, size in axis_env or ():
                axes.enter_context(named_axis(name, size))
            traced = jitted.prepare(args, kwargs)[2]
        return (traced.graph, types_of(traced)) if return_shape else traced.graph

    return graph_of


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of `fun(*args, **kwargs)` without computing it.

    Arguments may be arrays or ShapeDtypeStructs; the result has ShapeDtypeStructs.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.eval_shape(anp.dot, ax.ShapeDtypeStruct((2, 3), "float32"), anp.ones(3))
    ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    check_callable(fun, "ax.eval_shape")
    jitted = Jitted(fun, Options((), (), (), (), None, False), False)
    return types_of(jitted.prepare(args, kwargs)[2])
