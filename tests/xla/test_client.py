"""Buffers, programs and devices of `arrayx_xla.client`, with StableHLO written by hand."""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'")

import arrayx
from arrayx.errors import (
    ArgumentError,
    BackendError,
    BackendUnavailableError,
    DonatedArrayError,
    DtypeError,
)
from arrayx_xla import client as client_module
from arrayx_xla.client import (
    ProgramError,
    check_version,
    cpu_client,
    dlpack_capsule,
    register_lapack,
)
from arrayx_xla.text import ELEMENT_TYPES, dense, donated, literal, location, mlir_type, tensor_type

DTYPES = list(ELEMENT_TYPES)
F32 = np.dtype(np.float32)


@pytest.fixture(scope="module")
def client():
    return cpu_client(2)


def like(*arrays):
    return [SimpleNamespace(shape=array.shape, dtype=array.dtype) for array in arrays]


def compiled(client, body, arguments, results, attributes=()):
    """A program of `body` (SSA names %0, %1, ... are the arguments) that returns %r0, %r1, ..."""
    attributes = {**dict.fromkeys(range(len(arguments)), ""), **dict(attributes)}
    inputs = ", ".join(f"%{i}: {mlir_type(a)} {attributes[i]}" for i, a in enumerate(arguments))
    outputs = ", ".join(mlir_type(result) for result in results)
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    text = (
        f"module {{\nfunc.func public @main({inputs}) -> ({outputs}) {{\n{body}\n"
        f"return {names} : {outputs}\n}}\n}}"
    )
    return client.compile(text, like(*results))


def run(client, body, arguments, results):
    arguments = [np.asarray(argument) for argument in arguments]
    executable = compiled(client, body, arguments, results)
    outputs = executable.execute([client.put(argument) for argument in arguments])
    return [client.get(output) for output in outputs]


def aligned(count, dtype=np.float32):
    """An array which XLA can use in place: its memory starts at a multiple of 64 bytes."""
    raw = np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


# --------------------------------------------------------------------------- putting and getting


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0,), (3, 0, 2)], ids=str)
def test_an_array_of_every_dtype_comes_back_as_it_went(client, dtype, shape):
    array = np.asarray(np.random.default_rng(0).integers(0, 2, shape)).astype(dtype)
    back = client.get(client.put(array))
    assert (back.shape, back.dtype) == (shape, dtype)
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.itemsize == 1], ids=str)
def test_every_bit_pattern_of_the_small_dtypes_survives(client, dtype):
    bits = 2 if dtype.name.endswith("int2") else 4 if "4" in dtype.name[:6] else 8
    count = 2 if dtype.kind == "b" else 2**bits
    array = np.arange(count, dtype=np.uint8).view(dtype)
    assert client.get(client.put(array)).tobytes() == array.tobytes()


def test_what_comes_back_is_read_only(client):
    for dtype in DTYPES:
        assert not client.get(client.put(np.zeros(3, dtype))).flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0)[::-1],
        np.arange(12.0).reshape(3, 4).T,
        np.arange(10)[::3],
        np.broadcast_to(np.float32(2), (3, 4)),
        np.arange(5, dtype=">f4"),
        np.arange(5, dtype=">i8"),
        np.frombuffer(bytes(9), np.uint8, offset=1).view(np.float32),
        np.float64(2.5),
        np.True_,
    ],
    ids=["reversed", "transposed", "strided", "broadcast", ">f4", ">i8", "unaligned", "f8", "bool"],
)
def test_arrays_with_any_memory_layout_keep_their_values(client, array):
    back = client.get(client.put(array))
    np.testing.assert_array_equal(back, array)
    assert back.dtype == np.asarray(array).dtype.newbyteorder("=")


@pytest.mark.parametrize(
    "array",
    [np.array(["a"]), np.array([None]), np.ones(2, np.longdouble), np.zeros(2, "datetime64[s]")],
    ids=["string", "object", "longdouble", "datetime"],
)
def test_a_dtype_that_xla_lacks_is_refused_by_name(client, array):
    if array.dtype == np.float64:
        pytest.skip("longdouble is float64 on this platform")
    with pytest.raises(DtypeError, match=r"backend 'xla' has no dtype .*; it has bool"):
        client.put(array)


