"""The tensor: an array, a place in the graph, and what ties it to the tensors that share its memory.

Everything an op's fast path touches is a slot:

    _a      the NumPy array, never a scalar
    _node   None (no gradient wanted), True (a leaf that wants one), else the Node or OutputEdge that made it
    _v      the version cell, a one-element list shared by all tensors over the same memory
    _view   None, or (base, version at which _node was derived, how the view came about), see views.py
    _grad   the gradient of a leaf (or of a tensor that retains it)
    _extra  None, or what few tensors have: hooks, retained gradients, a name

A value that must not take the fast path (a dual number, a batch, a subclass with `__torch_function__`) leaves `_a`
unset: reading it raises AttributeError, and the op turns to its general path.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..devices import CPU
from ..naming import Shown
from ..shapes import Size
from .modes import state

new = object.__new__
_tuple: Any = tuple.__new__


class Extra:
    """What few tensors have."""

    __slots__ = ("accumulate", "backward_hooks", "grad_dtype", "name", "post_hooks", "retain_hook", "retains")

    def __init__(self) -> None:
        self.accumulate: Any = None  # weak reference to the AccumulateGrad made for a leaf
        self.backward_hooks: Any = None  # OrderedDict of hooks of a leaf
        self.post_hooks: Any = None  # OrderedDict of post-accumulate-grad hooks
        self.retains = False
        self.grad_dtype: Any = False  # what dtype the gradient has: the tensor's; None: any
        self.name: str | None = None


class Nowhere:
    """The node of a tensor that requires grad and has no history: cotangents end there, and it shows as none."""

    __slots__ = ()
    EDGE, nr, seq, edges, _hooks = 0, 0, 0, (), None

    def apply(self, g: Any, edges: Any, raw: bool) -> tuple[Any, ...]:
        return ()

    def release(self) -> None:
        pass

    @property
    def owner(self) -> Nowhere:
        return self


NOWHERE = Nowhere()


class Inference(list):
    """The version cell of a tensor made in inference mode."""

    __slots__ = ()

    def __setitem__(self, i: Any, version: Any) -> None:
        if not state.inference:
            from .errors import explain

            raise explain(
                RuntimeError(
                    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get "
                    "a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more "
                    "details."
                ),
                "this tensor was made inside inference_mode(), where nothing is kept for autograd; write y = x.clone() "
                "and change y.",
            )


class Detached(list):
    """The version cell of a tensor that `detach_` cut off: its memory's cell, in numbers that are new to the nodes that
    keep the tensor from before, so that they refuse it."""

    __slots__ = ("at", "cell")

    def __init__(self, cell: list[int]) -> None:
        self.cell, self.at = cell, cell[0]

    def __getitem__(self, i: Any) -> Any:
        return self.cell[i] + 1

    def __setitem__(self, i: Any, version: Any) -> None:
        self.cell[i] = version - 1


class Tensor(metaclass=Shown):
    """A multi-dimensional array that can record what is done to it. Source: torch.Tensor."""

    __slots__ = ("__dict__", "__weakref__", "_a", "_extra", "_grad", "_node", "_v", "_view")
    torch_name = "torch.Tensor"

    _a: np.ndarray[Any, Any]
    _node: Any
    _v: list[int]
    _view: Any
    _grad: Any
    _extra: Extra | None

    if TYPE_CHECKING:  # the ops give these to the class, see methods.py

        def __getattr__(self, name: str) -> Any: ...
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __pow__(self, other: Any) -> Any: ...
        def __matmul__(self, other: Any) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __lt__(self, other: Any) -> Any: ...
        def __gt__(self, other: Any) -> Any: ...
        def __and__(self, other: Any) -> Any: ...
        def __or__(self, other: Any) -> Any: ...
        def __invert__(self) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __iter__(self) -> Any: ...
        def __len__(self) -> int: ...

    # ---------------------------------------------------------------- what it is

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions, a `Size`."""
        return _tuple(Size, self._a.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The data type of the elements."""
        return dtypes.from_numpy(self._a.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._a.ndim

    @property
    def device(self) -> Any:
        """Where it is: the CPU."""
        return CPU

    # ---------------------------------------------------------------- its place in the graph

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it: a leaf asked for, or anything computed from one."""
        return self._node is not None or (self._view is not None and self._view[0]._node is not None)

    @requires_grad.setter
    def requires_grad(self, on: bool) -> None:
        if on is not True and on is not False:
            raise RuntimeError("requires_grad must be a bool")
        if on and self.dtype.category < dtypes.FLOATING:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        set_requires_grad(self, on)

    @property
    def is_leaf(self) -> bool:
        """Whether no op made it (or none that recorded): the graph ends here."""
        node = self._node if self._view is None else live_node(self, True)
        return node is None or node is True or node is NOWHERE or isinstance(node, Tensor)

    @property
    def grad_fn(self) -> Any:
        """The node that made it, None for a leaf."""
        node = self._node if self._view is None else live_node(self, True)
        if node is None or node is True or node is NOWHERE or isinstance(node, Tensor):
            return None  # a tensor: what hooks unpacked of a leaf
        return node.owner

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs it is."""
        return getattr(self._node, "nr", 0)

    @property
    def grad(self) -> Any:
        """The accumulated gradient, None before the first backward()."""
        g = self._grad
        if g is None and self._node not in (None, True, NOWHERE) and not self.retains_grad and state.grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf "
                "Tensor by mistake, make sure you access the leaf Tensor instead. See "
                "github.com/pytorch/pytorch/pull/30531 for more information.",
                UserWarning,
                stacklevel=2,
            )
        return g

    @grad.setter
    def grad(self, g: Any) -> None:
        if g is not None:
            check_new_grad(self, g)
        self._grad = g

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether a non-leaf keeps its gradient, see `retain_grad`."""
        return self._extra is not None and self._extra.retains

    @property
    def _version(self) -> int:
        if type(self._v) is Inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        v = self._v
        while type(v) is Detached:
            v = v.cell
        return v[0]

    @property
    def _base(self) -> Any:
        return None if self._view is None else self._view[0]

    @property
    def name(self) -> str | None:
        return None if self._extra is None else self._extra.name

    @property
    def _backward_hooks(self) -> Any:
        """The tensor hooks by id, None if there never was one."""
        if self._extra is not None and self._extra.backward_hooks is not None:
            return self._extra.backward_hooks
        hooks = getattr(self.grad_fn, "_hooks", None)
        return (
            None
            if hooks is None
            else {k: fn for k, (nr, fn) in hooks.tensor_pre.items() if nr == self.output_nr} or None
        )

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return type(self._v) is Inference

    def _is_view(self) -> bool:
        return self._view is not None


def tensor_of(a: Any) -> Tensor:
    """A plain tensor over an array (or NumPy scalar), recording nothing."""
    t = new(Tensor)
    t._a = a if type(a) is np.ndarray else np.asarray(a)
    t._node = None
    t._v = [0] if not state.inference else Inference((0,))
    t._view = t._grad = t._extra = None
    return t


def extra(t: Tensor) -> Extra:
    if t._extra is None:
        t._extra = Extra()
    return t._extra


def raw(t: Tensor) -> Any:
    """The array of any tensor, also of a subclass that hides it from the fast path."""
    try:
        return _raw_get(t)
    except AttributeError:
        return t._a  # raises what a kind of value without an array says


_raw_get = Tensor.__dict__["_a"].__get__


def set_requires_grad(t: Tensor, on: bool, method: bool = False) -> None:
    """Mark a leaf as one that wants a gradient, or not any more; `method` is requires_grad_, which words its error
    differently."""
    node = t._node if t._view is None else live_node(t)
    if node is NOWHERE and not on:
        return
    if node is not None and node is not True and node is not NOWHERE:
        if on and method:
            return
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables."
            + " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
            "var_no_grad = var.detach()." * (not on)
        )
    if on and t.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            f"only Tensors of floating point {'' if method else 'and complex '}dtype can require gradients"
        )
    if on and type(t._v) is Inference and not state.inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    t._node = True if on else None


