"""Every error arrayx raises on purpose, apart so that any floor can raise and any user catch it.

Each class also derives from the builtin that Python or NumPy would raise in its place, so code
written against NumPy keeps catching it.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "ArrayxError",
    "AxisError",
    "BackendError",
    "BackendUnavailableError",
    "CheckError",
    "ConcretizationError",
    "CrosscheckError",
    "DonatedArrayError",
    "DtypeError",
    "DynamicIndexError",
    "GradError",
    "GraphError",
    "GraphSyntaxError",
    "ImmutableArrayError",
    "IndexOutOfBoundsError",
    "KeyReuseError",
    "LeakedTracerError",
    "MixedBackendsError",
    "NanError",
    "NotCallableError",
    "NumpyConversionError",
    "RetraceWarning",
    "ShapeError",
    "StaticArgumentError",
    "TracerError",
    "TreeError",
    "TypePromotionError",
    "UnboundAxisError",
    "UnknownBackendError",
    "UnrolledLoopWarning",
    "UnsupportedDtypeError",
    "UnsupportedError",
]


class ArrayxError(Exception):
    """Base of every error that arrayx raises on purpose.

    Catch it to tell arrayx's errors from those of your own functions.

    >>> issubclass(ShapeError, ArrayxError) and issubclass(ShapeError, ValueError)
    True
    """


# ----------------------------------------------------------------- arguments of an operation


class ArgumentError(ArrayxError, TypeError, ValueError):
    """An argument has a type or value that this function does not take.

    The message names the argument and what it accepts; change the argument.
    """


class ShapeError(ArrayxError, ValueError, TypeError):
    """The shapes of the operands do not fit each other or the operation.

    The message shows every shape. `anp.reshape`, `anp.broadcast_to` or `anp.expand_dims` bring
    an operand to the shape you meant; nothing is broadcast by guessing.
    """


class DtypeError(ArrayxError, TypeError):
    """A dtype is not one of arrayx's, or an operation has no meaning for it.

    Convert first, with `x.astype(...)`. Object and string arrays have to become numbers before
    they reach arrayx.
    """


class TypePromotionError(DtypeError, ValueError):
    """Operands have dtypes that are not promoted to a common one.

    Convert one of them with `x.astype(...)`. With `config.numpy_dtype_promotion = "strict"` only
    Python numbers adapt to the arrays beside them.
    """


class AxisError(ArrayxError, ValueError, IndexError):
    """An axis is out of range for the array's number of dimensions, or given twice.

    For `ndim` dimensions the axes are `-ndim` to `ndim - 1`.
    """


class UnboundAxisError(AxisError, NameError):
    """A collective operation names an axis that no transformation around it has opened.

    Axes are opened by `ax.vmap` and `ax.pmap` with `axis_name=`, and by `ax.shard_map` for its
    mesh. The message lists those that are open.
    """


class IndexOutOfBoundsError(ArrayxError, IndexError, ValueError):
    """A concrete index lies outside its axis.

    Correct the index, or say with `mode="fill"`, `"drop"`, `"clip"` or `"wrap"` what an index
    outside the array means.
    """


class TreeError(ArrayxError, ValueError, TypeError):
    """Two trees (nested containers of arrays) differ where they have to be alike.

    The message names the path of the first difference, such as `['layers'][0].weight`.
    """


class NotCallableError(ArrayxError, TypeError):
    """A transformation was given something that cannot be called.

    Usual cause: `ax.grad(f(x))` where `ax.grad(f)(x)` was meant.
    """


class GradError(ArrayxError, TypeError, ValueError):
    """A derivative was asked for where there is none: no scalar output, or an integer input.

    Return a real scalar (sum or average the output), use `ax.jacobian` for an array of outputs,
    convert integer arguments to floats, or leave them out of `argnums`.
    """


class StaticArgumentError(ArrayxError, TypeError, ValueError):
    """A static argument cannot be one: not hashable, an array, or not an argument at all.

    Static arguments are part of the key under which a compiled function is kept. Pass arrays as
    ordinary arguments and lists as tuples.
    """


class ImmutableArrayError(ArrayxError, TypeError):
    """An array was assigned to in place; arrayx's arrays do not change.

    Write `x = x.at[i].set(v)` where NumPy has `x[i] = v`; compiled code updates in place.
    """


class DonatedArrayError(ArrayxError, RuntimeError):
    """An array was used after its memory had been given away (`donate_argnums`) or deleted.

    Use the function's result instead of the array, copy it before the call, or do not donate it.
    """


# ----------------------------------------------------------------- tracing


class TracerError(ArrayxError, TypeError):
    """A value that is being traced was used in a way that needs a concrete one.

    While a function is transformed or compiled, its arguments stand for all values at once.
    """


class ConcretizationError(TracerError):
    """Python asked a traced value for its value: `if x:`, `int(x)`, `float(x)`, `range(x)`.

    Choose with `anp.where` or `ax.lax.cond`, loop with `ax.lax.while_loop` or
    `ax.lax.fori_loop`, or make the argument static (`static_argnums`) if it decides which
    program is meant.
    """


class DynamicIndexError(ConcretizationError, IndexError):
    """An index whose value decides the shape of the result is traced: a mask, or a slice's bounds.

    Keep the shape with `anp.where(mask, x, replacement)`, fix it with `anp.nonzero(mask, size=n)`
    or `ax.lax.dynamic_slice(x, starts, sizes)`.
    """


class NumpyConversionError(TracerError):
    """A traced value was handed to NumPy, by `np.asarray(x)` or a function of NumPy.

    Use the function of the same name in `arrayx.numpy`, or return the value and hand it to NumPy
    outside of the traced function.
    """


class LeakedTracerError(TracerError):
    """A traced value was used after the function that was being traced had returned.

    It was kept outside, in a global, an attribute or a list. Return it from the function instead.
    """


# ----------------------------------------------------------------- backends


class BackendError(ArrayxError, RuntimeError):
    """A backend failed, or its plugin broke the backend contract."""


class UnknownBackendError(BackendError):
    """No installed package offers a backend of this name.

    The message lists the names there are; `ax.backends.doctor()` says where each comes from.
    """


class BackendUnavailableError(BackendError):
    """The backend is known, but does not work here: a missing library, device or driver.

    The message says what is missing and which package brings it, for instance
    `pip install 'arrayx[xla]'`.
    """


class MixedBackendsError(BackendError, ValueError):
    """One operation was given arrays that live on different backends.

    arrayx never moves an array by itself: bring them together with `ax.device_put`.
    """


class UnsupportedError(BackendError, NotImplementedError):
    """A backend cannot run an operation (or a dtype) and there is no expansion of it.

    Raised as `UnsupportedError(primitive, backend, reason)`, or with one finished sentence. Use
    another backend for this function (`backend="numpy"` runs everything), or another dtype.

    >>> str(UnsupportedError("eig", "xla", "the TPU compiler has no such call"))
    "backend 'xla' does not support 'eig': the TPU compiler has no such call"
    """

    def __init__(self, primitive: str, backend: str | None = None, reason: str = "") -> None:
        self.primitive: str | None = None
        self.backend = backend
        self.reason = reason
        if backend is None:
            message = primitive
        else:
            self.primitive = primitive
            message = f"backend {backend!r} does not support {primitive!r}"
            message += f": {reason}" if reason else ""
        # One finished sentence in `args`, so that a pickled error reads the same where it lands.
        super().__init__(message)


class UnsupportedDtypeError(UnsupportedError):
    """A backend does not declare a dtype; it is never narrowed in silence.

    Convert the array, or use a backend that has the dtype.
    """


# ----------------------------------------------------------------- graphs


class GraphError(ArrayxError):
    """A graph is ill-typed: found by the checker, so a fault of the transform that made it.

    Report it with the graph's text (`str(graph)`), which can be read back.
    """


class GraphSyntaxError(GraphError, ValueError):
    """The text given to `ax.parse_graph` is not a graph.

    The message shows the line and the column where reading stopped.
    """


# ----------------------------------------------------------------- debugging


class CheckError(ArrayxError, ValueError):
    """A check failed: one of `ax.debug.check`, or one that `ax.checked` makes of its own.

    The message names the line, what is wrong, and the values.
    """


class CrosscheckError(ArrayxError, ValueError):
    """Backends disagree, as `ax.crosscheck` found out.

    The message names the first operation with different results, its line and operands.
    """


class NanError(ArrayxError, FloatingPointError):
    """A nan was made while `ax.debug.trace_nans` watched.

    The message names the operation, its operands, the line, and the pass.
    """


class KeyReuseError(ArrayxError, ValueError):
    """A random key was used twice, which gives the same numbers twice.

    The message names both lines. Split the key: `key, subkey = ax.random.split(key)`.
    """


# ----------------------------------------------------------------- warnings


class RetraceWarning(UserWarning):
    """One line of your program made the same function be traced again and again.

    Each trace costs a compilation. `f.explain()` says what differed from call to call; call
    `ax.jit` once and not in a loop, pad to few shapes, keep static arguments few.
    """


class UnrolledLoopWarning(UserWarning):
    """One line of your program contributed more than 500 equations to a graph.

    A Python loop is unrolled when it is traced. Use `ax.lax.scan` or `ax.lax.fori_loop`.
    """


# ----------------------------------------------------------------- JAX's names

# What programs written for JAX catch; each is one of the classes above.
ConcretizationTypeError = ConcretizationError
NonConcreteBooleanIndexError = DynamicIndexError
TracerArrayConversionError = NumpyConversionError
TracerBoolConversionError = ConcretizationError
TracerIntegerConversionError = ConcretizationError
UnexpectedTracerError = LeakedTracerError
