"""One program for many lanes: `pmap` and `shard_map`.

On one device they mean what `vmap` with named axes does; see `docs/spmd.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from arrayx import errors
from arrayx.api.arguments import argument_paths, check_callable, flatten_result, name_of
from arrayx.api.compilation import Jitted, Options, integers
from arrayx.api.mapping import mapping
from arrayx.api.operands import arrays_of, home_of, working_at
from arrayx.api.placement import devices as all_devices
from arrayx.api.placement import find_device
from arrayx.api.shardings import AbstractMesh, Mesh, PartitionSpec, checked_spec, current_mesh
from arrayx.control.shard_map import Axes, Spec, local_shape, names_in_spec
from arrayx.control.shard_map import shard_map as shard_map_primitive
from arrayx.core.interpreter import Tracer
from arrayx.core.named_axes import NamedAxis, open_axes, surrounded
from arrayx.primitives.collectives import varied
from arrayx.transforms.stage import stage
from arrayx.tree_nodes import keystr
from arrayx.treedef import (
    LEAF,
    TreeDef,
    broadcast_prefix,
    flatten,
    flatten_with_path,
    unflatten,
)

# ----------------------------------------------------------------- pmap


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """Compiles `fun` to run once for each element along an axis of its arguments.

    It means what `ax.jit(ax.vmap(fun, in_axes, out_axes, axis_name, axis_size))` does, for as
    many elements as there are devices.

    Args:
        fun: a function of trees of arrays.
        axis_name: a name by which collective operations inside `fun` reach the axis.
        in_axes, out_axes, axis_size: as for `ax.vmap`.
        static_broadcasted_argnums: arguments that stay Python values, the same for all.
        devices: a list of devices, each of which may stand there several times: `8 *
            ax.devices()` lets one device do the work of eight.  All of the backend unless given.
        backend: the backend to run on, instead of the one where the arguments are.
        donate_argnums: arguments whose memory the program may use.

    Raises:
        ArgumentError: the axis is longer than there are devices.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> eight = 8 * ax.devices()
    >>> ax.pmap(lambda x: x / ax.lax.psum(x, "i"), "i", devices=eight)(anp.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    transform = "ax.pmap"
    check_callable(fun, transform)
    static = integers("static_broadcasted_argnums", static_broadcasted_argnums)
    there = [find_device(d) for d in devices] if devices is not None else None
    if there == []:
        raise errors.ArgumentError(f"{transform}: devices is empty")
    name = name_of(fun)
    home = there[0] if there else find_device(backend) if backend is not None else None

    def check_size(size: int) -> None:
        units = there if there is not None else all_devices(backend)
        if size > len(units):
            raise errors.ArgumentError(
                f"{transform} of {name}: the mapped axis has the size {size}, but there "
                f"{'is' if len(units) == 1 else 'are'} {len(units)} device"
                f"{'' if len(units) == 1 else 's'} ({', '.join(map(str, dict.fromkeys(units)))}). "
                "Let a device do the work of several (devices=8 * ax.devices()), or use ax.vmap."
            )

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        if static:
            fixed = {i % len(args) for i in static}
            given = axes if isinstance(axes, tuple) else (axes,) * len(args)
            axes = tuple(None if i in fixed else a for i, a in enumerate(given))
        return mapping(transform, fun, axes, out_axes, axis_name, axis_size, check_size)(
            *args, **kwargs
        )

    donated = integers("donate_argnums", donate_argnums)
    return Jitted(mapped, Options(static, (), donated, (), home, False))


# ----------------------------------------------------------------- shard_map


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any,
    mesh: Any = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """A function that runs `f` in each place of a mesh, on the parts of its arguments there.

    Inside `f` the mesh axes are named axes: collective operations reach across them, and types
    say over which of them a value varies (`ax.typeof(x)` shows `float32[2]{x}`).  Such a type is
    checked where a result is said to be the same everywhere, and decides what derivatives count:
    a value that is the same in all places counts once.

    Args:
        f: a function of trees of arrays.  Left out, a decorator is returned.
        in_specs: a `PartitionSpec` for each argument, or a tree of them that is the upper part
            of the tuple of arguments: along which mesh axes each axis of an array is cut.  What
            is not cut along a mesh axis goes to all places along it.
        out_specs: the same for the result: how parts are put together.  A result that is not put
            together along a mesh axis is one value, the same in all places along it.
        mesh: a `Mesh` or `AbstractMesh`; the one of `ax.set_mesh` unless given.
        axis_names: the mesh axes that `f` knows; all of them unless given.
        check_vma: False leaves out the types: then it is your word that results are the same
            where `out_specs` says so.

    Raises:
        ShapeError: an array cannot be cut into so many equal parts.
        ArgumentError: specs do not fit the arguments or the mesh, or a result that is said to be
            the same everywhere varies; the message names the axis and what to do.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> mesh = ax.make_mesh((4,), ("x",))
    >>> @ax.shard_map(mesh=mesh, in_specs=ax.P("x"), out_specs=ax.P())
    ... def total(part):
    ...     return ax.lax.psum(anp.sum(part), "x")
    >>> total(anp.arange(8.0))
    Array(28., dtype=float32)
    """
    if f is None:
        return functools.partial(
            shard_map,
            out_specs=out_specs,
            in_specs=in_specs,
            mesh=mesh,
            axis_names=axis_names,
            check_vma=check_vma,
        )
    transform = "ax.shard_map"
    check_callable(f, transform)
    fun: Callable[..., Any] = f
    name = name_of(fun)
    if mesh is not None and not isinstance(mesh, Mesh | AbstractMesh):
        raise errors.ArgumentError(f"{transform}: mesh has to be a Mesh, got {mesh!r}")
    _check_specs(transform, "in_specs", in_specs)
    _check_specs(transform, "out_specs", out_specs)

    @functools.wraps(fun)
    def mapped(*args: Any) -> Any:
        own = mesh if mesh is not None else current_mesh()
        if own is None:
            raise errors.ArgumentError(
                f"{transform} of {name}: there is no mesh. Give mesh=ax.make_mesh(shape, names), "
                "or choose one with ax.set_mesh."
            )
        axes = _known_axes(transform, own, axis_names)
        leaves, tree = flatten(args)
        specs = _specs_of(transform, "in_specs", in_specs, args, "the arguments")
        device = home_of(leaves)
        paths = argument_paths(fun, args, {})
        with working_at(device):
            arrays = arrays_of(leaves, device, transform, lambda: paths)
            cuts = [
                _cut(transform, spec, own, axes, x.shape, path)
                for x, spec, path in zip(arrays, specs, paths, strict=True)
            ]
            avals = [
                x.aval.update(
                    shape=local_shape(x.shape, cut, axes),
                    varying=x.aval.varying | (names_in_spec(cut) if check_vma else frozenset()),
                )
                for x, cut in zip(arrays, cuts, strict=True)
            ]
            out_tree: TreeDef = LEAF
            out_cuts: list[Spec] = []

            def flat(*given: Any) -> list[Any]:
                nonlocal out_tree, out_cuts
                result = fun(*unflatten(tree, list(given)))
                outs, out_tree = flatten_result(result, name)
                out_paths = [
                    "the result" + keystr(path) for path, _ in flatten_with_path(result)[0]
                ]
                wanted = _specs_of(transform, "out_specs", out_specs, result, "the result")
                out_cuts = [
                    _joined(transform, spec, own, axes, out, f"{path} of {name}", check_vma)
                    for out, spec, path in zip(outs, wanted, out_paths, strict=True)
                ]
                if not check_vma:
                    return outs
                return [varied(o, names_in_spec(c)) for o, c in zip(outs, out_cuts, strict=True)]

            opened = (NamedAxis(n, size, bool(check_vma)) for n, size in axes)
            with surrounded(own, *opened):
                staged = stage(flat, avals, word=f"{transform} of {name}", paths=paths)
            shared: list[Spec] = [((),) * t.ndim for t in staged.captured]
            results = shard_map_primitive(
                *staged.captured,
                *arrays,
                graph=staged.graph,
                axes=axes,
                in_specs=(*shared, *cuts),
                out_specs=tuple(out_cuts),
                tracked=bool(check_vma),
                label=name,
            )
        return unflatten(out_tree, list(results))

    return mapped


def _is_none(x: Any) -> bool:
    return x is None


def _check_specs(transform: str, word: str, specs: Any) -> None:
    for path, spec in flatten_with_path(specs, _is_none)[0]:
        if spec is not None and not isinstance(spec, PartitionSpec):
            raise errors.ArgumentError(
                f"{transform}: {word}{keystr(path)} has to be a PartitionSpec such as ax.P('x'), "
                f"got {spec!r} of type {type(spec).__name__}"
            )


def _specs_of(transform: str, word: str, specs: Any, tree: Any, whose: str) -> list[PartitionSpec]:
    """The spec of each leaf; None stands for one that cuts nothing."""
    try:
        found = broadcast_prefix(specs, tree, _is_none)
    except errors.TreeError as error:
        raise errors.TreeError(
            f"{transform}: {word}={specs!r} is not the upper part of {whose}: {error}"
        ) from None
    return [PartitionSpec() if s is None else s for s in found]


def _known_axes(transform: str, mesh: Any, axis_names: Any) -> Axes:
    """The names and sizes of the mesh axes that the function is to know."""
    wanted = {axis_names} if isinstance(axis_names, str) else set(axis_names)
    unknown = wanted - set(mesh.axis_names)
    if unknown:
        raise errors.ArgumentError(
            f"{transform}: axis_names has {', '.join(sorted(map(repr, unknown)))}, but the mesh "
            f"has {', '.join(map(repr, mesh.axis_names))}"
        )
    axes = tuple((n, size) for n, size in mesh.shape.items() if not wanted or n in wanted)
    taken = {a.name for a in open_axes()} & {n for n, _ in axes}
    if taken:
        raise errors.ArgumentError(
            f"{transform}: the axis {min(map(repr, taken))} is open already, in the function that "
            "this one is called from. Name the axes that are meant here with axis_names=."
        )
    return axes


def _cut(
    transform: str, spec: PartitionSpec, mesh: Any, axes: Axes, shape: Sequence[int], path: str
) -> Spec:
    """The mesh axes along which an argument is cut; raises where it cannot be."""
    names: Spec = checked_spec(transform, spec, mesh, shape, f"argument {path}")
    _check_known(transform, spec, names, axes, f"argument {path}")
    return names


def _check_known(transform: str, spec: Any, names: Spec, axes: Axes, whose: str) -> None:
    known = {n for n, _ in axes}
    for name in sorted(names_in_spec(names) - known, key=str):
        raise errors.ArgumentError(
            f"{transform}: {spec} for {whose} names the axis {name!r}, which is none of axis_names"
        )


def _joined(
    transform: str, spec: PartitionSpec, mesh: Any, axes: Axes, out: Any, whose: str, check: bool
) -> Spec:
    """The mesh axes along which a result is put together; raises where its type denies it."""
    if len(spec) > out.ndim:
        raise errors.ShapeError(
            f"{transform}: {spec} has {len(spec)} entries, but {whose} has the shape {out.shape} "
            "in each place. A scalar is put together along an axis once it has one: x[None]."
        )
    # Whole arrays are multiples of their parts, so only names can be wrong.
    names: Spec = checked_spec(transform, spec, mesh, [_any_length(mesh)] * out.ndim, whose)
    _check_known(transform, spec, names, axes, whose)
    surplus = (out.aval.varying & {n for n, _ in axes}) - names_in_spec(names)
    if check and surplus:
        name = min(surplus, key=str)
        made = out.origin() if isinstance(out, Tracer) else ""
        raise errors.ArgumentError(
            f"{transform}: out_specs says {spec} for {whose}, that it is the same along the mesh "
            f"axis {name!r}, but its type is {out.aval}: it may differ there.\n"
            + (f"  the value: {made}\n" if made else "")
            + f"What helps: ax.lax.psum(x, {name!r}), pmean or pmax, which make it the same; "
            f"{name!r} in out_specs, which puts the parts together; or check_vma=False, if you "
            "know that it is the same."
        )
    return names


def _any_length(mesh: Any) -> int:
    return int(mesh.size)
