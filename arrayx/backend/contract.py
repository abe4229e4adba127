"""What a backend is: the promises between arrayx and whoever runs its graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from arrayx import errors
from arrayx.backend.concrete import ConcreteArray, array_types, physical_aval
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx.core.primitive import Primitive

# The version of this contract, apart from arrayx's own: (major, minor).  The minor number grows
# with what a backend may use or declare, the major one with whatever could break a backend that
# works: another signature, one more core primitive.  A plugin made for another major version, or
# for a later minor one, is refused with both numbers.
API_VERSION = (1, 0)

# Whatever a backend keeps the elements of an array in; arrayx never looks inside.
Buffer = Any


class Device:
    """One unit of a backend, shown as `"numpy:cpu:0"` or `"xla:tpu:3"`.

    A backend makes its devices once: they are compared by identity.  Each has a class of
    arrays of its own, `array_type`, so that an array's class tells where it lives.
    """

    __slots__ = ("array_type", "backend", "id", "kind", "platform")

    def __init__(self, backend: Backend, platform: str, id: int, kind: str = "") -> None:
        self.backend = backend
        self.platform = platform
        self.id = id
        self.kind = kind
        members = {"__slots__": (), "backend": backend, "device": self, "__module__": "arrayx"}
        self.array_type: type[ConcreteArray] = type("Array", (ConcreteArray,), members)
        array_types.add(self.array_type)

    def __repr__(self) -> str:
        return f"{self.backend.name}:{self.platform}:{self.id}"


@dataclass(frozen=True)
class CompileOptions:
    """How a graph is to be compiled.

    `donated` are the inputs whose buffers the program may overwrite.
    """

    device: Device
    donated: tuple[int, ...] = ()


class Executable(ABC):
    """A compiled graph."""

    # True where it calls functions of users' own.
    calls_back = False

    @abstractmethod
    def run(self, buffers: Sequence[Buffer]) -> Sequence[Buffer]:
        """The outputs' buffers for the inputs'."""

    @contextmanager
    def stepping(self) -> Iterator[Callable[[Sequence[Buffer]], Sequence[Buffer]]]:
        """`run` for many calls in a row, which may share what a call has to prepare."""
        yield self.run

    def text(self) -> str:
        """The program as the backend's own code, where it has such a thing."""
        return ""

    def cost_analysis(self) -> dict[str, float]:
        """Figures such as flops and bytes accessed, where the backend knows them."""
        return {}

    def memory_analysis(self) -> dict[str, float]:
        """Bytes of arguments, outputs and temporaries, where the backend knows them."""
        return {}


