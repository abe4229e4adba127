"""The argument `device` of functions that make arrays: where their result is put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx.api.placement import device_put, find_device
from arrayx.backend.registry import chosen


def placed(device: Any, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`make(*args, **kwargs)`, made by the backend of `device` and put there.

    Values that are given in arguments as arrays are moved; nothing is made elsewhere first.

    >>> import arrayx.numpy as anp
    >>> placed("numpy", anp.zeros, 2).device
    numpy:cpu:0
    """
    target = find_device(device)
    with chosen(target.backend.name):
        return device_put(make(*args, **kwargs), target)
