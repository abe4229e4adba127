"""Several real devices at once: what the suite will ask once arrayx runs on them."""

from __future__ import annotations

from arrayx.conformance.item import NotYet
from arrayx.conformance.sections.statement import statements


def pmap_runs_on_several_devices(backend: str) -> None:
    """Each shard of a mapped function runs on a device of its own."""
    raise NotYet("lanes run stacked on one device; several devices are to come")


def arrays_are_sharded_over_a_mesh(backend: str) -> None:
    """An array with a sharding keeps its shards on the devices of the mesh."""
    raise NotYet("an array lies on one device; shardings over several are to come")


items = statements("parallel", full=(pmap_runs_on_several_devices, arrays_are_sharded_over_a_mesh))
