"""What a backend owes, and what it says that it can: the core set, and capabilities as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from arrayx import control, primitives
from arrayx.backend.contract import Backend, Device
from arrayx.core.primitive import Primitive, import_all


@cache
def core_set() -> dict[str, Primitive]:
    """The primitives that every backend owes, by name: those without an expansion.

    Apart from them stand the optional ones (factorisations, Fourier transforms, collectives,
    callbacks), without which a backend tells its users that it lacks them; and what a
    backend never meets, since random keys are pairs of uint32 by then.  `KernelBackend`
    has `cond` and `while_loop`.

    >>> "add" in core_set(), "cholesky" in core_set(), "logsumexp" in core_set()
    (True, False, False)
    """
    return {name: p for name, p in known_primitives().items() if p.owed and p.on_keys is None}


def known_primitives() -> dict[str, Primitive]:
    """Every primitive of arrayx's own, by name."""
    import_all()
    homes = tuple(f"{package.__name__}." for package in (primitives, control))
    return {
        name: p
        for name, p in sorted(Primitive.named.items())
        if type(p).__module__.startswith(homes)
    }


@dataclass(frozen=True)
class Capabilities:
    """What a backend declares.

    `dtypes` is None for all; `missing` gives the reason for each core primitive that it does
    not take, `expanded` the other primitives that it gets in simpler ones, `refused` the
    optional ones that it lacks, with reasons.
    """

    dtypes: frozenset[str] | None
    devices: tuple[Device, ...]
    missing: dict[str, str]
    expanded: tuple[str, ...]
    refused: dict[str, str]
    asynchronous: bool
    collectives: bool


def capabilities(backend: Backend) -> Capabilities:
    """What a backend declares, by primitive; single equations it may refuse still.

    >>> from arrayx.backend.registry import registry
    >>> capabilities(registry.get("numpy")).missing
    {}
    """
    reasons = {}
    for name, primitive in known_primitives().items():
        answer = backend.takes(primitive)
        if answer is not True and primitive.on_keys is None:
            reasons[name] = answer if isinstance(answer, str) else "it has no kernel for it"
    core = core_set()
    known = known_primitives()
    return Capabilities(
        dtypes=backend.dtypes,
        devices=backend.devices(),
        missing={n: r for n, r in reasons.items() if n in core},
        expanded=tuple(n for n in reasons if known[n].expand is not None),
        refused={n: r for n, r in reasons.items() if n not in core and known[n].expand is None},
        asynchronous=backend.asynchronous,
        collectives=backend.collectives,
    )
