"""`jit` and its kin: functions staged to graphs, compiled for a device, and kept.

A compiled function keeps a table from the types of its arguments (structure, avals, static
values, settings, open axes) to what was made of them.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from arrayx import errors
from arrayx.api.arguments import (
    argument_paths,
    as_value,
    check_callable,
    flatten_result,
    leaf_aval,
    name_of,
)
from arrayx.api.lowering import Lowered, Traced, TracedFunction
from arrayx.api.operands import BOUNDARY
from arrayx.api.placement import find_device, put_leaf
from arrayx.api.retraces import History, trace_of
from arrayx.api.unrolling import warn_of_unrolled_loops
from arrayx.backend.callbacks import run_calling_back
from arrayx.backend.concrete import ConcreteArray, Gone, array_types
from arrayx.backend.contract import CompileOptions, Device, Executable
from arrayx.backend.dispatch import choose_device, compile_graph, run_graph
from arrayx.config import config
from arrayx.control import check  # noqa: F401  (what `config.checks` writes into programs)
from arrayx.control.call import call
from arrayx.core.aval import Aval
from arrayx.core.interpreter import BASE, current
from arrayx.core.named_axes import axis_environment
from arrayx.core.quiet import quiet, quietly
from arrayx.dtypes import float0
from arrayx.transforms.evaluate import evaluate
from arrayx.transforms.stage import stage
from arrayx.treedef import LEAF, TreeDef, flatten, unflatten

_MOST_ENTRIES = 4096


class CacheInfo(NamedTuple):
    """How often a compiled function found its arguments' types known, as `functools` says it."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


class Cache:
    """What was made of one function under one set of options."""

    __slots__ = ("__weakref__", "entries", "fast", "history", "hits", "misses")

    def __init__(self) -> None:
        self.history = History()
        self.entries: dict[Any, Traced] = {}
        # From the types of concrete positional arguments straight to the program.
        self.fast: dict[Any, Any] = {}
        self.hits = 0
        self.misses = 0

    def clear(self) -> None:
        """Forgets everything."""
        self.entries.clear()
        self.fast.clear()
        self.history.clear()
        self.hits = self.misses = 0


# Wrapping the same function again finds what was compiled for it before.
_caches: weakref.WeakKeyDictionary[Any, dict[Any, Cache]] = weakref.WeakKeyDictionary()


def _cache_for(fun: Any, options: Any) -> Cache:
    keyed = options
    while isinstance(fun, functools.partial):
        keyed = keyed, fun.args, tuple(sorted(fun.keywords.items()))
        fun = fun.func
    try:
        return _caches.setdefault(fun, {}).setdefault(keyed, Cache())
    except TypeError:  # cannot be hashed, or referred to weakly
        return Cache()


class Fast:
    """A program with all that a call needs besides: buffers in, the function's result out."""

    __slots__ = ("array_type", "avals", "execute", "quiet", "rebuild", "single")

    def __init__(self, program: Executable, device: Device, traced: Traced) -> None:
        self.execute = program.run
        self.quiet = device.backend.quiet
        if program.calls_back:
            self.execute = functools.partial(run_calling_back, program.run, self.quiet)
            self.quiet = False
        self.array_type = device.array_type
        self.avals = traced.graph.out_avals
        self.rebuild = traced.rebuild
        # The result is one array, in no container.
        self.single = self.avals[0] if traced.out_tree == LEAF and not traced.fixed else None

    def run(self, buffers: list[Any]) -> Any:
        """Runs the program."""
        if not self.quiet:
            outputs = self.execute(buffers)
        else:
            try:
                outputs = quiet.run(self.execute, buffers)
            except RuntimeError:
                outputs = quietly(self.execute, buffers)
        if self.single is not None:
            return self.array_type(outputs[0], self.single)
        array_type = self.array_type
        return self.rebuild([array_type(b, a) for b, a in zip(outputs, self.avals)])


class Options(NamedTuple):
    """The arguments of `jit` that decide what is compiled."""

    static_argnums: tuple[int, ...]
    static_argnames: tuple[str, ...]
    donate_argnums: tuple[int, ...]
    donate_argnames: tuple[str, ...]
    device: Device | None
    inline: bool


