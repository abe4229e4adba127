"""Wrong programs of NumPy: planned memory, tiles, and kernels that write into given arrays."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.mutation.mutant import PASS, Mutant, edit

FIRST = ("graphs", "devices", "compiled", "determinism", "control_flow", "derivatives")

BESIDES = (
    "results_outlive_the_next_run",
    "operations",
    "rewritings",
    "threads_do_not_meet",
    "programs",
)


def wrong(
    name: str, words: str, target: str, old: str, new: str, subjects: Sequence[str] = ()
) -> Mutant:
    return edit(
        PASS,
        name,
        words,
        f"arrayx_numpy.{target}",
        (old, new),
        subjects=(*subjects, *BESIDES),
        sections=FIRST,
    )


MEMORY: tuple[Mutant, ...] = (
    wrong(
        "memory-escapes",
        "results lie in memory that the next call writes to",
        "program:ProgramWriter.must_be_fresh",
        "return out in self.escaping",
        "return False",
    ),
    wrong(
        "memory-views",
        "views of planned memory are results",
        "program:ProgramWriter.find_escaping",
        "return {o for v in self.graph.outputs for o in owners.get(v, frozenset())}",
        "return {v for v in self.graph.outputs}",
    ),
    wrong(
        "memory-shared",
        "a view is taken for memory of its own",
        "writer:Writer.owners_of",
        "return [frozenset((v,)).union(*shared) for v in e.outputs]",
        "return [frozenset((v,)) for v in e.outputs]",
    ),
    wrong(
        "memory-released",
        "a buffer is free while a view is read",
        "writer:Writer.release",
        "if self.sharers[o] == 0 and",
        "if",
    ),
    wrong(
        "memory-last-use",
        "outputs are dead after their last reader",
        "writer:last_uses",
        "for v in outputs:\n        last[v] = len(steps)",
        "for v in outputs:\n        last.setdefault(v, len(steps))",
    ),
    wrong(
        "memory-passed-on",
        "a kernel writes over what it still reads",
        "writer:Writer.passes_on",
        "i in target.overwrites for i, b in enumerate(e.inputs) if b is a",
        "True for i, b in enumerate(e.inputs) if b is a",
    ),
    wrong(
        "memory-threads",
        "two threads share the memory of a program",
        "program:Program.arena",
        "return self.arenas.pop()",
        "return self.arenas[-1]",
    ),
    wrong(
        "memory-of-results",
        "a group's results are released at once",
        "program:ProgramWriter.result",
        "if v in self.escaping:",
        "if False:",
    ),
    wrong(
        "literal-dtype",
        "literals are float64 beside float32",
        "writer:Writer.operand",
        "np.asarray(a, dtype))",
        "np.asarray(a, 'f8' if dtype.kind == 'f' else dtype))",
    ),
    wrong(
        "tiles-last",
        "the last rows are left out",
        "tiles:in_tiles",
        "range(0, count, height)",
        "range(0, count - (count % height if count > height else 0), height)",
    ),
    wrong(
        "tiles-parts",
        "what tiles leave of a sum is overwritten",
        "tiles:in_tiles",
        "[x[number : number + 1] for x in parts]",
        "[x[:1] for x in parts]",
    ),
    wrong(
        "tiles-whole",
        "what all rows share is read as if in rows of the first",
        "tiles:Tiled.repeated",
        "thin = (1, *shape[self.axes :])",
        "thin = (1, *shape[self.axes :][::-1])",
    ),
    wrong(
        "tiles-axes",
        "reductions of rows are along the axis before",
        "tiles:Tiled.add",
        'tuple(a - self.axes + 1 for a in e.params["axes"])',
        'tuple(max(1, a - self.axes) for a in e.params["axes"])',
    ),
    wrong(
        "tiles-wide",
        "16-bit sums over tiles are 16 bits wide",
        "tiles:Tiled.part",
        "dtypes.accumulation_dtype(x.dtype)",
        "x.dtype",
    ),
    wrong(
        "tiles-results",
        "a result that is also read further is not copied",
        "tiles:TileWriter.given",
        "return self.direct.get(out)",
        "return next(iter(self.direct.values()), None)",
    ),
    wrong(
        "groups-time",
        "a group reads what is made after it",
        "groups:Planner.available",
        "if self.time[x] > 2 * group.number:",
        "if self.time[x] > 2 * group.number + 2:",
    ),
    wrong(
        "groups-order",
        "units run in the order of their numbers",
        "groups:scheduled",
        "missing[i] += 1",
        "missing[i] += 0",
    ),
    wrong(
        "groups-final",
        "a sum over all rows can be read in its group",
        "groups:Planner.joins",
        "if not is_final(x):",
        "if True:",
    ),
    wrong(
        "groups-common",
        "row axes that differ are taken for equal",
        "groups:common",
        "x[n] == y[n]",
        "min(x[n], y[n]) > 1",
    ),
    wrong(
        "into-absorb",
        "zeros do not absorb in planned memory",
        "into:absorb_mul",
        "if total != total:",
        "if False:",
        ("absorb_mul",),
    ),
    wrong(
        "into-select",
        "where both are 0 the first is chosen",
        "into:select",
        "if right.ndim == 0 and not right:",
        "if right.ndim == 0:",
        ("select",),
    ),
    wrong(
        "into-clamp",
        "the lower bound is ignored in planned memory",
        "into:clamp",
        "np.maximum(x, low, out=out)",
        "x",
        ("clamp",),
    ),
    wrong(
        "into-logistic",
        "exp of x, not of -x, in planned memory",
        "into:logistic",
        "np.negative(x, out=out)",
        "x",
        ("logistic",),
    ),
    wrong(
        "into-convert",
        "bools are numbers in planned memory",
        "into:convert",
        "return np.not_equal(x, 0, out=out)",
        "return np.greater(x, 0, out=out)",
        ("convert",),
    ),
    wrong(
        "into-sum",
        "sums of rows forget their last element",
        "into:reduce_sum",
        "row_sums(x, out)",
        "row_sums(x[..., :-1], out)",
        ("reduce_sum",),
    ),
    wrong(
        "into-overwrites",
        "a condition may be overwritten",
        "into:into",
        "return Into(function, frozenset(overwrites)) if fits(avals, e) else None",
        "return Into(function, frozenset(range(len(e.inputs)))) if fits(avals, e) else None",
    ),
    wrong(
        "arena-kept",
        "memory of a program that is not kept is used",
        "program:Program.stepping",
        "yield lambda buffers: function(buffers, constants, arena)",
        "yield lambda buffers: function(buffers[:1] * len(buffers), constants, arena)",
    ),
)