@pytest.mark.parametrize("strided", [False, True])
def test_changing_an_array_after_put_does_not_change_the_buffer(client, strided):
    array = np.ones((1000, 2000), np.float32)
    array = array[:, ::2] if strided else array
    buffer = client.put(array)
    array[...] = 5
    assert (client.get(buffer) == 1).all()
    own = aligned(1000)
    buffer = client.put(own)
    own[:] = 5
    assert (client.get(buffer) == 0).all()


def test_an_immutable_array_is_used_in_place_and_kept_alive_until_its_buffer_goes(client):
    array = aligned(1000)
    memory = weakref.ref(array.base)
    buffer = client.put(array, immutable=True)
    assert buffer.unsafe_buffer_pointer() == array.ctypes.data
    assert client.get(buffer).ctypes.data == array.ctypes.data
    del array
    gc.collect()
    assert memory() is not None
    del buffer
    for _ in range(3):  # XLA lets go of host memory at its next chances
        client.put(np.zeros(1))
    assert memory() is None


def test_a_view_keeps_the_memory_when_the_buffer_is_gone(client):
    views = [client.get(client.put(np.full(1000, i, np.float32))) for i in range(50)]
    views += [client.get(client.put(np.full(1000, i, ml_dtypes.bfloat16))) for i in range(50)]
    gc.collect()
    assert all((view.astype(int) == i % 50).all() for i, view in enumerate(views))


def test_getting_on_cpu_copies_nothing(client):
    for dtype in (np.float32, np.bool_, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        buffer = client.put(np.ones(5, dtype))
        assert client.get(buffer).ctypes.data == buffer.unsafe_buffer_pointer()


def test_a_buffer_is_on_the_device_it_was_put_on(client):
    assert [device.index for device in client.devices] == [0, 1]
    assert {device.platform for device in client.devices} == {"cpu"}
    one = client.put(np.arange(3), 1)
    np.testing.assert_array_equal(client.get(one), [0, 1, 2])
    executable = compiled(
        client, "%r0 = stablehlo.add %0, %0 : tensor<3xi64>", *[like(np.arange(3))] * 2
    )
    with pytest.raises(BackendError, match="cpu:1"):
        executable.execute([one])


def test_there_is_one_client_and_asking_for_more_devices_later_is_an_error(client):
    assert cpu_client() is client
    with pytest.raises(BackendError, match=r"2 device\(s\), and 3 were asked for"):
        cpu_client(3)


# --------------------------------------------------------------------------- DLPack


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.complex64])
def test_a_capsule_shows_the_buffer_to_other_libraries(client, dtype):
    buffer = client.put(np.ones(4, dtype))
    exporter = type(
        "Exporter",
        (),
        {
            "__dlpack__": lambda self, **_: dlpack_capsule(buffer),
            "__dlpack_device__": lambda self: (1, 0),
        },
    )()
    assert np.from_dlpack(exporter).ctypes.data == buffer.unsafe_buffer_pointer()
    assert "dltensor" in repr(dlpack_capsule(client.put(np.ones(4, ml_dtypes.bfloat16))))


def test_a_dtype_without_dlpack_gives_a_buffer_error(client):
    with pytest.raises(BufferError, match="DLPack"):
        dlpack_capsule(client.put(np.ones(4, ml_dtypes.int4)))
    with pytest.raises(BufferError, match="cannot import list"):
        client.from_dlpack([1.0])


def test_an_array_of_another_library_is_copied_unless_told_not_to(client):
    array = aligned(16)
    assert client.from_dlpack(array).unsafe_buffer_pointer() != array.ctypes.data
    assert client.from_dlpack(array, copy=False).unsafe_buffer_pointer() == array.ctypes.data


# --------------------------------------------------------------------------- programs


def test_elementwise_programs_compute(client):
    x = np.linspace(-2, 2, 7, dtype=np.float32)
    body = "%1 = stablehlo.sine %0 : tensor<7xf32>\n%r0 = stablehlo.add %0, %1 : tensor<7xf32>"
    (result,) = run(client, body, [x], [x])
    np.testing.assert_allclose(result, x + np.sin(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64, np.complex128], ids=str)
