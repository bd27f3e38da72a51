"""Kullback-Leibler divergences of all pairs, transforms, constraints, mixtures, registries."""

# ruff: noqa
import torch, warnings, itertools, copy
import torch.distributions as D
from torch.distributions import constraints as C, transforms as T, kl, biject_to, transform_to
def show(name, f):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        try: print(name, '->', f())
        except Exception as e: print(name, '!!', type(e).__name__, str(e)[:400])
        for x in w: print('   warn',x.category.__name__,str(x.message)[:200])
t=torch.tensor; torch.manual_seed(0)
L=torch.tensor([[1.,0],[.5,2.]]); cov=L@L.T
DS={'Bern':D.Bernoulli(t([.2,.7])),'Beta':D.Beta(t([.5,2.]),t(3.)),'Binom':D.Binomial(5,t([.2,.7])),'Cat':D.Categorical(t([.2,.3,.5])),'Cauchy':D.Cauchy(t([0.,1]),t(2.)),'CB':D.ContinuousBernoulli(t([.2,.9])),'Dir':D.Dirichlet(t([.5,1.,2.])),'Exp':D.Exponential(t([.5,2.])),'Gamma':D.Gamma(t([.5,2.]),t(3.)),'Geo':D.Geometric(t([.2,.7])),'Gum':D.Gumbel(t([0.,1]),t(2.)),'HN':D.HalfNormal(t([1.,2])),'Ind':D.Independent(D.Normal(t([0.,1]),t([1.,2])),1),'Lap':D.Laplace(t([0.,1]),t(2.)),'LN':D.LogNormal(t([0.,1]),t(.5)),'LR':D.LowRankMultivariateNormal(t([0.,1]),t([[1.],[.5]]),t([1.,2])),'MVN':D.MultivariateNormal(t([0.,1]),cov),'N':D.Normal(t([0.,1]),t([1.,2])),'OHC':D.OneHotCategorical(t([.2,.3,.5])),'Par':D.Pareto(t([1.,2]),t([3.,2.])),'Poi':D.Poisson(t([.5,3.])),'U':D.Uniform(t([0.,1]),t([2.,3])),'Wei':D.Weibull(t([1.,2.]),t([.7,2.])),'ST':D.StudentT(t(3.)),'IG':D.InverseGamma(t([2.5,3.]),t(2.)),'Kum':D.Kumaraswamy(t([.5,2.]),t(3.)),'VM':D.VonMises(t(0.),t(1.)),'Wis':D.Wishart(t(3.),cov),'TD':D.TransformedDistribution(D.Normal(t([0.,1]),t(1.)),[T.ExpTransform()]),'U2':D.Uniform(t([-1.,0]),t([5.,6])),'Beta2':D.Beta(t([1.5,2.]),t(1.)),'HC':D.HalfCauchy(t([1.,2])),'NB':D.NegativeBinomial(t(3.),t([.2,.6])),'RB':D.RelaxedBernoulli(t(.5),t([.2,.6])),'GP':D.GeneralizedPareto(t(0.),t(1.),t(.1)),'LKJ':D.LKJCholesky(3),'Mult':D.Multinomial(3,t([.2,.8])),'Chi2':D.Chi2(t([2.,3.])),'F':D.FisherSnedecor(t(3.),t(6.))}
for (a,p),(b,q) in itertools.product(DS.items(),DS.items()):
    def f():
        torch.manual_seed(0); return D.kl_divergence(p,q)
    try: r=f(); print('kl',a,b,r)
    except NotImplementedError as e: 
        if a==b: print('kl',a,b,'NIE',str(e)[:80])
    except Exception as e: print('kl',a,b,type(e).__name__,str(e)[:100])
