"""Reading and writing at computed places."""

from __future__ import annotations

from typing import Any

from arrayx import dtypes
from arrayx.core.aval import Aval
from arrayx.core.graph import Equation
from arrayx_xla.emitter import Emitter, Value, type_of
from arrayx_xla.rules.slicing import as_index

COMBINE = {"add": "add", "mul": "multiply", "min": "minimum", "max": "maximum"}


def _numbers(**lists: Any) -> str:
    """Dimension numbers: those that are empty are left out."""
    return ", ".join(
        f"{k} = {list(v) if type(v) is tuple else v}" for k, v in lists.items() if v != ()
    )


def gather(e: Emitter, x: Value, indices: Value, *, dims: Any, sizes: Any, **mode: Any) -> Value:
    """Windows that are not inside are moved inside, which is "clip" and does for "promise"."""
    indices = as_index(e, indices)
    numbers = _numbers(
        offset_dims=dims.offset_dims,
        collapsed_slice_dims=dims.collapsed_slice_dims,
        operand_batching_dims=dims.operand_batching_dims,
        start_indices_batching_dims=dims.start_indices_batching_dims,
        start_index_map=dims.start_index_map,
        index_vector_dim=indices.aval.ndim - 1,
    )
    slices = ", ".join(map(str, sizes))
    slices = f"array<i64: {slices}>" if slices else "array<i64>"
    aval = e.results[0]
    body = (
        f'"stablehlo.gather"({x.name}, {indices.name}) <{{'
        f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {slices}}}> : "
        f"({x.type}, {indices.type}) -> {type_of(aval)}"
    )
    return e.add("gather", body, aval)


def scatter(
    e: Emitter,
    x: Value,
    indices: Value,
    updates: Value,
    *,
    dims: Any,
    mode: str,
    combine: str,
    unique: bool,
) -> Value:
    """Windows that are not wholly inside are dropped, which does for "promise" too.

    XLA:CPU writes updates one after the other, so that of several the last is kept.
    """
    if not updates.aval.size:
        return x
    dtype = x.dtype
    if combine in ("add", "mul"):
        wide = dtypes.accumulation_dtype(dtype)
        x, updates = e.convert(x, wide), e.convert(updates, wide)
    indices = as_index(e, indices)
    numbers = _numbers(
        update_window_dims=dims.update_window_dims,
        inserted_window_dims=dims.inserted_window_dims,
        input_batching_dims=dims.operand_batching_dims,
        scatter_indices_batching_dims=dims.scatter_indices_batching_dims,
        scatter_dims_to_operand_dims=dims.scatter_dims_to_operand_dims,
        index_vector_dim=indices.aval.ndim - 1,
    )
    scalar = type_of(Aval((), x.dtype))
    indent = e.indent
    lines = [f"{indent}^bb0(%old: {scalar}, %new: {scalar}):"]
    if combine == "set":
        lines.append(f"{indent}  stablehlo.return %new : {scalar}")
    else:
        lines.append(f"{indent}  %both = stablehlo.{COMBINE[combine]} %old, %new : {scalar}")
        lines.append(f"{indent}  stablehlo.return %both : {scalar}")
    region = "\n".join(lines)
    promise = "true" if unique else "false"
    body = (
        f'"stablehlo.scatter"({x.name}, {indices.name}, {updates.name}) <{{'
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, "
        f"unique_indices = {promise}}}> ({{\n{region}\n{indent}}}) : "
        f"({x.type}, {indices.type}, {updates.type}) -> {x.type}"
    )
    return e.convert(e.add("scatter", body, x.aval), dtype)


def _gathers(platform: str, equation: Equation) -> bool | str:
    mode = equation.params["mode"]
    return True if mode != "fill" else "StableHLO's gather fills nothing"


def _scatters(platform: str, equation: Equation) -> bool | str:
    mode, combine = equation.params["mode"], equation.params["combine"]
    if mode == "clip":
        return "StableHLO's scatter drops what is out of bounds"
    if combine == "set" and not equation.params["unique"] and platform != "cpu":
        return f"XLA on {platform} writes in no fixed order"
    return True


RULES: dict[str, Any] = {"gather": gather, "scatter": scatter}
WHEN: dict[str, Any] = {"gather": _gathers, "scatter": _scatters}
