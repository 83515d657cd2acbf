"""Python objects as JSON: fast where they are plain, and never a crash where they are not."""

from __future__ import annotations

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import uuid
from collections.abc import Mapping
from typing import Any, cast

# Deeper than this nothing is read, and of one list or text no more.
_DEEPEST = 100
_LONGEST = 10_000
# No reader of JSON keeps more digits of a whole number.
_LARGEST = 2**63


def to_json(value: object) -> str:
    """`value` as JSON text. Never raises.

    Objects of frameworks are asked for their own form where their class has one (`model_dump`,
    `to_dict`, `dict`, `tolist`; dataclasses, enums, sets); of anything else its `repr` is taken, and
    nothing of it is iterated. What JSON cannot hold is replaced: NaN and infinities are null, cycles and
    what is too deep are marked, bytes are text or Base64.
    """
    try:
        text = json.dumps(value, default=_form, ensure_ascii=False, allow_nan=False)
    except Exception:  # whatever its objects do when they are asked
        text = json.dumps(_plain(value, 0, set()), ensure_ascii=False)
    return clean(text)


def clean(text: str) -> str:
    """Text that can be written as UTF-8: half a surrogate pair becomes `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _form(value: object) -> object:
    """One step towards what JSON can hold."""
    try:
        return _own_form(value)
    except Exception:  # it is somebody else's code
        return _shown(value)


def _own_form(value: object) -> object:
    for name in ("model_dump", "to_dict", "dict", "tolist"):
        # Of the class: an object that has every attribute is asked for none.
        method = getattr(type(value), name, None)
        if callable(method) and not isinstance(value, type):
            try:
                return method(value, mode="json") if name == "model_dump" else method(value)
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
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (os.PathLike, decimal.Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[Any]", value), key=_shown)
    if isinstance(value, range) and len(value) <= _LONGEST:
        return list(value)
    if isinstance(value, collections.deque):
        return list(cast("collections.deque[Any]", value))
    return _shown(value)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return f"<{type(value).__name__}: no repr ({type(error).__name__})>"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _plain(value: object, depth: int, above: set[int]) -> object:
    """The same by hand, for what `json` refuses."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if -_LARGEST <= value < _LARGEST:
            return int(value)
        return str(value) if value.bit_length() < 10_000 else f"<{value.bit_length()} bits>"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if depth > _DEEPEST:
        return "<too deep>"
    if id(value) in above:
        return "<cycle>"
    above.add(id(value))
    try:
        if isinstance(value, dict):
            members = cast("dict[Any, Any]", value)
            return {_key(k): _plain(v, depth + 1, above) for k, v in list(members.items())}
        if isinstance(value, (list, tuple)):
            return [_plain(v, depth + 1, above) for v in list(cast("list[Any]", value))]
        return _plain(_form(value), depth + 1, above)
    except RecursionError:
        return "<too deep>"
    except Exception:
        return _shown(value)
    finally:
        above.discard(id(value))


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(_plain(key, _DEEPEST, set()))
