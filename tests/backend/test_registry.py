"""How backends are found, loaded and refused, and that a bad one harms nobody."""

from __future__ import annotations

import sys
import threading
import types
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend import (
    Backend,
    CompileOptions,
    Device,
    Executable,
    capabilities,
    core_set,
    hookimpl,
)
from arrayx.backend.kernels import KernelBackend
from arrayx.backend.registry import Registry
from arrayx.primitives.trigonometric import sin
from arrayx_numpy.kernels import KERNELS


class Toy(KernelBackend):
    """NumPy's kernels under another name."""

    name = "toy"
    quiet = True
    kernels = KERNELS


def plugin(make: Any) -> types.ModuleType:
    module = types.ModuleType("toy_plugin")
    module.arrayx_make_backend = hookimpl(make)  # type: ignore[attr-defined]
    return module


def registry_with(monkeypatch: pytest.MonkeyPatch, **modules: Any) -> Registry:
    """A registry that finds an entry point for each of these modules."""
    found = Registry()
    entries = []
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, f"{name}_plugin_module", module)
        entries.append(EntryPoint(name, f"{name}_plugin_module", "arrayx.backends"))
    found._entries = {e.name: [e] for e in entries}
    return found


def test_a_plugin_is_loaded_when_its_name_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def arrayx_make_backend(name: str) -> Any:
        made.append(name)
        return Toy() if name == "toy" else None

    registry = registry_with(monkeypatch, toy=plugin(arrayx_make_backend))
    assert registry.record("toy").state == "found" and made == []
    assert registry.get("toy") is registry.get("toy")
    assert registry.record("toy").state == "ready" and made == ["toy"]


@pytest.mark.parametrize(
    "error", [ImportError("no libfoo"), SystemExit(3), ValueError("boom")], ids=lambda e: repr(e)
)
def test_a_plugin_that_fails_becomes_a_record(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def arrayx_make_backend(name: str) -> Any:
        raise error

    registry = registry_with(monkeypatch, bad=plugin(arrayx_make_backend))
    with pytest.raises(ax.errors.BackendUnavailableError, match="'bad' cannot be used"):
        registry.get("bad")
    record = registry.record("bad")
    assert record.state == "broken"
    assert type(error).__name__ in record.reason
    assert "Traceback" in record.trace
    assert registry.get("numpy").name == "numpy"


def test_ctrl_c_while_a_plugin_loads_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def arrayx_make_backend(name: str) -> Any:
        raise KeyboardInterrupt

    registry = registry_with(monkeypatch, slow=plugin(arrayx_make_backend))
    with pytest.raises(KeyboardInterrupt):
        registry.get("slow")


def test_a_stale_entry_point_is_a_record() -> None:
    registry = Registry()
    registry._entries = {"gone": [EntryPoint("gone", "no_such_module_xyz", "arrayx.backends")]}
    with pytest.raises(ax.errors.BackendUnavailableError, match="no_such_module_xyz"):
        registry.get("gone")


def test_two_distributions_with_one_name_are_refused_by_both_origins() -> None:
    registry = Registry()
    registry._entries = {
        "twin": [EntryPoint("twin", f"module_{i}", "arrayx.backends") for i in range(2)]
    }
    with pytest.raises(ax.errors.BackendUnavailableError, match=r"module_0.*module_1"):
        registry.get("twin")


def test_a_plugin_of_another_api_version_is_told_both_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Future(Toy):
        name = "future"
        api_version = (9, 0)

    registry = registry_with(monkeypatch, future=plugin(lambda name: Future()))
    with pytest.raises(ax.errors.BackendUnavailableError, match=r"\(9, 0\).*\(1, 0\)"):
        registry.get("future")


def test_what_is_no_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = registry_with(monkeypatch, odd=plugin(lambda name: "a string"))
    with pytest.raises(ax.errors.BackendUnavailableError, match="not an arrayx Backend"):
        registry.get("odd")
    registry = registry_with(monkeypatch, none=plugin(lambda name: None))
    with pytest.raises(ax.errors.BackendUnavailableError, match="made no backend"):
        registry.get("none")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ax.errors.UnknownBackendError, match=r"no backend 'nmpy'.*numpy, xla"):
        ax.backends.get("nmpy")
    with pytest.raises(ax.errors.UnknownBackendError):
        ax.default_backend("nmpy")
    with pytest.raises(ax.errors.UnknownBackendError):
        ax.jit(anp.sin, backend="nmpy")


