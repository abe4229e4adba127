"""The one door to jaxlib: devices, buffers and compiled programs, without ever importing `jax`.

A *buffer* is a jaxlib `ArrayImpl` on one device. Of its attributes these work without jax:
`aval` (our shape and dtype), `is_ready()`, `block_until_ready()`, `is_deleted()` and
`on_device_size_in_bytes()`; `unsafe_buffer_pointer()` imports jax where that is installed.
To free a buffer, drop it. Never call its `delete()`: XLA aborts the process if an array from `get`
still looks at the memory.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

import ml_dtypes
import numpy as np

from arrayx.errors import (
    ArgumentError,
    BackendError,
    BackendUnavailableError,
    DonatedArrayError,
    DtypeError,
)
from arrayx.lazy import lazy
from arrayx_xla.failures import ProgramError, program_error
from arrayx_xla.text import ELEMENT_TYPES, Shaped, element_type, mlir_type, tensor_type
from arrayx_xla.views import look

# Without this XLA greets on stderr with three lines for each client.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

SUPPORTED: Final = ((0, 10, 0), (0, 11, 0))
"""The jaxlib versions this file is tested with: the first one in, and the first one out."""


def check_version(found: tuple[int, ...]) -> None:
    """Raise `BackendUnavailableError` unless jaxlib version `found` is one we know."""
    first, end = SUPPORTED
    if not first <= found[:3] < end:
        raise BackendUnavailableError(
            f"backend 'xla' works with jaxlib >= {_dotted(first)}, < {_dotted(end)}, but jaxlib "
            f"{_dotted(found)} is installed: pip install 'arrayx[xla]' brings the right one"
        )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)


try:
    from jaxlib.version import __version_info__ as _found
except ImportError as error:
    raise BackendUnavailableError(
        "backend 'xla' needs jaxlib, which is not installed: pip install 'arrayx[xla]'"
    ) from error
# Before the rest is imported, since another version may lack what we import.
check_version(_found)

from jaxlib import _pathways, lapack  # type: ignore[attr-defined]  # noqa: E402
from jaxlib import xla_client as xc  # noqa: E402

# Only for programs with callbacks: they take 20 ms to import.
ir = lazy("jaxlib.mlir.ir")
stablehlo = lazy("jaxlib.mlir.dialects.stablehlo")
mlir_extension = lazy("jaxlib.mlir._mlir_libs._jax_mlir_ext")

__all__ = [
    "SUPPORTED",
    "Buffer",
    "Client",
    "Device",
    "Executable",
    "MemoryUse",
    "ProgramError",
    "check_version",
    "cpu_client",
    "dlpack_capsule",
    "is_target",
    "register_lapack",
    "register_target",
]

Buffer: TypeAlias = Any

_COPY = xc.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_ALIAS = xc.HostBufferSemantics.ZERO_COPY
_export = xc._xla.buffer_to_dlpack_managed_tensor  # type: ignore[attr-defined]
_REPLICATED = xc.HloSharding.replicate()

# Elements below a byte: XLA packs them, NumPy (ml_dtypes) gives each a byte. They leave XLA as:
_UNPACKED: Final = {
    np.dtype(ml_dtypes.int4): np.dtype(np.int8),
    np.dtype(ml_dtypes.uint4): np.dtype(np.uint8),
    np.dtype(ml_dtypes.int2): np.dtype(np.int8),
    np.dtype(ml_dtypes.uint2): np.dtype(np.uint8),
    np.dtype(ml_dtypes.float4_e2m1fn): np.dtype(ml_dtypes.bfloat16),
}


@dataclass(frozen=True)
class Device:
    """One device: its place in `Client.devices`, XLA's number for it, and what it is."""

    index: int
    id: int
    platform: str
    kind: str


@dataclass(frozen=True)
class MemoryUse:
    """Bytes that one run of a program needs on a device, as XLA planned them."""

    arguments: int
    outputs: int
    aliased: int
    temporaries: int
    code: int
    peak: int


class _Aval:
    """What jaxlib reads of an aval."""

    __slots__ = ("dtype", "shape")

    weak_type = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype


class _Placement:
    """Some devices of a client, in order, in the forms that jaxlib wants them."""

    __slots__ = ("devices", "list", "sharding")

    def __init__(self, devices: Iterable[Any]) -> None:
        self.devices = list(devices)
        self.list = xc.DeviceList(tuple(self.devices))
        # This class lives in C++ whole: a Python subclass of Sharding costs 1 us more a put.
        # "Replicated" is not checked: each device may hold an array of its own of that shape.
        self.sharding = xc.GSPMDSharding(self.list, _REPLICATED)