def test_64_bit_types_stay_64_bit(client, dtype):
    x = np.array([2**33, 3], np.int64).astype(dtype)
    kind = mlir_type(x)
    (result,) = run(client, f"%r0 = stablehlo.add %0, %0 : {kind}", [x], [x])
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, x + x)


def test_a_contraction_computes(client):
    x, y = np.random.default_rng(0).normal(size=(2, 3, 3))
    body = (
        "%r0 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], "
        "precision = [HIGHEST, HIGHEST] : "
        "(tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>"
    )
    np.testing.assert_allclose(run(client, body, [x, y], [x])[0], x @ y, rtol=1e-12)


def test_a_reduction_computes(client):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    body = """%z = stablehlo.constant dense<0.0> : tensor<f32>
    %r0 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"""
    np.testing.assert_array_equal(run(client, body, [x], [x[:, 0]])[0], [3, 12])


def test_a_loop_computes(client):
    body = """%n = stablehlo.constant dense<10> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r0, %r1 = stablehlo.while(%i = %0, %s = %1) : tensor<i32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.add %s, %i : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<i32>
    }"""
    zero = np.int32(0)
    assert [int(v) for v in run(client, body, [zero, zero], [zero, zero])] == [10, 45]


@pytest.mark.parametrize(("index", "expected"), [(0, 6.0), (1, 9.0), (7, 9.0), (-1, 9.0)])
def test_a_branch_is_taken_and_an_index_out_of_range_takes_the_last(client, index, expected):
    body = """%r0 = "stablehlo.case"(%0) ({
      %a = stablehlo.add %1, %1 : tensor<f32>
      stablehlo.return %a : tensor<f32>
    }, {
      %b = stablehlo.multiply %1, %1 : tensor<f32>
      stablehlo.return %b : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>"""
    three = np.float32(3)
    assert run(client, body, [np.int32(index), three], [three])[0] == expected


def test_a_stable_sort_carries_a_second_operand_along(client):
    keys = np.array([3, 1, 2, 1], np.int32)
    body = """%i = stablehlo.iota dim = 0 : tensor<4xi32>
    %r0, %r1 = "stablehlo.sort"(%0, %i) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %p = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)"""
    ordered, places = run(client, body, [keys], [keys, keys])
    np.testing.assert_array_equal(ordered, [1, 1, 2, 3])
    np.testing.assert_array_equal(places, [1, 3, 2, 0])


def test_a_program_without_results_and_one_without_arguments_run(client):
    assert client.compile("module { func.func public @main() { return } }", []).execute([]) == []
    body = "%r0 = stablehlo.constant dense<2.5> : tensor<f32>"
    assert run(client, body, [], [np.float32(0)])[0] == 2.5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_constants_of_every_dtype_reach_the_program_as_they_were(client, dtype):
    values = np.arange(60) % 2
    for array in (
        np.array(1).astype(dtype),
        values[:6].reshape(2, 3).astype(dtype),  # a list
        values.reshape(5, 12).astype(dtype),  # a blob
        np.zeros((0, 2), dtype),
    ):
        kind = mlir_type(array)
        body = f"%r0 = stablehlo.constant {dense(array)} : {kind}"
        assert run(client, body, [], [array])[0].tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([-0.0, np.inf, -np.inf, np.nan, 1e-45, 1e-5, 1e38, 0.1], np.float32),
        ([-0.0, np.inf, -np.inf, np.nan, 5e-324, 1e300, 0.1], np.float64),
        ([-0.0, np.inf, -np.inf, np.nan, 6e-8, 65504, 0.1], np.float16),
        ([-0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 0.1], ml_dtypes.bfloat16),
        ([-0.0, np.nan, 448, 0.002], ml_dtypes.float8_e4m3fn),
        ([-0.0, np.inf, -np.inf, np.nan, 57344], ml_dtypes.float8_e5m2),
        ([complex(np.nan, -0.0), complex(-np.inf, 1e-5)], np.complex64),
        ([-(2**63), 2**63 - 1], np.int64),
        ([0, 2**64 - 1], np.uint64),
        ([-8, 7], ml_dtypes.int4),
        ([False, True], np.bool_),
    ],
    ids=lambda value: np.dtype(value).name if isinstance(value, type) else "",
)
def test_literals_reach_the_program_bit_by_bit(client, values, dtype):
    for value in np.array(values, dtype):
        body = f"%r0 = stablehlo.constant dense<{literal(value, value.dtype)}> : {mlir_type(value)}"
        assert run(client, body, [], [value])[0].tobytes() == value.tobytes()


