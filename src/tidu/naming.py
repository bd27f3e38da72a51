"""How the library's classes show themselves: by the names they have in PyTorch."""

from __future__ import annotations


class Shown(type):
    """A class whose text is PyTorch's: `<class 'torch.Tensor'>`. Where it lives, pickle and help() know as ever."""

    torch_name: str | None = None

    def __repr__(cls) -> str:
        name = cls.__dict__.get("torch_name")
        if name is None:
            module = cls.__module__
            if module.split(".")[0] == __package__:
                module = "torch" + module.removeprefix(__package__)
            name = f"{module}.{cls.__qualname__}"
        return f"<class '{name}'>"
