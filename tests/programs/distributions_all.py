"""Every distribution: samples of the seed, gradients through them, densities, moments, what is refused."""

# ruff: noqa
import torch, warnings, itertools, copy
import torch.distributions as D
from torch.distributions import constraints as C, transforms as T
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:400])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:200])
t=torch.tensor
torch.manual_seed(0)
def P():
  L=torch.tensor([[1.,0],[.5,2.]]); cov=L@L.T
  return {
 'Bernoulli':[dict(probs=t([.2,.7])),dict(logits=t([0.,-3.]))],'Beta':[dict(concentration1=t([.5,2.]),concentration0=t(3.))],'Binomial':[dict(total_count=t([3.,10.]),probs=t([.2,.7])),dict(total_count=5,logits=t(1.))],
 'Categorical':[dict(probs=t([[.2,.3,.5],[.1,.1,.8]])),dict(logits=t([0.,-3.,1]))],'Cauchy':[dict(loc=t([0.,1]),scale=t(2.))],'Chi2':[dict(df=t([1.,3.]))],'ContinuousBernoulli':[dict(probs=t([.2,.5,.9])),dict(logits=t([.1,3.]))],
 'Dirichlet':[dict(concentration=t([[.5,1.,2.],[3.,1,1]]))],'Exponential':[dict(rate=t([.5,2.]))],'FisherSnedecor':[dict(df1=t([3.,5.]),df2=t([6.,8.]))],'Gamma':[dict(concentration=t([.3,2.]),rate=t(2.))],'GeneralizedPareto':[dict(loc=t([0.,1]),scale=t(1.),concentration=t([.1,-.3]))],'Geometric':[dict(probs=t([.2,.7])),dict(logits=t(.3))],'Gumbel':[dict(loc=t([0.,1]),scale=t(2.))],'HalfCauchy':[dict(scale=t([1.,2.]))],'HalfNormal':[dict(scale=t([1.,2.]))],'InverseGamma':[dict(concentration=t([2.5,3.]),rate=t(2.))],'Kumaraswamy':[dict(concentration1=t([.5,2.]),concentration0=t(3.))],'LKJCholesky':[dict(dim=3,concentration=t([.5,2.]))],'Laplace':[dict(loc=t([0.,1]),scale=t(2.))],'LogNormal':[dict(loc=t([0.,1]),scale=t(.5))],'LogisticNormal':[dict(loc=t([0.,1]),scale=t([.5,1.]))],'LowRankMultivariateNormal':[dict(loc=t([0.,1]),cov_factor=t([[1.],[.5]]),cov_diag=t([1.,2.]))],'Multinomial':[dict(total_count=5,probs=t([[.2,.3,.5],[.1,.1,.8]])),dict(total_count=3,logits=t([0.,1.,2.]))],'MultivariateNormal':[dict(loc=t([0.,1]),covariance_matrix=cov),dict(loc=t([[0.,1],[2,3]]),scale_tril=L),dict(loc=t([0.,1]),precision_matrix=cov)],'NegativeBinomial':[dict(total_count=t([3.,2.5]),probs=t([.2,.7])),dict(total_count=3,logits=t(.1))],'Normal':[dict(loc=t([0.,1]),scale=t(2.)),dict(loc=0,scale=1)],'OneHotCategorical':[dict(probs=t([.2,.3,.5]))],'OneHotCategoricalStraightThrough':[dict(logits=t([[.2,.3,.5],[0,0,1.]]))],'Pareto':[dict(scale=t([1.,2.]),alpha=t([3.,2.5]))],'Poisson':[dict(rate=t([.5,20.]))],'RelaxedBernoulli':[dict(temperature=t(.7),probs=t([.2,.7]))],'RelaxedOneHotCategorical':[dict(temperature=t(.7),logits=t([.2,.7,0]))],'StudentT':[dict(df=t([3.,5.]),loc=t(1.),scale=t(2.))],'Uniform':[dict(low=t([0.,1]),high=t([2.,3.]))],'VonMises':[dict(loc=t([0.,1]),concentration=t([.5,4.]))],'Weibull':[dict(scale=t([1.,2.]),concentration=t([.7,2.]))],'Wishart':[dict(df=t(3.),covariance_matrix=cov),dict(df=t([3.,4.]),scale_tril=L)]}
torch.set_printoptions(precision=4,sci_mode=False)
for n,ks in P().items():
    for i,k in enumerate(ks):
        def mk(**o): return getattr(D,n)(**P()[n][i],**o)
        d=mk(); print('#',n,i,d,d.batch_shape,d.event_shape,d.has_rsample,d.has_enumerate_support, d.support, sorted(d.arg_constraints.items(),key=lambda x:x[0]))
        torch.manual_seed(1); x=d.sample((3,)); show('sample',lambda:x); show('sample0',lambda:d.sample())
        if d.has_rsample:
            def rs():
                kk={a:(b.clone().requires_grad_() if isinstance(b,torch.Tensor) and b.is_floating_point() else b) for a,b in P()[n][i].items()}
                torch.manual_seed(2); y=getattr(D,n)(**kk).rsample((4,)); g=torch.autograd.grad((y*torch.linspace(.5,1.5,y.numel()).view(y.shape)).sum(),[b for b in kk.values() if isinstance(b,torch.Tensor)],allow_unused=True); return y.shape,g
            if n!='Wishart': show('rsample',rs)
        def lp():
            kk={a:(b.clone().requires_grad_() if isinstance(b,torch.Tensor) and b.is_floating_point() else b) for a,b in P()[n][i].items()}
            v=getattr(D,n)(**kk).log_prob(x); ps=[b for b in kk.values() if isinstance(b,torch.Tensor) and b.requires_grad]
            return v, torch.autograd.grad(v.sum(),ps,allow_unused=True) if ps else 0
        show('logprob',lp)
        for m in ('mean','mode','variance','stddev'): show(m,lambda:getattr(d,m))
        show('entropy',lambda:d.entropy()); show('perplexity',lambda:d.perplexity()); show('cdf',lambda:d.cdf(x)); show('icdf',lambda:d.icdf(torch.tensor([.1,.6]) if d.batch_shape==(2,) else torch.tensor(.3)))
        show('enum',lambda:(d.enumerate_support().shape,d.enumerate_support(False).flatten()[:4]))
        show('expand',lambda:(lambda e:(e,e.sample().shape,e.log_prob(e.sample()).shape,type(e).__name__))(d.expand((3,)+tuple(d.batch_shape))))
        show('bad value',lambda:d.log_prob(x*float('nan'))); show('bad value2',lambda:d.log_prob(torch.full((7,5),.5)))
        show('sampleN',lambda:d.sample_n(2).shape); show('deep',lambda:copy.deepcopy(d))
        for a,b in P()[n][i].items():
            if isinstance(b,torch.Tensor): show(('bad',a),lambda:getattr(D,n)(**{**P()[n][i],a:b*float('nan')})); show(('bad2',a),lambda:getattr(D,n)(**{**P()[n][i],a:-b-1e3}))
        show('noval',lambda:mk(validate_args=False)._validate_args)
