"""Convolutions by JAX's argument forms, and the shapes that they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from arrayx import errors
from arrayx.core.array import Array
from arrayx.lax.dimension_numbers import padtype_to_pads
from arrayx.numpy import shapes
from arrayx.numpy.contraction import contracted, precision_name, preferred_pair
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays
from arrayx.primitives import convolution, windows
from arrayx.primitives.axes import rev
from arrayx.primitives.convolution import Padding, spread_length
from arrayx.primitives.creation import zero_literal

Pads: TypeAlias = str | Sequence[tuple[int, int]]


class ConvDimensionNumbers(NamedTuple):
    """What the axes of a convolution's operands and result are.

    `lhs_spec` and `out_spec` hold the numbers of the axes (batch, feature, *spatial), `rhs_spec`
    those of (output feature, input feature, *spatial).
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


ConvGeneralDilatedDimensionNumbers: TypeAlias = tuple[str, str, str] | ConvDimensionNumbers | None


# ----------------------------------------------------------------- layouts


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[list[int], ...]:
    """The axes that three strings such as ("NHWC", "HWIO", "NHWC") name.

    The letters N and C mean batch and feature of operand and result, O and I output and input
    feature of the window; all others are spatial, in the order that the window has them in.

    >>> conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ([0, 3, 1, 2], [3, 2, 0, 1], [0, 3, 1, 2])
    """
    lhs, rhs, out = dimension_numbers
    spatial = [c for c in rhs if c not in "OI"]
    named = (("lhs", lhs, "NC"), ("rhs", rhs, "OI"), ("out", out, "NC"))
    for name, text, pair in named:
        if sorted(text) != sorted([*pair, *spatial]) or len(set(text)) != len(text):
            raise errors.ArgumentError(
                f"lax.conv_general_permutations: {name} {text!r} must name {pair[0]}, {pair[1]} "
                f"and the spatial axes {''.join(spatial)!r}, each once"
            )
    return tuple([text.index(c) for c in (*pair, *spatial)] for _, text, pair in named)


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Dimension numbers in full, from three strings, from None, or from such already.

    None is batch, feature, spatial and output feature, input feature, spatial.

    >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC")).lhs_spec
    (0, 3, 1, 2)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim:
        raise errors.ShapeError(
            f"lax.conv_dimension_numbers: the operands have shapes {tuple(lhs_shape)} and "
            f"{tuple(rhs_shape)}, whose ranks must be equal"
        )
    if dimension_numbers is None:
        axes = tuple(range(ndim))
        return ConvDimensionNumbers(axes, axes, axes)
    if not isinstance(dimension_numbers, tuple | list) or len(dimension_numbers) != 3:
        raise errors.ArgumentError(
            "lax.conv_dimension_numbers: dimension_numbers are three strings, a "
            f"ConvDimensionNumbers or None, not {dimension_numbers!r}"
        )
    if any(len(text) != ndim for text in dimension_numbers):
        raise errors.ShapeError(
            f"lax.conv_dimension_numbers: {tuple(dimension_numbers)} do not name {ndim} axes"
        )
    return ConvDimensionNumbers(*map(tuple, conv_general_permutations(dimension_numbers)))


def _spatial(shape: Sequence[int], spec: Sequence[int]) -> list[int]:
    return [shape[a] for a in spec[2:]]


def _steps(values: Any, rank: int, function: str, argument: str) -> tuple[int, ...]:
    """One integer for each spatial axis; 1 where nothing is said."""
    steps = (1,) * rank if values is None else tuple(int(v) for v in values)
    if len(steps) != rank or any(s < 1 for s in steps):
        raise errors.ShapeError(
            f"lax.{function}: {argument} must be {rank} positive integers, got {steps}"
        )
    return steps


