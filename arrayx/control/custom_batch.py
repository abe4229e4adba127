"""The primitive that carries a batching rule of a user's own along."""

from __future__ import annotations

from typing import Any

from arrayx.control.custom_rules import CustomCall
from arrayx.control.rules import Rule, unwrapped
from arrayx.core.graph import Graph
from arrayx.core.interpreter import Interpreter, installed
from arrayx.primitives.axes import move_batch_dim
from arrayx.transforms.vmap import BatchTracer, VmapInterpreter


class CustomVmap(CustomCall):
    """A function whose batches are the user's rule; its derivatives are its own."""

    name = "custom_vmap"

    def interpret(
        self, interpreter: Interpreter, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        if not isinstance(interpreter, VmapInterpreter):
            return self.expand(*args, **params)
        hidden = params["hidden"]
        if any(unwrapped(interpreter, a)[1] is not None for a in args[:hidden]):
            # What it closes over is batched, which the rule cannot be told.
            return self.expand(*args, **params)
        return self.batched(interpreter, args, **params)

    def batched(
        self,
        mapped: VmapInterpreter,
        args: tuple[Any, ...],
        *,
        rule: Rule,
        graph: Graph | None,
        hidden: int,
    ) -> Any:
        pairs = [unwrapped(mapped, a) for a in args]
        flags = [d is not None for _, d in pairs]
        with installed(mapped.parent):  # type: ignore[arg-type]
            values = [x if d is None else move_batch_dim(mapped.size, x, d, 0) for x, d in pairs]
            outs, batched = rule.batch(
                mapped.size, flags[hidden:], values[hidden:], values[:hidden]
            )
        return tuple(
            BatchTracer(mapped, x, 0) if b else x for x, b in zip(outs, batched, strict=True)
        )


custom_vmap = CustomVmap()
