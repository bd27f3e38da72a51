"""Exceptions of many kinds from many places: they come through as they are, nothing stays entered, graphs are freed."""

import contextlib
import gc
import sys
import threading
import warnings
import weakref

import pytest

import tidu as torch
from tidu.autograd import forward_ad, profiler
from tidu.func import functional_call, grad, hessian, hvp, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tidu.overrides import TorchFunctionMode
from tidu.utils._python_dispatch import TorchDispatchMode
from tidu.utils.checkpoint import checkpoint, checkpoint_sequential


def kind(base):
    return type("Own" + base.__name__, (base,), {})


# Among them those that the library itself catches, to turn to another way of doing things.
KINDS = (Exception, KeyboardInterrupt, AttributeError, ValueError, TypeError, RuntimeError, StopIteration)
KINDS = [kind(b) for b in KINDS]

HOOKS, BODIES, MODES, FUNCTIONS = {}, {}, {}, {}


def raising(error):
    def raises(*_, **__):
        raise error

    return raises


def later(error, calls=1):
    """A function that raises once it has been called so often."""
    left = [calls]

    def f(x, *_):
        left[0] -= 1
        if left[0] < 0:
            raise error
        return x * 2

    return f


# ------------------------------------------------------------------ hooks, of the graph and of what it saves


def hook(fn):
    HOOKS[fn.__name__] = fn
    return fn


@hook
def of_a_tensor(bad, x):
    y = (x * 2).exp()
    y.register_hook(bad)
    y.sum().backward()


@hook
def of_a_leaf(bad, x):
    x.register_hook(bad)
    (x * x).sum().backward()


@hook
def after_accumulation(bad, x):
    x.register_post_accumulate_grad_hook(bad)
    (x * x).sum().backward()


@hook
def of_a_node(bad, x):
    y = (x * 2).exp()
    y.grad_fn.register_hook(bad)
    y.sum().backward()


@hook
def before_a_node(bad, x):
    y = (x * 2).exp()
    y.grad_fn.register_prehook(bad)
    y.sum().backward()


@hook
def of_a_leafs_node(bad, x):
    y = x * 2
    y.grad_fn.next_functions[0][0].register_hook(bad)
    y.sum().backward()


@hook
def of_several(bad, x):
    y, z = x * 2, x * 3
    torch.autograd.graph.register_multi_grad_hook([y, z], bad)
    (y * z).sum().backward()


@hook
def of_a_second_derivative(bad, x):
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    g.register_hook(bad)
    (g * g).sum().backward()


@hook
def of_batched_gradients(bad, x):
    y = x * 2
    y.register_hook(bad)
    torch.autograd.grad(y, x, torch.ones(3, 2, 2), is_grads_batched=True)


@hook
def of_a_batch(bad, x):
    def f(v):
        y = v * 2
        y.register_hook(bad)
        return (y * y).sum()

    vmap(grad(f))(x.detach())


@hook
def in_a_backward_within_backward(bad, x):
    def again(_):
        with torch.enable_grad():
            z = x.detach().requires_grad_() * 2
            z.register_hook(bad)
            z.sum().backward()

    y = x * 2
    y.register_hook(again)
    y.sum().backward()


@hook
def packing(bad, x):
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda v: v):
        x * x


@hook
def packing_in_place(bad, x):
    y = x * 2
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda v: v):
        y[0].mul_(y[1].exp())


@hook
def packing_for_a_function(bad, x):
    with torch.autograd.graph.saved_tensors_hooks(bad, lambda v: v):
        Plain.apply(x)


@hook
def unpacking(bad, x):
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v.detach(), bad):
        y = (x @ x).exp()
    y.sum().backward()


@hook
def unpacking_for_a_function(bad, x):
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v.detach(), bad):
        y = Plain.apply(x)
    y.sum().backward()


@hook
def of_a_saved_tensor(bad, x):
    (x * 1).sin().grad_fn._raw_saved_self.register_hooks(bad, lambda v: v)


@hook
def of_modules(bad, x):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(bad)
    layer(x).sum().backward()


@hook
def of_calls_of_modules(bad, x):
    layer = torch.nn.Linear(2, 2)
    layer.register_forward_hook(bad)
    layer(x)


