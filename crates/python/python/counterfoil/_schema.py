"""The definition of a tool, out of a function: name, description, JSON Schema of its arguments."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    bytes: {"type": "string"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}
_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping)


def definition(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`{name, description, parameters}` of a function, by its signature and type hints.

    Parameters without a hint take anything; `*args` is not offered, and `**kwargs` lets further ones
    in. `Annotated[T, "what it is"]` describes a parameter; models of pydantic, dataclasses, enums,
    `Literal`, `TypedDict` and unions are understood.
    """
    said = inspect.getdoc(function) or ""
    return {
        "name": name or getattr(function, "__name__", type(function).__name__),
        "description": description if description is not None else said.split("\n\n")[0].strip(),
        "parameters": parameters if parameters is not None else _parameters(function),
    }


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # a hint that names what is not there
        hints = dict(getattr(function, "__annotations__", {}))
    properties: dict[str, Any] = {}
    required: list[str] = []
    defs: dict[str, Any] = {}
    more = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            more = True
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        properties[parameter.name] = _of(hints.get(parameter.name, Any), defs)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if not more:
        schema["additionalProperties"] = False
    if defs:
        schema["$defs"] = defs
    return schema


def _of(hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type hint. What is not known takes anything."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        schema = _of(arguments[0], defs)
        for extra in arguments[1:]:
            text = extra if isinstance(extra, str) else getattr(extra, "description", None)
            if isinstance(text, str):
                schema = {**schema, "description": text}
        return schema
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(one, defs) for one in arguments]}
    if origin in _LISTS:
        items = [one for one in arguments if one is not Ellipsis]
        return {"type": "array", **({"items": _of(items[0], defs)} if len(items) == 1 else {})}
    if origin in _OBJECTS:
        values = _of(arguments[1], defs) if len(arguments) == 2 else {}
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    simple = _SIMPLE.get(hint) if isinstance(hint, collections.abc.Hashable) else None
    if simple is not None:
        return dict(simple)
    return _of_class(hint, defs)


def _of_class(hint: Any, defs: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(hint, type):
        return {}
    model_schema = getattr(hint, "model_json_schema", None)
    if callable(model_schema):
        schema = typing.cast("dict[str, Any]", model_schema())
        defs.update(schema.pop("$defs", {}))
        return schema
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    fields: dict[str, Any] | None = None
    required: list[str] = []
    if dataclasses.is_dataclass(hint):
        fields = get_type_hints(hint, include_extras=True)
        missing = dataclasses.MISSING
        required = [
            field.name
            for field in dataclasses.fields(hint)
            if field.default is missing and field.default_factory is missing
        ]
    elif typing.is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        required = sorted(getattr(hint, "__required_keys__", fields))
    if fields is None:
        return {}
    # A class that holds itself is looked at once.
    if hint.__name__ not in defs:
        defs[hint.__name__] = {}
        defs[hint.__name__] = {
            "type": "object",
            "properties": {name: _of(one, defs) for name, one in fields.items()},
            "required": required,
        }
    return {"$ref": f"#/$defs/{hint.__name__}"}


def convert(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as the function's hints want them: models of pydantic, dataclasses and enums are made
    of their JSON. What needs nothing stays as it is."""
    try:
        hints = get_type_hints(function)
    except Exception:
        return arguments
    return {name: _made(value, hints.get(name)) for name, value in arguments.items()}


def _made(value: Any, hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        wanted = [one for one in get_args(hint) if one is not type(None)]
        return _made(value, wanted[0]) if len(wanted) == 1 and value is not None else value
    if get_origin(hint) is list and isinstance(value, list) and get_args(hint):
        return [_made(one, get_args(hint)[0]) for one in typing.cast("list[Any]", value)]
    if not isinstance(hint, type):
        return value
    validate = getattr(hint, "model_validate", None)
    if callable(validate):
        return validate(value)
    if issubclass(hint, enum.Enum):
        return hint(value)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return hint(**convert(hint, typing.cast("dict[str, Any]", value)))
    return value
