"""Wrong passes: merging, folding, dead code, fusing, taking apart, caches, and legalising."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.mutation.mutant import PASS, Mutant, edit

FIRST = ("custom_rules", "control_flow", "graphs", "effects", "compiled", "derivatives", "orders")
# Statements about one function that is derived in many ways.
DERIVED_WAYS = (
    "forward_mode_by_each_argument",
    "reverse_mode_by_each_argument",
    "a_result_that_comes_twice_has_two_cotangents",
    "another_backend_gets_a_program_of_its_own",
    "batches_along_each_axis",
    "transposes_by_each_argument",
    "checkpoints_that_save_some",
    "equal_callbacks_happen_each_time",
)


def wrong(
    name: str,
    words: str,
    target: str,
    old: str,
    new: str,
    subjects: Sequence[str] = (),
    sections: Sequence[str] = FIRST,
) -> Mutant:
    subjects = (*subjects, *DERIVED_WAYS)
    if name.startswith("fuse"):
        subjects = ("rewritings", "the_groups_of_a_program_equal_it")
    return edit(
        PASS, name, words, f"arrayx.{target}", (old, new), subjects=subjects, sections=sections
    )


def _simplify(name: str, words: str, function: str, old: str, new: str, *subjects: str) -> Mutant:
    first = (*subjects, "rewritings")
    sections = ("effects", *FIRST) if "effects" in name else FIRST
    return wrong(name, words, f"transforms.simplify:{function}", old, new, first, sections)


SIMPLIFY: tuple[Mutant, ...] = (
    _simplify(
        "add-zero",
        "x + 0.0 is x: -0.0 keeps its sign",
        "_add",
        "_is_zero(value, negative=True)",
        "value == 0",
    ),
    _simplify(
        "sub-zero",
        "x - -0.0 is x: -0.0 keeps its sign",
        "_sub",
        "_is_zero(value, negative=False)",
        "value == 0",
    ),
    _simplify(
        "sub-self",
        "x - x is 0 for floats too",
        "_sub",
        "elif integer and x is y:\n        return Known(0)",
        "elif x is y:\n        return Known(0 if integer else 0.0)",
    ),
    _simplify(
        "mul-zero",
        "x * 0.0 is 0 for every x",
        "_mul",
        'if value == 0 and kind != "float":\n            return Known(0)',
        'if value == 0:\n            return Known(0.0 if kind == "float" else 0)',
    ),
    _simplify(
        "absorb_mul-plain",
        "a product with inf is plain",
        "_absorb_mul",
        "cmath.isfinite(value)",
        "value == value",
    ),
    _simplify(
        "div-minus-one",
        "x / -1 is x",
        "_div",
        "state.value(y) == 1 and",
        "state.value(y) in (1, -1) and",
    ),
    _simplify(
        "twice",
        "rev along other axes is undone",
        "_involution",
        "made is not None and made.params == e.params",
        "made is not None",
    ),
    _simplify(
        "compare-self",
        "x == x for floats, nan too",
        "_compare",
        'dtypes.kind(x.aval.dtype) in ("bool", "int", "uint")',
        'dtypes.kind(x.aval.dtype) != "complex"',
    ),
    _simplify(
        "compare-le",
        "x <= x is false for integers",
        "_compare",
        '("eq", "le", "ge")',
        '("eq", "ge")',
    ),
    _simplify(
        "and-true",
        "x and True is True",
        "_idempotent",
        'value == (e.primitive.name == "bitwise_or")',
        "value",
    ),
    _simplify(
        "select-zeros",
        "0.0 and -0.0 are the same",
        "_select",
        "literal_key(a) == literal_key(b)",
        "a == b",
    ),
    _simplify(
        "select-known",
        "a known condition chooses the other",
        "_select",
        "x if value else y",
        "y if value else x",
    ),
    _simplify(
        "convert-sign",
        "negative numbers are False",
        "_convert",
        "Known(value != 0)",
        "Known(value > 0)",
    ),
    _simplify(
        "transpose-pair",
        "permutations are joined in the wrong order",
        "_transpose",
        "tuple(inner[p] for p in perm)",
        "tuple(perm[p] for p in inner)",
    ),
    _simplify(
        "broadcast-pair",
        "axes of the first broadcast stay",
        "_broadcast",
        "outer[d] for d in",
        "d for d in",
    ),
    _simplify(
        "reduce-sum-of-one",
        "a sum over no axes keeps -0.0",
        "_reduction",
        '"reduce_sum": ("int", "uint")',
        '"reduce_sum": ("int", "uint", "float")',
    ),
    _simplify(
        "reduce-sum-of-equals",
        "the sum of equals is one of them",
        "_reduction",
        "return Known(value) if zero else None",
        "return Known(value) if zero or value is not None else None",
    ),
    _simplify(
        "reduce-max-of-nothing",
        "the extreme of nothing is the element",
        "_reduction",
        "or x.aval.size == 0",
        "",
    ),
    _simplify(
        "merge-literals",
        "0.0 and -0.0, 0 and False are merged",
        "equation_key",
        "literal_key(a) for a",
        "a for a",
    ),
    _simplify(
        "merge-params",
        "applications with other params are merged",
        "equation_key",
        "return equation.primitive, inputs, params",
        "return equation.primitive, inputs, tuple(k for k, _ in params)",
    ),
    _simplify(
        "merge-effects",
        "equal effects happen once",
        "_State.enter",
        "if equation.effects or equation.primitive.callable_params:",
        "if equation.primitive.callable_params and not equation.effects:",
    ),
    _simplify(
        "sink-params",
        "different broadcasts are taken for one",
        "sunk",
        "made.params != first.params or",
        "made.params['shape'] != first.params['shape'] or",
    ),
    _simplify(
        "dead-effects",
        "effects without results are removed",
        "dead_code_removed",
        "if e.effects or any(",
        "if any(",
    ),
    _simplify(
        "dead-inputs",
        "what only one equation needs is dead",
        "dead_code_removed",
        "live.update(a for a in e.inputs if type(a) is Var)",
        "live.update(a for a in e.inputs[:2] if type(a) is Var)",
    ),
    _simplify(
        "folds-bools",
        "comparisons are folded as less than",
        "_folded",
        "_SCALAR_FUNCTIONS[e.primitive.name]",
        "_SCALAR_FUNCTIONS[e.primitive.name.replace('le', 'lt')]",
    ),
    _simplify(
        "known-unrounded",
        "constants are not rounded to their dtype",
        "rounded",
        "return _PYTHON[kind](dtype.type(value))",
        "return _PYTHON[kind](value)",
    ),
)

FUSE: tuple[Mutant, ...] = (
    wrong(
        "fuse-outputs",
        "what another group reads is not given",
        "transforms.fuse:_Planner.finished",
        "read_elsewhere.update(outside)",
        "read_elsewhere.update(outside[:1])",
    ),
    wrong(
        "fuse-ready",
        "what comes before a group counts as ready",
        "transforms.fuse:_Planner.add",
        "self.ready[var] = group.number if in_loop else group.number + 1",
        "self.ready[var] = group.number",
    ),
    wrong(
        "fuse-shapes",
        "a broadcast of an element of the loop joins it",
        "transforms.fuse:_Planner.loop_shape",
        "return None if any(a.aval.shape == shape for a in e.inputs if type(a) is Var) else shape",
        "return shape",
    ),
    wrong(
        "fuse-sink",
        "what others of the group read moves away",
        "transforms.fuse:_Planner.better_place",
        "if len(where) != 1 or group.number in where:",
        "where -= {group.number}\n    if len(where) != 1:",
    ),
)

DERIVED: tuple[Mutant, ...] = (
    wrong(
        "split-position",
        "an input that is saved is taken for an output",
        "transforms.partial:_linearize",
        'position[var] = "input", i',
        'position[var] = ("output" if i < len(outputs) else "input"), i',
    ),
    wrong(
        "split-key",
        "a graph is taken apart once for all inputs",
        "transforms.partial:linearize_graph",
        'key = "linearize", active, forced, config.snapshot()',
        'key = "linearize", len(active), forced, config.snapshot()',
    ),
    wrong(
        "split-policy",
        "what a checkpoint computes again is saved in another place",
        "transforms.partial:_saving",
        'residuals.append(("output", outputs.index(v)))',
        'residuals.append(("output", len(outputs) - 1))',
    ),
    wrong(
        "split-again",
        "what is computed again is computed backwards",
        "transforms.partial:_recomputed",
        "return again[::-1], [",
        "return again, [",
    ),
    wrong(
        "split-costly",
        "a result that is saved is the argument",
        "transforms.partial:_recomputed",
        "saved.append(out)",
        "x = e.inputs[0]\n            "
        "saved.append(x if type(x) is Var and x.aval is out.aval else out)",
    ),
    wrong(
        "jvp-key",
        "forward mode is derived once for all inputs",
        "transforms.jvp:jvp_graph",
        'key = "jvp", active, forced',
        'key = "jvp", sum(active), forced',
    ),
    wrong(
        "vmap-key",
        "a graph is batched once for all axes",
        "transforms.vmap:vmap_graph",
        'key = "vmap", size, dims, out_dims, name',
        'key = "vmap", size, tuple(d is None for d in dims), out_dims, name',
    ),
    wrong(
        "transpose-key",
        "a graph is transposed once for all inputs",
        "transforms.vjp:transpose_graph",
        'key = "transpose", linear, given, forced',
        'key = "transpose", sum(linear), given, forced',
    ),
    wrong(
        "transpose-twice",
        "an output that is given twice has one cotangent",
        "transforms.vjp:transpose_graph",
        "cts[var] = add_cotangents(cts.get(var), next(coming))",
        "cts[var] = next(coming)",
    ),
    wrong(
        "transpose-fan-out",
        "of two uses in a graph the first counts",
        "transforms.vjp:_run_backwards",
        "cts[a] = add_cotangents(cts.get(a), answer)",
        "cts[a] = answer",
    ),
    wrong(
        "backward-fan-out",
        "of two uses on a tape the first counts",
        "transforms.vjp:_backward",
        "got if held is None else add(held, got)",
        "got",
    ),
    wrong(
        "backward-outputs",
        "two outputs of one value have one cotangent",
        "transforms.vjp:_backward",
        "cts[tangent.index] = add_cotangents(cts[tangent.index], given)",
        "cts[tangent.index] = given",
    ),
    wrong(
        "legal-key",
        "what was legalised for one backend is taken for all",
        "backend.legalise:legalise",
        'key = "legal", backend.name',
        'key = "legal", ""',
        (),
        ("compiled", "devices", *FIRST),
    ),
    wrong(
        "executable-key",
        "a program compiled for one backend runs for all",
        "backend.dispatch:compile_graph",
        'key = "executable", options',
        'key = "executable", ""',
        (),
        ("devices", *FIRST),
    ),
    wrong(
        "silence",
        "effects of what a checkpoint computes again happen again",
        "transforms.partial:_saving",
        "if quiet is None or quiet.effects or (",
        "if quiet is None or (",
    ),
)

PASSES = (*SIMPLIFY, *FUSE, *DERIVED)