def test_a_mistake_in_the_text_is_shown_with_its_line(client):
    text = "module {\nfunc.func public @main() {\n  %0 = stablehlo.nothing\n  return\n}\n}"
    with pytest.raises(ProgramError, match="unknown") as caught:
        client.compile(text, [])
    assert (caught.value.lineno, caught.value.line) == (3, "  %0 = stablehlo.nothing")
    assert "line 3" in str(caught.value)
    assert caught.value.text == text


def test_a_program_that_cannot_be_compiled_for_the_platform_says_why(client):
    with pytest.raises(ProgramError, match="not_there") as caught:
        run(
            client,
            "%r0 = stablehlo.custom_call @not_there() {api_version = 4 : i32} : () -> tensor<f32>",
            [],
            [np.float32(0)],
        )
    assert caught.value.lineno is None


def test_the_wrong_number_of_arguments_is_an_error(client):
    executable = compiled(
        client, "%r0 = stablehlo.add %0, %0 : tensor<f32>", *[like(np.float32(0))] * 2
    )
    with pytest.raises(BackendError, match="expected 1"):
        executable.execute([])


def test_a_program_can_be_saved_and_loaded(client):
    x = np.arange(4, dtype=np.float32)
    executable = compiled(client, "%r0 = stablehlo.add %0, %0 : tensor<4xf32>", [x], [x])
    again = client.deserialize(executable.serialize(), executable.out_avals)
    np.testing.assert_array_equal(client.get(again.execute([client.put(x)])[0]), x + x)
    with pytest.raises(BackendError, match="cannot load a compiled program"):
        client.deserialize(b"nonsense", [])


def test_a_program_tells_its_cost_its_memory_and_its_optimised_text(client):
    x = np.zeros(64, np.float32)
    place = location("model.py", 12)
    executable = compiled(client, f"%r0 = stablehlo.add %0, %0 : tensor<64xf32> {place}", [x], [x])
    assert executable.cost_analysis()["flops"] == 64
    memory = executable.memory_analysis()
    assert (memory.arguments, memory.outputs, memory.aliased) == (256, 256, 0)
    assert "HloModule" in executable.hlo_text()
    assert 'source_file="model.py" source_line=12' in executable.hlo_text()


def test_lapack_can_be_called_from_a_program(client):
    register_lapack()
    register_lapack()
    matrix = np.random.default_rng(0).normal(size=(4, 4))
    matrix = (matrix @ matrix.T + np.eye(4)).astype(np.float32)
    body = """%r0, %r1 = stablehlo.custom_call @lapack_spotrf_ffi(%0) {
      api_version = 4 : i32, backend_config = {uplo = 76 : ui8},
      operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
      result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]
    } : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)"""
    factor, info = run(client, body, [matrix], [matrix, np.int32(0)])
    assert info == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=1e-5)


# --------------------------------------------------------------------------- donation


@pytest.mark.parametrize("attribute", [donated(0), donated()], ids=["paired", "left to XLA"])
def test_a_donated_argument_gives_its_memory_to_the_result(client, attribute):
    x = np.ones(1000, np.float32)
    body = "%r0 = stablehlo.add %0, %0 : tensor<1000xf32>"
    executable = compiled(client, body, [x], [x], {0: attribute})
    buffer = client.put(x)
    pointer = buffer.unsafe_buffer_pointer()
    (result,) = executable.execute([buffer])
    assert buffer.is_deleted()
    assert result.unsafe_buffer_pointer() == pointer
    assert executable.memory_analysis().aliased == 4000
    for use in (lambda: executable.execute([buffer]), lambda: client.get(buffer)):
        with pytest.raises(DonatedArrayError, match=r"buffer\(s\) 0 was given"):
            use()


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["float32", "bfloat16"])
def test_memory_that_someone_looks_at_is_not_taken(client, dtype):
    x = np.ones(1000, dtype)
    kind = mlir_type(x)
    executable = compiled(client, f"%r0 = stablehlo.add %0, %0 : {kind}", [x], [x], {0: donated(0)})
    buffer = client.put(x)
    view = client.get(buffer)
    (result,) = executable.execute([buffer])
    assert (client.get(result).astype(int) == 2).all()
    assert (view.astype(int) == 1).all()


