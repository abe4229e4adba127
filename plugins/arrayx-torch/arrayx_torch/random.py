"""Threefry in 32-bit integers of torch: the bits are the same on every backend."""

from __future__ import annotations

from typing import Any

import torch

from arrayx_torch.kinds import tensors

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def rotated(x: Any, by: int) -> Any:
    return (x << by) | ((x >> (32 - by)) & ((1 << by) - 1))


def threefry2x32(*words: Any) -> Any:
    """The words `x0`, `x1` enciphered under the keys `k0`, `k1`, all uint32 of one shape."""
    k0, k1, x0, x1 = torch.broadcast_tensors(*[w.view(torch.int32) for w in tensors(*words)])
    keys = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = x0 + k0, x1 + k1
    for i in range(5):
        for distance in ROTATIONS[i % 2]:
            x0 = x0 + x1
            x1 = rotated(x1, distance) ^ x0
        x0 = x0 + keys[(i + 1) % 3]
        x1 = x1 + keys[(i + 2) % 3] + (i + 1)
    return x0.view(torch.uint32), x1.view(torch.uint32)


RANDOM: dict[str, Any] = {"threefry2x32": threefry2x32}
