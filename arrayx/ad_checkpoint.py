"""JAX's module of this name: rematerialisation in reverse mode."""

from arrayx.api.checkpointing import checkpoint, checkpoint_name, checkpoint_policies

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]

remat = checkpoint