@hook
def of_an_optimizer(bad, x):
    sgd = torch.optim.SGD([x], lr=0.1)
    sgd.register_step_pre_hook(bad)
    sgd.step()


@hook
def of_a_closure(bad, x):
    torch.optim.LBFGS([x]).step(bad)


@hook
def of_a_dual(bad, x):
    with forward_ad.dual_level():
        t = forward_ad.unpack_dual(forward_ad.make_dual(x, x.detach()).exp()).tangent
        t.register_hook(bad)
        t.sum().backward()


@hook
def within_a_profile(bad, x):
    with profiler.profile():
        of_a_tensor(bad, x)


@hook
def within_anomaly_mode(bad, x):
    with torch.autograd.set_detect_anomaly(True, forward=True):
        of_a_tensor(bad, x)


# ------------------------------------------------------------------ what transforms and checkpoints call


def body(name, run):
    BODIES[name] = run


def _one_by_one(f, x):
    return vmap(lambda v: f(v) if v.sum() > 0 else v)(x)


def _written(f, x):
    return vmap(lambda v: f(torch.zeros(2).add_(v)))(x)


def _recomputed(how):
    def run(f, x):
        y = checkpoint(lambda v: f(v).exp(), x.requires_grad_(), **how)
        y.sum().backward()

    return run


def _in_a_context(f, x):
    @contextlib.contextmanager
    def context():
        f(x)
        yield

    y = checkpoint(torch.exp, x.requires_grad_(), use_reentrant=False,
                   context_fn=lambda: (contextlib.nullcontext(), context()))  # fmt: skip
    y.sum().backward()


def _called(f, x):
    class Calls(torch.nn.Linear):
        def forward(self, v):
            return f(super().forward(v))

    layer = Calls(2, 2)
    weight = layer.weight
    try:
        functional_call(layer, {"weight": weight * 2}, (x,))
    finally:
        assert layer.weight is weight


def _over(outer, inner):
    return lambda f, x: outer(inner(f))(x)


def _tangent(f):
    return lambda v: jvp(f, (v,), (v,))[1].sum()


def _total(f):
    return lambda v: f(v).sum()


for name, run in {
    "grad": lambda f, x: grad(f)(x), "vmap": lambda f, x: vmap(f)(x), "jacrev": lambda f, x: jacrev(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (x,)), "vjp": lambda f, x: vjp(f, x), "jacfwd": lambda f, x: jacfwd(f)(x),
    "hessian": lambda f, x: hessian(f)(x), "linearize": lambda f, x: linearize(f, x), "hvp": lambda f, x: hvp(f, x, x),
    "vmap vmap": _over(vmap, vmap), "vmap grad": _over(vmap, grad), "grad vmap": _over(grad, lambda f: _total(vmap(f))),
    "jvp grad jvp": lambda f, x: jvp(grad(_tangent(f)), (x,), (x,)), "chunks": lambda f, x: vmap(f, chunk_size=1)(x),
    "one by one": _one_by_one, "written": _written, "functional_call": _called,
    "functional.jacobian": lambda f, x: torch.autograd.functional.jacobian(f, x),
    "functional.hessian": lambda f, x: torch.autograd.functional.hessian(f, x),
    "functional.jvp": lambda f, x: torch.autograd.functional.jvp(f, x, x),
    "gradcheck": lambda f, x: torch.autograd.gradcheck(f, (x.double().requires_grad_(),)),
    "checkpoint": _recomputed({"use_reentrant": False}), "reentrant": _recomputed({"use_reentrant": True}),
    "checkpoint's context": _in_a_context,
    "checkpoint_sequential": lambda f, x: checkpoint_sequential([f, f], 2, x.requires_grad_(), use_reentrant=False),
}.items():  # fmt: skip
    body(name, run)


# ------------------------------------------------------------------ modes


