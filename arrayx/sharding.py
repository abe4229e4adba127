"""How arrays are cut over devices: meshes, specs, and shardings made of them."""

from arrayx.api.meshes import get_abstract_mesh, get_mesh, make_mesh, set_mesh
from arrayx.api.shardings import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
)

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "get_mesh",
    "make_mesh",
    "set_mesh",
]