def check_new_grad(t: Tensor, g: Any) -> None:
    if not isinstance(g, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type_name(g)}")
    if g is t:
        raise RuntimeError("can't assign Variable as its own grad")
    want = t.dtype if t._extra is None or t._extra.grad_dtype is False else t._extra.grad_dtype
    if want is not None and g.dtype is not want:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dtype_word(g.dtype)}' to a tensor with grad_dtype "
            f"'{want.legacy}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can "
            "set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
        )
    if g.shape != t.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(g.shape)}' to a tensor of size '{list(t.shape)}'. Please "
            "ensure that the gradient and the tensor are the same size"
        )


def type_name(x: Any) -> str:
    """The name of a value's type as C names it: numpy.ndarray, but float."""
    cls = type(x)
    static = not cls.__flags__ & (1 << 9)  # Python's own classes, on the heap, go without their module
    return f"{cls.__module__}.{cls.__name__}" if static and cls.__module__ != "builtins" else cls.__name__


_WORDS = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "uint16": "short unsigned int",
    "uint32": "unsigned int", "uint64": "long unsigned int",
}  # fmt: skip


def dtype_word(d: dtypes.dtype) -> str:
    """A dtype by the name of the type in C++, as some of PyTorch's messages have it."""
    return _WORDS.get(d.name, d.legacy.lower())


from .views import live_node  # noqa: E402  (views are made of tensors)