# The structure, the numbers of the donated leaves, the graph and the leaves of a call.
Prepared = tuple[TreeDef, tuple[int, ...], Traced, list[Any]]


class Jitted:
    """A function that is staged, compiled and kept for each kind of arguments it gets."""

    def __init__(
        self,
        fun: Callable[..., Any],
        options: Options,
        watched: bool = True,
        word: str = "ax.jit",
    ) -> None:
        functools.update_wrapper(self, fun)
        self.word = word
        self.fun = fun
        self.watched = watched  # its traces are noted, for explain()
        self.name = name_of(fun)
        self.options = options
        self.cache = _cache_for(fun, options)
        self.plain = not (
            options.static_argnums
            or options.static_argnames
            or options.donate_argnums
            or options.donate_argnames
            or options.device is not None
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.plain or _current() is not BASE:
            return self.call(args, kwargs)
        if kwargs:
            return self.call_tree(args, kwargs)
        array_type = None
        key: list[Any] = [_snapshot(), _axes()]
        buffers: list[Any] = []
        for a in args:
            cls = type(a)
            if cls is array_type:
                key.append(a.aval)
                buffers.append(a.buffer)
            elif array_type is None and cls in array_types:
                array_type = cls
                key.append(cls)
                key.append(a.aval)
                buffers.append(a.buffer)
            else:
                return self.call_tree(args, kwargs)
        fast = self.cache.fast.get(tuple(key))
        if fast is None:
            return self.first_call(args, kwargs, tuple(key) if array_type is not None else None)
        self.cache.hits += 1
        return fast.run(buffers)

    def call_tree(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose arguments are trees, or NumPy arrays beside arrays, all concrete."""
        leaves, tree = flatten((args, kwargs))
        array_type = None
        key: list[Any] = [_snapshot(), _axes(), tree, None]
        buffers: list[Any] = []
        hosts: list[int] = []
        for i, a in enumerate(leaves):
            cls = type(a)
            if cls is array_type:
                key.append(a.aval)
                buffers.append(a.buffer)
            elif array_type is None and cls in array_types:
                array_type = cls
                key.append(a.aval)
                buffers.append(a.buffer)
            elif cls is np.ndarray and a.dtype.isbuiltin == 1:
                key.append(a.dtype)
                key.append(a.shape)
                hosts.append(i)
                buffers.append(a)
            else:
                return self.call(args, kwargs)
        if array_type is None:
            return self.call(args, kwargs)
        key[3] = array_type
        fast = self.cache.fast.get(tuple(key))
        if fast is None:
            return self.first_call(args, kwargs, tuple(key))
        self.cache.hits += 1
        for i in hosts:
            buffers[i] = array_type.backend.put(buffers[i], array_type.device)
        return fast.run(buffers)

    def first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: Any) -> Any:
        """A call with concrete arguments of types not met yet."""
        if _snapshot().disable_jit:
            return self.fun(*args, **kwargs)
        with BOUNDARY:
            prepared = self.prepare(args, kwargs)
            result = self.run_prepared(prepared, args, kwargs)
        _, _, traced, leaves = prepared
        if key is not None and not traced.captured:
            device = choose_device((*leaves, *traced.graph.constant_values))
            program = compile_graph(traced.graph, CompileOptions(device))
            if len(self.cache.fast) >= _MOST_ENTRIES:
                self.cache.fast.clear()
            self.cache.fast[key] = Fast(program, device, traced)
        return result

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The general way of a call: tracers, scalars, static arguments, donation."""
        if _snapshot().disable_jit:
            return self.fun(*args, **kwargs)
        with BOUNDARY:
            return self.run_prepared(self.prepare(args, kwargs), args, kwargs)

    def run_prepared(
        self, prepared: Prepared, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The result of a call whose graph is known; the arguments are for messages."""
        _, donated, traced, leaves = prepared
        try:
            values = [as_value(x) for x in leaves]
        except OverflowError:
            self.refuse_overflow(args, kwargs, leaves)
        device = self.options.device
        if device is not None:
            values = [put_leaf(x, device) for x in values]
        graph = traced.graph
        results: Sequence[Any]
        if current.get() is BASE and not traced.captured:
            results = run_graph(graph, values, device, donated, self.name)
        elif self.options.inline:
            results = evaluate(graph, (*traced.captured, *values))
        else:
            results = call(*traced.captured, *values, graph=graph, name=self.name)
        return traced.rebuild(list(results))

    def prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Prepared:
        """The structure, donated leaves, graph and leaves of a call."""
        dynamic, static = self.split(args, kwargs)
        dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in static}
        leaves, in_tree = flatten((list(dynamic.values()), dynamic_kwargs))
        avals = tuple(
            [
                x.aval
                if isinstance(x, ConcreteArray)
                else leaf_aval(x, functools.partial(self.describe, i, dynamic, dynamic_kwargs))
                for i, x in enumerate(leaves)
            ]
        )
        for x in leaves:
            if type(x) is Gone:
                x.host()
        key = self.key(in_tree, avals, tuple(dynamic), static)
        cache = self.cache
        traced = cache.entries.get(key)
        if traced is None:
            cache.misses += 1
            traced = self.trace_flat(avals, in_tree, dynamic, dynamic_kwargs, args, static)
            if not traced.captured:
                if len(cache.entries) >= _MOST_ENTRIES:
                    cache.clear()
                cache.entries[key] = traced
        else:
            cache.hits += 1
        return in_tree, self.donated(dynamic, dynamic_kwargs), traced, leaves

    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[int, Any], dict[Any, Any]]:
        """The dynamic positional arguments by position, and the static ones by place."""
        numbers, names = self.options.static_argnums, self.options.static_argnames
        if not numbers and not names:
            return dict(enumerate(args)), {}
        n = len(args)
        positions = {i + n if i < 0 else i for i in numbers}
        if names:
            known = positional_names(self.fun)
            positions |= {i for i, name in enumerate(known[:n]) if name in names}
        static: dict[Any, Any] = {i: args[i] for i in sorted(positions) if 0 <= i < n}
        static.update((name, kwargs[name]) for name in names if name in kwargs)
        return {i: a for i, a in enumerate(args) if i not in static}, static

    def key(self, in_tree: Any, avals: Any, places: Any, static: dict[Any, Any]) -> Any:
        """What decides the graph: types, structure, static values, settings, open axes."""
        fixed = tuple([(place, type(v), v) for place, v in static.items()])
        try:
            hash(fixed)
        except TypeError:
            for place, value in static.items():
                try:
                    hash(value)
                except TypeError as error:
                    raise errors.StaticArgumentError(
                        f"static argument {place!r} of {self.name} is {value!r} of type "
                        f"{type(value).__name__}, which cannot be hashed: {error}. Static "
                        "arguments are part of the key under which compiled code is kept: "
                        "pass a tuple instead of a list, a frozen dataclass instead of a "
                        "dict, or an array as an ordinary argument."
                    ) from None
        return in_tree, avals, places, fixed, _snapshot(), axis_environment.get()

    def describe(self, i: int, dynamic: dict[int, Any], kwargs: dict[str, Any]) -> str:
        """How the user would write leaf number `i`."""
        path = self.paths(dynamic, kwargs)[i]
        return f"argument {path} of {self.name}"

    def refuse_overflow(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: Sequence[Any]
    ) -> NoReturn:
        """Raises the error for a Python integer that is too large, with its path."""
        dynamic, static = self.split(args, kwargs)
        keywords = {k: v for k, v in kwargs.items() if k not in static}
        for i, x in enumerate(leaves):
            try:
                as_value(x)
            except OverflowError as error:
                raise OverflowError(f"{self.describe(i, dynamic, keywords)}: {error}") from None
        raise AssertionError("no argument is too large")

    def paths(self, dynamic: dict[int, Any], kwargs: dict[str, Any]) -> list[str]:
        """How the user would write each leaf."""
        n = max(dynamic, default=-1) + 1
        found = []
        for i in dynamic:
            padded = tuple(dynamic[i] if j == i else None for j in range(n))
            found += argument_paths(self.fun, padded, {})
        return found + argument_paths(self.fun, (), kwargs)

    def trace_flat(
        self,
        avals: Sequence[Aval],
        in_tree: TreeDef,
        dynamic: dict[int, Any],
        dynamic_kwargs: dict[str, Any],
        args: tuple[Any, ...],
        static: dict[Any, Any],
    ) -> Traced:
        """Runs the function once on tracers."""
        out_tree: TreeDef | None = None
        fixed: list[tuple[int, Any]] = []
        static_kwargs = {k: v for k, v in static.items() if isinstance(k, str)}

        def flat(*tracers: Any) -> Sequence[Any]:
            nonlocal out_tree
            given, keywords = unflatten(in_tree, list(tracers))
            moving = iter(given)
            full = [static[i] if i in static else next(moving) for i in range(len(args))]
            result = self.fun(*full, **keywords, **static_kwargs)
            leaves, out_tree = flatten_result(result, self.name)
            fixed.extend((i, x) for i, x in enumerate(leaves) if x.dtype == float0)
            return [x for x in leaves if x.dtype != float0]

        paths = self.paths(dynamic, dynamic_kwargs)
        if self.watched:
            trace = trace_of(in_tree, paths, avals, static, _snapshot(), _axes())
            self.cache.history.add(self.name, trace, self.fun)
        graph, captured = stage(flat, avals, word=f"{self.word} of {self.name}", paths=paths)
        assert out_tree is not None
        if self.watched:
            warn_of_unrolled_loops(graph, self.name)
        return Traced(graph, out_tree, captured, tuple(fixed))

    def donated(self, dynamic: dict[int, Any], kwargs: dict[str, Any]) -> tuple[int, ...]:
        """The numbers of the leaves whose memory the program may use."""
        numbers, names = self.options.donate_argnums, self.options.donate_argnames
        if not numbers and not names:
            return ()
        known = positional_names(self.fun)
        n = max(dynamic, default=-1) + 1
        positions = {i + n if i < 0 else i for i in numbers}
        positions |= {i for i, name in enumerate(known) if name in names}
        found: list[int] = []
        count = 0
        for i, arg in dynamic.items():
            size = len(flatten(arg)[0])
            if i in positions:
                found += range(count, count + size)
            count += size
        for name in sorted(kwargs):
            size = len(flatten(kwargs[name])[0])
            if name in names:
                found += range(count, count + size)
            count += size
        return tuple(found)

    def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
        """Stages the function for these arguments (arrays or ShapeDtypeStructs)."""
        in_tree, donated, traced, leaves = self.prepare(args, kwargs)
        if traced.captured:
            raise errors.TracerError(
                f"{self.name} uses a traced array of a transformation around it, so it cannot "
                "be lowered on its own: pass that array as an argument"
            )
        device = self.options.device
        if device is None:
            device = choose_device((*leaves, *traced.graph.constant_values))
        return TracedFunction(traced, in_tree, device, donated, self.name)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Stages the function for these arguments and prepares it for its device."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The types of the results for these arguments."""
        return self.trace(*args, **kwargs).out_info

    def explain(self) -> str:
        """Each trace of this function: which call, and what was new about its arguments.

        >>> import arrayx as ax, arrayx.numpy as anp
        >>> total = ax.jit(lambda x: anp.sum(x))
        >>> results = [total(anp.ones(n)) for n in (2, 3)]
        >>> print(total.explain())  # doctest: +ELLIPSIS
        <lambda> was traced 2 times
        <lambda>, trace 1, called at ...: the first one, with x: float32[2]
        <lambda>, trace 2, called at ...:
            x was float32[2], is float32[3]
            -> each shape has its own program: pad to one shape, or call it with few ...
        """
        return self.cache.history.text(self.name)

    def cache_info(self) -> CacheInfo:
        """How many calls found their types known, and how many did not."""
        cache = self.cache
        return CacheInfo(cache.hits, cache.misses, _MOST_ENTRIES, len(cache.entries))

    def clear_cache(self) -> None:
        """Forgets every graph and program made for this function."""
        self.cache.clear()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<ax.jit of {self.name}>"


_current = current.get
_snapshot = config.snapshot
_axes = axis_environment.get


def positional_names(fun: Any) -> list[str]:
    """The names of the parameters that can be given by position."""
    if type(fun) is FunctionType and not hasattr(fun, "__wrapped__"):
        return list(fun.__code__.co_varnames[: fun.__code__.co_argcount])
    return argument_names(fun)


def argument_names(fun: Any) -> list[str]:
    """`positional_names` for callables that are not plain functions."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    named = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
    return [p.name for p in parameters if p.kind.name in named]


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    backend: str | None = None,
    device: Any = None,
    inline: bool = False,
) -> Any:
    """Compiles a function: it is run once on tracers, and its graph from then on.

    Args:
        fun: a pure function of arrays, in trees; it returns arrays in a tree.  Left out,
            `jit` returns a decorator.
        static_argnums, static_argnames: arguments that stay Python values; each value (it
            must be hashable) gets a program of its own.
        donate_argnums, donate_argnames: arguments whose memory the program may use; they
            cannot be used afterwards.
        backend, device: where to run, instead of where the arguments are.
        inline: inside another staged function, becomes part of it instead of a call.

    Returns:
        A function with `lower`, `trace`, `eval_shape`, `cache_info` and `clear_cache`.

    Raises:
        ConcretizationError: the function asks for the value of a traced array.
        StaticArgumentError: a static argument cannot be hashed.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.jit(lambda x: anp.sum(x**2))(anp.arange(3.0))
    Array(5., dtype=float32)
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            backend=backend,
            device=device,
            inline=inline,
        )
    check_callable(fun, "ax.jit")
    if isinstance(fun, np.ufunc):
        raise errors.NotCallableError(
            f"ax.jit got NumPy's {fun.__name__!r}, which computes on NumPy arrays and cannot be "
            f"traced; use anp.{fun.__name__} of arrayx.numpy instead"
        )
    if backend is not None and device is not None:
        raise errors.ArgumentError("ax.jit takes backend= or device=, not both")
    target = find_device(device or backend) if device or backend else None
    check_static(fun, static_argnums, static_argnames)
    options = Options(
        integers("static_argnums", static_argnums),
        strings(static_argnames),
        integers("donate_argnums", donate_argnums),
        strings(donate_argnames),
        target,
        inline,
    )
    return Jitted(fun, options)


def check_static(fun: Any, numbers: Any, names: Any) -> None:
    """Raises where a static argument is none of the function's: a typing error, mostly."""
    if numbers is None and names is None:
        return
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return
    kinds = {p.kind for p in parameters}
    known = [p.name for p in parameters if p.kind not in _COLLECTING]
    shown = f"{name_of(fun)}({', '.join(map(str, parameters))})"
    for name in strings(names):
        if name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise errors.StaticArgumentError(
                f"static_argnames has {name!r}, which is no argument of {shown}"
            )
    positional = len(positional_names(fun))
    for i in integers("static_argnums", numbers):
        if not -positional <= i < positional and inspect.Parameter.VAR_POSITIONAL not in kinds:
            raise errors.StaticArgumentError(
                f"static_argnums has {i}, but {shown} has {positional} positional "
                f"argument{'' if positional == 1 else 's'}, counted from 0"
            )


_COLLECTING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def integers(name: str, given: Any) -> tuple[int, ...]:
    """An int or several as a tuple; raises for anything else."""
    numbers = () if given is None else (given,) if isinstance(given, int) else tuple(given)
    if not all(isinstance(i, int) for i in numbers):
        raise errors.ArgumentError(f"{name} takes an int or a sequence of ints, got {given!r}")
    return numbers


def strings(given: Any) -> tuple[str, ...]:
    """A string or several as a tuple."""
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)
