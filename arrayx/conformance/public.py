"""Rows of public functions, and which public functions owe one.

A public function is named by its dotted path below `arrayx`.  Its row stands in the file of
`arrayx/conformance/functions/` for its topic, inside that file's tuple `CASES`::

    public("numpy.exp", ((2, 3),), dtypes=INEXACT),
    public("numpy.sum", ((3, 4),), {"axis": 1}, dtypes=NUMERIC, sums=True),
    public("numpy.concatenate", ((2, 3), (1, 3)), {"axis": 0}, form=listed, dtypes=ANY),
    public("lax.rsqrt", ((2, 3),), reference=lambda x: 1 / np.sqrt(x), domain=(0.1, 3)),
    *each("fliplr flipud", ((2, 3),), dtypes=ANY),
    *variants("numpy.flip", ((2, 3),), {"all": {}, "last": {"axis": -1}}, dtypes=ANY),
    *rows("numpy", "sinh cosh arcsinh=asinh", ((2, 3),), dtypes=INEXACT),
    *rows("numpy", "sum prod", ((3, 4),), {"": {}, "axis": {"axis": 1}}, sums=True),

The reference of a function of `arrayx.numpy` or `arrayx.scipy` is that of NumPy or SciPy with
the same name unless another one is given; other functions name theirs.  Results may be nested:
their leaves are compared in order.  Everything that is checked of primitives is checked here.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from arrayx import lax, tree
from arrayx.conformance.case import FLOATS, Case, Interval

#: The modules whose functions owe a row.
MODULES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "image",
    "lax",
    "lax.linalg",
    "nn",
    "nn.initializers",
    "ops",
    "random",
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse.linalg",
    "scipy.special",
    "scipy.stats",
)


def direct(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """Calls a function with the operands one by one: the usual form."""
    return function(*operands, **params)


def listed(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """Calls a function with all operands in one list."""
    return function(list(operands), **params)


def positional(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """Calls a function with the params by position, behind the operands."""
    return function(*operands, *params.values())


def leading(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
    """Calls a function with the params by position, before the operands."""
    return function(*params.values(), *operands)


def resolved(name: str) -> Callable[..., Any]:
    """The public function with this dotted path below `arrayx`.

    >>> resolved("numpy.linalg.inv").__name__
    'inv'
    """
    function: Callable[..., Any] = _attribute(f"arrayx.{name}")
    return function


def _attribute(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return getattr(_attribute(module), attribute)  # a member of a class or a table


def leaves(result: Any) -> tuple[Any, ...]:
    """The arrays of a nested result, in order."""
    return tuple(tree.leaves(result))


def public(
    name: str,
    operands: tuple[Any, ...],
    params: Mapping[str, Any] | None = None,
    reference: Callable[..., Any] | None = None,
    dtypes: tuple[str, ...] = FLOATS,
    domain: Interval = (-3.0, 3.0),
    *,
    form: Callable[..., Any] = direct,
    compare: bool = True,
    sums: bool = False,
    elementwise: bool = False,
    promotes: bool = False,
    **facts: Any,
) -> Case:
    """The row of a public function.

    - `form`: how the function is called with the operands; both it and the reference are.
    - `compare`: False where no reference exists (draws, say): agreement is still checked.
    - `sums`: the error is relative to what the reference makes of the operands' magnitudes, and
      the sign of a zero is left open.
    - `elementwise`: operands of any common shape will do, so that every combination of special
      values, rank 0 and several zero sizes are tried.
    - `promotes`: the reference gets integers and booleans as float64: the function makes floats
      of them, and NumPy's has 16 bits for those of 8.
    - `facts`: further fields of `Case`.
    """
    function = resolved(name)
    if reference is None and compare:
        reference = reference_of(name)
    truth = None
    if reference is not None:
        given = _of_floats(reference) if promotes else reference

        def truth(*arrays: Any, **more: Any) -> tuple[Any, ...]:
            return leaves(form(given, *arrays, **more))

        if sums:
            facts["scale"] = lambda *arrays, **more: tuple(
                np.abs(r) for r in truth(*(_magnitude(a) for a in arrays), **more)
            )
            # A sum that begins at 0 never is -0, one that begins at its first term can be.
            facts.setdefault("signed_zeros", False)

    def call(*arrays: Any, **more: Any) -> tuple[Any, ...]:
        return leaves(form(function, *arrays, **more))

    call.elementwise = elementwise  # type: ignore[attr-defined]
    return Case(name, call, operands, dict(params or {}), truth, dtypes, domain, **facts)


def each(names: str, *args: Any, module: str = "numpy", **facts: Any) -> tuple[Case, ...]:
    """A row for each of several functions of one module that are called alike."""
    return tuple(public(f"{module}.{name}", *args, **facts) for name in names.split())


def variants(
    name: str, operands: tuple[Any, ...], params: Mapping[str, Mapping[str, Any]], **facts: Any
) -> tuple[Case, ...]:
    """Rows of one function that differ in their params; the keys are their labels."""
    return tuple(
        public(name, operands, more, label=label, **facts) for label, more in params.items()
    )


def reference_of(name: str) -> Callable[..., Any]:
    """The function of NumPy or SciPy with the same dotted name."""
    if name.partition(".")[0] not in ("numpy", "scipy"):
        raise ValueError(f"the row of {name} gives no reference")
    return _attribute(name)  # type: ignore[no-any-return]


def rows(
    module: str,
    names: str,
    operands: tuple[Any, ...],
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    **facts: Any,
) -> tuple[Case, ...]:
    """The rows of several functions of one signature, each with several params by label.

    `names` are separated by spaces; `arccos=acos` says that the second is the first by another
    name.  An empty label is that of the plain row.
    """
    made = []
    for word in names.split():
        name, *aliases = (f"{module}.{part}" for part in word.split("="))
        for alias in aliases:
            if resolved(alias) is not resolved(name):
                raise ValueError(f"{alias} is not {name}")
        for label, params in (variants or {"": {}}).items():
            given = {"label": label, "covers": tuple(aliases), **facts}
            made.append(public(name, operands, params, **given))
    return tuple(made)


def last_as(keyword: str) -> Callable[..., Any]:
    """A form of call: the last operand is given by keyword."""

    def form(function: Callable[..., Any], *operands: Any, **params: Any) -> Any:
        return function(*operands[:-1], **{keyword: operands[-1]}, **params)

    return form


def _of_floats(reference: Callable[..., Any]) -> Callable[..., Any]:
    def wide(*arrays: Any, **params: Any) -> Any:
        return reference(*(_float_for(a) for a in arrays), **params)

    return wide


def _float_for(array: Any) -> Any:
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    return array.astype(np.float64) if kind in ("b", "i", "u") else array


def _magnitude(array: Any) -> Any:
    return np.abs(array) if array.dtype.kind in "fciu" else array


#: Callables that stand for a type.
NOT_FUNCTIONS: tuple[Any, ...] = (lax.DotDimensionNumbers,)

#: Public functions that take or give no arrays, so that a row could say nothing of them.
#: Each is tested where it is defined; the reason is read when somebody asks why.
WITHOUT_ROW: dict[str, str] = {
    "random.key_dtype": "gives a dtype",
    "random.key_impl": "gives a name",
    "numpy.fromfile": "reads a file",
    "numpy.get_printoptions": "tells how arrays are shown",
    "numpy.load": "reads a file",
    "numpy.printoptions": "says how arrays are shown",
    "numpy.save": "writes a file",
    "numpy.savez": "writes a file",
    "numpy.set_printoptions": "says how arrays are shown",
    "numpy.trim_zeros": "has a shape that depends on the elements, which no size could fix",
    "lax.broadcast_shapes": "a shape of shapes",
    "lax.conv_dimension_numbers": "numbers of axes",
    "lax.conv_general_permutations": "numbers of axes",
    "lax.conv_general_shape_tuple": "a shape of shapes",
    "lax.conv_shape_tuple": "a shape of shapes",
    "lax.conv_transpose_shape_tuple": "a shape of shapes",
    "lax.dce_sink": "nothing is given",
    "lax.dtype": "a dtype",
    "lax.padtype_to_pads": "paddings of shapes",
    "lax.reduce_window_shape_tuple": "a shape of shapes",
    "lax.rng_uniform": "other numbers at each call",
    "lax.shape_as_value": "an array of a shape",
    "numpy.frompyfunc": "makes a function of a function, as tests/numpy/test_ufuncs.py checks",
    **{
        f"numpy.{name}": reason
        for names, reason in (
            (
                "can_cast dtype finfo iinfo isdtype issubdtype promote_types result_type",
                "of dtypes",
            ),
            ("iscomplexobj isrealobj isscalar iterable", "gives a Python boolean"),
            ("shape ndim size broadcast_shapes", "gives Python integers"),
            ("array_repr array_str", "gives text"),
            ("get_printoptions printoptions set_printoptions", "is NumPy's own, about its text"),
            ("einsum_path", "gives a plan, without elements"),
        )
        for name in names.split()
    },
}


def public_names(modules: tuple[str, ...] = MODULES) -> Iterator[str]:
    """The dotted names of all public functions that owe a row."""
    for path in modules:
        yield from _functions_of(importlib.import_module(f"arrayx.{path}"), path)


def _functions_of(module: types.ModuleType, path: str) -> Iterator[str]:
    for name in sorted(getattr(module, "__all__", None) or vars(module)):
        member, full = getattr(module, name), f"{path}.{name}"
        if name.startswith("_") or full in WITHOUT_ROW or full in MODULES:
            continue
        if isinstance(member, types.ModuleType):
            continue  # its own entry in MODULES says whether it counts
        if inspect.isclass(member):  # a distribution is a class of static functions
            if issubclass(member, enum.Enum):
                continue
            for part in sorted(vars(member)):
                static = isinstance(inspect.getattr_static(member, part), staticmethod)
                if static and not part.startswith("_"):
                    yield f"{full}.{part}"
        elif callable(member) and not any(member is t for t in NOT_FUNCTIONS):
            yield full
