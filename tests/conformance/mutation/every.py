"""All mutants."""

from __future__ import annotations

from tests.conformance.mutation.arrays import STRUCTURE
from tests.conformance.mutation.elements import ELEMENTS
from tests.conformance.mutation.passes import PASSES
from tests.conformance.mutation.programs import MEMORY
from tests.conformance.mutation.rules import RULES

MUTANTS = (*ELEMENTS, *STRUCTURE, *RULES, *PASSES, *MEMORY)