TS={'Abs':(T.AbsTransform(),t([1.,-2])),'Aff':(T.AffineTransform(1.,t([2.,-3])),t([1.,-2])),'Aff1':(T.AffineTransform(0,2,event_dim=1),t([1.,-2])),'Exp':(T.ExpTransform(),t([1.,-2])),'Pow':(T.PowerTransform(t(2.)),t([1.,2])),'Sig':(T.SigmoidTransform(),t([1.,-2])),'Tanh':(T.TanhTransform(),t([1.,-2])),'Softplus':(T.SoftplusTransform(),t([1.,-2])),'Softmax':(T.SoftmaxTransform(),t([1.,-2,0])),'SB':(T.StickBreakingTransform(),t([1.,-2,0])),'LC':(T.LowerCholeskyTransform(),torch.randn(3,3)),'PD':(T.PositiveDefiniteTransform(),torch.randn(2,2)),'CC':(T.CorrCholeskyTransform(),torch.randn(3)),'Comp':(T.ComposeTransform([T.ExpTransform(),T.AffineTransform(0,2.)]),t([1.,2])),'Inv':(T.ExpTransform().inv,t([1.,2])),'Ind':(T.IndependentTransform(T.ExpTransform(),1),t([1.,2])),'Resh':(T.ReshapeTransform((4,),(2,2)),t([1.,2,3,4])),'Cat':(T.CatTransform([T.ExpTransform(),T.AffineTransform(0.,2.)],0,[1,2]),t([1.,2,3])),'Stack':(T.StackTransform([T.ExpTransform(),T.AffineTransform(0.,2.)],0),torch.randn(2,2)),'CDF':(T.CumulativeDistributionTransform(D.Normal(0.,1.)),t([.1,-2])),'Id':(T.identity_transform,t([1.]))}
for n,(tr,x) in TS.items():
    show(('T',n),lambda:(tr,tr.domain,tr.codomain,tr.bijective,getattr(tr,'sign','no'),tr.event_dim if hasattr(tr,'event_dim') else ''))
    show('y',lambda:tr(x)); show('inv',lambda:tr.inv(tr(x))); show('inv2',lambda:tr._inverse(tr(x))); show('ladj',lambda:tr.log_abs_det_jacobian(x,tr(x))); show('fs',lambda:(tr.forward_shape(x.shape),tr.inverse_shape(tr.forward_shape(x.shape)))); show('eq',lambda:(tr==T.ExpTransform(),tr.inv.inv is tr)); show('cache',lambda:(lambda c:(c(x) is c(x),c.inv(c(x)) is x))(tr.with_cache(1))); show('cache e',lambda:tr.with_cache(3)); show('sign',lambda:tr.sign); show('repr',lambda:repr(tr.inv))
CS=dict(boolean=C.boolean,cat=C.cat([C.positive,C.real],0,[1,2]),cc=C.corr_cholesky,dep=C.dependent,depp=C.dependent_property(is_discrete=False,event_dim=0),gt=C.greater_than(1),gte=C.greater_than_eq(1.),ind=C.independent(C.positive,1),ii=C.integer_interval(1,3),inv=C.interval(0.,2.),hoi=C.half_open_interval(0.,2.),lt=C.less_than(2),lc=C.lower_cholesky,lt2=C.lower_triangular,mn=C.multinomial(3),nn=C.nonnegative,nni=C.nonnegative_integer,oh=C.one_hot,p=C.positive,pd=C.positive_definite,psd=C.positive_semidefinite,pi=C.positive_integer,real=C.real,rv=C.real_vector,sx=C.simplex,sq=C.square,st=C.stack([C.positive,C.real],0),sym=C.symmetric,ui=C.unit_interval,mix=C.MixtureSameFamilyConstraint(C.positive))
vals=[t([0.,1.]),t([[1.,0],[0,1.]]),t([-1.,.5,.5]),t(2.),t([.3,.7]),t([[1.,2],[3,4]]),t([float('nan'),1.]),t([1.,2.])]
for n,c in CS.items():
    show(('C',n),lambda:(repr(c),c.is_discrete,c.event_dim)); 
    for v in vals: show('chk',lambda:c.check(v))
    show('bij',lambda:biject_to(c)); show('tr',lambda:transform_to(c)); 
