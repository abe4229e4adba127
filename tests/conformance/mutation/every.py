"""All mutants."""

from __future__ import annotations

from tests.conformance.mutation.arrays import STRUCTURE
from tests.conformance.mutation.elements import ELEMENTS
from tests.conformance.mutation.lanes_and_loops import LANES_AND_LOOPS
from tests.conformance.mutation.matrices import PRODUCTS
from tests.conformance.mutation.passes import PASSES
from tests.conformance.mutation.programs import MEMORY
from tests.conformance.mutation.rules import RULES

MUTANTS = (*ELEMENTS, *STRUCTURE, *PRODUCTS, *RULES, *LANES_AND_LOOPS, *PASSES, *MEMORY)
