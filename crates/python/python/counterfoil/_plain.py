"""Python objects as JSON: fast where they are plain, and never a crash where they are not."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

# Deeper than this nothing is read.
_DEEPEST = 100
# No reader of JSON keeps more digits of a whole number.
_LARGEST = 2**63


def to_json(value: object) -> str:
    """`value` as JSON text.

    Objects of frameworks are asked for their own form (`model_dump`, `to_dict`, dataclasses); what
    has none is its `repr`. What JSON cannot hold is replaced, never an error: NaN and infinities are
    null, cycles and what is too deep are marked, bytes are text or Base64.
    """
    try:
        text = json.dumps(value, default=_form, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(_plain(value, 0, set()), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")


def _form(value: object) -> object:
    """One step towards what JSON can hold."""
    for name in ("model_dump", "to_dict", "dict", "tolist"):
        method = getattr(value, name, None)
        if callable(method) and not isinstance(value, type):
            try:
                return method(mode="json") if name == "model_dump" else method()
            except TypeError:
                try:
                    return method()
                except Exception:
                    continue
            except Exception:
                continue
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(raw).decode("ascii")}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[Any]", value), key=repr)
    # Reading an iterator would take it away from whoever it is for.
    if isinstance(value, Iterable) and not hasattr(value, "__next__"):
        return list(cast("Iterable[Any]", value))
    return _shown(value)


def _shown(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: no repr ({type(error).__name__})>"


def _plain(value: object, depth: int, above: set[int]) -> object:
    """The same by hand, for what `json` refuses."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if -_LARGEST <= value < _LARGEST else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth > _DEEPEST:
        return "<too deep>"
    if id(value) in above:
        return "<cycle>"
    above.add(id(value))
    try:
        if isinstance(value, Mapping):
            members = cast("Mapping[Any, Any]", value)
            return {_key(k): _plain(v, depth + 1, above) for k, v in list(members.items())}
        if isinstance(value, (list, tuple)):
            return [_plain(v, depth + 1, above) for v in list(cast("list[Any]", value))]
        return _plain(_form(value), depth + 1, above)
    except RecursionError:
        return "<too deep>"
    finally:
        above.discard(id(value))


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(_plain(key, _DEEPEST, set()))
