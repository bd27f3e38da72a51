"""Autocast: the type of the result of each op for each type of input; nesting, old names; GradScaler."""

# ruff: noqa
import torch, warnings, copy, pickle
from torch import nn
F=torch.nn.functional
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:300])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:300])
dt=lambda r: str(r.dtype) if isinstance(r,torch.Tensor) else [dt(x) for x in r] if isinstance(r,(tuple,list)) else type(r).__name__
torch.manual_seed(0)
x=torch.randn(4,4); v=torch.randn(4); b3=torch.randn(2,4,4); im=torch.randn(1,2,6,6); h=x.half(); bf=x.bfloat16(); d=x.double(); c1=torch.randn(1,2,8); c3=torch.randn(1,2,4,4,4); pos=torch.rand(4,4)+.1; spd=x@x.T+torch.eye(4)
OPS={k:f for k,f in dict(
 mm=lambda a:torch.mm(a,a),matmul=lambda a:a@a,bmm=lambda a:torch.bmm(b3.to(a.dtype),b3.to(a.dtype)),mv=lambda a:torch.mv(a,v.to(a.dtype)),dot=lambda a:torch.dot(v.to(a.dtype),v.to(a.dtype)),addmm=lambda a:torch.addmm(a,a,a),baddbmm=lambda a:torch.baddbmm(b3.to(a.dtype),b3.to(a.dtype),b3.to(a.dtype)),addbmm=lambda a:torch.addbmm(a,b3.to(a.dtype),b3.to(a.dtype)),addmv=lambda a:torch.addmv(v.to(a.dtype),a,v.to(a.dtype)),addr=lambda a:torch.addr(a,v.to(a.dtype),v.to(a.dtype)),linear=lambda a:F.linear(a,a),bilinear=lambda a:F.bilinear(a,a,b3.to(a.dtype)),multi=lambda a:torch.linalg.multi_dot([a,a]),einsum=lambda a:torch.einsum('ij,jk->ik',a,a),conv1d=lambda a:F.conv1d(c1.to(a.dtype),torch.ones(3,2,3).to(a.dtype)),conv2d=lambda a:F.conv2d(im.to(a.dtype),torch.ones(3,2,3,3).to(a.dtype)),conv3d=lambda a:F.conv3d(c3.to(a.dtype),torch.ones(3,2,3,3,3).to(a.dtype)),convt=lambda a:F.conv_transpose2d(im.to(a.dtype),torch.ones(2,2,3,3).to(a.dtype)),sdpa=lambda a:F.scaled_dot_product_attention(b3.to(a.dtype),b3.to(a.dtype),b3.to(a.dtype)),
 add=lambda a:a+a,mul=lambda a:a*a,addmix=lambda a:a+x,addh=lambda a:a+h,relu=torch.relu,gelu=F.gelu,silu=F.silu,sigmoid=torch.sigmoid,tanh=torch.tanh,exp=torch.exp,log=lambda a:torch.log(pos.to(a.dtype)),pow=lambda a:pos.to(a.dtype)**2.5,sqrt=lambda a:pos.to(a.dtype).sqrt(),rsqrt=lambda a:pos.to(a.dtype).rsqrt(),sin=torch.sin,softplus=F.softplus,softmax=lambda a:F.softmax(a,-1),lsm=lambda a:F.log_softmax(a,-1),tsm=lambda a:torch.softmax(a,-1),sum=torch.sum,mean=torch.mean,prod=torch.prod,cumsum=lambda a:a.cumsum(0),cumprod=lambda a:a.cumprod(0),norm=torch.norm,vnorm=torch.linalg.vector_norm,mnorm=torch.linalg.matrix_norm,var=torch.var,std=torch.std,lse=lambda a:torch.logsumexp(a,0),dist=lambda a:torch.dist(a,a),cdist=lambda a:torch.cdist(a,a),pdist=lambda a:F.pdist(a),cos=lambda a:F.cosine_similarity(a,a),pair=lambda a:F.pairwise_distance(a,a),
 ln=lambda a:F.layer_norm(a,(4,)),gn=lambda a:F.group_norm(im.to(a.dtype),1),inorm=lambda a:F.instance_norm(im.to(a.dtype)),bn=lambda a:F.batch_norm(im.to(a.dtype),None,None,training=True),rms=lambda a:F.rms_norm(a,(4,)),lrn=lambda a:F.local_response_norm(im.to(a.dtype),2),mse=lambda a:F.mse_loss(a,a),l1=lambda a:F.l1_loss(a,a),sl1=lambda a:F.smooth_l1_loss(a,a),huber=lambda a:F.huber_loss(a,a),ce=lambda a:F.cross_entropy(a,torch.arange(4)),nll=lambda a:F.nll_loss(a,torch.arange(4)),bce=lambda a:F.binary_cross_entropy(pos.clamp(0,1).to(a.dtype),pos.clamp(0,1).to(a.dtype)),bcel=lambda a:F.binary_cross_entropy_with_logits(a,a),kl=lambda a:F.kl_div(a,a),poi=lambda a:F.poisson_nll_loss(a,a),hinge=lambda a:F.hinge_embedding_loss(a,a),cel=lambda a:F.cosine_embedding_loss(a,a,torch.ones(4)),trip=lambda a:F.triplet_margin_loss(a,a,a),mlm=lambda a:F.multilabel_margin_loss(a,torch.zeros(4,4).long()),mm_=lambda a:F.multi_margin_loss(a,torch.arange(4)),soft=lambda a:F.soft_margin_loss(a,a),ctc=lambda a:F.ctc_loss(F.log_softmax(torch.randn(5,1,3),-1).to(a.dtype),torch.tensor([[1]]),torch.tensor([5]),torch.tensor([1])),
 mp=lambda a:F.max_pool2d(im.to(a.dtype),2),ap=lambda a:F.avg_pool2d(im.to(a.dtype),2),aap=lambda a:F.adaptive_avg_pool2d(im.to(a.dtype),2),up=lambda a:F.interpolate(im.to(a.dtype),scale_factor=2),upb=lambda a:F.interpolate(im.to(a.dtype),scale_factor=2,mode='bilinear'),gs=lambda a:F.grid_sample(im.to(a.dtype),torch.zeros(1,2,2,2).to(a.dtype)),pad=lambda a:F.pad(a,(1,1)),padr=lambda a:F.pad(im.to(a.dtype),(1,1,1,1),mode='reflect'),emb=lambda a:F.embedding(torch.arange(2),a),dropout=lambda a:F.dropout(a,.5),cat=lambda a:torch.cat([a,x]),catb=lambda a:torch.cat([a,bf]),stack=lambda a:torch.stack([a,bf]),where=lambda a:torch.where(a>0,a,x),index_copy=lambda a:a.index_copy(0,torch.tensor([0]),a[:1]),view=lambda a:a.T,clamp=lambda a:a.clamp(0,1),
 svd=lambda a:torch.linalg.svd(a),inv=lambda a:torch.linalg.inv(spd.to(a.dtype)),det=lambda a:torch.det(a),chol=lambda a:torch.linalg.cholesky(spd.to(a.dtype)),solve=lambda a:torch.linalg.solve(spd.to(a.dtype),a),qr=lambda a:torch.linalg.qr(a),eigh=lambda a:torch.linalg.eigh(spd.to(a.dtype)),fft=lambda a:torch.fft.fft(a),stft=lambda a:torch.stft(torch.ones(20).to(a.dtype),8,window=torch.ones(8),return_complex=True),trace=torch.trace,quantile=lambda a:torch.quantile(a,.5),median=torch.median,cross=lambda a:torch.linalg.cross(a[:,:3],a[:,:3]),tensordot=lambda a:torch.tensordot(a,a,1),kron=lambda a:torch.kron(a,a),outer=lambda a:torch.outer(v.to(a.dtype),v.to(a.dtype)),inner=lambda a:torch.inner(a,a),addcmul=lambda a:torch.addcmul(a,a,x),addcdiv=lambda a:torch.addcdiv(a,a,x),lerp=lambda a:torch.lerp(a,a,.5),erf=torch.erf,lgamma=lambda a:torch.lgamma(a),atan2=lambda a:torch.atan2(a,a),argmax=torch.argmax,renorm=lambda a:torch.renorm(a,2,0,1),mha=lambda a:nn.MultiheadAttention(4,2)(a,a,a)[0],gru=lambda a:nn.GRUCell(4,3)(a),tel=lambda a:nn.TransformerEncoderLayer(4,2,8)(a),glu=lambda a:F.glu(a),hardswish=F.hardswish,mish=F.mish,prelu=lambda a:F.prelu(a,torch.tensor(.2)),logit=lambda a:torch.logit(pos.clamp(.1,.9).to(a.dtype)),polar=lambda a:torch.polar(pos,pos),cummax=lambda a:a.cummax(0),sort=lambda a:a.sort(),topk=lambda a:a.topk(2),unfold=lambda a:F.unfold(im.to(a.dtype),2),pixel=lambda a:F.pixel_shuffle(torch.ones(1,4,2,2).to(a.dtype),2),addinto=lambda a:a.clone().add_(x),mminto=lambda a:torch.mm(a,a,out=torch.empty(4,4,dtype=a.dtype))).items()}
