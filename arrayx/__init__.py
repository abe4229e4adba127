"""Composable transformations of NumPy-style functions, run on pluggable backends.

Import as `import arrayx as ax` and `import arrayx.numpy as anp`.  No backend's library is
imported before it is used.
"""

from typing import TYPE_CHECKING

from arrayx import backend, core, dtypes, errors, lax, numpy, tree
from arrayx.api.autodiff import grad, jvp, linearize, stop_gradient, value_and_grad, vjp
from arrayx.api.compilation import jit
from arrayx.api.mapping import vmap
from arrayx.api.pictures import Graph
from arrayx.api.placement import (
    block_until_ready,
    default_backend,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
)
from arrayx.backend.contract import Device
from arrayx.config import config
from arrayx.core.array import Array, typeof
from arrayx.core.interpreter import Tracer
from arrayx.dtypes import float0
from arrayx.lazy import lazy_attributes
from arrayx.numpy import operators as _operators  # noqa: F401  (puts them on arrays)
from arrayx.version import __version__, __version_info__

if TYPE_CHECKING:
    from arrayx import (
        ad_checkpoint,
        custom_batching,
        debug,
        experimental,
        extend,
        ffi,
        flatten_util,
        image,
        inspect,
        nn,
        ops,
        random,
        scipy,
        sharding,
        test_util,
        tree_util,
        typing,
    )
    from arrayx.api import backends
    from arrayx.api.arguments import ShapeDtypeStruct
    from arrayx.api.checking_gradients import check_grads
    from arrayx.api.checkpointing import checkpoint, checkpoint_policies
    from arrayx.api.checkpointing import checkpoint as remat
    from arrayx.api.custom import closure_convert, custom_gradient, custom_jvp, custom_vjp
    from arrayx.api.custom_batch import custom_vmap
    from arrayx.api.effects import effects_barrier, io_callback, pure_callback
    from arrayx.api.jacobians import hessian, jacfwd, jacobian, jacrev
    from arrayx.api.meshes import make_mesh, set_mesh
    from arrayx.api.retraces import log_recompiles
    from arrayx.api.running import (
        disable_jit,
        ensure_compile_time_eval,
        named_call,
        named_scope,
    )
    from arrayx.api.settings import (
        enable_checks,
        enable_x64,
        explain_cache_misses,
        log_compiles,
        numpy_dtype_promotion,
        numpy_rank_promotion,
    )
    from arrayx.api.shardings import Mesh, NamedSharding, PartitionSpec
    from arrayx.api.shardings import PartitionSpec as P
    from arrayx.api.spmd import pmap, shard_map
    from arrayx.api.staging import eval_shape, make_graph, make_jaxpr
    from arrayx.api.text import parse_graph
    from arrayx.api.timing import timeit
    from arrayx.api.transposing import linear_transpose
    from arrayx.debug import checked
    from arrayx.debug.crosschecking import crosscheck

# Not needed by every program: imported at the first look.
__getattr__, __dir__ = lazy_attributes(
    __name__,
    {
        "": (
            "ad_checkpoint custom_batching debug experimental extend ffi flatten_util image "
            "inspect nn ops random scipy sharding test_util tree_util typing"
        ),
        "api.": "backends",
        "api.arguments": "ShapeDtypeStruct",
        "api.checking_gradients": "check_grads",
        "api.checkpointing": "checkpoint checkpoint_policies remat=checkpoint",
        "api.custom": "closure_convert custom_gradient custom_jvp custom_vjp",
        "api.custom_batch": "custom_vmap",
        "api.effects": "effects_barrier io_callback pure_callback",
        "api.jacobians": "hessian jacfwd jacobian jacrev",
        "api.meshes": "make_mesh set_mesh",
        "api.retraces": "log_recompiles",
        "api.running": "disable_jit ensure_compile_time_eval named_call named_scope",
        "api.settings": (
            "enable_checks enable_x64 explain_cache_misses log_compiles numpy_dtype_promotion "
            "numpy_rank_promotion"
        ),
        "api.shardings": "Mesh NamedSharding PartitionSpec P=PartitionSpec",
        "api.spmd": "pmap shard_map",
        "api.staging": "eval_shape make_graph make_jaxpr",
        "api.text": "parse_graph",
        "api.timing": "timeit",
        "api.transposing": "linear_transpose",
        "debug": "checked",
        "debug.crosschecking": "crosscheck",
    },
)

__all__ = [
    "Array",
    "Device",
    "Graph",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "ShapeDtypeStruct",
    "Tracer",
    "__version__",
    "__version_info__",
    "ad_checkpoint",
    "backend",
    "backends",
    "block_until_ready",
    "check_grads",
    "checked",
    "checkpoint",
    "checkpoint_policies",
    "closure_convert",
    "config",
    "core",
    "crosscheck",
    "custom_batching",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vmap",
    "debug",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "dtypes",
    "effects_barrier",
    "enable_checks",
    "enable_x64",
    "ensure_compile_time_eval",
    "errors",
    "eval_shape",
    "experimental",
    "explain_cache_misses",
    "extend",
    "ffi",
    "flatten_util",
    "float0",
    "grad",
    "hessian",
    "image",
    "inspect",
    "io_callback",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "log_compiles",
    "log_recompiles",
    "make_graph",
    "make_jaxpr",
    "make_mesh",
    "named_call",
    "named_scope",
    "nn",
    "numpy",
    "numpy_dtype_promotion",
    "numpy_rank_promotion",
    "ops",
    "parse_graph",
    "pmap",
    "process_count",
    "process_index",
    "pure_callback",
    "random",
    "remat",
    "scipy",
    "set_mesh",
    "shard_map",
    "sharding",
    "stop_gradient",
    "test_util",
    "timeit",
    "tree",
    "tree_util",
    "typeof",
    "typing",
    "value_and_grad",
    "vjp",
    "vmap",
]
