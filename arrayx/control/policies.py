"""What reverse mode may save of a function under `checkpoint`: policies, as data.

A policy is asked of every application whose result the backward pass needs:
`policy(primitive, *avals, **params)` is true where the result may be saved.  These are frozen
dataclasses, so that graphs that carry them stay data; any other function may be a policy too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arrayx.core.graph import param_class

Policy = Callable[..., Any]
CONTRACTIONS = frozenset({"dot_general", "conv_general_dilated"})


@param_class
@dataclass(frozen=True)
class SaveAll:
    """Every result, or none."""

    answer: bool

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
        return self.answer


@param_class
@dataclass(frozen=True)
class SaveContractions:
    """Results of matrix products and convolutions; `batched` ones too, if so."""

    batched: bool

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
        if primitive.name not in CONTRACTIONS:
            return False
        if self.batched:
            return True
        return primitive.name == "dot_general" and not any(params["batch"])


@param_class
@dataclass(frozen=True)
class SaveNames:
    """Values named by `checkpoint_name`: those among `names`, or those not among them."""

    names: tuple[str, ...]
    among: bool

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
        if primitive.name != "checkpoint_name":
            return False
        return (params["name"] in self.names) == self.among


@param_class
@dataclass(frozen=True)
class SaveUnlessNamed:
    """Everything but values that `checkpoint_name` gave one of these names."""

    names: tuple[str, ...]

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
        return not (primitive.name == "checkpoint_name" and params["name"] in self.names)


@param_class
@dataclass(frozen=True)
class SaveEither:
    """What one of two policies saves."""

    first: Policy
    second: Policy

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
        return bool(
            self.first(primitive, *avals, **params) or self.second(primitive, *avals, **params)
        )
