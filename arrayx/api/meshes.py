"""Making meshes, choosing one for a block, and saying how a value is to be laid out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import Token
from typing import Any

import numpy as np

from arrayx import errors
from arrayx.api.operands import arrays_of, home_of, working_at
from arrayx.api.placement import devices as all_devices
from arrayx.api.shardings import (
    UNCONSTRAINED,
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    checked_spec,
    current_mesh,
)
from arrayx.backend.contract import Device
from arrayx.control.placement import sharding_constraint
from arrayx.core.named_axes import axis_environment
from arrayx.tree_nodes import keystr
from arrayx.treedef import broadcast_prefix, flatten, flatten_with_path, unflatten


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """A mesh of this shape.

    Where there are fewer devices than places, each device stands in several of them, in turn:
    programs for many devices can be written, and tried, on one.

    Args:
        axis_shapes: the size of each axis.
        axis_names: the name of each axis.
        axis_types: an `AxisType` for each axis.
        devices: what to make it of; all devices of the default backend unless given.

    >>> import arrayx as ax
    >>> ax.make_mesh((2, 4), ("x", "y"))
    Mesh('x': 2, 'y': 4)
    """
    given = list(devices) if devices is not None else all_devices()
    if not given:
        raise errors.ArgumentError("ax.make_mesh: devices is empty")
    shape = tuple(int(n) for n in axis_shapes)
    places = np.empty(math.prod(shape), object)
    for i in range(places.size):
        places[i] = given[i % len(given)]
    return Mesh(places.reshape(shape), axis_names, axis_types)


class set_mesh:
    """Chooses the mesh for what follows, or as a context manager for a block.

    It is the mesh of `ax.shard_map` without `mesh=`, and of specs without one in
    `ax.lax.with_sharding_constraint`.

    >>> import arrayx as ax
    >>> with ax.set_mesh(ax.make_mesh((2,), ("x",))):
    ...     ax.sharding.get_mesh()
    Mesh('x': 2)
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is not None and not isinstance(mesh, Mesh):
            raise errors.ArgumentError(f"ax.set_mesh: a Mesh was expected, got {mesh!r}")
        added = (mesh,) if mesh is not None else (AbstractMesh((), ()),)
        self._token: Token[Any] = axis_environment.set((*axis_environment.get(), *added))
        self.mesh = mesh

    def __enter__(self) -> Mesh | None:
        return self.mesh

    def __exit__(self, *exc: Any) -> None:
        axis_environment.reset(self._token)


def get_mesh() -> Mesh:
    """The mesh that `ax.set_mesh` has chosen; an empty one if none was.

    >>> get_mesh().empty
    True
    """
    found = current_mesh()
    return found if isinstance(found, Mesh) else Mesh(np.empty(0, object), ())


def get_abstract_mesh() -> AbstractMesh:
    """The names and sizes of the axes of the mesh that is chosen; an empty one if none was.

    >>> get_abstract_mesh()
    AbstractMesh()
    """
    found = current_mesh()
    return found.abstract_mesh if found is not None else AbstractMesh((), ())


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """`x`, which is to be laid out over devices in this way; its elements are the same.

    On one device nothing moves, but that the layout fits is checked.

    Args:
        x: a tree of arrays.
        shardings: a `NamedSharding`, or a `PartitionSpec` for the mesh of `ax.set_mesh`, or a
            tree of them that is the upper part of `x`.

    Raises:
        ArgumentError: a spec names axes that the mesh has not, or there is no mesh.
        ShapeError: an axis cannot be cut into so many equal parts.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> mesh = ax.make_mesh((2,), ("x",))
    >>> ax.lax.with_sharding_constraint(anp.arange(4), ax.NamedSharding(mesh, ax.P("x")))
    Array([0, 1, 2, 3], dtype=int32)
    """
    transform = "ax.lax.with_sharding_constraint"
    leaves, tree = flatten(x)
    paths = ["x" + keystr(path) for path, _ in flatten_with_path(x)[0]]
    device = home_of(leaves)
    with working_at(device):
        arrays = arrays_of(leaves, device, transform, lambda: paths)
        results = [
            _constrained(transform, a, s, path)
            for a, s, path in zip(arrays, broadcast_prefix(shardings, x), paths, strict=True)
        ]
    return unflatten(tree, results)


def _constrained(transform: str, x: Any, sharding: Any, path: str) -> Any:
    if isinstance(sharding, PartitionSpec):
        mesh = current_mesh()
        if mesh is None:
            raise errors.ArgumentError(
                f"{transform}: {sharding} is without a mesh. Give ax.NamedSharding(mesh, spec), or "
                "choose a mesh with ax.set_mesh."
            )
        sharding = NamedSharding(mesh, sharding)
    if not isinstance(sharding, Sharding):
        raise errors.ArgumentError(
            f"{transform}: a sharding or a PartitionSpec was expected for {path}, got {sharding!r}"
        )
    sharding.check(transform, x.shape, path)
    if not isinstance(sharding, NamedSharding):
        return x
    names = checked_spec(transform, sharding.spec, sharding.mesh, x.shape, path)
    open_ones = [e is UNCONSTRAINED for e in sharding.spec] + [False] * x.ndim
    spec = tuple(None if free else own for own, free in zip(names, open_ones, strict=False))
    return sharding_constraint(x, mesh=tuple(sharding.mesh.shape.items()), spec=spec)