def test_memory_of_the_user_is_not_taken(client):
    x = aligned(1000)
    executable = compiled(
        client, "%r0 = stablehlo.cosine %0 : tensor<1000xf32>", [x], [x], {0: donated(0)}
    )
    (result,) = executable.execute([client.put(x, immutable=True)])
    assert (client.get(result) == 1).all()
    assert (x == 0).all()


# --------------------------------------------------------------------------- several devices


SUM_OVER_DEVICES = """module { func.func public @main(%0: tensor<3xf32>) -> tensor<3xf32> {
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = stablehlo.replica_id : tensor<ui32>
  %3 = stablehlo.convert %2 : (tensor<ui32>) -> tensor<f32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %5 = stablehlo.add %1, %4 : tensor<3xf32>
  return %5 : tensor<3xf32>
} }"""


@pytest.mark.parametrize("devices", [(0, 1), (1, 0)])
def test_replicas_run_on_their_devices_and_add_up(client, devices):
    x = np.arange(3, dtype=np.float32)
    executable = client.compile(SUM_OVER_DEVICES, like(x), devices=devices)
    for program in (
        executable,
        client.deserialize(executable.serialize(), like(x), devices=devices),
    ):
        results = program.execute_replicas([[client.put(x + i, d)] for i, d in enumerate(devices)])
        for replica, (result,) in enumerate(results):
            np.testing.assert_array_equal(client.get(result), 2 * x + 1 + replica)
    # The parts are ordinary buffers on their devices.
    (second,) = results[1]
    assert client.device_index(second) == devices[1]
    kind = tensor_type((3,), F32)
    same = f"module {{ func.func public @main(%0: {kind}) -> {kind} {{ return %0 : {kind} }} }}"
    again = client.compile(same, like(x), devices=[devices[1]])
    np.testing.assert_array_equal(client.get(again.execute([second])[0]), 2 * x + 2)


def test_programs_can_be_chained_on_arrays_that_lie_on_several_devices(client):
    x = np.arange(3, dtype=np.float32).astype(ml_dtypes.bfloat16)
    kind = mlir_type(x)
    twice = client.compile(
        f"module {{ func.func public @main(%0: {kind} {donated(0)}) -> {kind} {{ "
        f"%1 = stablehlo.add %0, %0 : {kind}\n return %1 : {kind} }} }}",
        like(x),
        devices=(0, 1),
    )
    array = client.assemble([client.put(x, 0), client.put(x + 1, 1)], (0, 1))
    (doubled,) = twice.execute([array])
    assert array.is_deleted()
    seen = [client.get_part(doubled, (0, 1), index) for index in range(2)]
    (again,) = twice.execute([doubled])  # copies what is looked at
    for index in range(2):
        expected = x.astype(float) + index
        np.testing.assert_array_equal(seen[index].astype(float), 2 * expected)
        part = client.get_part(again, (0, 1), index)
        np.testing.assert_array_equal(part.astype(float), 4 * expected)


def test_arguments_for_too_few_devices_are_refused(client):
    executable = client.compile(SUM_OVER_DEVICES, like(np.zeros(3, F32)), devices=(0, 1))
    with pytest.raises(ArgumentError, match="for 1 devices, but the program is for 2"):
        executable.execute_replicas([[client.put(np.zeros(3, F32))]])


# --------------------------------------------------------------------------- beside jax, or alone


