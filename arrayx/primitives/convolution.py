"""Convolution: sums of products over a window that slides over one operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx import dtypes, errors
from arrayx.core.aval import Aval, Shape
from arrayx.core.linear import Zero
from arrayx.core.primitive import Primitive
from arrayx.primitives.axes import distinct_axes, reshape, rev, transpose
from arrayx.primitives.creation import zeros
from arrayx.primitives.families import NUMERIC, add_tangents, is_linear
from arrayx.primitives.gather import aval_of

Axes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


def spread_length(n: int, dilation: int) -> int:
    """The length of an axis whose neighbours are `dilation` apart."""
    return (n - 1) * dilation + 1 if n else 0


def window_count(
    n: int, window: int, stride: int, padding: tuple[int, int], base: int, dilation: int
) -> int:
    """How many places a window has on an axis of length `n`, itself dilated by `base`."""
    room = spread_length(n, base) + sum(padding) - spread_length(window, dilation)
    return room // stride + 1 if room >= 0 else 0


class ConvGeneralDilated(Primitive):
    """For each place of the window `rhs` on `lhs`, the sum of the products of what meets.

    `dims` has three tuples of axes: (batch, feature, *spatial) of `lhs`, (output feature, input
    feature, *spatial) of `rhs`, (batch, feature, *spatial) of the result.  For each spatial
    axis there are a stride of the window, a pair of paddings with zeros (cut off where they are
    negative), and how far apart neighbours of `lhs` and of `rhs` are put.  With
    `feature_groups` the features of both sides are cut into so many groups, and each meets its
    own; with `batch_groups` so are the batch of `lhs` and the output features.  One of the two
    is 1.  The window is not turned around.  16-bit floats are added up in float32.
    `precision` is None for the full precision of the dtype.
    """

    name = "conv_general_dilated"

    def type_rule(
        self,
        x: Aval,
        y: Aval,
        *,
        strides: Axes,
        padding: Padding,
        lhs_dilation: Axes,
        rhs_dilation: Axes,
        dims: tuple[Axes, Axes, Axes],
        feature_groups: int,
        batch_groups: int,
        precision: str | None,
    ) -> Aval:
        if x.dtype != y.dtype or dtypes.kind(x.dtype) not in NUMERIC:
            raise errors.DtypeError(
                f"conv_general_dilated needs numbers of equal dtype, got {x} and {y}"
            )
        self.check_axes(x, y, dims, strides, padding, lhs_dilation, rhs_dilation)
        (batch, features, *lengths), (outs, ins, *window) = (
            [a.shape[i] for i in spec] for a, spec in ((x, dims[0]), (y, dims[1]))
        )
        self.check_groups(x, y, batch, features, outs, ins, feature_groups, batch_groups)
        counts = map(window_count, lengths, window, strides, padding, lhs_dilation, rhs_dilation)
        shape = [0] * x.ndim
        for axis, n in zip(dims[2], (batch // batch_groups, outs, *counts), strict=True):
            shape[axis] = n
        weak = x.weak_type and y.weak_type
        return Aval(tuple(shape), x.dtype, weak, x.varying | y.varying)

    def check_axes(self, x: Aval, y: Aval, dims: Any, *spatial: Sequence[Any]) -> None:
        """Raises unless all ranks and params agree."""
        n = x.ndim
        fits = n >= 2 and y.ndim == n and len(dims) == 3
        if not fits or any(len(d) != n or not distinct_axes(d, n) for d in dims):
            raise errors.AxisError(
                f"conv_general_dilated: {dims} do not number the axes of {x} and {y}"
            )
        strides, padding, *dilations = spatial
        if any(len(s) != n - 2 for s in spatial):
            raise errors.ShapeError(
                f"conv_general_dilated of {x} has {n - 2} spatial axes; got strides {strides}, "
                f"padding {padding}, dilations {dilations[0]} and {dilations[1]}"
            )
        if any(s < 1 for steps in (strides, *dilations) for s in steps):
            raise errors.ShapeError(
                f"conv_general_dilated: strides {strides} and dilations {dilations[0]}, "
                f"{dilations[1]} must be positive"
            )

    def check_groups(
        self,
        x: Aval,
        y: Aval,
        batch: int,
        features: int,
        outs: int,
        ins: int,
        feature_groups: int,
        batch_groups: int,
    ) -> None:
        """Raises unless the groups divide what they divide."""
        if feature_groups < 1 or batch_groups < 1 or min(feature_groups, batch_groups) > 1:
            raise errors.ShapeError(
                f"conv_general_dilated: {feature_groups} feature groups and {batch_groups} batch "
                "groups; both are positive and one of them is 1"
            )
        if features != ins * feature_groups:
            raise errors.ShapeError(
                f"conv_general_dilated: {features} features of {x} are not {feature_groups} "
                f"groups of the {ins} input features of {y}"
            )
        if outs % feature_groups or outs % batch_groups or batch % batch_groups:
            raise errors.ShapeError(
                f"conv_general_dilated: {feature_groups} feature groups and {batch_groups} batch "
                f"groups do not divide a batch of {batch} and {outs} output features"
            )

    def flops(self, avals: tuple[Any, ...], results: tuple[Aval, ...], **params: Any) -> int:
        y = avals[1]
        summed = y.size // max(1, y.shape[params["dims"][1][0]])
        return int(2 * results[0].size * summed)

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        by_x = Zero if dx is Zero else self(dx, y, **params)
        by_y = Zero if dy is Zero else self(x, dy, **params)
        return self(x, y, **params), add_tangents(by_x, by_y)

    def transpose(self, ct: Any, x: Any, y: Any, **params: Any) -> Any:
        if is_linear(x):
            return self.cotangent_of_lhs(ct, x.aval.strong(), y, **params), None
        return None, self.cotangent_of_rhs(ct, x, y.aval.strong(), **params)

    def cotangent_of_lhs(
        self,
        ct: Any,
        x: Aval,
        y: Any,
        *,
        strides: Axes,
        padding: Padding,
        lhs_dilation: Axes,
        rhs_dilation: Axes,
        dims: tuple[Axes, Axes, Axes],
        feature_groups: int,
        batch_groups: int,
        precision: str | None,
    ) -> Any:
        """The result's cotangent, its elements a stride apart, under the window turned around."""
        if 0 in x.shape or 0 in ct.aval.shape or 0 in aval_of(y).shape:
            return zeros(x)
        lhs, rhs, out = dims
        groups = feature_groups * batch_groups
        y = rev(y, axes=rhs[2:]) if len(rhs) > 2 else y
        y = regrouped(y, rhs[0], rhs[1], groups)
        result = self(
            ct,
            y,
            strides=lhs_dilation,
            padding=transposed_padding(
                [x.shape[a] for a in lhs[2:]],
                [y.aval.shape[a] for a in rhs[2:]],
                [ct.aval.shape[a] for a in out[2:]],
                strides,
                padding,
                lhs_dilation,
                rhs_dilation,
            ),
            lhs_dilation=strides,
            rhs_dilation=rhs_dilation,
            dims=(out, (rhs[1], rhs[0], *rhs[2:]), lhs),
            feature_groups=groups,
            batch_groups=1,
            precision=precision,
        )
        return regrouped(result, lhs[1], lhs[0], batch_groups)

    def cotangent_of_rhs(
        self,
        ct: Any,
        x: Any,
        y: Aval,
        *,
        strides: Axes,
        padding: Padding,
        lhs_dilation: Axes,
        rhs_dilation: Axes,
        dims: tuple[Axes, Axes, Axes],
        feature_groups: int,
        batch_groups: int,
        precision: str | None,
    ) -> Any:
        """`lhs` under the result's cotangent as window: batch and features change places."""
        if 0 in y.shape or 0 in ct.aval.shape or 0 in aval_of(x).shape:
            return zeros(y)
        lhs, rhs, out = dims
        around = []
        for i, (low, _) in enumerate(padding):
            n = spread_length(x.aval.shape[lhs[2 + i]], lhs_dilation[i])
            window = spread_length(y.shape[rhs[2 + i]], rhs_dilation[i])
            m = spread_length(ct.aval.shape[out[2 + i]], strides[i])
            around.append((low, window + m - 1 - n - low))
        return self(
            x,
            ct,
            strides=rhs_dilation,
            padding=tuple(around),
            lhs_dilation=lhs_dilation,
            rhs_dilation=strides,
            dims=(
                (lhs[1], lhs[0], *lhs[2:]),
                (out[1], out[0], *out[2:]),
                (rhs[1], rhs[0], *rhs[2:]),
            ),
            feature_groups=batch_groups,
            batch_groups=feature_groups,
            precision=precision,
        )

    def vmap(self, size: int, args: Any, batch: Any, **params: Any) -> Any:
        (x, y), (i, j) = args, batch
        if size == 0:
            unbatched = [
                a.aval if d is None else a.aval.update(shape=without(a.aval.shape, d))
                for a, d in ((x, i), (y, j))
            ]
            aval = self.type_rule(*unbatched, **params)
            return zeros(aval.update(shape=(0, *aval.shape))), 0
        lhs, rhs, out = params["dims"]
        features, batches = params["feature_groups"], params["batch_groups"]
        if j is None:
            x = folded(x, i, lhs[0], batches)
            return unfolded(self(x, y, **params), out[0], size, 1)
        if i is None:
            y = folded(y, j, rhs[0], features * batches)
            return unfolded(self(x, y, **params), out[1], size, features * batches)
        y = folded(y, j, rhs[0], 1)
        if batches > 1:
            x = folded(x, i, lhs[0], 1)
            params = {**params, "batch_groups": size * batches}
        else:
            x = folded(x, i, lhs[1], 1)
            params = {**params, "feature_groups": size * features}
        return unfolded(self(x, y, **params), out[1], size, 1)


