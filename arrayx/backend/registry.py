"""Which backends there are: found through entry points, loaded one at a time when asked for.

A plugin that cannot be loaded becomes a record, shown by `doctor()` and in the error when
it is asked for; it never breaks `import arrayx` or another backend.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from arrayx import errors
from arrayx.backend.concrete import Restore
from arrayx.backend.contract import API_VERSION, Backend
from arrayx.backend.kernels import KernelBackend
from arrayx.config import config
from arrayx.lazy import lazy

metadata = lazy("importlib.metadata")
difflib = lazy("difflib")
pluggy = lazy("pluggy")
traceback = lazy("traceback")

GROUP = "arrayx.backends"
# Entry points of this group are named after the backend that their module adds kernels to.
KERNELS_GROUP = "arrayx.kernels"

# The distribution's own, known without metadata: a checkout or a frozen application works,
# and the default backend needs no scan.
BUILT_IN = {"numpy": "arrayx_numpy", "xla": "arrayx_xla", "cupy": "arrayx_cupy"}
INSTALL = {
    "numpy": "pip install arrayx",
    "xla": "pip install 'arrayx[xla]'",
    "cupy": "pip install 'arrayx[cupy]'",
}


@dataclass(frozen=True)
class Record:
    """What is known of one backend: where it comes from and whether it can be used.

    `state` is one of: "found" (not loaded yet), "ready", "unavailable", "broken".
    """

    name: str
    origin: str
    state: str
    reason: str = ""
    trace: str = ""
    remedy: str = ""


class Registry:
    """The backends of this process."""

    def __init__(self) -> None:
        self.backends: dict[str, Backend] = {}
        self.failures: dict[str, Record] = {}
        self.given: dict[str, Any] = {}
        self._entries: dict[str, list[Any]] | None = None
        self.lock = threading.RLock()

    @cached_property
    def manager(self) -> Any:
        """The plugins and their hooks."""
        manager = pluggy.PluginManager("arrayx")
        manager.add_hookspecs(importlib.import_module("arrayx.backend.hookspecs"))
        return manager

    def entries(self) -> dict[str, list[Any]]:
        """Entry points by backend name; metadata only, nothing is imported."""
        if self._entries is None:
            found: dict[str, list[Any]] = {}
            for entry in metadata.entry_points(group=GROUP):
                known = found.setdefault(entry.name, [])
                if all(entry.value != other.value for other in known):
                    known.append(entry)
            self._entries = found
        return self._entries

    def names(self) -> list[str]:
        """All names that can be asked for."""
        return sorted({*BUILT_IN, *self.entries(), *self.given})

    def records(self) -> list[Record]:
        """What is known of every backend and every failed contribution; loads nothing."""
        contributions = [r for name, r in self.failures.items() if name not in self.names()]
        return [*(self.record(name) for name in self.names()), *contributions]

    def add(self, backend: Backend) -> None:
        """Registers a backend object directly: for tests and notebooks."""
        with self.lock:
            self.given[backend.name] = backend
            self.backends[backend.name] = backend
            self.failures.pop(backend.name, None)

    def remove(self, name: str) -> None:
        """Forgets a backend registered by `add`."""
        with self.lock:
            self.given.pop(name, None)
            self.backends.pop(name, None)

    def get(self, name: str) -> Backend:
        """The backend of this name, made on first use."""
        found = self.backends.get(name)
        if found is not None:
            return found
        with self.lock:
            if name in self.backends:
                return self.backends[name]
            if name in self.failures:
                raise unavailable(self.failures[name])
            return self.make(name)

    def make(self, name: str) -> Backend:
        """Loads the plugin of this name and asks it for the backend."""
        module_name = BUILT_IN.get(name)
        entries = [] if module_name is not None else self.entries().get(name, [])
        if module_name is None and not entries:
            near = difflib.get_close_matches(name, self.names(), 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise errors.UnknownBackendError(
                f"no backend {name!r}; known are: {', '.join(self.names())}.{meant} A plugin "
                f"registers itself through the entry-point group {GROUP!r}; "
                "ax.backends.doctor() says what was found."
            )
        origin = f"module {module_name}" if module_name else describe(entries[0])
        try:
            if len(entries) > 1:
                raise errors.BackendUnavailableError(
                    f"several distributions register a backend {name!r}: "
                    + "; ".join(describe(e) for e in entries)
                )
            if module_name and importlib.util.find_spec(module_name) is None:
                raise errors.BackendUnavailableError(
                    f"this version of arrayx comes without the module {module_name}"
                )
            plugin = importlib.import_module(module_name) if module_name else entries[0].load()
            if self.manager.get_plugin(name) is None:
                self.manager.register(plugin, name)
            others = [p for p in self.manager.get_plugins() if p is not plugin]
            make = self.manager.subset_hook_caller("arrayx_make_backend", others)
            backend = make(name=name)
            check(backend, name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may even call sys.exit
            expected = isinstance(error, errors.BackendUnavailableError)
            record = Record(
                name,
                origin,
                "unavailable" if expected else "broken",
                str(error) if expected else f"{type(error).__name__}: {error}",
                traceback.format_exc(),
                INSTALL.get(name, "") if shipped(name) else "",
            )
            self.failures[name] = record
            raise unavailable(record) from error
        self.backends[name] = backend
        if isinstance(backend, KernelBackend):
            self.contribute(backend)
        return backend  # type: ignore[no-any-return]

    def contribute(self, backend: KernelBackend) -> None:
        """Adds the kernels that other distributions have for a backend.

        A contribution that fails is a record of its own and takes nothing from the backend.
        """
        for entry in self.contributions(backend.name):
            try:
                plugin = entry.load()
                if not self.manager.is_registered(plugin):
                    self.manager.register(plugin)
                others = [p for p in self.manager.get_plugins() if p is not plugin]
                ask = self.manager.subset_hook_caller("arrayx_kernels", others)
                for kernels in ask(backend=backend.name):
                    backend.kernels = {**kernels, **backend.kernels}
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                name = f"{backend.name}+{entry.value}"
                reason = f"{type(error).__name__}: {error}"
                trace = traceback.format_exc()
                self.failures[name] = Record(name, describe(entry), "broken", reason, trace)

    def contributions(self, name: str) -> list[Any]:
        """The entry points of modules with kernels for a backend; metadata only."""
        return list(metadata.entry_points(group=KERNELS_GROUP, name=name))

    def record(self, name: str) -> Record:
        """What is known of a backend; loads nothing."""
        if name in self.failures:
            return self.failures[name]
        origin = f"module {BUILT_IN[name]}" if name in BUILT_IN else "registered by hand"
        for entry in self.entries().get(name, []):
            origin = describe(entry)
        return Record(name, origin, "ready" if name in self.backends else "found")

    def retry(self) -> None:
        """Forgets failures and the list of entry points, so that a repair is noticed."""
        with self.lock:
            for name in self.names():
                self.failures.pop(name, None)
            self._entries = None


def shipped(name: str) -> bool:
    """False for a first-party backend whose module this version does not have."""
    return name not in BUILT_IN or importlib.util.find_spec(BUILT_IN[name]) is not None


def describe(entry: Any) -> str:
    """An entry point in words: its value and the distribution it belongs to."""
    dist = getattr(entry, "dist", None)
    return f"{entry.value} of {dist.name} {dist.version}" if dist is not None else str(entry.value)


def check(backend: Any, name: str) -> None:
    """Refuses what a plugin returned if it is not a backend of this API version."""
    if backend is None:
        raise errors.BackendUnavailableError(f"the plugin made no backend called {name!r}")
    if not isinstance(backend, Backend):
        raise TypeError(f"the plugin returned {backend!r}, which is not an arrayx Backend")
    if backend.api_version[0] != API_VERSION[0] or backend.api_version > API_VERSION:
        raise errors.BackendUnavailableError(
            f"it was made for backend API {backend.api_version}, this arrayx has "
            f"{API_VERSION}: upgrade the older of the two"
        )


def unavailable(record: Record) -> errors.BackendUnavailableError:
    """The error for a backend that is known but cannot be used."""
    told = not record.remedy or record.remedy in record.reason
    remedy = "" if told else f" Try: {record.remedy}"
    # A reason that is a whole sentence about the backend needs no beginning.
    whole = record.reason.startswith(f"backend {record.name!r}")
    begin = "" if whole else f"backend {record.name!r} cannot be used: "
    return errors.BackendUnavailableError(f"{begin}{record.reason}.{remedy}")


registry = Registry()
Restore.get_backend = registry.get
_chosen: ContextVar[str | None] = ContextVar("arrayx_backend", default=None)


def default_name() -> str:
    """The name of the backend for work whose arguments do not decide."""
    return _chosen.get() or config.default_backend


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Makes a backend the default inside the block."""
    registry.get(name)
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)
