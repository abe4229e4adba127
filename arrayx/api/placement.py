"""Where arrays live: devices, moving arrays, and waiting for them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.arguments import as_value
from arrayx.api.shardings import Sharding
from arrayx.backend import registry as registries
from arrayx.backend.concrete import ConcreteArray, Gone
from arrayx.backend.contract import Device
from arrayx.backend.dispatch import as_concrete, default_device
from arrayx.backend.registry import default_name, registry
from arrayx.control.placement import DevicePut
from arrayx.control.placement import device_put as device_put_primitive
from arrayx.core.array import Array
from arrayx.core.interpreter import BASE, Tracer, current
from arrayx.transforms.stage import stage_around
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    broadcast_prefix,
    flatten,
    flatten_with_path,
    is_tree_node,
    unflatten,
)


def find_device(device: Any = None) -> Device:
    """The device meant by a Device, a name such as "xla", "xla:cpu", "xla:cpu:1", or None."""
    if device is None:
        return default_device()
    if isinstance(device, Device):
        return device
    if isinstance(device, Sharding):
        return device.home
    if isinstance(device, Array):
        return device_of(device) or default_device()
    if not isinstance(device, str):
        raise errors.ArgumentError(
            f"a device is a Device or a name such as 'xla:cpu:0', not {device!r}"
        )
    name, *rest = device.split(":")
    devices = registry.get(name).devices()
    if rest and not rest[0].isdigit():
        devices = tuple(d for d in devices if d.platform == rest[0])
        rest = rest[1:]
    if rest:
        devices = tuple(d for d in devices if str(d.id) == rest[0])
    if not devices:
        there = ", ".join(map(str, registry.get(name).devices()))
        raise errors.BackendUnavailableError(f"there is no device {device!r}; there are: {there}")
    return devices[0]


def devices(backend: str | None = None) -> list[Device]:
    """The devices of a backend (of the default one if None), the default device first.

    `backend` may name a platform too: `devices("xla:cpu")`.

    >>> devices("numpy")
    [numpy:cpu:0]
    """
    name, _, platform = (backend or default_name()).partition(":")
    found = [d for d in registry.get(name).devices() if not platform or d.platform == platform]
    if not found:
        raise errors.BackendUnavailableError(f"backend {name!r} has no platform {platform!r}")
    return found


def device_count(backend: str | None = None) -> int:
    """How many devices a backend has."""
    return len(devices(backend))


def process_count() -> int:
    """How many processes work together: one.

    >>> process_count()
    1
    """
    return 1


def process_index() -> int:
    """The number of this process among those that work together: 0.

    >>> process_index()
    0
    """
    return 0


def local_devices(backend: str | None = None) -> list[Device]:
    """The devices of this process: all of them, since there is one process."""
    return devices(backend)


def local_device_count(backend: str | None = None) -> int:
    """How many devices this process has."""
    return len(devices(backend))


class DefaultBackend(str, AbstractContextManager):
    """The name of the default backend, and a context manager that sets it."""

    _open: Any

    def __new__(cls, name: str) -> DefaultBackend:
        return super().__new__(cls, name)

    def __enter__(self) -> str:
        self._open = registries.chosen(str(self))
        self._open.__enter__()
        return str(self)

    def __exit__(self, *exc: Any) -> None:
        self._open.__exit__(*exc)


def default_backend(name: str | None = None) -> DefaultBackend:
    """The name of the default backend; with a name, a context manager that chooses it.

    The order of choice is: explicit `backend=` or `device=` argument, the arrays given,
    this context manager, the environment variable ARRAYX_BACKEND, `"numpy"`.

    >>> str(default_backend())
    'numpy'
    >>> with default_backend("numpy"):
    ...     pass
    """
    if name is None:
        return DefaultBackend(default_name())
    registry.get(name)
    return DefaultBackend(name)


def behind(x: Any) -> Any:
    """The concrete array that a tracer of an eager transformation carries, if there is one."""
    while isinstance(x, Tracer):
        x = getattr(x, "primal", None) if hasattr(x, "primal") else getattr(x, "value", None)
    return x


def device_of(x: Any) -> Device | None:
    """The device behind a value, through the tracers of eager transformations."""
    x = behind(x)
    # What was given away is nowhere; who uses it says so.
    return x.device if isinstance(x, ConcreteArray) and type(x) is not Gone else None


def move(x: Any, device: str) -> ConcreteArray:
    """A concrete array on the device of this name, through the host where it must."""
    target = find_device(device)
    if isinstance(x, ConcreteArray) and x.device is not target:
        target.backend.check_dtype(x.aval)
        return target.array_type(target.backend.put(x.host(), target), x.aval)
    return as_concrete(x, target)


DevicePut.move = staticmethod(move)


def device_put(x: Any, device: Any = None) -> Any:
    """The arrays of a tree on a device; NumPy arrays and scalars become `ax.Array`.

    Args:
        x: a tree of arrays and scalars.
        device: a Device, or a name such as "xla" or "xla:cpu:0"; None for the default.  Or a
            sharding such as `ax.NamedSharding`, which has to fit the arrays; a tree of them may
            be the upper part of `x`.

    Raises:
        UnsupportedError: the device lacks the dtype; nothing is narrowed in silence.

    >>> device_put(np.ones(3), "numpy").device
    numpy:cpu:0
    """
    leaves, treedef = flatten(x)
    if is_tree_node(type(device)) and device is not None:
        parts = broadcast_prefix(device, x)
        return unflatten(treedef, [device_put(a, d) for a, d in zip(leaves, parts, strict=True)])
    if isinstance(device, Sharding):
        for path, leaf in flatten_with_path(x)[0]:
            device.check("ax.device_put", np.shape(leaf), "x" + keystr(path))
    target = find_device(device)
    with registries.chosen(target.backend.name):
        return unflatten(treedef, [put_leaf(leaf, target) for leaf in leaves])


def put_leaf(x: Any, target: Device) -> Any:
    """One array on a device; tracers are moved by a primitive that can be differentiated."""
    x = as_value(x)
    if isinstance(x, ConcreteArray) and current.get() is BASE:
        return move(x, str(target))
    source = device_of(x)
    if source is target:
        return x
    if stage_around(current.get()) is not None:
        source = target  # where it will have been put for the program
    return device_put_primitive(x, device=str(target), source=str(source or target))


def device_get(x: Any) -> Any:
    """The arrays of a tree as NumPy arrays; waits for them.

    >>> device_get({"a": device_put(np.arange(2))})
    {'a': array([0, 1])}
    """
    leaves, treedef = flatten(x)
    return unflatten(
        treedef, [np.array(a.host()) if isinstance(a, ConcreteArray) else a for a in leaves]
    )


def block_until_ready(x: Any) -> Any:
    """Waits until every array of a tree has been computed; returns the tree.

    >>> block_until_ready([1.0, device_put(np.ones(2))])[0]
    1.0
    """
    for leaf in flatten(x)[0]:
        if isinstance(leaf, ConcreteArray):
            leaf.backend.synchronize(leaf.buffer)
    return x


def is_ready(x: ConcreteArray) -> bool:
    """True once the elements of an array are there."""
    return bool(x.backend.is_ready(x.buffer))
