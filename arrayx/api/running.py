"""How functions are run while they are traced: `disable_jit`, names, and evaluation at once."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from arrayx import errors
from arrayx.api.arguments import as_value, check_callable, is_value, name_of
from arrayx.api.compilation import Jitted, Options
from arrayx.config import config
from arrayx.control.call import call
from arrayx.core.interpreter import BASE, Interpreter, Tracer, current, installed
from arrayx.core.primitive import Primitive
from arrayx.transforms.stage import StageInterpreter
from arrayx.treedef import flatten

__all__ = ["disable_jit", "ensure_compile_time_eval", "named_call", "named_scope"]


def disable_jit(disable: bool = True) -> contextlib.AbstractContextManager[None]:
    """Inside the block compiled functions, loops and branches run as the Python they are.

    So a debugger stops in them, and `print` shows values.  It is the setting
    `config.disable_jit`, `ARRAYX_DISABLE_JIT` in the environment.

    >>> import arrayx as ax
    >>> @ax.jit
    ... def f(x):
    ...     print(x)
    ...     return 2 * x
    >>> with ax.disable_jit():
    ...     _ = f(3.0)
    3.0
    """
    return config(disable_jit=disable)


class Immediate(Interpreter):
    """Computes at once what needs no tracer; all else goes on as it would."""

    __slots__ = ()
    word = "evaluation at compile time"

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if any(isinstance(a, Tracer) for a in args):
            with installed(self.parent):  # type: ignore[arg-type]
                return self.parent.apply(primitive, args, params)  # type: ignore[union-attr]
        with installed(BASE):
            return BASE.apply(primitive, args, params)


@contextlib.contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Inside the block operations on values that are known are computed at once, also in `jit`.

    Their results have values, which Python may look at; traced values stay traced.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> @ax.jit
    ... def f(x):
    ...     with ax.ensure_compile_time_eval():
    ...         n = int(anp.sum(anp.arange(3)))
    ...     return x * n
    >>> float(f(2.0))
    6.0
    """
    with installed(Immediate(current.get())):
        yield


class named_scope(contextlib.ContextDecorator):
    """A name for the operations inside the block or decorated function, for readers.

    The graph does not keep it: `named_call` makes a name that profiles and printed graphs show.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> with ax.named_scope("normalise"):
    ...     x = anp.ones(3) / 3
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise errors.ArgumentError(f"ax.named_scope takes a name, got {name!r}")
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """A function that stands as one call of this name in staged programs and in profiles.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> print(ax.make_graph(ax.named_call(lambda x: anp.sin(x), name="wave"))(1.0))
    graph(a: float32[]~) {
      b: float32[]~ = call[name='wave', graph=graph(a: float32[]~) {
        b: float32[]~ = sin a
        return b
      }] a
      return b
    }
    """
    check_callable(fun, "ax.named_call")
    if name is not None and not isinstance(name, str):
        raise errors.ArgumentError(f"ax.named_call: name has to be a string, got {name!r}")
    shown = name_of(fun) if name is None else name
    jitted = Jitted(fun, Options((), (), (), (), None, False), False, "ax.named_call")

    @functools.wraps(fun)
    def named(*args: Any, **kwargs: Any) -> Any:
        # Elsewhere there is no program for the name to stand in.
        if not isinstance(current.get(), StageInterpreter):
            return fun(*args, **kwargs)
        if not all(map(is_value, flatten((args, kwargs))[0])):
            return fun(*args, **kwargs)
        _, _, traced, leaves = jitted.prepare(args, kwargs)
        values = [as_value(x) for x in leaves]
        results = call(*traced.captured, *values, graph=traced.graph, name=shown)
        return traced.rebuild(list(results))

    return named
