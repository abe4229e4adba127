"""Wrong rules of collectives, and of primitives that hold graphs."""

from __future__ import annotations

from tests.conformance.mutation.mutant import FIRST_OF_RULES, Mutant
from tests.conformance.mutation.rules import wrong


def _lane(name: str, words: str, target: str, old: str, new: str) -> Mutant:
    sections = ("collectives", "orders", *FIRST_OF_RULES)
    module = "arrayx.primitives.collectives"
    return wrong(name, words, f"{module}:{target}", old, new, ("inside",), sections)


def _loop(name: str, words: str, target: str, old: str, new: str) -> Mutant:
    sections = ("control_flow", "custom_rules", "orders", *FIRST_OF_RULES)
    return wrong(name, words, f"arrayx.control.{target}", old, new, (), sections)


LANES_AND_LOOPS: tuple[Mutant, ...] = (
    _lane(
        "psum-transpose",
        "each lane keeps its own cotangent",
        "PSum.transpose",
        "return (self(ct, axes=axes, groups=groups, tracked=False),)",
        "return (ct,)",
    ),
    _lane(
        "pmax-jvp",
        "ties have one unit each",
        "LaneExtreme.jvp",
        "as_dtype(scaled(total, div(1.0, count)), x.aval.dtype)",
        "as_dtype(total, x.aval.dtype)",
    ),
    _lane(
        "all_to_all-transpose",
        "axes are not exchanged",
        "AllToAll.transpose",
        "split=concat, concat=split",
        "split=split, concat=concat",
    ),
    _lane(
        "ppermute-transpose",
        "the permutation is not inverted",
        "PPermute.transpose",
        "(j, i) for i, j in perm",
        "(i, j) for i, j in perm",
    ),
    _lane(
        "pbroadcast-transpose",
        "the first lane gets it",
        "PBroadcast.transpose",
        "tracked=tracked), source)",
        "tracked=tracked), 0)",
    ),
    _lane(
        "all_gather-vmap",
        "the axis is not moved",
        "AllGather.lifted",
        'shifted((params["axis"],), dim)[0]',
        'params["axis"]',
    ),
    _loop(
        "cond-vmap",
        "lanes out of range take the first branch",
        "cond:Cond.of_many",
        "clamp(0, index, len(branches) - 1)",
        "index",
    ),
    _loop(
        "cond-linearize",
        "residuals of the last branch are used",
        "cond:with_common_residuals",
        "counts[aval] = counts.get(aval, -1) + 1",
        "counts[aval] = 0",
    ),
    _loop(
        "cond-jvp",
        "what has a tangent in one branch has none",
        "cond:united",
        "any(column)",
        "all(column)",
    ),
    _loop(
        "scan-transpose",
        "in the same direction",
        "scan:Scan.transpose",
        '"reverse": not params["reverse"]',
        '"reverse": params["reverse"]',
    ),
    _loop(
        "scan-vmap",
        "the scan goes along the batch",
        "scan:Scan.vmap",
        "x if d != 0 else move_batch_dim(size, x, 0, 1)",
        "x",
    ),
    _loop(
        "scan-jvp",
        "tangents of the start are forgotten",
        "scan_bodies:moving_carry",
        "instantiate(t, typeof",
        "instantiate(Zero, typeof",
    ),
    _loop(
        "while_loop-vmap",
        "lanes that have finished go on",
        "while_loop:lanewise",
        "chosen_lanes(lanes, new, old)",
        "new",
    ),
    _loop(
        "while_loop-jvp",
        "tangents of what steps share are forgotten",
        "while_loop:WhileLoop.jvp",
        "t is not Zero for t in moving_steps",
        "False for t in moving_steps",
    ),
    _loop(
        "custom_vjp-linearize",
        "tangents come in the opposite order",
        "custom_rules:CustomVJP.linearized",
        "for i in active]",
        "for i in active[::-1]]",
    ),
)
