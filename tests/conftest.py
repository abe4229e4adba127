"""Every test runs with graphs checked after each transformation."""

from __future__ import annotations

import os

# Before arrayx is imported: the environment is read once.
os.environ.setdefault("ARRAYX_CHECK_GRAPHS", "1")
