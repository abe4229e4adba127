"""How arrays may be cut over devices, as data: specs, meshes, and shardings made of both."""

from __future__ import annotations

import enum
import itertools
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextvars import Token
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.backend.concrete import ConcreteArray
from arrayx.backend.contract import Device
from arrayx.core.named_axes import axis_environment


class AxisType(enum.Enum):
    """Who decides how arrays are cut along a mesh axis.

    `Auto`: the compiler; `Explicit`: types; `Manual`: the user's function, under `shard_map`.
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class _Unconstrained:
    """In a spec: how this axis is cut is left open."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


class PartitionSpec:
    """For each axis of an array the mesh axes that it is cut along; `ax.P` for short.

    An entry is a name, a tuple of names of which the first counts slowest, None for an axis that
    is not cut, or `P.UNCONSTRAINED`.  Axes beyond the last entry are not cut.

    >>> P("x", None, ("y", "z"))
    PartitionSpec('x', None, ('y', 'z'))
    >>> P("x") == P("x"), len(P("x", None))
    (True, 2)
    """

    __slots__ = ("_entries",)
    _entries: tuple[Any, ...]
    UNCONSTRAINED = UNCONSTRAINED

    def __init__(self, *entries: Any) -> None:
        kept = []
        for entry in entries:
            if isinstance(entry, list | tuple):
                names = tuple(entry)
                entry = None if not names else names[0] if len(names) == 1 else names
            kept.append(entry)
        object.__setattr__(self, "_entries", tuple(kept))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a PartitionSpec does not change; make a new one")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, i: Any) -> Any:
        return self._entries[i]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PartitionSpec):
            return self._entries == other._entries
        return isinstance(other, tuple) and self._entries == other

    def __hash__(self) -> int:
        return hash(self._entries)

    def __add__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*self, *other)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSpec, self._entries

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self._entries))})"

    def names(self, ndim: int) -> tuple[tuple[Any, ...], ...]:
        """The names for each axis of an array of rank `ndim`."""
        entries = (*self._entries, *([None] * (ndim - len(self))))
        return tuple(
            () if e is None or e is UNCONSTRAINED else e if isinstance(e, tuple) else (e,)
            for e in entries
        )


P = PartitionSpec


def checked_types(types: Any, count: int) -> tuple[AxisType, ...]:
    """One type for each mesh axis."""
    if types is None:
        return (AxisType.Auto,) * count
    found = (types,) * count if isinstance(types, AxisType) else tuple(types)
    if len(found) != count or not all(isinstance(t, AxisType) for t in found):
        raise errors.ArgumentError(
            f"axis_types has to be an AxisType for each of {count} mesh axes, got {types!r}"
        )
    return found


class AbstractMesh:
    """The names and sizes of mesh axes, without devices.

    >>> AbstractMesh((2, 4), ("x", "y"))
    AbstractMesh('x': 2, 'y': 4)
    """

    __slots__ = ("axis_names", "axis_sizes", "axis_types")
    axis_sizes: tuple[int, ...]
    axis_names: tuple[Any, ...]
    axis_types: tuple[AxisType, ...]

    def __init__(self, axis_sizes: Any, axis_names: Any, axis_types: Any = None) -> None:
        self.axis_sizes = tuple(int(n) for n in axis_sizes)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if len(self.axis_sizes) != len(self.axis_names):
            raise errors.ArgumentError(
                f"a mesh of shape {self.axis_sizes} needs a name for each of its axes, got "
                f"{self.axis_names}"
            )
        if len(set(self.axis_names)) != len(self.axis_names):
            raise errors.ArgumentError(f"the axes of a mesh need different names: {axis_names}")
        if any(n < 1 for n in self.axis_sizes):
            raise errors.ArgumentError(f"a mesh has no axes of length 0: {self.axis_sizes}")
        self.axis_types = checked_types(axis_types, len(self.axis_names))

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis, by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of places."""
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        """True for a mesh without axes."""
        return not self.axis_names

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh itself."""
        return self

    def _key(self) -> Any:
        return self.axis_sizes, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return type(other) is AbstractMesh and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"AbstractMesh({_axes_shown(self)})"