for amp in (torch.bfloat16,torch.float16):
    for src in (torch.float32,torch.bfloat16,torch.float16,torch.float64):
        for n,f in OPS.items():
            def g():
                with torch.autocast('cpu',dtype=amp): return dt(f(x.to(src)))
            show((n,str(amp)[6:],str(src)[6:]),g)
# nesting and state
def nest():
    out=[torch.is_autocast_enabled('cpu'),torch.get_autocast_dtype('cpu')]
    with torch.autocast('cpu'):
        out+=[torch.is_autocast_enabled('cpu'),(x@x).dtype]
        with torch.autocast('cpu',enabled=False): out+=[(x@x).dtype,(x@x.bfloat16().float()).dtype]
        with torch.autocast('cpu',dtype=torch.float16): out+=[(x@x).dtype,torch.get_autocast_dtype('cpu')]
        out+=[torch.get_autocast_dtype('cpu'),torch.is_autocast_cache_enabled()]
        with torch.autocast('cpu',cache_enabled=False): out.append(torch.is_autocast_cache_enabled())
    return out+[torch.is_autocast_enabled('cpu'),torch.is_autocast_enabled()]
show('nest',nest)
for a,k in (('cuda',{}),('cpu',dict(dtype=torch.float64)),('cpu',dict(dtype=torch.float32)),(3,{}),('cpu',dict(dtype='a')),('mps',{}),('xpu',{})):
    def g():
        with torch.autocast(a,**k): return (x@x).dtype
    show((a,str(k)),g)
