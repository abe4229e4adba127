"""Moving an array to a device, as a primitive, so that differentiation can follow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx.core.aval import Aval
from arrayx.primitives.families import Linear


class DevicePut(Linear):
    """`x`, which lives on the device `source`, on the device `device`.

    Inside a compiled program it changes nothing, and has to name the program's own backend.  The
    names are those that devices print as.
    """

    name = "device_put"
    cheap = True
    # How concrete arrays are moved: handed over by the backend floor.
    move: Callable[[Any, str], Any]

    def type_rule(self, x: Aval, *, device: str, source: str) -> Aval:
        return x

    def evaluate(self, x: Any, *, device: str, source: str) -> Any:
        return type(self).move(x, device)

    def expand(self, x: Any, *, device: str, source: str) -> Any:
        return x

    def transpose(self, ct: Any, x: Any, *, device: str, source: str) -> Any:
        return (self(ct, device=source, source=device),)

    def vmap(self, size: int, args: Any, dims: Any, *, device: str, source: str) -> Any:
        return self(args[0], device=device, source=source), dims[0]


class ShardingConstraint(Linear):
    """`x`, which is to be cut along mesh axes as `spec` says; its elements are the same.

    `mesh` has the names and sizes of all mesh axes; `spec` has for each axis of `x` the names of
    the mesh axes that it is cut along, or None where that is left open.
    """

    name = "sharding_constraint"
    cheap = True

    def type_rule(self, x: Aval, *, mesh: Any, spec: Any) -> Aval:
        return x

    def evaluate(self, x: Any, *, mesh: Any, spec: Any) -> Any:
        return x

    def expand(self, x: Any, *, mesh: Any, spec: Any) -> Any:
        return x

    def transpose(self, ct: Any, x: Any, *, mesh: Any, spec: Any) -> Any:
        return (self(ct, mesh=mesh, spec=spec),)

    def vmap(self, size: int, args: Any, dims: Any, *, mesh: Any, spec: Any) -> Any:
        (d,) = dims
        return self(args[0], mesh=mesh, spec=(*spec[:d], None, *spec[d:])), d


device_put = DevicePut()
sharding_constraint = ShardingConstraint()
