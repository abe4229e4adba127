"""Checks of derivatives for the tests of users."""

from arrayx.api.checking_gradients import check_grads

__all__ = ["check_grads"]