for name, mode in {
    "no_grad": torch.no_grad, "enable_grad": torch.enable_grad, "inference": torch.inference_mode,
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "results": lambda: torch.autograd.set_detect_anomaly(True, check_inf=True, forward=True),
    "profile": profiler.profile, "record_function": lambda: profiler.record_function("block"),
    "masked_zeros": torch.autograd.masked_zeros, "autocast": lambda: torch.autocast("cpu"),
    "dual_level": forward_ad.dual_level, "no forward mode": lambda: forward_ad._set_fwd_grad_enabled(False),
    "grad off": lambda: torch.set_grad_enabled(False), "device": lambda: torch.device("cpu"),
    "fork_rng": lambda: torch.random.fork_rng(), "on cpu": torch.autograd.graph.save_on_cpu,
    "mutation": torch.autograd.graph.allow_mutation_on_saved_tensors,
    "no hooks": lambda: torch.autograd.graph.disable_saved_tensors_hooks("no"),
}.items():  # fmt: skip
    MODES[name] = mode


class Seeing(TorchFunctionMode):
    def __init__(self, error):
        self.error = error

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == "exp":
            raise self.error
        return func(*args, **(kwargs or {}))


class Dispatching(TorchDispatchMode):
    def __init__(self, error):
        self.error = error

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if "exp" in str(func):
            raise self.error
        return func(*args, **(kwargs or {}))


# ------------------------------------------------------------------ custom functions


class Places:
    at = error = None

    @classmethod
    def reach(cls, place):
        if cls.at == place:
            raise cls.error


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Places.reach("forward")
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            (x.detach().requires_grad_() * 3).sum().backward()
            Places.reach("backward")
        return g * 2


class Full(torch.autograd.Function):
    @staticmethod
    def forward(x):
        Places.reach("forward")
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        Places.reach("setup")
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        Places.reach("backward")
        return g * 2 + 0 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        Places.reach("jvp")
        return t * 2

    @staticmethod
    def vmap(info, in_dims, x):
        Places.reach("vmap")
        return Full.apply(x), in_dims[0]


class Generated(Full):
    generate_vmap_rule = True
    vmap = staticmethod(torch.autograd.Function.vmap)


USES = {
    "backward": lambda f, x: f(x * 1).sum().backward(), "checkpoint": BODIES["checkpoint"],
    "double": lambda f, x: torch.autograd.grad((f(x.requires_grad_()) ** 2).sum(), x, create_graph=True)[0].sum().backward(),
    "dual": lambda f, x: BODIES["jvp"](f, x), "vmap": BODIES["vmap"], "jacrev": BODIES["jacrev"],
    "vmap grad": lambda f, x: vmap(grad(_total(f)))(x), "jacfwd": BODIES["jacfwd"],
    "hessian": lambda f, x: hessian(_total(f))(x), "vmap jvp": lambda f, x: vmap(_tangent(f))(x),
}  # fmt: skip
PLACES = {Plain: "forward backward", Full: "forward setup backward jvp vmap", Generated: "forward setup backward jvp"}
for f, places in PLACES.items():
    for place in places.split():
        for name, use in USES.items():
            if f is not Plain or name in ("backward", "checkpoint", "double", "vmap"):
                FUNCTIONS[f"{f.__name__}.{place} {name}"] = f, place, use


# ------------------------------------------------------------------ the checks


def _kept():
    """All that the library keeps for a thread, in all modules."""
    return {
        f"{name}.{k}": v
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "tidu" and module is not None
        for k, v in list(vars(module).items())
        if isinstance(v, threading.local)
    }


def at_rest(kept):
    """What is kept now, and what watches."""
    state = {}
    for name, v in kept.items():
        now = {a: getattr(v, a) for a in dir(v) if a[:2] != "__"}
        now = {a: u for a, u in now.items() if u and not callable(u) and a not in ("switched", "by_hand")}
        state[name] = repr(now)
    faces, subclass = sys.modules.get("tidu.faces"), sys.modules["tidu.core.subclass"]
    state["watch"] = subclass._modes, faces and (faces._watchers, len(faces._seen))
    state["modes"] = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()
    state["slot"] = type(torch.Tensor.__dict__["_a"]).__name__
    return state


