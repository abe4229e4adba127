"""A deliberate fault, one at a time: in a kernel, a rule, or a pass."""

from __future__ import annotations
import __future__

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from arrayx.backend.registry import registry
from arrayx.core.primitive import Primitive
from arrayx_numpy.backend import NumpyBackend
from arrayx_numpy.elementwise import with_literals
from arrayx_numpy.into import INTO

KERNEL, RULE, PASS = "kernel", "rule", "pass"
# What the copy of the NumPy backend is called that has a wrong kernel.
COPY = "mutant"


class Lives:
    """How often what is corrupted has been called: a mutant that never is proves nothing."""

    count = 0

    @classmethod
    def note(cls) -> None:
        cls.count += 1


@dataclass(frozen=True)
class Mutant:
    """One fault.

    - `name`: unique among all of its kind.
    - `words`: what is wrong, in words.
    - `subjects`: the subjects of items that are asked first.
    - `apply`: makes the fault, for the rest of the process; gives the name of the backend that
      has it.
    - `sections`: the sections that are asked next.
    """

    kind: str
    name: str
    words: str
    subjects: tuple[str, ...]
    apply: Callable[[], str]
    sections: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.name}"


# ----------------------------------------------------------------- kernels


class Copy(NumpyBackend):
    """NumPy with one kernel wrong: eagerly, and in all forms that programs have of it."""

    name = COPY

    def __init__(self, broken: dict[str, Any]) -> None:
        super().__init__()
        self.broken = broken
        self.kernels = {**self.kernels, **broken}

    def kernel_of(self, e: Any, device: Any = None) -> Any:
        return self.broken.get(e.primitive.name) or super().kernel_of(e, device)

    def eager(self, primitive: Any, avals: Any, params: Any, device: Any) -> Callable[..., Any]:
        if primitive.name not in self.broken:
            return super().eager(primitive, avals, params, device)
        return with_literals(self.kernel(primitive, params, device), avals)

    def compile(self, graph: Any, options: Any) -> Any:
        with without(INTO, self.broken):
            return super().compile(graph, options)


@contextmanager
def without(table: dict[str, Any], names: Any) -> Iterator[None]:
    """A table that lacks some entries for a while."""
    held = {name: table.pop(name) for name in names if name in table}
    try:
        yield
    finally:
        table.update(held)


def live(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, its calls counted."""

    def counted(*operands: Any, **params: Any) -> Any:
        Lives.note()
        return function(*operands, **params)

    return counted


def kernel(
    primitive: str,
    name: str,
    words: str,
    make: Callable[[Callable[..., Any]], Callable[..., Any]],
    *sections: str,
) -> Mutant:
    """A backend whose kernel of `primitive` is what `make` makes of the right one."""

    def apply() -> str:
        right = NumpyBackend().kernels[primitive]
        registry.add(Copy({primitive: live(make(right))}))
        return COPY

    first = (*sections, "large", "dtypes")
    return Mutant(KERNEL, f"{primitive}-{name}", words, (primitive,), apply, first)


def backend(name: str, words: str, method: str, wrong: Callable[..., Any], *first: str) -> Mutant:
    """A backend one of whose own methods is wrong."""

    def apply() -> str:
        made = Copy({})
        setattr(made, method, live(wrong))
        registry.add(made)
        return COPY

    return Mutant(KERNEL, f"backend-{name}", words, (), apply, first)


# ----------------------------------------------------------------- rules and passes


def edit(
    kind: str,
    name: str,
    words: str,
    target: str,
    *changes: tuple[str, str],
    subjects: Sequence[str] = (),
    sections: Sequence[str] = (),
) -> Mutant:
    """A function of arrayx with other text: each change is (what is there once, what instead).

    `target` is "module:function" or "module:Class.method".
    """

    def apply() -> str:
        rewrite(target, changes)
        return "numpy"

    return Mutant(kind, name, words, tuple(subjects), apply, tuple(sections))


def rewrite(target: str, changes: Sequence[tuple[str, str]]) -> None:
    """Gives a function the code of its changed text: whoever holds it has the new one."""
    module, _, path = target.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, last = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    found = inspect.getattr_static(owner, last)
    function = inspect.unwrap(getattr(found, "__func__", found))
    text = textwrap.dedent(inspect.getsource(function))
    for old, new in changes:
        assert text.count(old) == 1, f"{target} has {old!r} {text.count(old)} times, not once"
        text = text.replace(old, new)
    (definition,) = ast.parse(text).body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    # Its own name may be that of a function which it calls.
    definition.name = "rewritten"
    note = ast.parse("_mutant_lives()").body[0]
    begin = 1 if ast.get_docstring(definition) else 0
    definition.body.insert(begin, note)
    captured = function.__code__.co_freevars
    factory = ast.parse(f"def factory({', '.join(captured)}):\n    return {definition.name}")
    (whole,) = factory.body
    assert isinstance(whole, ast.FunctionDef)
    whole.body.insert(0, definition)
    scope = dict(function.__globals__)
    flags = __future__.annotations.compiler_flag
    tree = ast.fix_missing_locations(factory)
    exec(compile(tree, f"<{target}>", "exec", flags, dont_inherit=True), scope)
    made = scope["factory"](*([None] * len(captured)))
    assert made.__code__.co_freevars == captured, f"{target} captures other variables"
    function.__globals__["_mutant_lives"] = Lives.note
    function.__code__ = made.__code__


def rule(
    primitive: str, slot: str, name: str, words: str, wrong: Callable[..., Any], *also: str
) -> Mutant:
    """A primitive one of whose rules is another function, called as a method."""

    def apply() -> str:
        setattr(type(Primitive.named[primitive]), slot, live(wrong))
        return "numpy"

    return Mutant(RULE, f"{primitive}-{name}", words, (primitive, *also), apply, FIRST_OF_RULES)


def partials(primitive: str, name: str, words: str, *wrong: Callable[..., Any]) -> Mutant:
    """A primitive with other partial derivatives."""

    def apply() -> str:
        type(Primitive.named[primitive]).partials = tuple(map(live, wrong))  # type: ignore[attr-defined]
        return "numpy"

    first = (primitive, "conventions")
    return Mutant(RULE, f"{primitive}-{name}", words, first, apply, FIRST_OF_RULES)


FIRST_OF_RULES = ("derivatives", "vmap", "control_flow", "custom_rules", "orders")