def _axes_shown(mesh: Any) -> str:
    shown = ", ".join(f"{name!r}: {size}" for name, size in mesh.shape.items())
    if any(t is not AxisType.Auto for t in mesh.axis_types):
        shown += f", axis_types=({', '.join(t.name for t in mesh.axis_types)})"
    return shown


class Mesh:
    """Devices in an array whose axes have names.

    A device may stand in several places, each of which is a lane of its own: what runs there is
    batched.  So a mesh of any shape can be made of one device (`ax.make_mesh`).

    As a context manager it is the mesh of `ax.lax.with_sharding_constraint` and `ax.shard_map`
    inside the block.

    Args:
        devices: an array of devices, of as many axes as there are names.
        axis_names: a name for each axis.
        axis_types: an `AxisType` for each axis, or one for all.

    >>> import arrayx as ax
    >>> Mesh(4 * ax.devices("numpy"), ("x",))
    Mesh('x': 4)
    """

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        self.devices = np.empty(np.shape(devices), object)
        self.devices[...] = devices
        shape = self.devices.shape if self.devices.size else ()
        self.abstract_mesh = AbstractMesh(shape, axis_names, axis_types)
        wrong = [d for d in self.devices.flat if not isinstance(d, Device)]
        if wrong:
            raise errors.ArgumentError(
                f"a mesh is made of devices (ax.devices()), not {wrong[0]!r}"
            )
        self._open: list[Token[Any]] = []

    @property
    def axis_names(self) -> tuple[Any, ...]:
        """The name of each axis."""
        return self.abstract_mesh.axis_names

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.abstract_mesh.axis_sizes

    @property
    def axis_types(self) -> tuple[AxisType, ...]:
        """The type of each axis."""
        return self.abstract_mesh.axis_types

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis, by name."""
        return self.abstract_mesh.shape

    @property
    def size(self) -> int:
        """The number of places."""
        return self.abstract_mesh.size

    @property
    def empty(self) -> bool:
        """True for a mesh without axes."""
        return self.abstract_mesh.empty

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process, each once."""
        return list(dict.fromkeys(self.devices.flat))

    def __enter__(self) -> Mesh:
        self._open.append(axis_environment.set((*axis_environment.get(), self)))
        return self

    def __exit__(self, *exc: Any) -> None:
        axis_environment.reset(self._open.pop())

    def _key(self) -> Any:
        return self.abstract_mesh, tuple(map(id, self.devices.flat))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Mesh({_axes_shown(self)})"


def current_mesh() -> Any:
    """The mesh of the innermost `set_mesh` or `with mesh:` around, or None."""
    return next((x for x in reversed(axis_environment.get()) if isinstance(x, _MESHES)), None)


_MESHES = (Mesh, AbstractMesh)


def checked_spec(what: str, spec: Any, mesh: Any, shape: Sequence[int], whose: str) -> Any:
    """The names for each axis of an array of this shape; raises where a spec does not fit it.

    `what` is the function, `whose` the array, for messages.
    """
    if not isinstance(spec, PartitionSpec):
        raise errors.ArgumentError(
            f"{what}: the spec of {whose} has to be a PartitionSpec such as ax.P('x'), got {spec!r}"
        )
    check_names(what, spec, mesh)
    ndim = len(shape)
    if len(spec) > ndim:
        raise errors.ShapeError(
            f"{what}: {spec} has {len(spec)} entries, but {whose} has the shape {tuple(shape)}"
        )
    names = spec.names(ndim)
    for axis, own in enumerate(names):
        parts = math.prod(mesh.shape[name] for name in own)
        if shape[axis] % parts:
            axes = " and ".join(f"{name!r} of size {mesh.shape[name]}" for name in own)
            raise errors.ShapeError(
                f"{what}: {spec} cuts axis {axis} of {whose} along the mesh axis {axes}, but its "
                f"length {shape[axis]} is no multiple of {parts}. The shape is {tuple(shape)}."
            )
    return names