def transposed_padding(
    lengths: Sequence[int],
    window: Sequence[int],
    counts: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base: Sequence[int],
    dilation: Sequence[int],
) -> Padding:
    """The padding that gives each element of the operand the windows that it was in."""
    around = []
    for n, k, m, stride, (low, _), b, d in zip(
        lengths, window, counts, strides, padding, base, dilation, strict=True
    ):
        reach = spread_length(k, d) - 1
        around.append((reach - low, spread_length(n, b) - spread_length(m, stride) + low))
    return tuple(around)


def without(shape: Shape, axis: int) -> Shape:
    """A shape without one of its axes."""
    return shape[:axis] + shape[axis + 1 :]


def regrouped(x: Any, source: int, target: int, groups: int) -> Any:
    """`x` with the groups that axis `source` consists of in front of axis `target` instead."""
    if groups == 1:
        return x
    shape = list(x.aval.shape)
    shape[source] //= groups
    split = (*shape[:source], groups, *shape[source:])
    x = reshape(x, shape=split)
    perm = [a for a in range(len(split)) if a != source]
    perm.insert(target, source)
    shape[target] *= groups
    return reshape(transpose(x, perm=tuple(perm)), shape=tuple(shape))


def folded(x: Any, batch_dim: int, axis: int, groups: int) -> Any:
    """`x` with its batch axis made part of `axis`, behind the groups that this consists of.

    `axis` is counted without the batch axis.
    """
    shape = x.aval.shape
    size, rest = shape[batch_dim], without(shape, batch_dim)
    perm = [a for a in range(len(shape)) if a != batch_dim]
    perm.insert(axis, batch_dim)
    x = transpose(x, perm=tuple(perm))
    if groups > 1:
        inner = rest[axis] // groups
        x = reshape(x, shape=(*rest[:axis], size, groups, inner, *rest[axis + 1 :]))
        order = list(range(len(rest) + 2))
        order[axis], order[axis + 1] = axis + 1, axis
        x = transpose(x, perm=tuple(order))
    return reshape(x, shape=(*rest[:axis], size * rest[axis], *rest[axis + 1 :]))


def unfolded(x: Any, axis: int, size: int, groups: int) -> Any:
    """What `folded` put into `axis` as an axis of its own; the result and its place."""
    shape = x.aval.shape
    inner = shape[axis] // (size * groups)
    if groups == 1:
        return reshape(x, shape=(*shape[:axis], size, inner, *shape[axis + 1 :])), axis
    x = reshape(x, shape=(*shape[:axis], groups, size, inner, *shape[axis + 1 :]))
    order = [axis + 1, *(a for a in range(len(shape) + 2) if a != axis + 1)]
    x = transpose(x, perm=tuple(order))
    return reshape(x, shape=(size, *shape[:axis], groups * inner, *shape[axis + 1 :])), 0


conv_general_dilated = ConvGeneralDilated()
