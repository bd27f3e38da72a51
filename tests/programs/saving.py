"""Files: both formats, what loading refuses and how it says so, maps of locations, the settings."""

# ruff: noqa
import torch, io, zipfile, os, tempfile, pickle, warnings, struct, collections, sys, types
from torch import nn
import numpy as np
torch.manual_seed(0)
S=torch.serialization
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: r=f(); print(name, '->', r)
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:400])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:300])
tmp=tempfile.mkdtemp(); os.chdir(tmp)
def buf(x,**k):
    f=io.BytesIO(); torch.save(x,f,**k); f.seek(0); return f
x=torch.arange(6.).view(2,3)
# legacy
for val in (x,[x,x[0],x.t()],{'w':nn.Parameter(x),'b':torch.ones(2,dtype=torch.bfloat16),'c':torch.ones(2,dtype=torch.complex64),'n':3},torch.tensor(3),torch.zeros(0,2),collections.OrderedDict(a=x),[x,x.storage()],nn.Linear(2,1).state_dict(),[torch.Size([2]),torch.float16,torch.device('cpu')]):
    for wo in (True,False):
        show(('legacy',wo),lambda: torch.load(buf(val,_use_new_zipfile_serialization=False),weights_only=wo))
show('legsh',lambda:[ (t:=torch.load(buf([x,x[0]],_use_new_zipfile_serialization=False)))[0].fill_(7), t[1]])
torch.save([x,x.t()],'leg.pt',_use_new_zipfile_serialization=False)
show('legfile',lambda:torch.load('leg.pt'))
show('legmmap',lambda:torch.load('leg.pt',mmap=True))
f=open('leg.pt','ab'); f.write(b'tail'); f.close(); f=open('leg.pt','rb'); show('tail',lambda:(torch.load(f),f.read())); f.close()
# two objects one after another in one file
f=io.BytesIO(); torch.save(x,f,_use_new_zipfile_serialization=False); torch.save(x+1,f,_use_new_zipfile_serialization=False); f.seek(0); show('two',lambda:(torch.load(f),torch.load(f)))
b=buf(x,_use_new_zipfile_serialization=False).getvalue()
for n in (0,1,5,20,60,len(b)//2,len(b)-3): show(('legtrunc',n),lambda:torch.load(io.BytesIO(b[:n])))
for n in (0,1,5,20,60,len(b)//2,len(b)-3): show(('legtrunc no wo',n),lambda:torch.load(io.BytesIO(b[:n]),weights_only=False))
# zip
b=buf({'a':x,'b':[x[1:],3]}).getvalue()
torch.save(x,'a.pt'); torch.save({'x':x},'b.c.pt'); print(zipfile.ZipFile('a.pt').namelist()[0],zipfile.ZipFile('b.c.pt').namelist()[0]); 
show('mmap',lambda:torch.load('a.pt',mmap=True)); show('mmapbuf',lambda:torch.load(buf(x),mmap=True))
def mm():
    t=torch.load('a.pt',mmap=True); t.add_(1); return t, torch.load('a.pt')
show('mmap cow',mm)
for ml in ('cpu',torch.device('cpu'),{'cpu':'cpu'},{'cuda:0':'cpu'},lambda s,l:s,lambda s,l:None,'cuda','foo',3,{'cpu':'cuda:0'},torch.device('cuda:1'),lambda s,l:print(type(s).__name__,len(s),l)):
    show(('ml',str(ml)[:20] if not callable(ml) else 'fn'),lambda:torch.load('a.pt',map_location=ml))
class Foo:
    def __init__(s): s.t=x
    def __eq__(s,o): return type(o) is Foo and torch.equal(s.t,o.t)
    def __repr__(s): return f'Foo({s.t.sum()})'
Foo.__module__='__main__'
torch.save(Foo(),'foo.pt')
show('foo',lambda:torch.load('foo.pt')); show('foo2',lambda:torch.load('foo.pt',weights_only=False))
with S.safe_globals([Foo]): show('foo3',lambda:torch.load('foo.pt')); print(Foo in S.get_safe_globals())
S.add_safe_globals([Foo]); show('foo4',lambda:torch.load('foo.pt')); S.clear_safe_globals(); print(S.get_safe_globals())
with S.safe_globals([(Foo,'__main__.Foo')]): show('foo5',lambda:torch.load('foo.pt'))
show('unsafe',lambda:S.get_unsafe_globals_in_checkpoint('foo.pt')); show('unsafe',lambda:S.get_unsafe_globals_in_checkpoint('a.pt')); show('unsafe leg',lambda:S.get_unsafe_globals_in_checkpoint('leg.pt'))
show('add bad',lambda:S.add_safe_globals(3)); 
show('pm',lambda:torch.load('a.pt',pickle_module=pickle,weights_only=True)); show('pm2',lambda:torch.load('a.pt',pickle_module=pickle)); show('pm3',lambda:torch.load('foo.pt',pickle_module=pickle,weights_only=False))
for v in ('1','0','true','x'):
    os.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD']=v; show(('env no',v),lambda:torch.load('foo.pt')); show(('env no2',v),lambda:torch.load('foo.pt',weights_only=True))
    del os.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD']; os.environ['TORCH_FORCE_WEIGHTS_ONLY_LOAD']=v; show(('env yes',v),lambda:torch.load('foo.pt',weights_only=False)); del os.environ['TORCH_FORCE_WEIGHTS_ONLY_LOAD']
os.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD']=os.environ['TORCH_FORCE_WEIGHTS_ONLY_LOAD']='1'; show('both',lambda:torch.load('foo.pt')); del os.environ['TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD'],os.environ['TORCH_FORCE_WEIGHTS_ONLY_LOAD']
# f
show('nofile',lambda:torch.load('none.pt')); show('dir',lambda:torch.load('.')); show('int',lambda:torch.load(3)); show('int',lambda:torch.save(x,3)); show('save nodir',lambda:torch.save(x,'no/where.pt'))

show('legacy nodir',lambda:torch.save(x,'no/where.pt',_use_new_zipfile_serialization=False))
class NoSeek:
    def __init__(s,b): s.b=io.BytesIO(b)
    def read(s,n=-1): return s.b.read(n)
show('noseek',lambda:torch.load(NoSeek(b)))
class W:
    def __init__(s): s.b=b''
    def write(s,d): s.b+=bytes(d); return len(d)
w=W(); show('write only',lambda:torch.save(x,w)); show('wl',lambda:torch.load(io.BytesIO(w.b)))
show('pickle proto5',lambda:torch.load(buf([x,'a',b'bytes',(1,2),{3},frozenset([1]),1<<80],pickle_protocol=5),weights_only=False))
for v in (b'bytes',bytearray(b'x'),{3},frozenset([1]),1<<80,-5,1.5,None,True,'é',(1,),(1,2,3,4),[],{},collections.Counter('aab'),collections.defaultdict(list),3+4j,range(3),slice(1),...,np.float64(3),np.arange(3),torch.Size([1]),torch.float64,torch.device('cuda:1'),torch.strided,types.SimpleNamespace(a=1),len,print,torch.nn.Linear,torch.nn.functional.relu,nn.Linear(1,1),torch.zeros(2).untyped_storage(),torch.optim.SGD([nn.Parameter(x)],lr=.1).state_dict(), torch.finfo(torch.float32) if 0 else 1, torch.Tensor, torch.nn.Parameter, x.requires_grad_(), nn.Buffer(x) if 0 else 2, torch.ones(2,device='meta') if 0 else 3):
    show('val',lambda:torch.load(buf(v)))
# not zip
for data in (b'',pickle.dumps({'a':1},2),b'\x80\x02}q\x00.',b'\x1f\x8b',b'\x00'*100):
    show(('junk',data[:8]),lambda:torch.load(io.BytesIO(data))); show(('junk no wo',data[:8]),lambda:torch.load(io.BytesIO(data),weights_only=False))
# hostile zip
def z(**k):
    f=io.BytesIO()
    with zipfile.ZipFile(f,'w') as q:
        for n,v in k.items(): q.writestr('archive/'+n.replace('__','/').replace('_pkl','.pkl'),v)
    f.seek(0); return f
pid=b"\x80\x02(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ."
show('h1',lambda:torch.load(z(data_pkl=pid,version='3\n',data__0=b'1234'*6)))
show('h2',lambda:torch.load(z(data_pkl=pid,version='3\n',data__0=b'1234')))
show('h3',lambda:torch.load(z(data_pkl=pid,version='3\n')))
show('h4',lambda:torch.load(z(version='3\n',data__0=b'')))
show('h5',lambda:torch.load(z(data_pkl=b'cos\nsystem\n(S"echo hi"\ntR.',version='3\n')))
show('h5b',lambda:torch.load(z(data_pkl=b'cbuiltins\neval\n(S"1"\ntR.',version='3\n')))
0 and show('h6',lambda:torch.load(z(data_pkl=b'ctorch\nFloatStorage\n(K\x05tR.',version='3\n')))
show('h7',lambda:torch.load(z(data_pkl=b'ctorch\nload\n(S"a.pt"\ntR.',version='3\n')))
show('h8',lambda:torch.load(z(data_pkl=b'\x80\x02.',version='3\n')))
show('h9',lambda:torch.load(z(data_pkl=b'',version='3\n')))
show('h10',lambda:torch.load(z(data_pkl=b'\x80\x02K\x01',version='3\n')))
show('h11',lambda:torch.load(z(data_pkl=b'\x80\x02K\x01K\x02.',version='3\n')))
show('h12',lambda:torch.load(z(data_pkl=b'\x80\x02]K\x01b.',version='3\n')))
show('h13',lambda:torch.load(z(data_pkl=b'\x80\x02\xff.',version='3\n')))
show('v',lambda:torch.load(z(data_pkl=b'\x80\x02K\x01.',version='99\n')))
show('v',lambda:torch.load(z(data_pkl=b'\x80\x02K\x01.')))
show('bo',lambda:torch.load(z(data_pkl=pid.replace(b'Q.',b'Q.'),version='3\n',byteorder='big',data__0=b'1234'*6)))
t=b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ%s%s%s\x89ccollections\nOrderedDict\n)RtR."
for off,size,st in ((b'K\x00',b'K\x06\x85',b'K\x01\x85'),(b'K\x00',b'K\x07\x85',b'K\x01\x85'),(b'K\x05',b'K\x02\x85',b'K\x01\x85'),(b'K\x00',b'K\x02\x85',b'K\xff\x85'),(b'J\xff\xff\xff\xff',b'K\x02\x85',b'K\x01\x85'),(b'K\x00',b'J\xff\xff\xff\xff\x85',b'K\x01\x85'),(b'K\x00',b'K\x02\x85',b'J\xff\xff\xff\xff\x85'),(b'K\x00',b'K\x02K\x02\x86',b'K\x01\x85')):
    show(('win',off,size,st),lambda:torch.load(z(data_pkl=t%(off,size,st),version='3\n',data__0=struct.pack('<6f',*range(6)))))
show('big',lambda:torch.load(z(data_pkl=t%(b'K\x00',b'K\x06\x85',b'K\x01\x85'),version='3\n',byteorder='big',data__0=struct.pack('>6f',*range(6)))))
# modules
m=nn.Sequential(nn.Linear(2,3),nn.BatchNorm1d(3),nn.Dropout(.2),nn.LSTM(3,2))
torch.save(m,'m.pt'); show('m',lambda:torch.load('m.pt')); show('m2',lambda:torch.load('m.pt',weights_only=False))
show('lt',lambda:S.location_tag(x.untyped_storage())); show('drl',lambda:S.default_restore_location(x.untyped_storage(),'cpu')[:4]); show('drl',lambda:S.default_restore_location(x.untyped_storage(),'cuda:0')); show('drl',lambda:S.default_restore_location(x.untyped_storage(),'foo'))
show('norm',lambda:S.normalize_storage_type(torch.FloatStorage))
show('ver',lambda:[S.check_module_version_greater_or_equal(np,(1,0)),S.check_module_version_greater_or_equal(np,(9,0)),S.check_module_version_greater_or_equal(types.SimpleNamespace(__version__='a.b',__name__='q'),(1,))])
show('crc',lambda:(S.set_crc32_options(False),torch.save(x,'c.pt'),torch.load('c.pt'),S.set_crc32_options(True)))
def sk():
    with S.skip_data(): torch.save(x,'s.pt')
    return os.path.getsize('s.pt')>64, torch.load('s.pt').shape
show('skip',sk); torch.save(x,'a.pt')
def sk2():
    with S.skip_data(): return torch.load('a.pt').shape
show('skip2',sk2)
show('mmap opts',lambda:(S.get_default_mmap_options(),type(S.set_default_mmap_options(S.MAP_PRIVATE)).__name__)); show('mo',lambda:S.set_default_mmap_options(17))
show('reg',lambda:S.register_package(5,lambda s:None,lambda s,l:None)); 
show('LE',lambda:(S.set_default_load_endianness(S.LoadEndianness.BIG),torch.load('a.pt').flatten()[1:3])); S.set_default_load_endianness(None); show('LE',lambda:S.set_default_load_endianness(3))
print(os.listdir('.')==os.listdir('.'), [n for n in os.listdir('.') if n.startswith('.') or n.endswith('tmp')])
show('unpicklable',lambda:torch.save([x,lambda:0],'a.pt'))
show('nonleaf',lambda:torch.load(buf(x.requires_grad_()*2))); show('hook',lambda:(x.register_hook(print).id and torch.load(buf(x),weights_only=False)))
show('kw',lambda:torch.load('b.c.pt',encoding='latin1')); show('kw',lambda:torch.load('b.c.pt',foo=1))
