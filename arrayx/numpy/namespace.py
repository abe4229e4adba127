"""What the Array API standard asks of a namespace about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.placement import default_backend, devices

ARRAY_API_VERSION = "2024.12"
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class NamespaceInfo:
    """What `arrayx.numpy` can do, as the Array API standard lets a program ask."""

    __module__ = "arrayx.numpy"

    def capabilities(self) -> dict[str, Any]:
        """Which optional features there are.

        >>> NamespaceInfo().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device of new arrays."""
        return devices(str(default_backend()))[0]

    def devices(self) -> list[Any]:
        """The devices of the default backend."""
        return list(devices(str(default_backend())))

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays.

        >>> NamespaceInfo().default_dtypes()["real floating"]
        dtype('float32')
        """
        self._check(device)
        return {
            "real floating": dtypes.default_float(),
            "complex floating": dtypes.default_complex(),
            "integral": dtypes.default_int(),
            "indexing": dtypes.index_dtype(0),
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """The standard's dtypes of a kind, by name.

        >>> list(NamespaceInfo().dtypes(kind="real floating"))
        ['float32', 'float64']
        """
        self._check(device)
        kinds = ("bool", "numeric") if kind is None else kind
        names: list[str] = []
        for one in (kinds,) if isinstance(kinds, str) else kinds:
            if one not in _KINDS:
                raise errors.ArgumentError(
                    f"dtypes: there is no kind {one!r}; there are {', '.join(map(repr, _KINDS))}"
                )
            names.extend(n for n in _KINDS[one] if n not in names)
        return {name: np.dtype(name) for name in names}

    def _check(self, device: Any) -> None:
        if device is not None and str(device) not in map(str, self.devices()):
            raise errors.ArgumentError(
                f"there is no device {device!r}; there are {', '.join(map(str, self.devices()))}"
            )


def namespace_info() -> NamespaceInfo:
    """What `arrayx.numpy` can do, as the Array API standard lets a program ask.

    >>> import arrayx.numpy as anp
    >>> anp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """
    return NamespaceInfo()
