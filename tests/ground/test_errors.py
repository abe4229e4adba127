"""The error classes: what each can be caught as, and that each says what to do."""

import pickle

import pytest

from arrayx import errors

CAUGHT_AS = {
    "ShapeError": (ValueError, TypeError),
    "DtypeError": (TypeError,),
    "AxisError": (ValueError, IndexError),
    "UnboundAxisError": (errors.AxisError, NameError),
    "IndexOutOfBoundsError": (IndexError,),
    "TreeError": (ValueError, TypeError),
    "NotCallableError": (TypeError,),
    "ArgumentError": (TypeError, ValueError),
    "GradError": (TypeError, ValueError),
    "StaticArgumentError": (TypeError, ValueError),
    "ImmutableArrayError": (TypeError,),
    "TypePromotionError": (errors.DtypeError, ValueError),
    "DonatedArrayError": (RuntimeError,),
    "TracerError": (TypeError,),
    "ConcretizationError": (errors.TracerError,),
    "DynamicIndexError": (errors.ConcretizationError, IndexError),
    "NumpyConversionError": (errors.TracerError,),
    "LeakedTracerError": (errors.TracerError,),
    "BackendError": (RuntimeError,),
    "UnknownBackendError": (errors.BackendError,),
    "BackendUnavailableError": (errors.BackendError,),
    "MixedBackendsError": (errors.BackendError, ValueError),
    "UnsupportedError": (errors.BackendError, NotImplementedError),
    "UnsupportedDtypeError": (errors.UnsupportedError,),
    "GraphError": (errors.ArrayxError,),
    "GraphSyntaxError": (errors.GraphError, ValueError),
    "CheckError": (ValueError,),
    "CrosscheckError": (ValueError,),
    "NanError": (FloatingPointError,),
    "KeyReuseError": (ValueError,),
}

WARNINGS = ("RetraceWarning", "UnrolledLoopWarning")


def test_every_public_error_is_in_the_table():
    assert {*CAUGHT_AS, *WARNINGS, "ArrayxError"} == set(errors.__all__)


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_is_one_of_the_user_s(name):
    assert issubclass(getattr(errors, name), UserWarning)


@pytest.mark.parametrize("name", CAUGHT_AS)
def test_an_error_is_caught_as_arrayx_s_and_as_the_builtin_in_its_place(name):
    cls = getattr(errors, name)
    assert issubclass(cls, errors.ArrayxError)
    assert all(issubclass(cls, base) for base in CAUGHT_AS[name])


@pytest.mark.parametrize("name", errors.__all__)
def test_an_error_is_documented_in_its_own_words(name):
    assert len(getattr(errors, name).__doc__) > 40


@pytest.mark.parametrize("name", errors.__all__)
def test_an_error_survives_pickling(name):
    error = pickle.loads(pickle.dumps(getattr(errors, name)("what happened")))
    assert type(error).__name__ == name
    assert str(error) == "what happened"


def test_an_unsupported_error_keeps_its_parts_when_pickled():
    error = errors.UnsupportedError("eig", "xla", "no such call")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == "backend 'xla' does not support 'eig': no such call"
    assert (copy.primitive, copy.backend, copy.reason) == ("eig", "xla", "no such call")
