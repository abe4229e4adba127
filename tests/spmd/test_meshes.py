"""Meshes, specs and shardings as data, and what one device does with them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    SingleDeviceSharding,
    get_abstract_mesh,
    get_mesh,
)

P = ax.P
CPU = ax.devices("numpy")[0]


def test_a_spec_is_a_sequence_that_does_not_change() -> None:
    spec = P("x", None, ("y", "z"), ["w"], ())
    assert list(spec) == ["x", None, ("y", "z"), "w", None]
    assert spec == P(*spec) and hash(spec) == hash(P(*spec)) and spec != P("x")
    assert P("x") + P(None) == P("x", None)
    assert repr(P("x", P.UNCONSTRAINED)) == "PartitionSpec('x', UNCONSTRAINED)"
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert ax.P is ax.PartitionSpec is PartitionSpec
    with pytest.raises(AttributeError):
        spec.names = ()  # type: ignore[method-assign, assignment]


def test_a_spec_is_a_leaf_of_trees() -> None:
    assert ax.tree.leaves({"a": P("x"), "b": (P(), None)}) == [P("x"), P()]


def test_a_mesh_has_more_places_than_there_are_devices() -> None:
    mesh = ax.make_mesh((2, 4), ("x", "y"), devices=[CPU])
    assert mesh.shape == {"x": 2, "y": 4} and list(mesh.shape) == ["x", "y"]
    assert mesh.size == 8 and mesh.devices.shape == (2, 4)
    assert mesh.local_devices == [CPU]
    assert mesh.axis_names == ("x", "y") and mesh.axis_sizes == (2, 4)
    assert mesh.axis_types == (AxisType.Auto, AxisType.Auto)
    assert mesh == Mesh(np.array(8 * [CPU]).reshape(2, 4), ("x", "y"))
    assert hash(mesh) == hash(ax.make_mesh((2, 4), ("x", "y"), devices=[CPU]))
    assert mesh != ax.make_mesh((4, 2), ("x", "y"), devices=[CPU])
    assert mesh.abstract_mesh == AbstractMesh((2, 4), ("x", "y"))


def test_devices_stand_in_a_mesh_in_turn() -> None:
    devices = ax.devices("xla") if len(ax.devices("xla")) > 1 else [CPU]
    mesh = ax.make_mesh((4,), ("x",), devices=devices)
    assert list(mesh.devices) == [devices[i % len(devices)] for i in range(4)]


WRONG_MESHES: dict[str, tuple[Any, str]] = {
    "a name too few": (lambda: ax.make_mesh((2, 2), ("x",)), "a name for each"),
    "a name twice": (lambda: ax.make_mesh((2, 2), ("x", "x")), "different names"),
    "no places": (lambda: AbstractMesh((0,), ("x",)), "length 0"),
    "no devices": (lambda: ax.make_mesh((2,), ("x",), devices=[]), "empty"),
    "what is no device": (lambda: Mesh(np.arange(2), ("x",)), "ax.devices"),
    "types that are none": (lambda: ax.make_mesh((2,), ("x",), axis_types=("Auto",)), "AxisType"),
    "a name that is not there": (lambda: sharding("z"), "'z'"),
    "no mesh": (lambda: NamedSharding(P("x"), P("x")), "mesh"),
}


def sharding(*entries: Any) -> NamedSharding:
    return NamedSharding(ax.make_mesh((2, 4), ("x", "y")), P(*entries))


@pytest.mark.parametrize("name", WRONG_MESHES)
def test_a_mesh_that_cannot_be_is_an_error(name: str) -> None:
    make, words = WRONG_MESHES[name]
    with pytest.raises(errors.ArgumentError, match=words):
        make()


def test_a_sharding_says_what_shape_parts_have() -> None:
    assert sharding("x", "y").shard_shape((4, 8, 3)) == (2, 2, 3)
    assert sharding(("x", "y")).shard_shape((16,)) == (2,)
    assert sharding(None, "y").shard_shape((3, 4)) == (3, 1)
    with pytest.raises(errors.ShapeError, match="no multiple of 4"):
        sharding("y").shard_shape((6,))
    assert sharding().is_fully_replicated and not sharding("x").is_fully_replicated
    assert sharding("x") == sharding("x") != sharding("y")
    assert len({sharding("x"), sharding("x"), sharding("y")}) == 2
    assert SingleDeviceSharding(CPU).shard_shape((3,)) == (3,)


def test_arrays_are_put_where_a_sharding_says() -> None:
    x = ax.device_put(np.arange(8.0), sharding("x"))
    assert x.device is sharding("x").home
    assert x.sharding == SingleDeviceSharding(x.device)
    tree = ax.device_put(
        {"a": np.ones(4), "b": np.ones(3)}, {"a": sharding("x"), "b": SingleDeviceSharding(CPU)}
    )
    assert tree["b"].device is CPU
    with pytest.raises(errors.ShapeError, match=r"x\['a'\]"):
        ax.device_put({"a": np.ones(3)}, sharding("x"))


def test_a_mesh_is_chosen_for_a_block() -> None:
    mesh = ax.make_mesh((2,), ("x",))
    assert get_mesh().empty and get_abstract_mesh().empty
    for chosen in (ax.set_mesh(mesh), mesh):
        with chosen:
            assert get_mesh() == mesh and get_abstract_mesh() == mesh.abstract_mesh
            total = ax.shard_map(lambda x: ax.lax.psum(x, "x"), in_specs=P("x"), out_specs=P())
            np.testing.assert_array_equal(total(anp.arange(4.0)), [2.0, 4.0])
        if chosen is not mesh:
            assert get_mesh().empty


def test_a_constraint_changes_nothing_but_is_checked() -> None:
    constrain = ax.lax.with_sharding_constraint
    x = anp.arange(8.0).reshape(2, 4)

    def function(x: Any) -> Any:
        return anp.sum(anp.sin(constrain(x, sharding("x", "y"))))

    np.testing.assert_allclose(ax.jit(function)(x), np.sin(np.asarray(x)).sum(), rtol=1e-6)
    np.testing.assert_allclose(ax.grad(function)(x), np.cos(np.asarray(x)), rtol=1e-6)
    text = str(ax.make_graph(ax.vmap(function, in_axes=1))(anp.ones((2, 3, 4))))
    assert "spec=(('x',), None, ('y',))" in text
    tree = constrain({"a": x, "b": x[0]}, {"a": sharding(), "b": sharding("y")})
    np.testing.assert_array_equal(tree["b"], x[0])


def test_a_constraint_that_does_not_fit_is_an_error() -> None:
    constrain = ax.lax.with_sharding_constraint
    with pytest.raises(errors.ShapeError, match=r"x\['a'\].*no multiple of 2"):
        constrain({"a": anp.zeros(3)}, sharding("x"))
    with pytest.raises(errors.ArgumentError, match=r"ax.set_mesh"):
        constrain(anp.zeros(4), P("x"))
    with pytest.raises(errors.ArgumentError, match="a sharding or a PartitionSpec"):
        constrain(anp.zeros(4), "x")
    with ax.set_mesh(ax.make_mesh((2,), ("x",))):
        constrain(anp.zeros(4), P("x"))
        with pytest.raises(errors.ArgumentError, match="'y'"):
            ax.jit(lambda x: constrain(x, P("y")))(anp.zeros(4))


def test_compiled_code_is_kept_for_each_mesh() -> None:
    count = ax.jit(lambda x: x * get_abstract_mesh().size)
    for n in (2, 3):
        with ax.set_mesh(ax.make_mesh((n,), ("x",))):
            assert float(count(anp.ones(()))) == n
