"""How torch runs graphs: kernels one by one, or a whole graph handed to `torch.compile`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from arrayx import errors
from arrayx.backend import CompileOptions, Device, Executable, KernelBackend
from arrayx.backend.kernels import Walk
from arrayx.core.graph import Graph
from arrayx.core.primitive import Primitive
from arrayx_torch.kernels import KERNELS, WITHOUT_OPERANDS
from arrayx_torch.kinds import ALL_SIGNED, BFLOAT16, OF_NAME, numpy_dtype, torch_dtype

# What torch has no function for, and arrayx no expansion of.
LACKING = {
    "pivoted_qr": "PyTorch has no QR factorisation with pivoting",
    "schur": "PyTorch has no Schur factorisation",
}


class Memory:
    """A read-only array of the host as memory that torch takes without a warning.

    Nothing writes to a buffer, so that the promise holds.
    """

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def on_host_memory(array: np.ndarray) -> torch.Tensor:
    """A tensor of the host on the memory of an array, which has no negative strides."""
    dtype = array.dtype
    held = dtype
    if dtype == BFLOAT16 or dtype.kind == "u":
        held = np.dtype(f"i{dtype.itemsize}")
    if not array.flags.writeable:
        array = np.asarray(Memory(array.view(held)))
    tensor = torch.from_numpy(array.view(held))
    return tensor if held is dtype else tensor.view(torch_dtype(dtype))


class TorchBackend(KernelBackend):
    """PyTorch: tensors on the devices that it has here."""

    name = "torch"
    api_version = (1, 0)
    kernels = KERNELS
    dtypes = frozenset(OF_NAME)

    def __init__(self) -> None:
        super().__init__()
        self.compiles = os.environ.get("ARRAYX_TORCH", "") == "compile"
        found = [("cpu", 0)]
        if torch.cuda.is_available():
            # ROCm's devices are called cuda, too.
            found = [("cuda", i) for i in range(torch.cuda.device_count())] + found
        if torch.backends.mps.is_available():
            found.append(("mps", 0))
        if torch.xpu.is_available():
            found += [("xpu", i) for i in range(torch.xpu.device_count())]
        self._devices = tuple(Device(self, kind, i) for kind, i in found)
        self.places = {
            d: torch.device(d.platform) if d.platform == "cpu" else torch.device(d.platform, d.id)
            for d in self._devices
        }
        self.asynchronous = len(found) > 1  # type: ignore[misc]

    # ------------------------------------------------------------- in and out

    def put(self, array: np.ndarray, device: Device) -> torch.Tensor:
        place = self.places[device]
        if place.type == "mps" and array.dtype in (np.float64, np.complex128):
            raise errors.UnsupportedDtypeError(
                f"device {device!r} has no dtype {array.dtype}: Metal has no double precision. "
                "Convert the array, or use the device 'torch:cpu:0'."
            )
        host = on_host_memory(np.array(array, order="C"))
        return host if place.type == "cpu" else host.to(place)

    def share(self, array: np.ndarray, device: Device) -> torch.Tensor | None:
        if self.places[device].type != "cpu" or not array.dtype.isnative:
            return None
        if any(s < 0 or s % array.itemsize for s in array.strides):
            return None
        return on_host_memory(array)

    def get(self, buffer: Any) -> np.ndarray:
        if not isinstance(buffer, torch.Tensor):
            return np.asarray(buffer)
        dtype = buffer.dtype
        held = torch.int16 if dtype is torch.bfloat16 else ALL_SIGNED.get(dtype)
        host = buffer.detach().cpu()
        if held is None:
            return host.numpy()
        return host.view(held).numpy().view(numpy_dtype(dtype))

    def is_ready(self, buffer: torch.Tensor) -> bool:
        if buffer.device.type in ("cuda", "xpu"):
            return bool(getattr(torch, buffer.device.type).current_stream(buffer.device).query())
        return True

    def synchronize(self, buffer: torch.Tensor) -> None:
        if buffer.device.type != "cpu":
            torch.accelerator.synchronize(buffer.device)

    # ------------------------------------------------------------- running

    def takes(self, primitive: Primitive) -> bool | str:
        return LACKING.get(primitive.name) or super().takes(primitive)

    def kernel(
        self, primitive: Primitive, params: dict[str, Any], device: Device
    ) -> Callable[..., Any]:
        if primitive.name in WITHOUT_OPERANDS:
            params = {**params, "device": self.places[device]}
        return super().kernel(primitive, params, device)

    def compile(self, graph: Graph, options: CompileOptions) -> Executable:
        walk = Walk(self, graph, options.device)
        return Compiled(walk) if self.compiles else walk


class Compiled(Executable):
    """A graph that `torch.compile` has made one program of, as far as it sees through."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.program = torch.compile(partial(straight, walk), dynamic=False)

    def run(self, buffers: Sequence[Any]) -> Sequence[Any]:
        return self.program(list(buffers))  # type: ignore[no-any-return]

    def text(self) -> str:
        return str(self.walk.graph)


def straight(walk: Walk, buffers: list[Any]) -> list[Any]:
    """The walk over a graph, as a function that torch can trace."""
    return list(walk.run(buffers))
