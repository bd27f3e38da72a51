"""torch.ao, whose quantization has the modules that mark what is to be quantized; there is none."""

from __future__ import annotations

from typing import Any

from .elsewhere import unbuilt_names
from .naming import FACE, submodule
from .nn.modules.module import Module

_NAMES = (
    "convert fuse_modules fuse_modules_qat get_default_qat_qconfig get_default_qconfig "
    "get_default_qconfig_mapping prepare prepare_qat quantize quantize_dynamic quantize_qat"
)
__all__ = ["quantization"]


class QuantStub(Module):
    """The identity, where a model would be quantized. Source: torch.ao.quantization.QuantStub."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """The identity, where numbers would be made floating again. Source: torch.ao.quantization.DeQuantStub."""


class QuantWrapper(Module):
    """A module between two such marks. Source: torch.ao.quantization.QuantWrapper."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.quant, self.dequant = QuantStub(getattr(module, "qconfig", None)), DeQuantStub()
        self.module = module
        self.train(module.training)

    def forward(self, X: Any) -> Any:
        return self.dequant(self.module(self.quant(X)))


_given: dict[str, Any] = {"DeQuantStub": DeQuantStub, "QuantStub": QuantStub, "QuantWrapper": QuantWrapper}
_given |= unbuilt_names("torch.ao.quantization", _NAMES, "quantization")
submodule(FACE, "quantization", **_given)  # its older name
quantization = submodule(globals(), "quantization", **_given)