def test_a_backend_object_can_be_added_and_removed() -> None:
    ax.backends.add(Toy())
    try:
        with ax.default_backend("toy"):
            x = anp.arange(3.0)
            assert str(x.device) == "toy:cpu:0"
            np.testing.assert_allclose(ax.jit(ax.grad(lambda v: anp.sum(v**2)))(x), [0, 2, 4])
        with pytest.raises(ax.errors.MixedBackendsError, match=r"numpy:cpu:0.*toy:cpu:0"):
            anp.ones(3) + x
        np.testing.assert_allclose(ax.device_put(x, "numpy") + anp.ones(3), [1, 2, 3])
    finally:
        ax.backends.remove("toy")
    with pytest.raises(ax.errors.UnknownBackendError):
        ax.backends.get("toy")


def test_the_smallest_backend_runs_through_expansion() -> None:
    class Whole(Backend):
        """Owes three methods: it runs graphs through NumPy's kernels."""

        name = "whole"

        def __init__(self) -> None:
            self._devices = (Device(self, "cpu", 0),)

        def devices(self) -> tuple[Device, ...]:
            return self._devices

        def supports(self, equation: Any) -> bool | str:
            return equation.primitive.name in KERNELS or "no kernel"

        def compile(self, graph: Any, options: CompileOptions) -> Executable:
            return ax.backends.get("numpy").compile(graph, options)

    ax.backends.add(Whole())
    try:
        with ax.default_backend("whole"):
            x = anp.asarray(np.array([0.5, 1.5]))
            assert x.device.backend.name == "whole"
            got = ax.grad(lambda v: anp.sum(anp.sin(v) * v))(x)
        h = np.array([0.5, 1.5])
        np.testing.assert_allclose(got, np.sin(h) + h * np.cos(h), rtol=1e-12)
    finally:
        ax.backends.remove("whole")


def test_doctor_has_a_record_of_every_backend() -> None:
    records = {r.name: r for r in ax.backends.doctor()}
    assert records["numpy"].state == "ready"
    assert set(records) >= {"numpy", "xla", "cupy"}
    assert records["cupy"].state in ("unavailable", "broken", "ready")


def test_explain_says_who_runs_and_why() -> None:
    x = anp.ones(3)
    assert ax.backends.explain(lambda v: v + 1, x).startswith("runs on numpy:cpu:0, because")


def test_another_plugin_can_add_kernels_to_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small(KernelBackend):
        name = "small"
        quiet = True
        kernels = {"add": np.add}

    helper = types.ModuleType("small_kernels")
    helper.arrayx_kernels = hookimpl(  # type: ignore[attr-defined]
        lambda backend: {"sin": np.sin, "add": np.subtract} if backend == "small" else None
    )
    failing = EntryPoint("small", "no_such_module_abc", "arrayx.kernels")
    monkeypatch.setitem(sys.modules, "small_kernels", helper)
    registry = registry_with(monkeypatch, small=plugin(lambda name: Small()))
    entry = EntryPoint("small", "small_kernels", "arrayx.kernels")
    monkeypatch.setattr(registry, "contributions", lambda name: [failing, entry])
    backend = registry.get("small")
    assert "sin" not in backend.kernels, "nobody is asked before something is missing"
    assert backend.takes(sin) is True
    assert backend.kernels["sin"] is np.sin
    assert backend.kernels["add"] is np.add, "what a backend has is its own"
    assert backend.origins == {"sin": "small_kernels"}
    (broken,) = [r for r in registry.records() if r.state == "broken"]
    assert "no_such_module_abc" in broken.reason and broken.name.startswith("small+")


def test_a_backend_is_made_by_its_own_plugin_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Greedy(Toy):
        name = "greedy"

    greedy = plugin(lambda name: Greedy())
    honest = plugin(lambda name: Toy() if name == "toy" else None)
    registry = registry_with(monkeypatch, greedy=greedy, toy=honest)
    registry.get("greedy")
    assert registry.get("toy") is not registry.get("greedy")


def test_a_backend_has_the_name_that_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = registry_with(monkeypatch, other=plugin(lambda name: Toy()))
    with pytest.raises(ax.errors.BackendUnavailableError, match="name is 'toy' when asked"):
        registry.get("other")


def test_a_backend_has_devices_of_its_own_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class None_(Toy):
        name = "none"

        def devices(self) -> Any:
            return ()

    class Foreign(Toy):
        name = "foreign"

        def devices(self) -> Any:
            return ax.devices("numpy")[:1] and tuple(ax.devices("numpy"))

    class Fresh(Toy):
        name = "fresh"

        def devices(self) -> Any:
            return (Device(self, "cpu", 0),)

    for cls, words in (
        (None_, "instead of a tuple of devices"),
        (Foreign, "not a Device of this backend"),
        (Fresh, "make them once"),
    ):
        registry = registry_with(monkeypatch, **{cls.name: plugin(lambda name, c=cls: c())})
        with pytest.raises(ax.errors.BackendUnavailableError, match=words):
            registry.get(cls.name)
        assert registry.record(cls.name).state == "broken"


