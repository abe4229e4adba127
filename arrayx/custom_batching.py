"""JAX's module of this name: rules of users' own for `vmap`."""

from arrayx.api.custom_batch import custom_vmap, sequential_vmap

__all__ = ["custom_vmap", "sequential_vmap"]
