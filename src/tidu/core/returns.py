"""Named results: the tuples that ops with several outputs return, as `torch.return_types` names them."""

from __future__ import annotations

from typing import Any

from ..naming import Shown

TYPES: dict[str, type] = {}


class Named(tuple, metaclass=Shown):
    """A tuple whose items have names too."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __new__(cls, *items: Any) -> Any:
        return tuple.__new__(cls, items[0] if len(items) == 1 and len(cls.fields) != 1 else items)

    def __repr__(self) -> str:
        inner = ",\n".join(f"{n}={v!r}" for n, v in zip(self.fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{inner})"

    def __reduce__(self) -> Any:
        return type(self), tuple(self)


def return_type(name: str, *fields: str) -> Any:
    """The result type of this name: made once, with its fields as properties."""
    if name not in TYPES:
        body: dict[str, Any] = {
            "__module__": f"{__package__.partition('.')[0]}.return_types",
            "__slots__": (),
            "fields": fields,
            "n_fields": len(fields),
            "n_sequence_fields": len(fields),
        }
        for i, f in enumerate(fields):
            body[f] = property(lambda self, i=i: self[i])  # type: ignore[misc]
        TYPES[name] = Shown(name, (Named,), body)
    return TYPES[name]
