"""Composable transformations of NumPy-style functions, run on pluggable backends.

Import as `import arrayx as ax` and `import arrayx.numpy as anp`.  No backend's library is
imported before it is used.
"""

from arrayx import backend, dtypes, errors, lax, nn, numpy, random, tree, tree_util
from arrayx.api import backends
from arrayx.api.arguments import ShapeDtypeStruct
from arrayx.api.autodiff import (
    grad,
    jvp,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from arrayx.api.checking_gradients import check_grads
from arrayx.api.compilation import jit
from arrayx.api.custom import closure_convert, custom_gradient, custom_jvp, custom_vjp
from arrayx.api.jacobians import hessian, jacfwd, jacobian, jacrev
from arrayx.api.mapping import vmap
from arrayx.api.placement import (
    block_until_ready,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
)
from arrayx.api.staging import eval_shape, make_graph
from arrayx.backend.contract import Device
from arrayx.config import config
from arrayx.core.array import Array, typeof
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Tracer
from arrayx.core.parsing import parse_graph
from arrayx.dtypes import float0
from arrayx.version import __version__

__all__ = [
    "Array",
    "Device",
    "Graph",
    "ShapeDtypeStruct",
    "Tracer",
    "__version__",
    "backend",
    "backends",
    "block_until_ready",
    "check_grads",
    "closure_convert",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "dtypes",
    "errors",
    "eval_shape",
    "float0",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linearize",
    "local_device_count",
    "local_devices",
    "make_graph",
    "nn",
    "numpy",
    "parse_graph",
    "random",
    "stop_gradient",
    "tree",
    "tree_util",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]
