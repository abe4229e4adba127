"""Who gives primitives their meaning now, and the stand-ins (tracers) that they work on.

There is one current interpreter and no stack: a transformation installs its own, which
handles the tracers it made and hands everything else to the interpreter it replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from arrayx import errors, source
from arrayx.core.array import Array


class Interpreter:
    """Gives primitives a meaning: `apply(primitive, args, params)` returns the result."""

    __slots__ = ("asked", "closed", "parent")
    # How the transformation is called in messages.
    word = "a transformation"
    # What to do about a Python value that it cannot give, beside other operations.
    remedy = ""
    parent: Interpreter | None
    closed: bool
    # True once a function took another way because a value was not known: what it does with
    # concrete arrays differs from the program that was written down.
    asked: bool

    def __init__(self, parent: Interpreter | None) -> None:
        self.parent = parent
        self.closed = False
        self.asked = False

    def apply(self, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result of the primitive on these arguments."""
        raise NotImplementedError

    def standing_for(self, x: Any) -> Any:
        """What this interpreter puts in the place of a value of one that has ended."""
        return x


class Base(Interpreter):
    """The eager interpreter.  The backend floor puts its `apply` here, a static method."""

    __slots__ = ()
    word = "eager execution"


BASE = Base(None)
# A default is there in every thread, where a value set at import would be missing.
current: ContextVar[Interpreter] = ContextVar("arrayx_interpreter", default=BASE)


@contextmanager
def installed(interpreter: Interpreter) -> Iterator[Interpreter]:
    """Makes `interpreter` the current one inside the block."""
    token = current.set(interpreter)
    try:
        yield interpreter
    finally:
        current.reset(token)


@contextmanager
def opened(interpreter: Interpreter) -> Iterator[Interpreter]:
    """Installs a new interpreter; afterwards its tracers are refused as leaked."""
    token = current.set(interpreter)
    try:
        yield interpreter
    finally:
        current.reset(token)
        interpreter.closed = True


class Tracer(Array):
    """A stand-in for an array while a transformation runs the user's function."""

    __slots__ = ("interpreter",)
    interpreter: Interpreter
    # Where it was made, for those that note it.
    source: Any = None

    def concrete(self, what: str) -> Any:
        """The value behind the tracer, for Python's `what`; raises where there is none."""
        refuse_concretization(self, what)

    def origin(self) -> str:
        """Where the value came from, in words; empty where that is not known."""
        return f"made at {self.source}" if self.source is not None else ""

    def __repr__(self) -> str:
        return f"Traced<{self.aval}> in {self.interpreter.word}"


def revived(tracer: Tracer, interpreter: Interpreter | None) -> Any:
    """What stands for a tracer whose transformation has ended, for a rule that closes over it.

    Raises where no interpreter around knows it: then it has leaked.
    """
    x: Any = tracer
    while interpreter is not None:
        x = interpreter.standing_for(x)
        if not isinstance(x, Tracer) or not x.interpreter.closed:
            return x
        interpreter = interpreter.parent
    refuse_leaked(tracer)


def refuse_concretization(tracer: Tracer, what: str) -> NoReturn:
    """Raises the error for a Python value asked of a traced one."""
    remedies = [_INSTEAD.get(what, "the functions of arrayx.numpy instead of Python's")]
    if tracer.interpreter.remedy:
        remedies.append(tracer.interpreter.remedy)
    raise errors.ConcretizationError(
        f"{what} needs the value of a traced array of type {tracer.aval}, but under "
        f"{tracer.interpreter.word} only its type is known.\n"
        f"{history('asked', tracer)}"
        f"What helps: {'; '.join(remedies)}."
    )


INDEX = "an index of Python's (range, list, slice)"
_INSTEAD = {
    "bool()": "ax.lax.cond(pred, on_true, on_false, *operands) or anp.where(pred, x, y) instead "
    "of a Python `if`, ax.lax.while_loop instead of a `while`, & and | instead of `and` and `or`",
    INDEX: "ax.lax.fori_loop or ax.lax.scan instead of a Python loop, anp.take instead of an "
    "index into a list",
}


def history(asked: str, tracer: Tracer) -> str:
    """The lines of a message that say where a tracer was used and where it came from."""
    origin = tracer.origin()
    value = f"  the value: {origin}\n" if origin else ""
    nested = transformations(current.get())
    under = f"  under: {nested}\n" if nested else ""
    return f"  {asked} at: {source.current()}\n{value}{under}"


def transformations(interpreter: Interpreter | None) -> str:
    """The transformations at work, from the outermost in; empty where there are not several.

    They read as a nest of calls: "ax.vmap of ax.jit of loss".
    """
    words = []
    while interpreter is not None and interpreter is not BASE:
        if interpreter.word not in _INNER:
            words.append(interpreter.word)
        interpreter = interpreter.parent
    if len(words) < 2:
        return ""
    innermost, *outer = words
    return " of ".join([*(w.partition(" of ")[0] for w in reversed(outer)), innermost])


# Interpreters that are no transformation of the user's.
_INNER = ("linearization", "a derived graph", "legalisation")


def refuse_leaked(tracer: Tracer) -> NoReturn:
    """Raises the error for a tracer that is used where its transformation does not reach."""
    if not tracer.interpreter.closed:
        raise errors.LeakedTracerError(
            f"a traced array of type {tracer.aval} of {tracer.interpreter.word} was used by "
            "something that runs outside of that transformation, such as a rule of "
            "ax.custom_jvp or ax.custom_vjp that closes over it.\n"
            f"{history('used', tracer)}"
            "Pass it to the function as an argument."
        )
    raise errors.LeakedTracerError(
        f"a traced array of type {tracer.aval} was used after {tracer.interpreter.word} had "
        f"ended: it leaked out of the function.\n"
        f"{history('used', tracer)}"
        "A transformed function must return its results instead of storing them in globals, "
        "attributes or lists that outlive the call."
    )