def _pads(
    padding: Pads,
    lengths: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    function: str,
) -> Padding:
    """Pairs of paddings, from pairs or a word."""
    if isinstance(padding, str):
        spread = [spread_length(k, d) for k, d in zip(window, dilation, strict=True)]
        return tuple(padtype_to_pads(lengths, spread, strides, padding))
    pads = tuple((int(low), int(high)) for low, high in padding)
    if len(pads) != len(lengths):
        raise errors.ShapeError(
            f"lax.{function}: padding must be {len(lengths)} pairs, a word, got {padding!r}"
        )
    return pads


# ----------------------------------------------------------------- convolutions


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Pads,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """`rhs` as a window that slides over `lhs`: for each place the sum of products of what meets.

    The window is not turned around, as it is in the mathematical convolution.  `padding` is a
    pair (before, behind) for each spatial axis, negative where it cuts off, or "VALID", "SAME",
    "SAME_LOWER".  `lhs_dilation` and `rhs_dilation` put neighbours further apart.  See
    `conv_dimension_numbers` for `dimension_numbers`.  The features are cut into
    `feature_group_count` groups that do not see each other, or the batch and the output
    features into `batch_group_count` ones.

    Raises `ShapeError` where shapes, groups or sequences do not fit.  The semantics are those of
    `convolution` in the StableHLO specification.

    >>> import arrayx.numpy as anp
    >>> x = anp.arange(4.0).reshape(1, 1, 4)
    >>> w = anp.array([1.0, 1.0]).reshape(1, 1, 2)
    >>> conv_general_dilated(x, w, (1,), "VALID").tolist()
    [[[1.0, 3.0, 5.0]]]
    >>> conv_general_dilated(x, w, (2,), [(1, 0)]).tolist()
    [[[0.0, 3.0]]]
    """
    function = "conv_general_dilated"
    x, y = promoted_arrays((lhs, rhs), f"lax.{function}", ("lhs", "rhs"))
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    rank = x.ndim - 2
    strides = _steps(window_strides, rank, function, "window_strides")
    base = _steps(lhs_dilation, rank, function, "lhs_dilation")
    dilation = _steps(rhs_dilation, rank, function, "rhs_dilation")
    if isinstance(padding, str) and any(d != 1 for d in base):
        raise errors.ArgumentError(
            f"lax.{function}: padding {padding!r} is not defined with lhs_dilation {base}; give "
            "pairs, or use lax.conv_transpose"
        )
    pads = _pads(
        padding,
        _spatial(x.shape, dims.lhs_spec),
        _spatial(y.shape, dims.rhs_spec),
        strides,
        dilation,
        function,
    )
    x, y, target = preferred_pair(x, y, preferred_element_type)
    result = convolution.conv_general_dilated(
        x,
        y,
        strides=strides,
        padding=pads,
        lhs_dilation=base,
        rhs_dilation=dilation,
        dims=tuple(tuple(int(a) for a in spec) for spec in dims),
        feature_groups=int(feature_group_count),
        batch_groups=int(batch_group_count),
        precision=precision_name(precision),
    )
    return result if target is None else as_type(result, target)


