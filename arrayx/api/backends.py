"""What backends there are and who would run what: `ax.backends`."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from arrayx.api.arguments import check_callable
from arrayx.api.compilation import Jitted, Options
from arrayx.backend.contract import Backend
from arrayx.backend.core_primitives import Capabilities
from arrayx.backend.core_primitives import capabilities as capabilities_of
from arrayx.backend.dispatch import choose_device
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.legalise import legalise
from arrayx.backend.probe import probe
from arrayx.backend.records import INSTALL, Record, shipped
from arrayx.backend.registry import default_name, default_reason, registry
from arrayx.core.array import is_scalar
from arrayx.core.graph import Graph, subgraphs
from arrayx.core.primitive import Primitive
from arrayx.errors import BackendError

# What a first-party backend needs beside arrayx itself: looked for, never imported here.
NEEDS = {"numpy": "numpy", "xla": "jaxlib", "cupy": "cupy"}


def names() -> list[str]:
    """The names that can be asked for, installed or not.

    >>> "numpy" in names()
    True
    """
    return registry.names()


def get(name: str) -> Backend:
    """The backend of this name.

    Raises:
        UnknownBackendError: nothing registers this name.
        BackendUnavailableError: it is known but cannot be used; the message says why.
    """
    return registry.get(name)


def add(backend: Backend) -> None:
    """Registers a backend object under its `name`, without an entry point."""
    registry.add(backend)


def remove(name: str) -> None:
    """Forgets a backend that was registered by `add`."""
    registry.remove(name)


def installed(name: str) -> bool:
    """Whether what the backend needs is there; nothing heavy is imported.

    >>> installed("numpy")
    True
    """
    if name in registry.given:
        return True
    module = NEEDS.get(name)
    if module is None:
        return name in registry.entries()
    return shipped(name) and importlib.util.find_spec(module) is not None


def install_line(name: str) -> str:
    """The command that gets a backend; none for one that this version does not have."""
    return INSTALL.get(name, "") if shipped(name) else "(not part of this version)"


def available() -> list[str]:
    """The backends that can be made here; makes them.

    >>> available()[0]
    'numpy'
    """
    found = []
    for name in sorted(registry.names(), key=lambda n: (n != "numpy", n)):
        try:
            registry.get(name)
        except BackendError:
            continue
        found.append(name)
    return found


def doctor() -> list[Record]:
    """Tries every backend and returns a record of each: origin, state, reason, remedy.

    Each is loaded, and has to put an array, add it to itself and give it back.
    """
    registry.retry()
    records = [examine(name) for name in registry.names()]
    return [*records, *registry.notes.values()]


def notes() -> list[Record]:
    """What went wrong beside the backends: kernels of others, entry points, metadata."""
    return list(registry.notes.values())


def examine(name: str) -> Record:
    """The record of one backend, after trying it."""
    record = registry.examined(name)
    if record.state not in ("ready", "faulty"):
        return record
    try:
        probe(registry.get(name))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what a plugin does may even call sys.exit
        return registry.failed(name, error)
    return record


def capabilities(name: str) -> Capabilities:
    """What a backend declares: dtypes, devices, primitives it lacks, with its reasons.

    >>> sorted(capabilities("numpy").refused)[:3]
    ['all_gather', 'all_to_all', 'axis_index']
    """
    return capabilities_of(registry.get(name))


def explain(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Who would run `fun(*args, **kwargs)` under `jit`, why, and what is expanded.

    >>> import arrayx.numpy as anp
    >>> print(explain(anp.sin, 1.0).splitlines()[0])
    runs on numpy:cpu:0, because it is the default backend
    """
    check_callable(fun, "ax.backends.explain")
    jitted = Jitted(fun, Options((), (), (), (), None, False))
    traced, leaves = jitted.prepare(args, kwargs)[2:]
    device = choose_device((*leaves, *traced.graph.constant_values))
    placed = [x for x in leaves if getattr(x, "device", None) is device]
    reason = f"{len(placed)} of its arrays live there" if placed else default_reason()
    backend = device.backend
    lines = [f"runs on {device}, because {reason}"]
    staged = count(traced.graph)
    legal = count(legalise(traced.graph, backend))
    for name in sorted(staged):
        if name not in legal:
            lines.append(f"  {name}: expanded, {refusal(backend, name)}")
    for name in sorted(legal):
        source = source_of(backend, name)
        if source:
            lines.append(f"  {name}: {source}")
    if any(is_scalar(x) for x in leaves):
        lines.append("  Python scalars among the arguments are weakly typed arrays")
    lines.append(f"  {sum(legal.values())} operations of {len(legal)} kinds are compiled")
    others = [n for n in registry.names() if n != backend.name]
    for name in others:
        record = registry.record(name)
        why = record.reason or "not asked for"
        lines.append(f"  not {name}: {why}")
    for note in registry.notes.values():
        lines.append(f"  not {note.name}: {note.reason}")
    if backend.name != default_name():
        lines.append(f"  the default backend is {default_name()}")
    return "\n".join(lines)


def refusal(backend: Backend, name: str) -> str:
    """Why a backend does not take a primitive, in its own words where it has some."""
    answer = backend.takes(Primitive.named[name])
    return answer if isinstance(answer, str) else f"{backend.name} has no kernel for it"


def source_of(backend: Backend, name: str) -> str:
    """Where a kernel comes from that is not the backend's own; empty for its own."""
    if not isinstance(backend, KernelBackend):
        return ""
    if name in backend.origins:
        return f"kernel from {backend.origins[name]}"
    primitive = Primitive.named[name]
    if name not in backend.kernels and backend.name in primitive.implementations:
        return f"kernel from {primitive.implementations[backend.name].__module__}"
    return ""


def count(graph: Graph) -> dict[str, int]:
    """How often each primitive occurs, sub-graphs included."""
    found: dict[str, int] = {}
    for e in graph.equations:
        found[e.primitive.name] = found.get(e.primitive.name, 0) + 1
        for sub in subgraphs(e):
            for name, n in count(sub).items():
                found[name] = found.get(name, 0) + n
    return found
