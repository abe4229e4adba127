"""The settings: reading, setting, undoing, threads, the environment, and snapshots as keys."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import pytest

from arrayx.config import OPTIONS, config, define
from arrayx.errors import ArgumentError

DEFAULTS = {
    "default_dtype_bits": 32,
    "zeros_absorb": True,
    "residual_policy": "recompute",
    "check_graphs": False,
    "checks": False,
    "traceback": "short",
    "default_backend": "numpy",
    "eager_xla": "host",
    "numpy_dtype_promotion": "standard",
    "numpy_rank_promotion": "allow",
    "disable_jit": False,
}
OTHERS = {
    "default_dtype_bits": 64,
    "zeros_absorb": False,
    "residual_policy": "save",
    "check_graphs": True,
    "checks": True,
    "traceback": "full",
    "default_backend": "xla",
    "eager_xla": "compile",
    "numpy_dtype_promotion": "strict",
    "numpy_rank_promotion": "raise",
    "disable_jit": True,
}
WRONG = {
    "default_dtype_bits": (16, "32", 32.0, True, None),
    "zeros_absorb": (1, "yes", None),
    "residual_policy": ("keep", None, 1),
    "check_graphs": (0,),
    "checks": (0,),
    "traceback": ("long",),
    "default_backend": ("", None, 3),
    "eager_xla": ("device",),
    "numpy_dtype_promotion": ("lax", None, True),
    "numpy_rank_promotion": ("deny", None),
    "disable_jit": ("yes", 1),
}


@pytest.fixture(autouse=True)
def _defaults():
    with config(**DEFAULTS):
        yield


def in_thread(function):
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


def python(code, **env):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARRAYX_")}
    return subprocess.run(
        [sys.executable, "-c", code], env={**clean, **env}, capture_output=True, text=True
    )


def test_every_setting_is_in_the_tables():
    assert set(OPTIONS) == set(DEFAULTS) == set(OTHERS) == set(WRONG)


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_setting_can_be_set_and_is_undone_after_with(name):
    with config(**{name: OTHERS[name]}):
        assert getattr(config, name) == OTHERS[name]
        assert getattr(config.snapshot(), name) == OTHERS[name]
    assert getattr(config, name) == DEFAULTS[name]
    config.update(name, OTHERS[name])
    assert getattr(config, name) == OTHERS[name]
    setattr(config, name, DEFAULTS[name])
    assert getattr(config, name) == DEFAULTS[name]


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_a_wrong_value_is_refused_with_the_allowed_ones(name, value):
    for attempt in (
        lambda: config.update(name, value),
        lambda: setattr(config, name, value),
        lambda: config(**{name: value}),
    ):
        with pytest.raises(ArgumentError, match=rf"config\.{name} .*allowed are "):
            attempt()
    assert getattr(config, name) == DEFAULTS[name]


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: config.dtype_bits,
        lambda: config.update("dtype_bits", 64),
        lambda: setattr(config, "dtype_bits", 64),
        lambda: config(dtype_bits=64),
        lambda: config.snapshot().dtype_bits,
    ],
)
def test_an_unknown_name_lists_the_names_there_are(attempt):
    with pytest.raises(AttributeError, match=r"no setting 'dtype_bits'; .*default_dtype_bits, "):
        attempt()


def test_with_undoes_what_was_updated_inside_and_what_an_exception_left():
    with pytest.raises(KeyError), config(traceback="full"):
        config.default_dtype_bits = 64
        raise KeyError
    assert config.traceback == "short"
    assert config.default_dtype_bits == 32


def test_one_context_manager_can_be_entered_again_inside_itself():
    override = config(default_dtype_bits=64)
    with override, config(default_dtype_bits=32), override:
        assert config.default_dtype_bits == 64
    assert config.default_dtype_bits == 32


def test_a_new_thread_starts_at_the_defaults_and_keeps_its_settings_to_itself():
    config.default_dtype_bits = 64
    assert in_thread(lambda: config.default_dtype_bits) == 32
    in_thread(lambda: config.update("traceback", "full"))
    assert config.traceback == "short"


def test_equal_settings_are_one_snapshot_in_every_thread():
    plain = config.snapshot()
    with config(default_dtype_bits=64, check_graphs=True):
        first = config.snapshot()
        assert first is not plain
    with config(check_graphs=True), config(default_dtype_bits=64):
        assert config.snapshot() is first
    assert config.snapshot() is plain is in_thread(config.snapshot)
    assert len({plain, first, plain}) == 2


def test_a_snapshot_copies_and_pickles_to_itself():
    with config(residual_policy="save"):
        snapshot = config.snapshot()
    assert pickle.loads(pickle.dumps(snapshot)) is snapshot
    assert copy.deepcopy(snapshot) is snapshot


def test_a_snapshot_shows_all_settings_and_does_not_change():
    snapshot = config.snapshot()
    assert dict(snapshot.items()) == DEFAULTS
    with pytest.raises(AttributeError, match="does not change"):
        snapshot.traceback = "full"


def test_a_setting_defined_later_changes_no_snapshot_s_identity():
    before = config.snapshot()
    try:
        define("a_later_one", "x", ("x", "y"), "For this test.")
        assert config.snapshot() is before
        assert before.a_later_one == "x"
        with config(a_later_one="y"):
            assert config.snapshot() is not before
        with pytest.raises(ArgumentError, match="defined already"):
            define("a_later_one", "x", ("x", "y"), "Twice.")
    finally:
        del OPTIONS["a_later_one"]
        before.__dict__.pop("a_later_one", None)


def test_the_settings_list_and_describe_themselves():
    assert set(DEFAULTS) <= set(dir(config))
    for name in DEFAULTS:
        assert name in repr(config)
    assert all(len(option.doc) > 30 for option in OPTIONS.values())


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("ARRAYX_DEFAULT_DTYPE_BITS", "64", "default_dtype_bits", 64),
        ("ARRAYX_ZEROS_ABSORB", "off", "zeros_absorb", False),
        ("ARRAYX_CHECK_GRAPHS", "TRUE", "check_graphs", True),
        ("ARRAYX_TRACEBACK", "full", "traceback", "full"),
        ("ARRAYX_RESIDUAL_POLICY", "save", "residual_policy", "save"),
        ("ARRAYX_BACKEND", "xla", "default_backend", "xla"),
        ("ARRAYX_XLA_EAGER", "compile", "eager_xla", "compile"),
    ],
)
def test_an_environment_variable_is_the_default_of_every_thread(variable, text, name, value):
    code = (
        "import threading; from arrayx.config import config; seen = []\n"
        f"t = threading.Thread(target=lambda: seen.append(config.{name})); t.start(); t.join()\n"
        f"print(seen[0] == config.{name} == {value!r})"
    )
    assert python(code, **{variable: text}).stdout == "True\n"


def test_a_wrong_environment_variable_is_an_error_when_read_and_not_at_import():
    code = (
        "from arrayx.config import config\n"
        "assert config.traceback == 'short' and config.snapshot() is config.snapshot()\n"
        "try: config.default_dtype_bits\n"
        "except ValueError as error: print(error)\n"
        "with config(default_dtype_bits=64): print(config.default_dtype_bits)\n"
    )
    ran = python(code, ARRAYX_DEFAULT_DTYPE_BITS="48")
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "the environment variable ARRAYX_DEFAULT_DTYPE_BITS is '48', "
        "which config.default_dtype_bits cannot be: allowed are 32, 64",
        "64",
    ]


@pytest.mark.parametrize(
    ("name", "value", "ours", "meaning"),
    [
        ("jax_enable_x64", True, "default_dtype_bits", 64),
        ("jax_enable_x64", False, "default_dtype_bits", 32),
        ("jax_enable_checks", True, "check_graphs", True),
        ("jax_disable_jit", True, "disable_jit", True),
        ("jax_numpy_dtype_promotion", "strict", "numpy_dtype_promotion", "strict"),
        ("jax_numpy_rank_promotion", "warn", "numpy_rank_promotion", "warn"),
        ("jax_traceback_filtering", "off", "traceback", "full"),
        ("jax_traceback_filtering", "auto", "traceback", "short"),
    ],
)
def test_settings_that_jax_has_too_are_found_under_its_names(name, value, ours, meaning):
    config.update(name, value)
    assert getattr(config, ours) == meaning and getattr(config, name) == value
    with config(**DEFAULTS), config(**{name: value}):
        assert getattr(config, ours) == meaning
    assert config.snapshot().replace({name: value}) is config.snapshot()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("jax_platform_name", "cpu", "ax.default_backend"),
        ("jax_default_prng_impl", "rbg", "threefry2x32"),
        ("jax_debug_infs_everywhere", True, "there are check_graphs"),
    ],
)
def test_other_settings_of_jax_say_what_there_is_instead(name, value, words):
    with pytest.raises(AttributeError, match=words):
        config.update(name, value)
    with pytest.raises(AttributeError, match=words):
        getattr(config, name)


@pytest.mark.parametrize(("name", "value"), [("jax_enable_x64", 1), ("jax_enable_x64", "yes")])
def test_values_that_jax_would_refuse_are_refused(name, value):
    with pytest.raises(ArgumentError, match="default_dtype_bits"):
        config.update(name, value)