def conv(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Pads,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """`conv_general_dilated` without dilation, batch and features in front.

    >>> import numpy as np
    >>> conv(np.ones((1, 2, 5)), np.ones((3, 2, 2)), (1,), "SAME").shape
    (1, 3, 5)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Pads,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """`conv_general_dilated` with batch and features in front.

    >>> import numpy as np
    >>> conv_with_general_padding(
    ...     np.ones((1, 2, 5)), np.ones((3, 2, 2)), (1,), [(0, 1)], (2,), None
    ... ).shape
    (1, 3, 9)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(window: int, stride: int, padding: str) -> tuple[int, int]:
    """What is put around the dilated operand so that the result has the forward operand's size."""
    total = window + stride - 2
    if padding == "VALID":
        return window - 1, total + max(window - stride, 0) - (window - 1)
    low = window - 1 if stride > window - 1 else -(-total // 2)
    return low, total - low


_LAYOUTS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: Pads,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """The convolution with fractional strides, which enlarges: neighbours of `lhs` are put apart.

    "SAME" and "VALID" are the padding of the forward convolution; pairs are that of this one, or
    with `use_consistent_padding` that of the forward one too.  With `transpose_kernel` the window
    is turned around and its features change places, which is the transpose of the forward
    convolution.  Features are behind by default: NHWC, HWIO, NHWC.

    >>> import numpy as np
    >>> conv_transpose(np.ones((1, 4, 2)), np.ones((3, 2, 5)), (2,), "SAME").shape
    (1, 8, 5)
    """
    function = "conv_transpose"
    x, y = promoted_arrays((lhs, rhs), f"lax.{function}", ("lhs", "rhs"))
    if dimension_numbers is None:
        if x.ndim not in _LAYOUTS:
            raise errors.ArgumentError(
                f"lax.{function}: say the dimension_numbers of operands of {x.ndim} dimensions"
            )
        dimension_numbers = _LAYOUTS[x.ndim]
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    rank = x.ndim - 2
    steps = _steps(strides, rank, function, "strides")
    dilation = _steps(rhs_dilation, rank, function, "rhs_dilation")
    window = [
        spread_length(k, d) for k, d in zip(_spatial(y.shape, dims.rhs_spec), dilation, strict=True)
    ]
    pads: Pads
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise errors.ArgumentError(
                f"lax.{function}: padding is 'SAME', 'VALID' or pairs, not {padding!r}"
            )
        pads = [_transposed_pads(k, s, padding) for k, s in zip(window, steps, strict=True)]
    elif use_consistent_padding:
        pads = [(k - 1 - low, k - 1 - high) for k, (low, high) in zip(window, padding, strict=True)]
    else:
        pads = padding
    if transpose_kernel:
        y = rev(y, axes=tuple(int(a) for a in dims.rhs_spec[2:]))
        y = shapes.swapaxes(y, dims.rhs_spec[0], dims.rhs_spec[1])
    return conv_general_dilated(
        x,
        y,
        (1,) * rank,
        pads,
        steps,
        dilation,
        dims,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# ----------------------------------------------------------------- patches


def conv_general_dilated_patches(
    lhs: Any,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Pads,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """What a window of `filter_shape` sees of `lhs` at each place, as features.

    The result is that of a convolution with one output feature for each input feature and
    element of the window, the elements of the window counting fastest.  The elements are
    copied, not multiplied.

    >>> import arrayx.numpy as anp
    >>> x = anp.arange(3.0).reshape(1, 1, 3)
    >>> conv_general_dilated_patches(x, (2,), (1,), "VALID").tolist()
    [[[0.0, 1.0], [1.0, 2.0]]]
    """
    function = "conv_general_dilated_patches"
    x = as_array(lhs, f"lax.{function}", "lhs")
    window = tuple(int(k) for k in filter_shape)
    dims = conv_dimension_numbers(x.shape, (1, 1, *window), dimension_numbers)
    rank = len(window)
    strides = _steps(window_strides, rank, function, "window_strides")
    base = _steps(lhs_dilation, rank, function, "lhs_dilation")
    dilation = _steps(rhs_dilation, rank, function, "rhs_dilation")
    pads = _pads(padding, _spatial(x.shape, dims.lhs_spec), window, strides, dilation, function)
    x = shapes.transpose(x, tuple(dims.lhs_spec))
    elements, axes = windows.windows_of(
        x,
        zero_literal(x.dtype),
        window=(1, 1, *window),
        strides=(1, 1, *strides),
        padding=((0, 0), (0, 0), *pads),
        base_dilation=(1, 1, *base),
        window_dilation=(1, 1, *dilation),
    )
    elements = shapes.transpose(elements, (0, 2, *axes, *(a - 1 for a in axes[2:])))
    batch, features = x.shape[:2]
    counts = elements.shape[2 + len(axes) :]
    result = shapes.reshape(elements, (batch, features * math.prod(window), *counts))
    result = shapes.moveaxis(result, tuple(range(result.ndim)), tuple(dims.out_spec))
    return result if preferred_element_type is None else as_type(result, preferred_element_type)


def conv_general_dilated_local(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Pads,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: Any = None,
) -> Array:
    """A convolution whose window has weights of its own at each place.

    The spatial axes of `rhs` are those of the result; its input features are those of `lhs`
    times the elements of a window, as `conv_general_dilated_patches` lays them out.

    >>> import numpy as np
    >>> x, w = np.ones((1, 1, 3)), np.array([[[1.0, 2.0], [1.0, 2.0]]])
    >>> conv_general_dilated_local(x, w, (1,), "VALID", (2,)).tolist()
    [[[2.0, 4.0]]]
    """
    function = "lax.conv_general_dilated_local"
    x, y = promoted_arrays((lhs, rhs), function, ("lhs", "rhs"))
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dims
    )
    paired = tuple(dims.out_spec[2:]), tuple(dims.rhs_spec[2:])
    if _spatial(patches.shape, dims.out_spec) != _spatial(y.shape, dims.rhs_spec):
        raise errors.ShapeError(
            f"{function}: there are {_spatial(patches.shape, dims.out_spec)} places, but weights "
            f"for {_spatial(y.shape, dims.rhs_spec)}"
        )
    summed = (dims.out_spec[1],), (dims.rhs_spec[1],)
    product = contracted(patches, y, summed, paired, precision)
    rank = len(paired[0])
    # The product has the spatial axes first, then batch and output feature.
    return shapes.moveaxis(
        product, (rank, rank + 1, *range(rank)), tuple(int(a) for a in dims.out_spec)
    )


# ----------------------------------------------------------------- shapes


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Pads,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution without dilation, batch and features in front.

    >>> conv_shape_tuple((1, 2, 5), (3, 2, 2), (1,), [(0, 0)])
    (1, 3, 4)
    """
    rank = len(lhs_shape) - 2
    steps = _steps(strides, rank, "conv_shape_tuple", "strides")
    around = _pads(pads, lhs_shape[2:], rhs_shape[2:], steps, (1,) * rank, "conv_shape_tuple")
    counts = (
        convolution.window_count(n, k, s, p, 1, 1)
        for n, k, s, p in zip(lhs_shape[2:], rhs_shape[2:], steps, around, strict=True)
    )
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *counts)


def _laid_out(dims: ConvDimensionNumbers, shape: Sequence[int]) -> tuple[int, ...]:
    result = [0] * len(shape)
    for axis, n in zip(dims.out_spec, shape, strict=True):
        result[axis] = n
    return tuple(result)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Pads,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of a convolution without dilation.

    >>> layout = ("NHWC", "HWIO", "NHWC")
    >>> conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (1, 1), "VALID", layout)
    (1, 6, 6, 4)
    """
    dims = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs = [lhs_shape[a] for a in dims.lhs_spec]
    rhs = [rhs_shape[a] for a in dims.rhs_spec]
    return _laid_out(dims, conv_shape_tuple(lhs, rhs, window_strides, padding))


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Pads,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape that `conv_transpose` gives.

    >>> layout = ("NHC", "HIO", "NHC")
    >>> conv_transpose_shape_tuple((1, 4, 2), (3, 2, 5), (2,), "SAME", layout)
    (1, 8, 5)
    """
    dims = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs = [lhs_shape[a] for a in dims.lhs_spec]
    rhs = [rhs_shape[a] for a in dims.rhs_spec]
    steps = _steps(window_strides, len(lhs) - 2, "conv_transpose_shape_tuple", "window_strides")
    pads: Any = padding
    if isinstance(padding, str):
        pads = [_transposed_pads(k, s, padding) for k, s in zip(rhs[2:], steps, strict=True)]
    lengths = [spread_length(n, s) for n, s in zip(lhs[2:], steps, strict=True)]
    shape = conv_shape_tuple([*lhs[:2], *lengths], rhs, (1,) * len(steps), pads)
    return _laid_out(dims, shape)
