"""Which backends there are: found through entry points, loaded one at a time when asked for.

A plugin that cannot be loaded becomes a record, shown by `doctor()` and in the error when
it is asked for; it never breaks `import arrayx` or another backend.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from arrayx import errors
from arrayx.backend.concrete import Restore
from arrayx.backend.contract import API_VERSION, Backend, Device
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.records import (
    BUILT_IN,
    DuplicateError,
    Record,
    VersionError,
    describe,
    package_of,
    remedy_of,
    unavailable,
)
from arrayx.config import config
from arrayx.lazy import lazy

metadata = lazy("importlib.metadata")
difflib = lazy("difflib")
pluggy = lazy("pluggy")
traceback = lazy("traceback")

GROUP = "arrayx.backends"
# Entry points of this group are named after the backend that their module adds kernels to.
KERNELS_GROUP = "arrayx.kernels"


class Registry:
    """The backends of this process."""

    def __init__(self) -> None:
        self.backends: dict[str, Backend] = {}
        self.failures: dict[str, Record] = {}
        # What went wrong beside the backends themselves: with kernels that others bring, with
        # entry points that do not count, with metadata that cannot be read.
        self.notes: dict[str, Record] = {}
        # What backends gave that their contract forbids.
        self.faults: dict[str, str] = {}
        self.given: dict[str, Any] = {}
        self._entries: dict[str, list[Any]] | None = None
        self._seconds: dict[str, float] = {}
        # One for each backend, so that one that takes long to load keeps nobody else waiting.
        self._locks: dict[str, threading.RLock] = {}
        self._loading: set[str] = set()

    # ------------------------------------------------------------- metadata

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
            for entry in self.scan(GROUP):
                known = found.setdefault(entry.name, [])
                if all(entry.value != other.value for other in known):
                    known.append(entry)
            for known in found.values():
                known.sort(
                    key=describe
                )  # in what order folders are read is not the same everywhere
            for name, module in BUILT_IN.items():
                for entry in found.pop(name, []):
                    if entry.value != module:
                        self.note_foreign(name, entry)
            self._entries = found
        return self._entries

    def note_foreign(self, name: str, entry: Any) -> None:
        """Records an entry point that claims a name of arrayx's own."""
        package = package_of(entry)
        self.notes[f"{name} of {package or entry.value}"] = Record(
            name,
            describe(entry),
            "ignored",
            f"the name {name!r} belongs to arrayx itself",
            remedy=f"pip uninstall {package}" if package else "",
        )

    def scan(self, group: str) -> list[Any]:
        """The entry points of a group; what cannot be read of a distribution is a record."""
        try:
            return list(metadata.entry_points(group=group))
        except Exception:
            # One of them is malformed, which fails for all: one distribution at a time.
            return self.scan_slowly(group)

    def scan_slowly(self, group: str) -> list[Any]:
        """`scan`, past distributions that cannot be read."""
        found, seen = [], set()
        for dist in metadata.distributions():
            try:
                name = dist.metadata["Name"]
                if name in seen:  # the first on the path hides others of its name
                    continue
                seen.add(name)
                found += [e for e in dist.entry_points if e.group == group]
            except Exception as error:
                place = str(getattr(dist, "_path", dist))
                self.notes[place] = Record(
                    place,
                    "metadata of a distribution",
                    "broken",
                    f"its metadata cannot be read: {type(error).__name__}: {error}",
                    traceback.format_exc(),
                    "reinstall or remove that distribution",
                )
        return found

    def names(self) -> list[str]:
        """All names that can be asked for."""
        return sorted({*BUILT_IN, *self.entries(), *self.given})

    # ------------------------------------------------------------- records

    def records(self) -> list[Record]:
        """What is known of every backend and of all that went wrong beside; loads nothing."""
        return [*(self.record(name) for name in self.names()), *self.notes.values()]

    def record(self, name: str) -> Record:
        """What is known of a backend; loads nothing."""
        if name in self.failures:
            return self.failures[name]
        origin = f"module {BUILT_IN[name]}" if name in BUILT_IN else "registered by hand"
        entries = self.entries().get(name, [])
        for entry in entries:
            origin = describe(entry)
        seconds = self._seconds.get(name, 0.0)
        if name in self.faults:
            package = package_of(entries[0]) if entries else ""
            remedy = f"python -m arrayx.conformance --backend={name} says what is wrong: tell " + (
                f"the authors of {package}" if package else "its authors"
            )
            return Record(name, origin, "faulty", self.faults[name], remedy=remedy, seconds=seconds)
        state = "ready" if name in self.backends else "found"
        return Record(name, origin, state, seconds=seconds)

    def blame(self, name: str, fault: str) -> None:
        """Records that a backend gave what its contract forbids."""
        self.faults.setdefault(name, fault)

    def retry(self) -> None:
        """Forgets failures and the list of entry points, so that a repair is noticed."""
        for name in self.names():
            self.failures.pop(name, None)
        self.notes.clear()
        self._entries = None

    # ------------------------------------------------------------- backends

    def add(self, backend: Backend) -> None:
        """Registers a backend object directly: for tests and notebooks."""
        check(backend, backend.name)
        with self.lock_of(backend.name):
            self.given[backend.name] = backend
            self.keep(backend.name, backend)

    def remove(self, name: str) -> None:
        """Forgets a backend registered by `add`."""
        with self.lock_of(name):
            self.given.pop(name, None)
            self.backends.pop(name, None)
            self.faults.pop(name, None)

    def lock_of(self, name: str) -> threading.RLock:
        """The lock of a backend's name."""
        return self._locks.setdefault(name, threading.RLock())

    def get(self, name: str) -> Backend:
        """The backend of this name, made on first use."""
        found = self.backends.get(name)
        if found is not None:
            return found
        with self.lock_of(name):
            if name in self.backends:
                return self.backends[name]
            if name in self.failures:
                raise unavailable(self.failures[name])
            if name in self._loading:
                raise errors.BackendUnavailableError(
                    f"backend {name!r} was asked for while its own plugin is being loaded: what "
                    "needs it belongs behind the hook arrayx_make_backend, not at the top of the "
                    "plugin's module"
                )
            self._loading.add(name)
            try:
                return self.make(name)
            finally:
                self._loading.remove(name)

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
        began = time.monotonic()
        try:
            backend = self.made(name, module_name, entries)
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
                remedy_of(name, entries, error),
                time.monotonic() - began,
            )
            self.failures[name] = record
            raise unavailable(record) from error
        self._seconds[name] = time.monotonic() - began
        self.keep(name, backend)
        return backend

    def made(self, name: str, module_name: str | None, entries: list[Any]) -> Backend:
        """What the plugin's hook returns, checked."""
        if len(entries) > 1:
            raise DuplicateError(
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
        return backend  # type: ignore[no-any-return]

    def keep(self, name: str, backend: Backend) -> None:
        """Takes a backend in."""
        self.failures.pop(name, None)
        self.faults.pop(name, None)
        if isinstance(backend, KernelBackend):
            backend.ask_others = partial(self.contribute, name)
        self.backends[name] = backend

    # ------------------------------------------------------------- kernels of others

    def contribute(self, name: str, backend: KernelBackend) -> None:
        """Adds the kernels that other distributions have for a backend.

        A contribution that fails is a record of its own and takes nothing from the backend.
        """
        for entry in self.contributions(name):
            try:
                plugin = entry.load()
                if not self.manager.is_registered(plugin):
                    self.manager.register(plugin)
                others = [p for p in self.manager.get_plugins() if p is not plugin]
                ask = self.manager.subset_hook_caller("arrayx_kernels", others)
                for kernels in ask(backend=name):
                    for primitive, kernel in dict(kernels).items():
                        if primitive not in backend.kernels:
                            backend.kernels[primitive] = kernel
                            backend.origins[primitive] = describe(entry)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                note = f"{name}+{entry.value}"
                reason = f"{type(error).__name__}: {error}"
                trace = traceback.format_exc()
                remedy = remedy_of(note, [entry], error)
                self.notes[note] = Record(note, describe(entry), "broken", reason, trace, remedy)

    def contributions(self, name: str) -> list[Any]:
        """The entry points of modules with kernels for a backend; metadata only."""
        return [e for e in self.scan(KERNELS_GROUP) if e.name == name]

    def examined(self, name: str) -> Record:
        """Loads a backend and its contributions, where that can be, and says what is known."""
        try:
            backend = self.get(name)
        except errors.BackendError:
            return self.record(name)
        if isinstance(backend, KernelBackend) and backend.ask_others is not None:
            ask, backend.ask_others = backend.ask_others, None
            ask(backend)
        elif not isinstance(backend, KernelBackend):
            for entry in self.contributions(name):
                note = f"{name}+{entry.value}"
                reason = f"backend {name!r} is no KernelBackend and takes no kernels of others"
                self.notes[note] = Record(note, describe(entry), "ignored", reason)
        return self.record(name)

    def failed(self, name: str, error: BaseException) -> Record:
        """Records a backend that does not do the simplest things."""
        self.blame(name, f"{type(error).__name__}: {error}")
        return replace(self.record(name), trace=traceback.format_exc())


def check(backend: Any, name: str) -> None:
    """Refuses what a plugin returned if it is not a backend of this API version."""
    if backend is None:
        raise errors.BackendUnavailableError(f"the plugin made no backend called {name!r}")
    if not isinstance(backend, Backend):
        raise TypeError(f"the plugin returned {backend!r}, which is not an arrayx Backend")
    version = tuple(backend.api_version)
    if version[0] != API_VERSION[0] or version > API_VERSION:
        newer = version > API_VERSION
        raise VersionError(
            f"it was made for backend API {version}, this arrayx has {API_VERSION}: upgrade "
            f"{'arrayx' if newer else 'the plugin'}",
            newer,
        )
    if getattr(backend, "name", None) != name:
        raise ValueError(
            f"the plugin made a backend whose name is {getattr(backend, 'name', None)!r} when "
            f"asked for {name!r}"
        )
    devices = backend.devices()
    if not isinstance(devices, tuple) or not devices:
        raise TypeError(f"its devices() gave {devices!r} instead of a tuple of devices")
    for device in devices:
        if not isinstance(device, Device) or device.backend is not backend:
            raise TypeError(f"its devices() gave {device!r}, which is not a Device of this backend")
    if any(a is not b for a, b in zip(devices, backend.devices(), strict=True)):
        raise TypeError("its devices() made new devices at every call: make them once")


registry = Registry()
Restore.get_backend = registry.get
Restore.blame = registry.blame
_chosen: ContextVar[str | None] = ContextVar("arrayx_backend", default=None)


def default_name() -> str:
    """The name of the backend for work whose arguments do not decide."""
    return _chosen.get() or config.default_backend


def default_reason() -> str:
    """Why the default backend is the one it is."""
    if _chosen.get():
        return "ax.default_backend says so"
    return "it is the default backend"


@contextmanager
def chosen(name: str) -> Iterator[None]:
    """Makes a backend the default inside the block."""
    registry.get(name)
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)