@torch.autocast('cpu')
def fn(a): return a@a
show('deco',lambda:fn(x).dtype); show('deco off',lambda:torch.autocast('cpu',enabled=False)(lambda a:(a@a).dtype)(x))
show('old',lambda:torch.cpu.amp.autocast()._enabled); show('oldc',lambda:torch.cuda.amp.autocast()._enabled); show('avail',lambda:(torch.amp.is_autocast_available('cpu'),torch.amp.is_autocast_available('cuda')))
from torch.amp import custom_fwd, custom_bwd
class Fn(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type='cpu',cast_inputs=torch.float32)
    def forward(ctx,a): ctx.save_for_backward(a); print('   in',a.dtype,torch.is_autocast_enabled('cpu')); return a@a
    @staticmethod
    @custom_bwd(device_type='cpu')
    def backward(ctx,g): a,=ctx.saved_tensors; print('   bw',g.dtype,torch.is_autocast_enabled('cpu')); return g@a.T+a.T@g
class Fn2(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type='cpu')
    def forward(ctx,a): print('   in2',a.dtype,torch.is_autocast_enabled('cpu')); return a*2
    @staticmethod
    @custom_bwd(device_type='cpu')
    def backward(ctx,g): print('   bw2',g.dtype,torch.is_autocast_enabled('cpu')); return g*2
def cf():
    a=x.clone().requires_grad_()
    with torch.autocast('cpu'): y=Fn.apply(a.bfloat16())+Fn2.apply(a)
    y.sum().backward(); return y.dtype,a.grad.dtype
show('custom',cf)
# training and cache
m=nn.Sequential(nn.Linear(4,8),nn.ReLU(),nn.LayerNorm(8),nn.Linear(8,2)); o=torch.optim.SGD(m.parameters(),lr=.1)
for i in range(3):
    with torch.autocast('cpu',dtype=torch.bfloat16): y=m(x); l=F.cross_entropy(y,torch.tensor([0,1,0,1]))
    o.zero_grad(); l.backward(); o.step(); print(y.dtype,l.dtype,l.item()<.8,[p.grad.dtype for p in m.parameters()][:2])
def graph():
    w=nn.Parameter(torch.ones(4,4))
    with torch.autocast('cpu'): y=x@w+x@w
    s=[]; n=y.grad_fn
    def walk(n,d):
        if n is None or d>4: return
        s.append('  '*d+n.name().replace('torch::autograd::','')); [walk(k,d+1) for k,_ in n.next_functions]
    walk(n,0); return '|'.join(s)
