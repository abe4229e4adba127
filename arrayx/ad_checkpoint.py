"""JAX's module of this name: rematerialisation in reverse mode."""

from arrayx.api.checkpointing import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    print_saved_residuals,
)

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals", "remat"]

remat = checkpoint