def works():
    """Whether what follows is right."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).exp().log().sum().backward()
    assert torch.allclose(x.grad, 2 * x.detach())
    v = x.detach()
    assert grad(lambda v: (v**3).sum())(v).tolist() == [3, 12]
    assert vmap(lambda v: v * 2)(v).tolist() == [2, 4]
    assert jvp(lambda v: v * v, (v,), (v,))[1].tolist() == [2, 8]
    assert Full.apply(x).grad_fn is not None and (x * 2).requires_grad
    with torch.no_grad():
        assert not (x * 2).requires_grad


@pytest.fixture(scope="module")
def warmed():
    """Everything is imported and was used once, so that what is kept for good is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in list(vars(torch.Tensor)):
            getattr(torch.Tensor, name)
        works()
        for make in MODES.values():
            with contextlib.suppress(RuntimeError), make():
                torch.ones(2) * 2
        with Seeing(None), Dispatching(None):
            torch.ones(2) * 2


@pytest.fixture
def checked(warmed):
    """run(error, x) for each kind of error, and what must hold after each."""

    def check(run):
        kept = _kept()
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for cls in KINDS:
                    _check(run, cls, kept)
        finally:
            gc.enable()

    return check


def _check(run, cls, kept):
    error = cls("from here")
    x = torch.arange(1.0, 5.0).view(2, 2).requires_grad_()
    alive = weakref.ref(x)
    before = at_rest(kept)
    came = None
    try:
        run(error, x)
    except BaseException as e:
        came = e
    finally:
        Places.at = Places.error = None
    if not (issubclass(cls, StopIteration) and isinstance(came, RuntimeError)):  # a generator's
        assert came is error, (cls, came)
    assert at_rest(kept) == before, cls
    del came, x
    error.__traceback__ = error.__context__ = error.__cause__ = None
    if isinstance(error, AttributeError):  # Python notes whose attribute it was
        error.obj = None
    del error
    assert alive() is None, (cls, "the graph is still there")
    works()


@pytest.mark.parametrize("name", HOOKS)
def test_hooks(checked, name):
    checked(lambda error, x: HOOKS[name](raising(error), x))


@pytest.mark.parametrize("name", BODIES)
def test_what_transforms_call(checked, name):
    checked(lambda error, x: BODIES[name](raising(error), x.detach()))


@pytest.mark.parametrize("name", ["checkpoint", "reentrant"])
def test_recomputing(checked, name):
    checked(lambda error, x: BODIES[name](later(error), x))


@pytest.mark.parametrize("name", MODES)
def test_modes(checked, name):
    def within(error, x):
        with MODES[name]():
            (x * 2).exp().sum()
            raise error

    def around_backward(error, x):
        y = (x * 2).exp()
        y.register_hook(raising(error))
        with MODES[name]():
            y.sum().backward()
        raise error

    checked(within)
    if name not in ("inference", "no_grad", "grad off"):
        checked(around_backward)


@pytest.mark.parametrize("make", [torch.no_grad, torch.enable_grad, torch.inference_mode, torch.autograd.masked_zeros])
def test_modes_as_decorators(checked, make):
    def decorated(error, x):
        @make()
        def f():
            raise error

        f()

    def generator(error, x):
        @make()
        def f():
            yield x * 2
            raise error

        for _ in f():
            pass

    def thrown(error, x):
        @make()
        def f():
            yield x * 2

        g = f()
        next(g)
        g.throw(error)

    for run in (decorated, generator, thrown):
        checked(run)


@pytest.mark.parametrize("mode", [Seeing, Dispatching])
def test_modes_that_see(checked, mode):
    calls = [lambda x: x.exp(), lambda x: x.detach().exp_(), lambda x: torch.exp(x.detach(), out=torch.empty(2, 2))]
    calls.append(lambda x: vmap(torch.exp)(x.detach()))
    for call in calls[: 1 if mode is Seeing else None]:

        def run(error, x, call=call):
            with mode(ZeroDivisionError()), torch.no_grad(), mode(error):
                call(x)

        checked(run)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_custom_functions(checked, name):
    f, place, use = FUNCTIONS[name]

    def run(error, x):
        Places.at, Places.error = place, error
        use(f.apply, x.detach() if "backward" not in name.split()[1] else x)
        raise error  # where the use does not come to the place

    checked(run)