show('graph',graph)
# GradScaler
for dev in ('cpu','cuda'):
    def sc():
        s=torch.amp.GradScaler(dev,init_scale=8.,growth_interval=2); p=nn.Parameter(torch.ones(2)); op=torch.optim.SGD([p],lr=.1); out=[s.is_enabled(),s.get_scale()]
        for k in (1.,1.,float('inf'),1.,1.,1.):
            op.zero_grad(); s.scale((p*k).sum()).backward(); s.unscale_(op) if k==1. else None; r=s.step(op); s.update(); out.append((p.tolist(),s.get_scale(),s._get_growth_tracker()))
        return out,s.state_dict()
    show(('scaler',dev),sc)
S=lambda **k: torch.amp.GradScaler('cpu',**k)
show('e1',lambda:S(growth_factor=.5)); show('e2',lambda:S(backoff_factor=2)); show('e3',lambda:S().update()); show('e4',lambda:S().step(torch.optim.SGD([nn.Parameter(x)],lr=1)))
def twice():
    s=S(); p=nn.Parameter(torch.ones(1)); op=torch.optim.SGD([p],lr=.1); s.scale(p.sum()).backward(); s.unscale_(op); s.unscale_(op)
show('twice',twice)
def after():
    s=S(); p=nn.Parameter(torch.ones(1)); op=torch.optim.SGD([p],lr=.1); s.scale(p.sum()).backward(); s.step(op); s.step(op)
show('after',after)
def closure():
    s=S(); p=nn.Parameter(torch.ones(1)); op=torch.optim.SGD([p],lr=.1); s.scale(p.sum()).backward(); s.step(op,closure=lambda:1)
show('closure',closure)
show('list',lambda:S(init_scale=2.).scale([torch.ones(1),{'a':torch.ones(1)}] if 0 else [torch.ones(1),(torch.ones(1),)])); show('bad',lambda:S().scale(3)); show('sd',lambda:(lambda s:(s.load_state_dict(S(init_scale=4.).state_dict()),s.get_scale()))(S())); show('sd e',lambda:S().load_state_dict({})); show('off',lambda:(lambda s:(s.scale(torch.ones(1)),s.state_dict(),s.get_scale(),s.is_enabled()))(S(enabled=False)))
def half():
    s=S(); p=nn.Parameter(torch.ones(1).half()); op=torch.optim.SGD([p],lr=.1); p.grad=torch.ones(1).half(); s.scale(torch.ones(1)); s.unscale_(op)
show('half',half); show('pickle',lambda:pickle.loads(pickle.dumps(S(init_scale=4.))).get_scale()); show('setters',lambda:(lambda s:(s.set_growth_factor(3.),s.set_backoff_factor(.3),s.set_growth_interval(7),s.get_growth_factor(),s.get_backoff_factor(),s.get_growth_interval()))(S())); show('new scale',lambda:(lambda s:(s.scale(torch.ones(1)),s.update(5.),s.get_scale()))(S()))

r=torch.randn(3,2,4)
for n in ('RNN','LSTM','GRU'):
    m=getattr(nn,n)(4,3)
    for src in (torch.float32,torch.bfloat16):
        for h in (None,1):
            with torch.autocast('cpu'):
                hx=None if h is None else (torch.zeros(1,2,3) if n!='LSTM' else (torch.zeros(1,2,3),torch.zeros(1,2,3)))
                q,s=m(r.to(src),hx); print(n,src,h,q.dtype,[t.dtype for t in (s if isinstance(s,tuple) else (s,))])
                q.float().sum().backward(); print(m.weight_ih_l0.grad.dtype)
for n in ('RNNCell','LSTMCell','GRUCell'):
    m=getattr(nn,n)(4,3)
    for src in (torch.float32,torch.bfloat16):
        with torch.autocast('cpu'): q=m(r[0].to(src)); print(n,src,[t.dtype for t in (q if isinstance(q,tuple) else (q,))])
for m,a in ((nn.MultiheadAttention(4,2),3),(nn.TransformerEncoderLayer(4,2,8),1),(nn.TransformerDecoderLayer(4,2,8),2),(nn.Transformer(4,2,1,1,8),2)):
    for src in (torch.float32,torch.bfloat16):
        with torch.autocast('cpu'): q=m(*[r.to(src)]*a); q=q[0] if isinstance(q,tuple) else q; print(type(m).__name__,src,q.dtype)
