"""Random nests of control flow under every transformation, against the loop in plain Python."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrayx.conformance.nest_checks import CHECKS, Truths, possible, verify
from arrayx.conformance.nests import EACH, STEPS, Nest, Node, nests

NEEDS_XLA = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None,
    reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'",
)
# The plain loops are traced here and there.
pytestmark = pytest.mark.filterwarnings("ignore::arrayx.errors.UnrolledLoopWarning")
# Programs, and compositions for each, in the plain run and in the sweep.
BUDGETS = [
    pytest.param("numpy", 8, 2, id="numpy"),
    pytest.param("xla", 2, 1, id="xla", marks=NEEDS_XLA),
    pytest.param("numpy", 500, 6, id="numpy-sweep", marks=pytest.mark.slow),
    pytest.param("xla", 60, 2, id="xla-sweep", marks=[NEEDS_XLA, pytest.mark.slow]),
]


@pytest.mark.parametrize(("backend", "programs", "compositions"), BUDGETS)
def test_a_nest_is_the_loop_in_python(backend: str, programs: int, compositions: int) -> None:
    @settings(
        max_examples=programs,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: Any) -> None:
        nest = data.draw(nests())
        names = st.sampled_from(possible(nest))
        chosen = data.draw(
            st.lists(names, min_size=compositions, max_size=compositions, unique=True)
        )
        truths = Truths(nest)
        for name in chosen:
            verify(nest, name, backend, truths)

    run()


def test_there_is_one_of_each_kind() -> None:
    assert {*EACH} == {*STEPS} - {"set", "sequence"}


def pair(outer: str, inner: str) -> Nest:
    """One kind in another, with what comes of it used by what is around."""
    node = EACH[outer]
    held = Node(
        "sequence", (EACH[inner], Node("set", (), ("number", "product", 0, 0, 0, 1, -0.2718, 0)))
    )
    modes = ("reverse",) if "custom_vjp" in (outer, inner) else ("forward", "reverse")
    return Nest(Node(outer, (held, *node.parts[1:]), node.how), modes)


def derivable(outer: str, inner: str) -> bool:
    """A custom_vjp cannot be differentiated forward, which these do to what they hold."""
    return inner != "custom_vjp" or outer not in ("custom_jvp", "other_rule", "tangent")


CHOSEN = ("grad of vmap (0, None)", "jit of grad of grad")


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        pytest.param(a, b, marks=[] if (i + j) % 9 == 0 else [pytest.mark.slow])
        for i, a in enumerate(EACH)
        for j, b in enumerate(EACH)
        if derivable(a, b)
    ],
)
def test_every_kind_in_every_kind(outer: str, inner: str) -> None:
    nest = pair(outer, inner)
    truths = Truths(nest)
    for name in CHOSEN:
        verify(nest, name, "numpy", truths)


def test_a_wrong_derivative_is_noticed() -> None:
    nest = pair("scan", "cond")
    truths = Truths(nest)
    truths.at(0, 0).__dict__["gradient"] = truths.at(0, 0).gradient * 1.001
    with pytest.raises(AssertionError, match="grad on numpy"):
        verify(nest, "grad", "numpy", truths)


def test_checks_are_named_by_their_composition() -> None:
    assert {"value", "jit of jacfwd of jacrev", "vmap of grad (0, 0)"} <= {*CHECKS}