def dlpack_capsule(buffer: Buffer) -> Any:
    """A DLPack capsule on the memory of `buffer` (not versioned: readers see it as read-only).

    While the capsule or what was made from it lives, XLA does not reuse the memory: a program that
    was to take it over (donation) copies instead. `BufferError` for dtypes that DLPack lacks.
    """
    try:
        buffer.block_until_ready()
    except xc.XlaRuntimeError as error:
        raise _run_error(error, [buffer]) from error
    try:
        return _export(buffer, None)
    except xc.XlaRuntimeError as error:
        raise BufferError(str(error)) from error


class Client:
    """One XLA runtime: the devices of a platform in this process. See `cpu_client`."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._devices = list(raw.local_devices())
        self._each = [_Placement([device]) for device in self._devices]
        self._placements: dict[tuple[int, ...], _Placement] = {
            (index,): placement for index, placement in enumerate(self._each)
        }
        # Two programs with collectives, in flight on fewer cores than devices, wait for each
        # other for ever; one at a time cannot.
        self._one_at_a_time = threading.Lock()
        self.platform: str = raw.platform
        self.devices: tuple[Device, ...] = tuple(
            Device(index, device.id, device.platform, device.device_kind)
            for index, device in enumerate(self._devices)
        )

    def __repr__(self) -> str:
        return f"<Client {self.platform}, {len(self.devices)} device(s)>"

    @property
    def version(self) -> str:
        """What a compiled program depends on beside its text, as part of a cache key."""
        return f"jaxlib {_dotted(_found)} {self.platform} {self._raw.platform_version}"

    # ------------------------------------------------------------------ arrays

    def put(self, array: Any, device_index: int = 0, *, immutable: bool = False) -> Buffer:
        """A buffer with the contents of a NumPy array or scalar, of the same dtype and shape.

        The array is copied before the call returns, so it may be changed afterwards. With
        `immutable=True` the caller promises that nobody ever will: on CPU a C-contiguous array
        whose memory starts at a multiple of 64 bytes is then used in place (and kept alive), and
        others are copied at XLA's leisure. (After the buffer has gone, XLA lets go of the array
        within the next few calls of `put`.) Byte orders other than the machine's are converted.

        Raises `DtypeError` for what XLA has no type for: strings, objects, longdouble.
        """
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        dtype = array.dtype
        if not dtype.isnative:
            # XLA would read the bytes as if they were native, without a word.
            array = array.astype(dtype.newbyteorder("="))
            dtype = array.dtype
        place = self._each[device_index]
        try:
            # enable_x64=True keeps 64-bit types whatever the process-wide flag of jax says; the
            # arguments are positional because keywords cost 2 us here.
            return xc.batched_device_put(
                _Aval(array.shape, dtype),
                place.sharding,
                [array],
                place.devices,
                True,
                False,
                _ALIAS if immutable else _COPY,
                True,
            )
        except xc.XlaRuntimeError as error:
            if dtype not in ELEMENT_TYPES:
                element_type(dtype)
            raise BackendError(f"XLA could not take the array: {error}") from error

    def get(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        """The contents as a read-only array, as soon as they are ready.

        On CPU it is a view which keeps the memory: a program to which the buffer is donated while
        such a view lives copies it instead. Dtypes below one byte (int4, ...) are unpacked copies.
        Errors of the computation that made the buffer are raised here.
        """
        try:
            buffer.block_until_ready()
            aval = buffer.aval
            if aval.dtype in _UNPACKED:
                return self._get_packed(buffer)
            if self.platform == "cpu":
                # Not by the address of the memory alone: XLA would give it to another result
                # while NumPy looks at it.
                capsule = _export(buffer, None)
                return look(capsule, aval.shape, aval.dtype)
            # Imports jax on its first call where that is installed. Refusing that import works,
            # but jaxlib remembers the refusal, and jax is broken when it comes later.
            return buffer._single_device_array_to_np_array_did_copy()[0]  # type: ignore[no-any-return]
        except xc.XlaRuntimeError as error:
            raise _run_error(error, [buffer]) from error

    def wait(self, buffer: Buffer) -> None:
        """Return when the contents are ready; errors of their computation are raised here."""
        try:
            buffer.block_until_ready()
        except xc.XlaRuntimeError as error:
            raise _run_error(error, [buffer]) from error

    def _get_packed(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        aval = buffer.aval
        widen = _widening(self, aval.shape, aval.dtype, self.device_index(buffer))
        array = self.get(widen.execute([buffer])[0]).astype(aval.dtype)
        array.flags.writeable = False
        return array

    def device_index(self, buffer: Buffer) -> int:
        """Where in `devices` the device of `buffer` is."""
        sharding = buffer._sharding
        return next(i for i, place in enumerate(self._each) if place.sharding is sharding)

    def from_dlpack(self, array: Any, device_index: int = 0, *, copy: bool = True) -> Buffer:
        """A buffer from an array of another library on the CPU, by the DLPack protocol.

        `copy=False` uses the memory in place where `put(immutable=True)` would; the other library
        must not change it any more. Dtypes that NumPy's DLPack lacks (bfloat16) raise BufferError.
        """
        # Through NumPy: jaxlib's own importer imports jax.
        try:
            host = np.from_dlpack(array)
        except (RuntimeError, TypeError, AttributeError) as error:
            raise BufferError(f"cannot import {type(array).__name__} by DLPack: {error}") from error
        return self.put(host, device_index, immutable=not copy)

    def assemble(self, buffers: Sequence[Buffer], devices: Sequence[int]) -> Any:
        """One argument for a program on several `devices` from a buffer on each, of one type.

        `Executable.execute` takes and gives such arrays, and programs can be chained on them
        without taking them apart; `is_ready` and `block_until_ready` work on them.
        """
        return xc.ArrayImpl(
            buffers[0].aval, self._placement(devices).sharding, list(buffers), True, True
        )

    def get_part(self, array: Any, devices: Sequence[int], index: int) -> np.ndarray[Any, Any]:
        """What `array`, which lies on several `devices`, is on `devices[index]`; as `get`.

        Dtypes below one byte (int4, ...) raise `DtypeError`: convert them in the program.
        """
        if array.aval.dtype in _UNPACKED:
            raise DtypeError(
                f"backend 'xla' cannot read {array.aval.dtype} arrays that lie on several devices"
            )
        if index:
            # Exporting shows the first part: bring this one to the front (no data moves).
            order = [*devices[index:], *devices[:index]]
            sharding = self._placement(order).sharding
            array = xc.reorder_shards(array, sharding, xc.ArrayCopySemantics.REUSE_INPUT)
        try:
            array.block_until_ready()
            return look(_export(array, None), array.aval.shape, array.aval.dtype)
        except xc.XlaRuntimeError as error:
            raise _run_error(error, [array]) from error

    def split(self, array: Any, devices: Sequence[int]) -> list[Buffer]:
        """The buffer on each of `devices` from a result of a program that ran on them.

        On CPU these buffers are views: a program to which one is donated copies it instead.
        """
        if self.platform == "cpu":
            # jaxlib's ways to take an array apart import jax; a detour over NumPy's views does not.
            return [
                self.put(self.get_part(array, devices, i), device, immutable=True)
                for i, device in enumerate(devices)
            ]
        shardings = [self._each[index].sharding for index in devices]
        count = len(devices)
        # Dimension -1 means: divide the devices, not an axis.
        (parts,) = _pathways._split_by_mesh_axis(
            [array], [-1], [count], 0, list(range(1, count + 1)), [shardings], False
        )
        return [
            part._rewrap_with_aval_and_sharding(array.aval, sharding)
            for part, sharding in zip(parts, shardings, strict=True)
        ]

    def _placement(self, devices: Sequence[int]) -> _Placement:
        key = tuple(devices)
        found = self._placements.get(key)
        if found is None:
            found = _Placement([self._devices[index] for index in key])
            self._placements[key] = found
        return found

    # ------------------------------------------------------------------ programs

    def compile(
        self,
        text: str,
        out_avals: Sequence[Shaped],
        *,
        devices: Sequence[int] = (0,),
        callbacks: Sequence[Callable[..., Any]] = (),
    ) -> Executable:
        """Compile StableHLO text whose entry is `func.func public @main`.

        `callbacks` are the Python functions that `custom_call @xla_ffi_python_cpu_callback` with
        `index = i` calls with arrays that look at XLA's memory; each returns a tuple of arrays.
        `out_avals` are the types of the results, for one device. On several `devices` every one
        runs the program as a replica: replica i is `devices[i]`. Arguments whose memory the
        program may take are marked in the text, see `arrayx_xla.text.donated`.

        Raises `ProgramError`, with the line, when XLA refuses the text.
        """
        options = self._options(devices)
        place = self._placement(devices).list
        try:
            if callbacks:
                module = _parsed(text)
                loaded = self._raw.compile_and_load(module, place, options, list(callbacks))
            else:
                loaded = self._raw.compile_and_load(text, place, options)
        except xc.XlaRuntimeError as error:
            raise program_error(str(error), text) from error
        return Executable(self, loaded, out_avals, devices)

    def deserialize(
        self, data: bytes, out_avals: Sequence[Shaped], *, devices: Sequence[int] = (0,)
    ) -> Executable:
        """The program that `Executable.serialize` wrote, on this version and kind of machine.

        Raises `BackendError` when it is not one, or not one for here.
        """
        try:
            loaded = self._raw.deserialize_executable(
                data, self._placement(devices).list, self._options(devices)
            )
        except xc.XlaRuntimeError as error:
            raise BackendError(f"cannot load a compiled program: {error}") from error
        return Executable(self, loaded, out_avals, devices)

    def _options(self, devices: Sequence[int]) -> Any:
        options = xc.CompileOptions()
        options.num_replicas = len(devices)
        ids = np.array([[self.devices[index].id] for index in devices])
        options.device_assignment = xc.DeviceAssignment.create(ids)
        return options


class Executable:
    """A compiled program: lists of buffers in, lists of buffers out, without waiting."""

    __slots__ = ("_handlers", "_loaded", "_run", "client", "devices", "out_avals")

    def __init__(
        self, client: Client, loaded: Any, out_avals: Sequence[Shaped], devices: Sequence[int]
    ) -> None:
        self.client = client
        self.devices = tuple(devices)
        self.out_avals = tuple(out_avals)
        sharding = client._placement(devices).sharding
        self._loaded = loaded
        self._run = loaded.execute_sharded
        self._handlers = [
            xc.array_result_handler(_Aval(aval.shape, aval.dtype), sharding, True, True)
            for aval in out_avals
        ]

    def execute(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Start the program on its one device; the results become ready by themselves.

        Number, shapes and dtypes of `buffers` are the caller's duty: XLA compares sizes in bytes
        and nothing else. A program for several devices takes and gives what `Client.assemble`
        makes; on CPU, wait for its results before you start another such program, since two with
        collectives may wait for each other for ever.
        """
        try:
            return self._run(buffers).consume_with_handlers(self._handlers)  # type: ignore[no-any-return]
        except xc.XlaRuntimeError as error:
            raise _run_error(error, buffers) from error

    def parts(self) -> tuple[Any, list[Any]]:
        """What `execute` consists of, for who starts programs often: a function, and handlers.

        `function(buffers).consume_with_handlers(handlers)` is `execute(buffers)`, but for the
        errors, which `failure` translates.
        """
        return self._run, self._handlers

    def failure(self, error: Exception, buffers: Sequence[Buffer]) -> Exception:
        """What `execute` raises for an error of XLA's; other errors are themselves."""
        return _run_error(error, buffers) if isinstance(error, xc.XlaRuntimeError) else error

    def execute_replicas(self, buffers: Sequence[Sequence[Buffer]]) -> list[list[Buffer]]:
        """Run on all devices: `buffers[i]` are the arguments on the i-th, so are the results.

        On CPU it waits for the end: two programs with collectives at a time may block for ever.
        """
        if len(buffers) != len(self.devices):
            raise ArgumentError(
                f"arguments for {len(buffers)} devices, but the program is for {len(self.devices)}"
            )
        if len(self.devices) == 1:
            return [self.execute(buffers[0])]
        client, devices = self.client, self.devices
        arguments = [client.assemble(column, devices) for column in zip(*buffers, strict=True)]
        if client.platform != "cpu":
            results = self.execute(arguments)
        else:
            with client._one_at_a_time:
                results = self.execute(arguments)
                try:
                    xc.batched_block_until_ready(results)
                except xc.XlaRuntimeError as error:
                    raise _run_error(error, arguments) from error
        columns = [client.split(result, devices) for result in results]
        return [[column[index] for column in columns] for index in range(len(devices))]

    def serialize(self) -> bytes:
        """The machine code, for `Client.deserialize`."""
        return self._loaded.serialize()  # type: ignore[no-any-return]

    def hlo_text(self) -> str:
        """The program after XLA's optimisations, as HLO text."""
        return self._loaded.get_hlo_text()  # type: ignore[no-any-return]

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for one run, such as "flops", "transcendentals", "bytes accessed"."""
        return dict(self._loaded.cost_analysis())

    def memory_analysis(self) -> MemoryUse:
        """What one run needs, in bytes."""
        stats = self._loaded.get_compiled_memory_stats()
        return MemoryUse(
            arguments=stats.argument_size_in_bytes,
            outputs=stats.output_size_in_bytes,
            aliased=stats.alias_size_in_bytes,
            temporaries=stats.temp_size_in_bytes,
            code=stats.generated_code_size_in_bytes,
            peak=stats.peak_memory_in_bytes,
        )


@lru_cache(maxsize=128)
def _widening(
    client: Client, shape: tuple[int, ...], dtype: np.dtype[Any], device_index: int
) -> Executable:
    """A program that gives the elements of a packed dtype whole bytes."""
    wide = _Aval(shape, _UNPACKED[dtype])
    given, wanted = tensor_type(shape, dtype), mlir_type(wide)
    text = f"""module {{ func.func public @main(%0: {given}) -> {wanted} {{
        %1 = stablehlo.convert %0 : ({given}) -> {wanted}
        return %1 : {wanted} }} }}"""
    return client.compile(text, [wide], devices=[device_index])


@cache
def _mlir_context() -> Any:
    """Where modules are parsed: only programs with callbacks cannot stay text."""
    registry = ir.DialectRegistry()
    mlir_extension.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    return context


def _parsed(text: str) -> Any:
    try:
        with _mlir_context():
            return ir.Module.parse(text)
    except ir.MLIRError as error:
        raise program_error(str(error), text) from error


def _run_error(error: Exception, buffers: Sequence[Buffer]) -> Exception:
    gone = [index for index, buffer in enumerate(buffers) if buffer.is_deleted()]
    if gone:
        return DonatedArrayError(
            f"the memory of buffer(s) {', '.join(map(str, gone))} was given to an earlier program"
        )
    return BackendError(f"XLA failed: {error}")


_clients: dict[str, Client] = {}
_making = threading.Lock()


def cpu_client(num_devices: int | None = None) -> Client:
    """The CPU client of this process, made at the first call and the same one ever after.

    `num_devices` counts only then: None takes it from `XLA_FLAGS`
    (`--xla_force_host_platform_device_count=8`), which says 1 if it says nothing. Asking later for
    more than there are raises `BackendError`.
    """
    with _making:
        client = _clients.get("cpu")
        if client is None:
            client = _clients["cpu"] = Client(xc.make_cpu_client(num_devices=num_devices))
    if num_devices is not None and num_devices > len(client.devices):
        raise BackendError(
            f"the CPU client of this process has {len(client.devices)} device(s), and "
            f"{num_devices} were asked for: ask before the first use of backend 'xla'"
        )
    return client


@cache
def register_lapack() -> None:
    """Let CPU programs call LAPACK: `stablehlo.custom_call @lapack_spotrf_ffi` and its kin."""
    # The kernels call SciPy's LAPACK, whose addresses this looks up.
    lapack.prepare_lapack_call("potrf", np.dtype(np.float32))  # type: ignore[no-untyped-call]
    for platform, targets in lapack.registrations().items():
        for name, function, api_version in targets:
            xc.register_custom_call_target(
                name, function, platform=platform, api_version=api_version
            )


# The names that functions from outside have in XLA, which takes a name only once.
_registered: dict[str, list[Any]] = {}


def is_target(function: Any) -> bool:
    """True for what XLA can call: a capsule of a handler, or a pointer to one (ctypes)."""
    return type(function).__name__ == "PyCapsule" or isinstance(function, ctypes._CFuncPtr)  # type: ignore[attr-defined]


def register_target(name: str, function: Any) -> str:
    """Makes a handler of XLA's typed interface known to CPU programs, under the name returned."""
    known = _registered.setdefault(name, [])
    for number, other in enumerate(known):
        if other is function:
            return name if number == 0 else f"{name}.{number}"
    own = f"{name}.{len(known)}" if known else name
    capsule = function if type(function).__name__ == "PyCapsule" else _capsule(function)
    xc.register_custom_call_target(own, capsule, platform="cpu", api_version=1)
    known.append(function)
    return own


def _capsule(function: Any) -> Any:
    """A function of a library opened with ctypes as a capsule."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    return new(ctypes.cast(function, ctypes.c_void_p), None, None)