show('isdep',lambda:(C.is_dependent(C.dependent),C.is_dependent(C.positive)))
class MyC(C.Constraint): pass
show('reg',lambda:biject_to(MyC())); biject_to.register(MyC,lambda c:T.ExpTransform()); show('reg',lambda:biject_to(MyC())); show('reg e',lambda:biject_to.register(3,lambda c:1)); show('base',lambda:MyC().check(t(1.)))
class MyD(D.Normal): pass
show('kl sub',lambda:D.kl_divergence(MyD(0.,1.),D.Normal(1.,1.)))
@D.register_kl(MyD,MyD)
def k(p,q): return t(42.)
show('kl reg',lambda:D.kl_divergence(MyD(0.,1.),MyD(1.,1.))); show('kl e',lambda:D.register_kl(3,MyD)); show('kl e',lambda:D.register_kl(MyD,3)); show('kl none',lambda:D.kl_divergence(D.Normal(0.,1.),D.Poisson(1.)))
show('mix',lambda:(lambda m:(m,m.log_prob(t([.5])),m.mean,m.variance,m.cdf(t(.5)),m.sample((2,)),m.support))(D.MixtureSameFamily(D.Categorical(t([.3,.7])),D.Normal(t([0.,1]),t([1.,2.])))))
show('mix e',lambda:D.MixtureSameFamily(D.Normal(0.,1.),D.Normal(0.,1.))); show('mix e2',lambda:D.MixtureSameFamily(D.Categorical(t([.3,.7])),D.Normal(t([0.]*3),1.))); show('mix e3',lambda:D.MixtureSameFamily(D.Categorical(t([.3,.7])),3))
show('ind',lambda:(lambda i:(i,i.log_prob(t([0.,1])),i.entropy(),i.mean,i.mode,i.support,i.has_rsample))(D.Independent(D.Normal(t([0.,1]),t(1.)),1))); show('ind e',lambda:D.Independent(D.Normal(0.,1.),1))
show('td',lambda:(lambda d:(d,d.log_prob(t([.5,2.])),d.cdf(t([.5,2.])),d.icdf(t([.2,.3])),d.sample(),d.support,d.transforms))(D.TransformedDistribution(D.Normal(t([0.,1]),t(1.)),[T.ExpTransform(),T.AffineTransform(1.,2.)]))); show('td e',lambda:D.TransformedDistribution(D.Normal(0.,1.),3)); show('td e2',lambda:D.TransformedDistribution(D.Categorical(t([.5,.5])),[T.StickBreakingTransform()]))
show('lkj e',lambda:D.LKJCholesky(1)); show('cat e',lambda:D.Categorical(t(1.))); show('cat both',lambda:D.Categorical(probs=t([1.]),logits=t([1.]))); show('cat none',lambda:D.Categorical()); show('bern both',lambda:D.Bernoulli(t(.5),t(.5))); show('mvn none',lambda:D.MultivariateNormal(t([0.]))); show('mvn two',lambda:D.MultivariateNormal(t([0.]),t([[1.]]),t([[1.]]))); show('mvn s',lambda:D.MultivariateNormal(t(0.),t([[1.]]))); show('u',lambda:D.Uniform(t(2.),t(1.))); show('mult inh',lambda:D.Multinomial(t([1,2]),t([.5,.5]))); show('neg',lambda:D.Normal(t(0.),t(-1.))); show('val arg',lambda:D.Distribution.set_default_validate_args(3)); 
D.Distribution.set_default_validate_args(False); show('noval',lambda:D.Normal(t(0.),t(-1.))); D.Distribution.set_default_validate_args(True)
from torch.distributions.utils import *
import torch.distributions.utils as U
show('U',lambda:(U.broadcast_all(1,t([1.,2])),U.probs_to_logits(t([.2,.8])),U.probs_to_logits(t(.2),is_binary=True),U.logits_to_probs(t([1.,2])),U.clamp_probs(t([0.,1])),U.tril_matrix_to_vec(torch.ones(2,2)),U.vec_to_tril_matrix(t([1.,2,3])))); show('U e',lambda:U.broadcast_all('a',1))
class Custom(D.Distribution):
    arg_constraints={'a':C.positive}
    def __init__(s,a,**k): s.a=a; super().__init__(a.shape,**k)
show('cust',lambda:Custom(t([1.,2.]))); show('cust e',lambda:Custom(t([1.,-2.]))); 
for m in ('sample','rsample','entropy','mean','variance','support','mode','stddev','enumerate_support'):
    show(('base',m),lambda:(lambda a:a() if callable(a) else a)(getattr(Custom(t([1.])),m)))
for m in ('log_prob','cdf','icdf'): show(('base',m),lambda:getattr(Custom(t([1.])),m)(t(1.)))
class NoC(D.Distribution):
    def __init__(s): super().__init__()
show('noc',lambda:NoC())
