"""What one operation is: a class whose methods are the rules of the transformations."""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from arrayx import errors
from arrayx.core import interpreter
from arrayx.core.aval import Aval
from arrayx.lazy import lazy

pkgutil = lazy("pkgutil")

_current = interpreter.current.get
NO_EFFECTS: frozenset[str] = frozenset()
NO_NAMES: frozenset[Any] = frozenset()
_MOST_TYPES = 8192
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Fault(NamedTuple):
    """A mistake in the operands of an application, where `failed` (an array) is true anywhere.

    `words` say what is wrong, with the names of `values` in braces.
    """

    kind: str
    words: str
    failed: Any
    values: dict[str, Any]


class Primitive:
    """One operation: its docstring is its documentation, its methods are its rules.

    A slot that is None is filled by `expand` (the operation in simpler ones), which every
    transformation then enters; a primitive without `expand` is a *core* primitive, owed by
    every backend unless it is `optional`.  Operands have equal dtypes and shapes unless the
    docstring says otherwise; a Python scalar may stand for an operand of elementwise ones.

    | slot | question it answers |
    |---|---|
    | `type_rule(*avals, **params)` | the type of the result (a tuple where `multiple`) |
    | `jvp(primals, tangents, **params)` | value and tangent; tangents may be `Zero` |
    | `linearize(tape, primals, tangents, **params)` | value, and the tangent's equation |
    | `transpose(ct, *args, **params)` | a cotangent for each `Undefined` argument |
    | `vmap(size, args, dims, **params)` | result and its batch axis; None: not batched |
    | `expand(*args, **params)` | the operation in simpler ones |
    | `stage(interpreter, args, params)` | how it is written down, where that is special |
    | `evaluate(*args, **params)` | how it runs eagerly, where that is not a kernel |
    | `interpret(interpreter, args, params)` | its meaning where a transformation has no rule |
    | `reach(active, **params)` | which results depend on the operands marked; None: all |
    | `enclose(args, params)` | both, with what its params close over among the operands |
    | `prune(equation, used)` | the equation without what only unused results need |
    | `widen(avals, params)` | params whose graphs fit operands that vary over more mesh axes |
    | `on_keys(avals, *words, **params)` | what it does to keys, given as pairs of uint32 |
    | `flops(avals, results, **params)` | how many elementary operations it takes |
    | `repeats(**params)` | how often its graphs run; None: nobody knows |
    | `faults(*args, **params)` | what a debugger should report of its operands, as `Fault`s |
    """

    name: ClassVar[str]
    multiple: ClassVar[bool] = False
    # True where every element of the result depends on the same element of each operand.
    elementwise: ClassVar[bool] = False
    # True where the result costs no more than reading it: made again rather than saved.
    cheap: ClassVar[bool] = False
    # True where an element of the result takes much longer than a sum: worth its memory.
    costly: ClassVar[bool] = False
    # True where elements are only moved or made: no arithmetic.
    moves: ClassVar[bool] = False
    # True where only one of the graphs among the params runs.
    exclusive: ClassVar[bool] = False
    # True where params are graphs: remembering types would keep the graphs alive.
    holds_graphs: ClassVar[bool] = False
    # True where params name axes: what it means depends on the transformation that opened them.
    names_axes: ClassVar[bool] = False
    # True where functions are allowed among the params: such a graph is not quite data.
    callable_params: ClassVar[bool] = False
    # True where a backend may refuse it although nothing simpler stands for it: a factorisation,
    # a transform, a call of Python.
    optional: ClassVar[bool] = False
    # True where `expand` knows only some params: a backend owes the others.
    partly_owed: ClassVar[bool] = False

    jvp: Callable[..., Any] | None = None
    linearize: Callable[..., Any] | None = None
    transpose: Callable[..., Any] | None = None
    vmap: Callable[..., Any] | None = None
    expand: Callable[..., Any] | None = None
    stage: Callable[..., Any] | None = None
    evaluate: Callable[..., Any] | None = None
    interpret: Callable[..., Any] | None = None
    reach: Callable[..., tuple[bool, ...]] | None = None
    enclose: Callable[..., Any] | None = None
    prune: Callable[..., Any] | None = None
    widen: Callable[..., Any] | None = None
    on_keys: Callable[..., Any] | None = None
    faults: Callable[..., Sequence[Fault]] | None = None

    # Printing back a graph's text needs the name; no rule is looked up here.
    named: ClassVar[weakref.WeakValueDictionary[str, Primitive]] = weakref.WeakValueDictionary()

    def __init__(self) -> None:
        self.types: dict[Any, Any] = {}
        self.has_effects = type(self).effects is not Primitive.effects
        # Eager kernels by operand types and params; filled by the backend floor.
        self.kernels: dict[Any, Any] = {}
        # The same for operands without params, on backends whose kernels are NumPy's.
        self.direct: dict[Any, Any] = {}
        # What runs it on backends that know nothing of it, by the backend's name.
        self.implementations: dict[str, Callable[..., Any]] = {}
        self._enter()

    def _enter(self) -> None:
        """Makes the name known; raises where it is another's."""
        other = Primitive.named.get(self.name)
        if other is not None and _place(other) != _place(self):
            raise errors.GraphError(
                f"{_place(self)} cannot be called {self.name!r}: {_place(other)} is. Put the name "
                "of your package in front."
            )
        Primitive.named[self.name] = self

    def implementation(self, backend: str) -> Callable[[_Function], _Function]:
        """Decorates the function that runs this primitive on a backend.

        For a `KernelBackend` it is a kernel: a function of the operands' buffers, with the
        params by keyword, that returns a buffer (a tuple of them where `multiple`).  What the
        backend has itself goes first; backends without an implementation get `expand`.
        """

        def enter(function: _Function) -> _Function:
            self.implementations[backend] = function
            return function

        return enter

    def __call__(self, *args: Any, **params: Any) -> Any:
        return _current().apply(self, args, params)

    @property
    def owed(self) -> bool:
        """True where every backend must have it: nothing simpler stands for it."""
        return (self.expand is None or self.partly_owed) and not self.optional

    def type_rule(self, *avals: Any, **params: Any) -> Any:
        """The type of the result for operands of these types."""
        raise NotImplementedError(f"primitive {self.name} has no type rule")

    def effects(self, **params: Any) -> frozenset[str]:
        """What an application does besides computing its result."""
        return NO_EFFECTS

    def axis_names(self, **params: Any) -> frozenset[Any]:
        """The axes that params name; of a primitive that holds graphs those it opens for them."""
        return NO_NAMES

    def varies(self, over: frozenset[Any], **params: Any) -> frozenset[Any]:
        """The mesh axes that the result varies over, where the operands vary over `over`."""
        return over

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], /, **params: Any) -> int:
        """How many elementary operations an application takes: one an element, by default.

        Graphs among the params are counted apart.
        """
        if self.moves or self.holds_graphs:
            return 0
        return max([a.size for a in (*avals, *results) if type(a) is Aval], default=0)

    def repeats(self, **params: Any) -> int | None:
        """How often each graph among the params runs in one application."""
        return 1

    def key(self, params: dict[str, Any]) -> tuple[Any, ...]:
        """The params as a hashable key; values of unequal meaning must differ."""
        return tuple(params.items())

    def infer(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The type of the result, remembered; a literal is given as its Python type.

        Rules are asked without the mesh axes that operands vary over: what one operand varies
        over, the result does.  Primitives that hold graphs say it themselves.
        """
        if self.holds_graphs:
            if self.widen is None and any(type(a) is Aval and a.varying for a in avals):
                self._refuse_unfitting(avals, params)
            return self.type_rule(*avals, **params)
        key = (avals, *params.items()) if params else avals
        try:
            return self.types[key]
        except KeyError:
            pass
        result = self._infer(avals, params)
        if len(self.types) >= _MOST_TYPES:  # the keys hold avals, so they are bounded
            self.types.clear()
        self.types[key] = result
        return result

    def _refuse_unfitting(self, avals: tuple[Any, ...], params: dict[str, Any]) -> None:
        """Raises where operands vary over mesh axes that no graph takes anything to vary over."""
        over = NO_NAMES.union(*(a.varying for a in avals if type(a) is Aval))
        graphs = [v for v in params.values() if hasattr(v, "in_avals")]
        known = NO_NAMES.union(*(a.varying for graph in graphs for a in graph.in_avals))
        if graphs and not over <= known:
            raise errors.GraphError(
                f"{self.name} got operands that vary over {sorted(map(str, over))}, but its graph "
                "was staged for others: its class needs `widen`"
            )

    def _infer(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Any:
        over = NO_NAMES.union(*(a.varying for a in avals if type(a) is Aval and a.varying))
        if over:
            avals = tuple([a.unvarying() if type(a) is Aval else a for a in avals])
        result = self.type_rule(*avals, **params)
        over = self.varies(over, **params)
        if not over:
            return result
        if self.multiple:
            return tuple([a.update(varying=over) for a in result])
        return result.update(varying=over)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)


# Where primitives, and classes of their params, are made; modules of them are imported when used.
PLACES = ("arrayx.primitives", "arrayx.control", "arrayx.random")


def import_all() -> None:
    """Imports every module that makes a primitive: for a text or a pickle that names one."""
    for place in PLACES:
        package = importlib.import_module(place)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{place}.{module.name}")


def find(name: str) -> Primitive | None:
    """The primitive of this name, whose module is imported if need be; None if there is none."""
    found = Primitive.named.get(name)
    if found is None:
        import_all()
        found = Primitive.named.get(name)
    return found


def _place(primitive: Primitive) -> str:
    """Where the class of a primitive is defined; a cell run again defines the same one."""
    return f"{type(primitive).__module__}.{type(primitive).__qualname__}"


def _named(name: str) -> Primitive:
    found = find(name)
    if found is None:
        raise errors.ArgumentError(f"there is no primitive {name!r} in this process")
    return found


def aval_or_scalar_type(x: Any) -> Aval | type:
    """What `type_rule` is told of an operand: its type, or a literal's Python type."""
    aval = getattr(x, "aval", None)
    return aval if aval is not None else type(x)