def check_names(what: str, spec: PartitionSpec, mesh: Any) -> None:
    """Raises where a spec names axes that the mesh has not, or one twice."""
    used = list(itertools.chain(*spec.names(len(spec))))
    for name in used:
        if name not in mesh.axis_names:
            raise errors.ArgumentError(
                f"{what}: {spec} names the axis {name!r}, but the mesh has "
                f"{', '.join(map(repr, mesh.axis_names)) or 'none'}"
            )
        if used.count(name) > 1:
            raise errors.ArgumentError(f"{what}: {spec} names the axis {name!r} twice")


class Sharding:
    """How an array is laid out over devices."""

    @property
    def device_set(self) -> set[Device]:
        """The devices that hold a part."""
        raise NotImplementedError

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of one part of an array of this shape."""
        raise NotImplementedError

    def check(self, what: str, shape: Sequence[int], whose: str) -> None:
        """Raises where an array of this shape cannot be laid out so."""

    @property
    def home(self) -> Device:
        """The device that stands for all, while arrays live on one."""
        raise NotImplementedError

    @property
    def num_devices(self) -> int:
        """How many devices hold a part."""
        return len(self.device_set)

    @property
    def is_fully_replicated(self) -> bool:
        """True where every device holds the whole array."""
        raise NotImplementedError


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    >>> import arrayx as ax
    >>> SingleDeviceSharding(ax.devices("numpy")[0]).shard_shape((3, 4))
    (3, 4)
    """

    def __init__(self, device: Device, *, memory_kind: str | None = None) -> None:
        self.device = device
        self.memory_kind = memory_kind

    @property
    def device_set(self) -> set[Device]:
        return {self.device}

    @property
    def home(self) -> Device:
        return self.device

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self.device is other.device

    def __hash__(self) -> int:
        return hash((SingleDeviceSharding, id(self.device)))

    def __repr__(self) -> str:
        return f"SingleDeviceSharding({self.device})"


class NamedSharding(Sharding):
    """An array cut over a mesh as a spec says.

    Args:
        mesh: a `Mesh` or an `AbstractMesh`.
        spec: a `PartitionSpec`.

    Raises:
        ArgumentError: the spec names an axis that the mesh has not, or one twice.

    >>> import arrayx as ax
    >>> NamedSharding(ax.make_mesh((4,), ("x",)), P("x")).shard_shape((8, 3))
    (2, 3)
    """

    def __init__(self, mesh: Any, spec: Any, *, memory_kind: str | None = None) -> None:
        if not isinstance(mesh, _MESHES):
            raise errors.ArgumentError(f"NamedSharding: a mesh was expected, got {mesh!r}")
        self.mesh = mesh
        self.spec = spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
        self.memory_kind = memory_kind
        check_names("NamedSharding", self.spec, mesh)

    @property
    def device_set(self) -> set[Device]:
        return set(self._concrete().devices.flat)

    def _concrete(self) -> Mesh:
        if not isinstance(self.mesh, Mesh):
            raise errors.ArgumentError(f"{self.mesh} is without devices")
        return self.mesh

    @property
    def home(self) -> Device:
        device: Device = self._concrete().devices.flat[0]
        return device

    @property
    def is_fully_replicated(self) -> bool:
        names = itertools.chain(*self.spec.names(len(self.spec)))
        return all(self.mesh.shape[name] == 1 for name in names)

    def check(self, what: str, shape: Sequence[int], whose: str) -> None:
        checked_spec(what, self.spec, self.mesh, shape, whose)

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        names = checked_spec("shard_shape", self.spec, self.mesh, global_shape, "the array")
        sizes = self.mesh.shape
        return tuple(
            n // math.prod(sizes[name] for name in own)
            for n, own in zip(global_shape, names, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NamedSharding)
            and self.mesh == other.mesh
            and self.spec == other.spec
            and self.memory_kind == other.memory_kind
        )

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec, self.memory_kind))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec})"


def _sharding_of(x: Any) -> SingleDeviceSharding:
    """How the array is laid out: on one device."""
    return SingleDeviceSharding(x.device)


ConcreteArray.sharding = property(_sharding_of, doc=_sharding_of.__doc__)  # type: ignore[attr-defined]