PREPARE = """
import sys
import ml_dtypes
import numpy as np
def ours():
    from types import SimpleNamespace
    from arrayx_xla.client import cpu_client
    client = cpu_client(2)
    for dtype in ("float64", "int64", "float32"):
        x = np.array([1, 2**24 + 1], dtype)
        kind = {"float64": "f64", "int64": "i64", "float32": "f32"}[dtype]
        text = f'''module {{ func.func public @main(%0: tensor<2x{kind}>) -> tensor<2x{kind}> {{
            %1 = stablehlo.add %0, %0 : tensor<2x{kind}>
            return %1 : tensor<2x{kind}> }} }}'''
        executable = client.compile(text, [SimpleNamespace(shape=(2,), dtype=x.dtype)])
        result = client.get(executable.execute([client.put(x)])[0])
        assert result.dtype == dtype and (result == x + x).all(), (dtype, result)
        both = client.compile(text, [SimpleNamespace(shape=(2,), dtype=x.dtype)], devices=(0, 1))
        for part in both.execute_replicas([[client.put(x, 0)], [client.put(x, 1)]]):
            assert (client.get(part[0]) == x + x).all()
def theirs():
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    assert jax.numpy.asarray(1.5).dtype == "float32"
    assert jax.jit(lambda x: x + 1)(np.float64(1)).dtype == "float32"
    assert jax.jit(lambda x: x + 1)(np.arange(3)).dtype == "int32"
    spread = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec("x"))
    y = jax.jit(lambda x: x * 2)(jax.device_put(np.arange(4.0), spread))
    assert [(s.data + 1).tolist() for s in y.addressable_shards] == [[1, 3], [5, 7]]
    assert (jax.pmap(lambda x: x + 1)(np.arange(2)) == np.arange(1, 3)).all()
"""


def python_with_jax():
    """A Python that can import jax, or skip."""
    given = os.environ.get("ARRAYX_TEST_JAX_PYTHON")
    if given:
        return given
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed; ARRAYX_TEST_JAX_PYTHON can name a Python that has it")
    return sys.executable


def succeeds(python, code):
    here = Path(client_module.__file__).parents[1], Path(next(iter(arrayx.__path__))).parent
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, here)),
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    }
    environment.pop("JAX_ENABLE_X64", None)
    code = PREPARE + textwrap.dedent(code)
    done = subprocess.run(
        [python, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_client_alone_never_imports_jax():
    succeeds(sys.executable, "ours(); assert 'jax' not in sys.modules")


@pytest.mark.parametrize(
    "order",
    [
        "import importlib.util; assert importlib.util.find_spec('jax'); "
        "ours(); assert 'jax' not in sys.modules",
        "theirs(); ours(); theirs()",
        "ours(); theirs(); ours(); theirs()",
        "ours(); theirs()",
    ],
    ids=["installed but not imported", "imported before", "in the middle", "after"],
)
def test_64_bits_are_kept_beside_jax_and_its_own_32_bits_are_undisturbed(order):
    succeeds(python_with_jax(), order)


def test_every_function_of_the_client_leaves_jax_unimported():
    succeeds(
        python_with_jax(),
        """
        ours()
        from arrayx_xla.client import cpu_client, dlpack_capsule, register_lapack
        client = cpu_client()
        register_lapack()
        buffer = client.from_dlpack(np.ones(3))
        dlpack_capsule(buffer)
        for dtype in ("bool", "complex64", ml_dtypes.bfloat16, ml_dtypes.int4):
            client.get(client.put(np.ones(3, dtype), 1))
        assert not buffer.is_deleted() and buffer.is_ready()
        try:
            client.compile("module {", [])
        except Exception:
            pass
        assert "jax" not in sys.modules
        """,
    )


# --------------------------------------------------------------------------- installation


def test_a_missing_jaxlib_is_explained_with_the_line_that_installs_it():
    succeeds(
        sys.executable,
        """
        sys.modules["jaxlib"] = None
        from arrayx.errors import BackendUnavailableError
        try:
            import arrayx_xla.client
        except BackendUnavailableError as error:
            assert "pip install 'arrayx[xla]'" in str(error)
        else:
            raise AssertionError
        """,
    )


@pytest.mark.parametrize("version", [(0, 9, 2), (0, 11, 0), (1, 0, 0)])
def test_a_version_of_jaxlib_that_is_not_supported_is_refused(version):
    with pytest.raises(BackendUnavailableError, match=r"jaxlib >= 0\.10\.0, < 0\.11\.0, but"):
        check_version(version)


@pytest.mark.parametrize("version", [(0, 10, 0), (0, 10, 2), (0, 10, 99)])
def test_supported_versions_of_jaxlib_are_accepted(version):
    check_version(version)
