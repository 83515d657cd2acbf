"""The definition of a tool, out of a function: name, description, JSON Schema of its arguments."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ._errors import CounterfoilError
from ._plain import to_json

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
# `Required[T]` and `NotRequired[T]`, where this Python has them.
_WRAPPED = tuple(
    one for one in (getattr(typing, name, None) for name in ("Required", "NotRequired")) if one
)
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

    Parameters without a hint take anything; `*args` is a list, and `**kwargs` lets further ones in. The
    object of a method is none of them. `Annotated[T, "what it is"]` describes a parameter; models of pydantic, dataclasses, enums,
    `Literal`, `TypedDict` and unions are understood.
    """
    said = inspect.getdoc(function) or ""
    return {
        "name": name or getattr(function, "__name__", type(function).__name__),
        "description": description if description is not None else said.split("\n\n")[0].strip(),
        "parameters": parameters if parameters is not None else _parameters(function),
    }


def is_method(function: Callable[..., Any]) -> bool:
    """Whether it is a function of a class that was not taken from an object yet."""
    if inspect.ismethod(function):
        return False
    names = list(inspect.signature(function).parameters)[:1]
    within = getattr(function, "__qualname__", "").rpartition(".")[0]
    return names in (["self"], ["cls"]) and bool(within) and not within.endswith("<locals>")


def is_coroutine(function: Callable[..., Any]) -> bool:
    """Whether a call of it has to be awaited: of a function, a partial, or an object."""
    while isinstance(function, functools.partial):
        function = function.func
    called: Any = getattr(type(function), "__call__", None)  # noqa: B004, it is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _hints(function: Any) -> dict[str, Any]:
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = type(function).__call__
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # a hint that names what is not there
        return dict(getattr(function, "__annotations__", {}))


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    known = _hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    defs: dict[str, Any] = {}
    more = False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise CounterfoilError(
            f"the parameters of {function!r} are not known", "give its schema by `parameters=`"
        ) from None
    for parameter in parameters[1 if is_method(function) else 0 :]:
        if parameter.kind is parameter.VAR_KEYWORD:
            more = True
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            properties[parameter.name] = {"type": "array"}
            continue
        properties[parameter.name] = _of(known.get(parameter.name, Any), defs)
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
    if origin in _WRAPPED:
        return _of(arguments[0], defs)
    if origin is Literal:
        plain = [one.value if isinstance(one, enum.Enum) else one for one in arguments]
        return {"enum": plain}
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
        hints = get_type_hints(hint, include_extras=True)
        missing = dataclasses.MISSING
        given = [field for field in dataclasses.fields(hint) if field.init]
        fields = {field.name: hints.get(field.name, Any) for field in given}
        required = [
            field.name
            for field in given
            if field.default is missing and field.default_factory is missing
        ]
    elif typing.is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        required = sorted(getattr(hint, "__required_keys__", fields))
    if fields is None:
        return {}
    # A class that holds itself is looked at once; two may have one name.
    name = hint.__name__
    whole = f"{hint.__module__}.{hint.__qualname__}"
    if defs.get(name, {}).get("title", whole) != whole:
        name = whole
    if name not in defs:
        defs[name] = {"title": whole}
        defs[name] = {
            "title": whole,
            "type": "object",
            "properties": {name: _of(one, defs) for name, one in fields.items()},
            "required": required,
        }
    return {"$ref": f"#/$defs/{name.replace('~', '~0').replace('/', '~1')}"}


def convert(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as the function's hints want them: models of pydantic, dataclasses and enums are made
    of their JSON, in lists, dictionaries and unions, too. What needs nothing stays as it is."""
    hints = _hints(function)
    return {name: _made(value, hints.get(name)) for name, value in arguments.items()}


def _made(value: Any, hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated or origin in _WRAPPED:
        return _made(value, parts[0])
    if origin is Literal:
        named = [one for one in parts if isinstance(one, enum.Enum) and one.value == value]
        return named[0] if named else value
    if origin in (Union, types.UnionType):
        return _one_of(value, [one for one in parts if one is not type(None)])
    if origin in _LISTS and isinstance(value, list) and parts:
        items = [_made(one, parts[0]) for one in typing.cast("list[Any]", value)]
        return origin(items) if origin in (tuple, set, frozenset) else items
    if origin in _OBJECTS and isinstance(value, dict) and len(parts) == 2:
        members = typing.cast("dict[str, Any]", value)
        return {key: _made(one, parts[1]) for key, one in members.items()}
    if not isinstance(hint, type):
        return value
    return _made_of_class(value, hint)


def _made_of_class(value: Any, hint: type[Any]) -> Any:
    if isinstance(value, hint):
        return value
    validate = getattr(hint, "model_validate", None)
    if callable(validate):
        return validate(value)
    if issubclass(hint, enum.Enum):
        # A tuple is a list in JSON.
        same = [one for one in hint if to_json(one.value) == to_json(value)]
        return same[0] if same else hint(value)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        members = typing.cast("dict[str, Any]", value)
        hints = get_type_hints(hint)
        return hint(**{name: _made(one, hints.get(name)) for name, one in members.items()})
    if hint in (tuple, set, frozenset) and isinstance(value, list):
        return hint(typing.cast("list[Any]", value))
    return value


def _one_of(value: Any, hints: list[Any]) -> Any:
    """The first of several types that a value can be made of; itself, where it is one already."""
    if value is None:
        return value
    for hint in hints:
        if isinstance(hint, type) and isinstance(value, hint):
            return value
    for hint in hints:
        try:
            return _made(value, hint)
        except Exception:
            continue
    return value
