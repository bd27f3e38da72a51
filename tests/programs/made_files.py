"""Files that no `save` wrote: what they hold if it can be, and what the errors say if it cannot."""

# ruff: noqa
import torch, io, zipfile, pickle, struct, collections, sys, os, re
from torch._utils import _rebuild_tensor_v2, _rebuild_parameter
def told(n, f):
    try: r = f(); print(n, r)
    except BaseException as e: print(n, type(e).__name__, re.sub(r"In PyTorch 2.6.*?trusted source\.", "...", str(e), flags=re.S)[:420])
class P(pickle.Pickler):
    def persistent_id(self, o): return o.pid if isinstance(o, Pid) else None
class Pid:
    def __init__(self, *a): self.pid = a
class Call:
    def __init__(self, f, *a): self.f, self.a = f, a
    def __reduce__(self): return self.f, self.a
def make(obj, storages={"0": b"\0" * 16}, order=b"little", version=b"3\n", raw=None, skip=(), proto=2):
    if raw is None:
        b = io.BytesIO(); P(b, proto).dump(obj); raw = b.getvalue()
    f = io.BytesIO(); z = zipfile.ZipFile(f, "w")
    for n, d in (("data.pkl", raw), ("byteorder", order), *(("data/" + k, v) for k, v in storages.items()), ("version", version)):
        if n not in skip: z.writestr("archive/" + n, d)
    z.close(); f.seek(0); return f
S = lambda key="0", n=4, t=torch.FloatStorage, loc="cpu": Pid("storage", t, key, loc, n)
def t(off=0, size=(4,), stride=(1,), s=None, rg=False): return Call(_rebuild_tensor_v2, s or S(), off, size, stride, rg, collections.OrderedDict())
for n, f in {"ok": lambda: make(t()), "off": lambda: make(t(off=3)), "neg": lambda: make(t(off=-1)), "big": lambda: make(t(size=(5,))), "huge": lambda: make(t(size=(2 ** 40, 2 ** 40))), "stride": lambda: make(t(size=(2, 2), stride=(3, 1))), "negstride": lambda: make(t(stride=(-1,))), "mismatch": lambda: make(t(size=(2, 2), stride=(1,))), "negsize": lambda: make(t(size=(-1,))), "zero": lambda: make(t(size=(0,), off=4)), "short": lambda: make(t(s=S(n=100))), "long": lambda: make(t(s=S(n=2))), "nokey": lambda: make(t(s=S(key="7"))), "trav": lambda: make(t(s=S(key="../../etc/passwd"))), "cuda": lambda: make(t(s=S(loc="cuda:0"))), "odd": lambda: make(t(s=S(loc="xyz"))), "int": lambda: make(t(s=S(t=torch.LongStorage, n=2), size=(2,))), "nover": lambda: make(t(), skip=("version",)), "nobo": lambda: make(t(), skip=("byteorder",)), "bigend": lambda: make(t(), order=b"big"), "badend": lambda: make(t(), order=b"x"), "nopkl": lambda: make(t(), skip=("data.pkl",)), "ver": lambda: make(t(), version=b"999\n"), "ver1": lambda: make(t(), version=b"1\n"), "empty": lambda: make(None, raw=b""), "dot": lambda: make(None, raw=b"."), "trunc": lambda: make(None, raw=b"\x80\x02}q\x00"), "op": lambda: make(None, raw=b"\x80\x02\xff."), "memo": lambda: make(None, raw=b"\x80\x02h\x09."), "deep": lambda: make(None, raw=b"\x80\x02" + b"(" * 100000 + b"."), "deeplist": lambda: make(None, raw=b"\x80\x02" + b"]" * 400 + b"a" * 399 + b"."), "self": lambda: make(None, raw=b"\x80\x02]q\x00h\x00a."), "glob": lambda: make(None, raw=b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."), "eval": lambda: make(None, raw=b"\x80\x02cbuiltins\neval\nX\x03\x00\x00\x001+1\x85R."), "attr": lambda: make(None, raw=b"\x80\x02ctorch\nload\nX\x02\x00\x00\x00ls\x85R."), "hub": lambda: make(None, raw=b"\x80\x02ctorch.hub\nload\nX\x02\x00\x00\x00ls\x85R."), "subattr": lambda: make(None, raw=b"\x80\x02ctorch\nos.system\nX\x02\x00\x00\x00ls\x85R."), "getattr": lambda: make(None, raw=b"\x80\x02cbuiltins\ngetattr\n."), "redNon": lambda: make(None, raw=b"\x80\x02K\x01K\x02\x85R."), "build": lambda: make(None, raw=b"\x80\x02ccollections\nOrderedDict\n)R}X\x01\x00\x00\x00aK\x01sb."), "buildbad": lambda: make(None, raw=b"\x80\x02K\x01}b."), "newobj": lambda: make(None, raw=b"\x80\x02ctorch\nTensor\n)\x81."), "tensor": lambda: make(None, raw=b"\x80\x02ctorch\nTensor\n)R."), "size": lambda: make(None, raw=b"\x80\x02ctorch\nSize\n]K\x02a\x85R."), "dtype": lambda: make(None, raw=b"\x80\x02ctorch\nfloat32\n."), "device": lambda: make(None, raw=b"\x80\x02ctorch\ndevice\nX\x03\x00\x00\x00cpu\x85R."), "long": lambda: make(None, raw=b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b"."), "unicode": lambda: make(None, raw=b"\x80\x02X\xff\xff\xff\x7fabc."), "ext": lambda: make(None, raw=b"\x80\x02\x82\x01."), "inst": lambda: make(None, raw=b"\x80\x02(i__main__\nX\n."), "param": lambda: make(Call(_rebuild_parameter, t(), True, collections.OrderedDict())), "parambad": lambda: make(Call(_rebuild_parameter, 3, True, collections.OrderedDict())), "hooks": lambda: make(Call(_rebuild_tensor_v2, S(), 0, (4,), (1,), False, {"x": 1})), "args": lambda: make(Call(_rebuild_tensor_v2, S())), "twosize": lambda: make([t(s=S(n=4)), t(s=S(n=2), size=(2,))]), }.items():
    for wo in (True, False):
        if not wo and n in ("glob", "eval", "hub", "attr", "subattr", "deep", "getattr", "long4", "unicode"): continue
        told((n, wo), lambda: torch.load(f(), weights_only=wo))
big = zipfile.ZipFile(b := io.BytesIO(), "w", zipfile.ZIP_DEFLATED); big.writestr("archive/data.pkl", pickle.dumps({"a": 1}, 2)); big.writestr("archive/version", "3\n"); big.close(); b.seek(0); told("deflated", lambda: torch.load(b))
M = 0x1950a86a20f9469cfc6c
def old(*objs, tail=b"", magic=M, proto=1001): return io.BytesIO(b"".join(pickle.dumps(o, 2) for o in (magic, proto, {"protocol_version": proto, "little_endian": True, "type_sizes": {}}, *objs)) + tail)
for n, f in {"ok": lambda: old({"a": 1}, []), "magic": lambda: old(1, [], magic=5), "proto": lambda: old(1, [], proto=9), "nokeys": lambda: old(1), "evil": lambda: old(Call(os.getcwd), [])}.items():
    for wo in (True, False):
        if n == "evil" and not wo: continue
        told((n, wo), lambda: torch.load(f(), weights_only=wo))
