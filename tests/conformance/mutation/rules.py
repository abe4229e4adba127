"""Wrong rules of primitives: jvp, linearize, transpose, vmap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrayx.primitives.arithmetic import add, mul, neg, sub
from arrayx.primitives.exponential import rsqrt
from arrayx.primitives.numeric import div, reciprocal
from arrayx.primitives.trigonometric import one_minus_square, sin
from tests.conformance.mutation.mutant import FIRST_OF_RULES, RULE, Mutant, edit, partials

_PRIMITIVES = "arrayx.primitives."
BESIDES = (
    "forward_mode_of_loops_by_what_steps_share",
    "custom_pullbacks_are_used",
    "lanes_choose_branches_beyond_the_ends",
)


def wrong(
    name: str,
    words: str,
    target: str,
    old: str,
    new: str,
    subjects: Sequence[str] = (),
    sections: Sequence[str] = FIRST_OF_RULES,
) -> Mutant:
    """A rule with other text; what is about the primitive that the name begins with comes first."""
    first = (name.partition("-")[0], *subjects, "conventions", *BESIDES)
    return edit(RULE, name, words, target, (old, new), subjects=first, sections=sections)


def _rule(
    name: str, words: str, target: str, old: str, new: str, subjects: Sequence[str] = ()
) -> Mutant:
    return wrong(name, words, _PRIMITIVES + target, old, new, subjects)


def _cosine(x: Any, out: Any) -> Any:
    return sin(x)


ARITHMETIC: tuple[Mutant, ...] = (
    _rule(
        "sub-jvp", "the sign of y's tangent is lost", "arithmetic:Sub.jvp", "(neg(dy) if", "(dy if"
    ),
    _rule(
        "sub-transpose",
        "the sign of y's cotangent is lost",
        "arithmetic:Sub.transpose",
        "neg(ct) if",
        "ct if",
    ),
    _rule(
        "neg-linearize",
        "the tape gets no sign",
        "arithmetic:Neg.linearize",
        "return result, tape.record(self, (tangents[0],), {}, result.aval.strong())",
        "return result, tangents[0]",
    ),
    _rule(
        "mul-jvp",
        "the factor of y is y",
        "arithmetic:_Product.jvp",
        "_times(dy, x)",
        "_times(dy, y)",
        ("absorb_mul",),
    ),
    _rule(
        "mul-linearize",
        "the factors are swapped",
        "arithmetic:_Product.linearize",
        "((dx, y), (dy, x))",
        "((dx, x), (dy, y))",
        ("absorb_mul",),
    ),
    _rule(
        "mul-transpose",
        "the right factor's cotangent is not scaled",
        "arithmetic:_Product.transpose",
        "return None, self(ct, x)",
        "return None, ct",
        ("absorb_mul",),
    ),
    _rule(
        "select-transpose",
        "branches are swapped",
        "arithmetic:Select.transpose",
        "self(which, zero, ct)",
        "self(which, ct, zero)",
    ),
    _rule(
        "select-jvp",
        "a branch without tangent gets the other's",
        "arithmetic:Select.jvp",
        "zero if dy is Zero else dy",
        "dx if dy is Zero else dy",
    ),
    _rule(
        "div-jvp",
        "the sign of y's part is lost",
        "numeric:Div.jvp",
        "neg(self(result, y))",
        "self(result, y)",
    ),
    _rule(
        "div-transpose",
        "a product instead of a quotient",
        "numeric:Div.transpose",
        "self.by_known(ct, y)",
        "mul(ct, y)",
    ),
    _rule(
        "div-zeros",
        "0 / 0 is nan in a derivative",
        "numeric:Div.by_known",
        "scaled(dx, reciprocal(y))",
        "self(dx, y)",
    ),
    partials(
        "rem",
        "sign",
        "the sign of y's part is lost",
        lambda x, y, out: 1.0,
        lambda x, y, out: div(sub(x, out), y),
    ),
    _rule(
        "max-share",
        "a tie with a constant gives everything",
        "numeric:_Extremum.share",
        "mul(dx, 0.5)",
        "dx",
        ("min",),
    ),
    _rule(
        "max-chosen",
        "a tie goes to y",
        "numeric:_Extremum.chosen",
        "dy, half)",
        "dy, dy)",
        ("min",),
    ),
    _rule(
        "clamp-jvp",
        "x moves although it was raised",
        "numeric:Clamp.jvp",
        "max.chosen(x, low, dx, d_low)",
        "dx",
    ),
    _rule(
        "abs-jvp",
        "the derivative at 0 is 1",
        "numeric:Abs.jvp",
        "return result, scaled(dx, sign(x))",
        "return result, select(lt(x, 0.0), neg(dx), dx)",
    ),
    _rule(
        "abs-complex", "the sign is not conjugated", "numeric:Abs.jvp", "conj(sign(x))", "sign(x)"
    ),
    partials("sin", "derivative", "it is its own derivative", _cosine),
    partials("tanh", "derivative", "1 - y instead of 1 - y**2", lambda x, out: sub(1.0, out)),
    partials("log1p", "derivative", "that of log", lambda x, out: reciprocal(x)),
    partials("acos", "derivative", "the sign is lost", lambda x, out: rsqrt(one_minus_square(x))),
    partials(
        "expm1", "derivative", "y + 1, which is 0 far to the left", lambda x, out: add(out, 1.0)
    ),
    partials(
        "logistic",
        "derivative",
        "y (1 - y), 0 far to the right",
        lambda x, out: mul(out, sub(1.0, out)),
    ),
    partials(
        "atan2",
        "swapped",
        "partials are swapped",
        lambda y, x, out: neg(div(y, add(mul(x, x), mul(y, y)))),
        lambda y, x, out: div(x, add(mul(x, x), mul(y, y))),
    ),
    _rule(
        "pow-base",
        "y x**y / x: nan where x is 0",
        "exponential:Pow.by_base",
        "return scaled(dx, absorb_mul(y, self(x, sub(y, 1.0))))",
        "return scaled(dx, absorb_mul(y, div(self(x, y), x)))",
    ),
    _rule(
        "pow-literal",
        "the square has the factor 1",
        "exponential:Pow.by_base",
        "scaled(dx, mul(x, 2.0))",
        "scaled(dx, x)",
    ),
    _rule(
        "integer_pow-jvp",
        "the exponent of the factor is off by one",
        "exponential:IntegerPow.jvp",
        "float(exponent)",
        "float(exponent - 1)",
    ),
    _rule("imag-transpose", "the sign is lost", "complex:Imag.transpose", "neg(ct)", "ct"),
    _rule(
        "complex-transpose",
        "the sign of the imaginary part is lost",
        "complex:Complex.transpose",
        "neg(imag(ct))",
        "imag(ct)",
    ),
    _rule(
        "conj-transpose",
        "the cotangent is not conjugated",
        "complex:Conj.transpose",
        "(self(ct),)",
        "(ct,)",
    ),
    _rule(
        "convert-transpose",
        "the cotangent keeps its dtype",
        "conversion:Convert.transpose",
        "(self(ct, dtype=x.aval.dtype, weak_type=False),)",
        "(ct,)",
    ),
    _rule(
        "exp-zeros",
        "zeros do not absorb in reverse mode",
        "families:Unary.linearize",
        "handed.mul if plain else handed.absorb_mul",
        "handed.mul",
        ("sqrt", "log"),
    ),
    _rule(
        "log-zeros",
        "zeros do not absorb",
        "families:scaled",
        "return handed.absorb_mul(tangent, factor)",
        "return handed.mul(tangent, factor)",
        ("pow", "div", "atan2"),
    ),
    _rule(
        "add-vmap",
        "operands are lined up by a permutation the wrong way",
        "axes:move_batch_dim",
        "perm.insert(dst, src)",
        "perm.append(src)",
        ("sub", "mul", "select", "concatenate"),
    ),
)

ARRAYS: tuple[Mutant, ...] = (
    _rule(
        "broadcast_in_dim-transpose",
        "repeated axes of length 1 are not added up",
        "axes:BroadcastInDim.transpose",
        "n == 1 and shape[d] != 1",
        "n == 1 and shape[d] == 1",
    ),
    _rule(
        "reduce_sum-vmap",
        "the batch axis of the result is off",
        "axes:ReduceSum.vmap",
        "d - sum(a < d for a in axes)",
        "max(0, d - len(axes))",
    ),
    _rule(
        "transpose-transpose",
        "the permutation is not inverted",
        "axes:Transpose.transpose",
        "inverse(perm)",
        "perm",
    ),
    _rule("rev-vmap", "axes are not moved", "axes:Rev.vmap", "shifted(axes, dims[0])", "axes"),
    _rule(
        "slice-transpose",
        "zeros are put behind instead of in front",
        "slicing:Slice.transpose",
        "low=starts, high=high",
        "low=high, high=starts",
    ),
    _rule(
        "pad-jvp",
        "the tangent of the value is forgotten",
        "slicing:Pad.jvp",
        "zero if dv is Zero else dv",
        "zero",
    ),
    _rule(
        "pad-transpose",
        "the value gets what belongs to x",
        "slicing:Pad.transpose",
        "select(held, zero, ct)",
        "select(held, ct, zero)",
    ),
    _rule(
        "concatenate-vmap",
        "the axis is not moved",
        "slicing:Concatenate.vmap",
        "axis=axis + (axis >= d)",
        "axis=axis + (axis > d)",
    ),
    _rule(
        "concatenate-transpose",
        "every operand gets the first part",
        "slicing:Concatenate.transpose",
        "start = end",
        "start = 0",
    ),
    _rule(
        "dynamic_slice-vmap",
        "literal starts are not moved inside",
        "slicing:start_vector",
        "min(max(a, 0), n - s)",
        "max(a, 0) % n",
    ),
    _rule(
        "dynamic_update_slice-transpose",
        "what was overwritten has a derivative",
        "slicing:DynamicUpdateSlice.transpose",
        "self(ct, zeros(aval), *starts) if",
        "ct if",
    ),
    _rule(
        "gather-transpose",
        "what is read twice counts once",
        "gather:Gather.transpose",
        'combine="add"',
        'combine="set"',
    ),
    _rule(
        "gather-vmap",
        "index vectors do not move up with the axes",
        "gather:with_batch_axis",
        "index_map = tuple(d + moved for d in dims.start_index_map)",
        "index_map = tuple(d + (moved and in_indices) for d in dims.start_index_map)",
    ),
    _rule(
        "scatter-transpose",
        "all updates of one place have the derivative",
        "gather:Scatter.transpose",
        'if combine == "set" and not self.alone',
        'if combine == "mul" and not self.alone',
    ),
    _rule(
        "scatter-transpose-x",
        "what was overwritten has a derivative",
        "gather:Scatter.transpose",
        'if combine == "set" and is_linear(x)',
        'if combine == "mul" and is_linear(x)',
    ),
    _rule(
        "scatter-extreme",
        "ties have one unit each",
        "gather:Scatter.jvp_of_extreme",
        "div(1.0, count)",
        "1.0",
    ),
    _rule(
        "scatter-mul",
        "other factors of a place are forgotten",
        "gather:Scatter.jvp_of_mul",
        "if not self.alone(updates, **params):",
        "if False:",
    ),
    _rule(
        "reduce_max-jvp",
        "ties have one unit each",
        "reduction:Extreme.jvp",
        "return result, as_dtype(scaled(total, div(1.0, count)), x.aval.dtype)",
        "return result, as_dtype(total, x.aval.dtype)",
        ("reduce_min",),
    ),
    _rule(
        "reduce_prod-jvp",
        "the wrong half is the factor",
        "reduction:ReduceProd.jvp",
        "scaled(dq, p)",
        "scaled(dq, q)",
    ),
    _rule(
        "argmax-vmap",
        "the axis is not moved",
        "reduction:ArgExtreme.vmap",
        "axis + (axis >= d)",
        "axis + (axis > d)",
        ("argmin",),
    ),
    _rule(
        "cumsum-transpose",
        "in the same direction",
        "cumulative:Cumsum.transpose",
        "not reverse",
        "reverse",
    ),
    _rule("cumprod-jvp", "the wrong factor", "cumulative:Cumprod.jvp", "scaled(dq, p)", "dq"),
    _rule(
        "cummax-jvp",
        "ties have one unit each",
        "cumulative:CumulativeExtreme.jvp",
        "as_dtype(scaled(total, div(1.0, count)), dtype)",
        "as_dtype(total, dtype)",
        ("cummin",),
    ),
    _rule(
        "sort-jvp",
        "tangents stay where they are",
        "sorting:Sort.jvp",
        "take_along(t, order, axis)",
        "t",
    ),
    _rule(
        "sort-vmap",
        "the axis is not moved",
        "sorting:Sort.vmap",
        "axis=axis + (axis >= d)",
        "axis=axis + (axis > d)",
    ),
    _rule(
        "dot_general-jvp",
        "of two tangents one counts",
        "contraction:DotGeneral.jvp",
        "add_tangents(by_x, by_y)",
        "by_y if by_x is Zero else by_x",
    ),
    _rule(
        "dot_general-transpose",
        "contracted axes come in the order of x",
        "contraction:DotGeneral.cotangent_of_x",
        "[contracting[0][i] for i in order]",
        "list(contracting[0])",
    ),
    _rule(
        "dot_general-vmap",
        "the batch axis of y is counted from the front",
        "contraction:DotGeneral.vmap",
        "dim = len(b[0]) + n_x + inside",
        "dim = len(b[0]) + inside",
    ),
    _rule(
        "reduce_window_sum-vmap",
        "the window moves along another axis",
        "windows:with_axis",
        "put_in(v, at,",
        "put_in(v, 0,",
        ("reduce_window_max",),
    ),
    _rule(
        "conv_general_dilated-transpose",
        "the window is not turned around",
        "convolution:ConvGeneralDilated.cotangent_of_lhs",
        "y = rev(y, axes=rhs[2:]) if len(rhs) > 2 else y",
        "y = y",
    ),
    _rule(
        "fft-transpose",
        "middle frequencies count twice",
        "fft:FFT.transpose",
        "if n % 2 == 0:",
        "if n % 2 == 2:",
    ),
    _rule(
        "cholesky-jvp",
        "the diagonal counts twice",
        "linalg:Cholesky.jvp",
        "triangle(half, lower=True, strict=True)",
        "triangle(half, lower=True)",
    ),
    _rule(
        "triangular_solve-transpose",
        "the system is not transposed",
        "linalg:TriangularSolve.transpose",
        "transpose_a=_TRANSPOSED[transpose_a]",
        "transpose_a=transpose_a",
    ),
    _rule(
        "triangular_solve-jvp",
        "a diagonal of ones has a derivative",
        "linalg:TriangularSolve.jvp",
        'strict=params["unit_diagonal"]',
        "strict=False",
    ),
    _rule(
        "linear_solve-transpose",
        "the system is not transposed",
        "linalg:LinearSolve.transpose",
        "transpose_a=not transpose_a",
        "transpose_a=transpose_a",
        ("numpy.linalg.solve",),
    ),
    _rule(
        "lu-jvp",
        "rows of the tangent are not exchanged",
        "linalg:LU.jvp",
        "rows_at(dx, order)",
        "dx",
    ),
    _rule(
        "eigh-jvp",
        "vectors turn the other way",
        "spectral:Eigh.jvp",
        "sub(right, left)",
        "sub(left, right)",
    ),
)

RULES = (*ARITHMETIC, *ARRAYS)
