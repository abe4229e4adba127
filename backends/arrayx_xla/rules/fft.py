"""Fourier transforms."""

from __future__ import annotations

from typing import Any

from arrayx_xla.emitter import Emitter, Value


def fft(e: Emitter, x: Value, *, kind: str, lengths: Any) -> Value:
    body = f"{x.name}, type = {kind.upper()}, length = {list(lengths)}"
    return e.to("fft", body, e.results[0], x)


RULES: dict[str, Any] = {"fft": fft}