def test_who_says_no_version_was_made_for_the_first() -> None:
    assert Backend.api_version == (1, 0)
    assert ax.backends.get("numpy").api_version == ax.backend.API_VERSION


def test_a_slow_plugin_keeps_nobody_else_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(name: str) -> Any:
        inside.set()
        assert go_on.wait(10)
        return Toy()

    registry = registry_with(monkeypatch, toy=plugin(slow), quick=plugin(lambda name: None))
    thread = threading.Thread(target=lambda: registry.get("toy"))
    thread.start()
    assert inside.wait(10)
    with pytest.raises(ax.errors.BackendUnavailableError, match="made no backend"):
        registry.get("quick")
    assert registry.record("toy").state == "found"
    go_on.set()
    thread.join(10)
    assert registry.record("toy").state == "ready"


def test_a_plugin_that_asks_for_itself_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry()

    def curious(name: str) -> Any:
        with pytest.raises(ax.errors.BackendUnavailableError, match="being loaded"):
            registry.get("toy")
        return Toy()

    monkeypatch.setitem(sys.modules, "curious_module", plugin(curious))
    registry._entries = {"toy": [EntryPoint("toy", "curious_module", "arrayx.backends")]}
    assert registry.get("toy").name == "toy"
    assert registry.record("toy").state == "ready"


def test_capabilities_say_what_a_backend_lacks() -> None:
    class Adds(KernelBackend):
        name = "adds"
        kernels = {"add": np.add}
        dtypes = frozenset({"float32"})

    declared = capabilities(Adds())
    assert declared.dtypes == {"float32"} and not declared.asynchronous
    assert "add" not in declared.missing and "while_loop" not in declared.missing
    assert declared.missing["mul"] == "its table has no kernel 'mul'"
    assert "cumsum" in declared.expanded and "cholesky" in declared.refused
    assert set(declared.missing) < set(core_set())


def test_numpy_and_xla_take_the_whole_core_set() -> None:
    assert len(core_set()) > 80
    for name in ax.backends.available():
        assert ax.backends.capabilities(name).missing == {}


def test_a_backend_with_two_devices_runs_control_flow_where_the_arrays_are() -> None:
    class Two(Toy):
        name = "two"

        def __init__(self) -> None:
            super().__init__()
            self._devices = (Device(self, "cpu", 0), Device(self, "cpu", 1))
            self.put_on: list[int] = []

        def put(self, array: Any, device: Device) -> Any:
            self.put_on.append(device.id)
            return super().put(array, device)

    two = Two()
    ax.backends.add(two)
    try:
        x = ax.device_put(np.ones(3), "two:cpu:1")
        two.put_on.clear()
        weights = np.array([1.0, 2.0, 4.0])  # a constant of the loop's body
        f = ax.jit(lambda v: ax.lax.fori_loop(0, 3, lambda i, w: w * weights, v))
        y = f(x)
        np.testing.assert_allclose(y, weights**3)
        assert str(y.device) == "two:cpu:1" and set(two.put_on) == {1}
    finally:
        ax.backends.remove("two")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda x: x.astype(np.float32), r"float32\[3\] for an array of type float64\[3\]"),
        (lambda x: x[:2], r"float64\[2\] for an array of type float64\[3\]"),
        (lambda x: x.tolist(), r"list\[3\] for an array of type float64\[3\]"),
    ],
)
def test_elements_of_the_wrong_type_are_the_backends_fault(wrong: Any, words: str) -> None:
    class Wrong(Toy):
        name = "wrong"
        kernels = {**KERNELS, "sin": lambda x: wrong(np.sin(x))}

        def get(self, buffer: Any) -> Any:
            return buffer

    ax.backends.add(Wrong())
    try:
        y = anp.sin(ax.device_put(np.ones(3), "wrong"))
        with pytest.raises(ax.errors.BackendError, match=f"'wrong' broke its contract: .*{words}"):
            np.asarray(y)
        (record,) = [r for r in ax.backends.doctor() if r.name == "wrong"]
        assert record.state == "faulty" and "conformance --backend=wrong" in record.remedy
    finally:
        ax.backends.remove("wrong")


def test_doctor_notices_wrong_sums() -> None:
    class Off(Toy):
        name = "off"
        kernels = {**KERNELS, "add": np.subtract}

    ax.backends.add(Off())
    try:
        (record,) = [r for r in ax.backends.doctor() if r.name == "off"]
        assert record.state == "faulty" and "x + x came back as" in record.reason
    finally:
        ax.backends.remove("off")