class Backend(ABC):
    """Compiles and runs graphs.  Only `name`, `devices` and `compile` are owed.

    A buffer is whatever the backend keeps an array in; arrayx never looks inside.  What a
    backend can do it declares: `dtypes`, `takes` and `supports` (whatever it does not take is
    expanded into what it does, or refused with its sentence; loops and callbacks are asked
    for like everything else), `devices`, and the flags below.
    """

    # As users write it, and as the entry point is called.
    name: ClassVar[str]
    # The contract that this class was written for; who says nothing means the first.
    api_version: ClassVar[tuple[int, int]] = (1, 0)
    # Dtypes (by name) that the backend has; None for all.
    dtypes: frozenset[str] | None = None
    # True where `call` equations should arrive whole instead of being inlined.
    keeps_calls: ClassVar[bool] = False
    # True where `shard_map` equations should arrive whole, to be run on several devices, instead
    # of being batched; the backend then owes the collectives too.
    collectives: ClassVar[bool] = False
    # True where a call returns before its work is done.
    asynchronous: ClassVar[bool] = False
    # True where kernels are NumPy's, which would warn of nan and overflow.
    quiet: ClassVar[bool] = False
    # True where `eager` takes primitives on random keys, given as pairs of uint32; elsewhere
    # they are legalised and compiled.
    eager_takes_keys: ClassVar[bool] = False

    @abstractmethod
    def devices(self) -> tuple[Device, ...]:
        """The units of this backend, the same objects at every call; the first is default."""

    def put(self, array: np.ndarray, device: Device) -> Buffer:
        """A host array on the device.  Must not alias memory that the caller may change."""
        return np.array(array)

    def share(self, array: np.ndarray, device: Device) -> Buffer | None:
        """A host array as a buffer on the same memory, which nobody will write to any more.

        None where the device has no access to it.
        """
        return None

    def get(self, buffer: Buffer) -> np.ndarray:
        """The buffer as a host array, once it is ready; the caller will not write to it."""
        return np.asarray(buffer)

    def takes(self, primitive: Primitive) -> bool | str:
        """True, or a sentence that says why no equation of this primitive can be run."""
        return True

    def supports(self, equation: Equation) -> bool | str:
        """True, or a sentence that says why this equation cannot be run.

        The answer for its primitive, where operands and params make no difference.
        """
        return self.takes(equation.primitive)

    @abstractmethod
    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        """Compiles a legalised graph (see `arrayx.backend.legalise`)."""

    def lowered_text(self, graph: Graph, options: CompileOptions) -> str:
        """The graph in the backend's own language, before it is compiled."""
        return str(graph)

    def eager(
        self,
        primitive: Primitive,
        avals: tuple[Any, ...],
        params: dict[str, Any],
        device: Device,
    ) -> Callable[..., Any]:
        """A function of buffers (and Python scalars, where `avals` has a Python type) that
        applies one primitive; it returns a buffer, or a tuple where `multiple`.

        By default the compiled form of a graph of this one equation.
        """
        # Imported late on purpose by nobody: dispatch hands the compiler in.
        return self.compile_one(self, primitive, avals, params, device)

    compile_one: ClassVar[Callable[..., Callable[..., Any]]]

    def is_ready(self, buffer: Buffer) -> bool:
        """True once the buffer's elements are there."""
        return True

    def synchronize(self, buffer: Buffer) -> None:  # noqa: B027  (nothing to wait for)
        """Waits until the buffer's elements are there."""

    def delete(self, buffer: Buffer) -> None:  # noqa: B027  (left to Python)
        """Frees the buffer's memory now, where the backend can."""

    def check_dtype(self, aval: Aval) -> None:
        """Raises `UnsupportedDtypeError` for a dtype that the backend lacks."""
        dtype = physical_aval(aval).dtype
        if self.dtypes is not None and str(dtype) not in self.dtypes:
            raise errors.UnsupportedDtypeError(
                f"backend {self.name!r} has no dtype {dtype}; it has "
                f"{', '.join(sorted(self.dtypes))}. Convert the array, or use a backend "
                "that has it: nothing is narrowed in silence."
            )


def constant_buffers(graph: Graph, device: Device) -> list[Buffer]:
    """The constants of a graph as buffers of the device that runs it."""
    return [
        x.buffer
        if type(x) is device.array_type
        else device.backend.put(x.host() if isinstance(x, ConcreteArray) else np.asarray(x), device)
        for x in graph.constant_values
    ]


def one_equation_graph(
    primitive: Primitive, avals: tuple[Any, ...], params: dict[str, Any], literals: tuple[Any, ...]
) -> Graph:
    """A graph that applies one primitive to inputs of these types.

    Where `avals` has a Python type instead of an aval, the next of `literals` stands.
    """
    given = iter(literals)
    operands = tuple(Var(a) if type(a) is Aval else next(given) for a in avals)
    result = primitive.infer(avals, params)
    outputs = tuple(Var(a) for a in (result if primitive.multiple else (result,)))
    effects = primitive.effects(**params)
    equation = Equation(primitive, operands, params, outputs, effects)
    return Graph([v for v in operands if type(v) is Var], [equation], outputs)
