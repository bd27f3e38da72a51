"""Texts of all modules, before and after copying and pickling, and their states."""

# ruff: noqa
import torch, copy, pickle, io, inspect
from torch import nn
torch.manual_seed(0)
def show(name, f):
    try: print(name, '->', f())
    except Exception as e: print(name, '!!', type(e).__name__, e)
C='''Linear(3,4,bias=False) Linear(3,4,dtype=torch.float64) Bilinear(2,3,4,False) Identity(1,2,a=3) LazyLinear(3) LazyLinear(3,bias=False)
Conv1d(2,4,3) Conv1d(2,4,3,stride=2,padding='same') Conv2d(2,4,(3,2),padding=(1,2),dilation=2,groups=2,bias=False,padding_mode='reflect') Conv2d(4,4,3,padding='valid') Conv3d(2,4,3,padding=1) ConvTranspose1d(2,4,3,output_padding=1,stride=2) ConvTranspose2d(2,4,3,stride=2,padding=1,output_padding=1,groups=2,dilation=2,bias=False) ConvTranspose3d(2,4,3)
LazyConv1d(4,3) LazyConv2d(4,3,padding=1) LazyConv3d(4,3) LazyConvTranspose1d(4,3) LazyConvTranspose2d(4,3,2) LazyConvTranspose3d(4,3) LazyBatchNorm3d(track_running_stats=False) 
BatchNorm1d(3) BatchNorm2d(3,eps=1e-3,momentum=None,affine=False,track_running_stats=False) BatchNorm3d(3,bias=False) SyncBatchNorm(3) InstanceNorm1d(3) InstanceNorm2d(3,affine=True,track_running_stats=True) InstanceNorm3d(3) GroupNorm(2,4,eps=1,affine=False) GroupNorm(2,4,bias=False) LayerNorm(3) LayerNorm((3,4),1e-3,False) LayerNorm(3,bias=False) RMSNorm(3) RMSNorm((3,4),1e-3,False) LocalResponseNorm(2,alpha=1,beta=2,k=3)
MaxPool1d(2) MaxPool2d((2,3),stride=1,padding=1,dilation=2,ceil_mode=True,return_indices=True) MaxPool3d(3,2) AvgPool1d(2,1,1) AvgPool2d(2,ceil_mode=True,count_include_pad=False) AvgPool3d(2,divisor_override=3) AdaptiveAvgPool1d(3) AdaptiveAvgPool2d((None,3)) AdaptiveAvgPool3d(3) AdaptiveMaxPool1d(2) AdaptiveMaxPool2d(2,True) AdaptiveMaxPool3d((2,3,None)) LPPool1d(2,3) LPPool2d(2,3,stride=1,ceil_mode=True) LPPool3d(2,2) FractionalMaxPool2d(2,output_size=3) FractionalMaxPool3d(2,output_ratio=.5) MaxUnpool1d(2) MaxUnpool2d(2,3,1) MaxUnpool3d(2)
ReLU() ReLU(True) ReLU6() ReLU6(True) ELU(2,True) CELU(2) SELU(True) GELU() GELU('tanh') Hardshrink(.3) Hardsigmoid(True) Hardswish(True) Hardtanh(-2,2,inplace=True) LeakyReLU(.2,True) LogSigmoid() Mish(True) PReLU() PReLU(3,.1) RReLU(.1,.2,True) Sigmoid() SiLU(True) Softmax(1) Softmax() Softmax2d() Softmin(1) LogSoftmax(-1) Softplus(2,30) Softshrink(.3) Softsign() Tanh() Tanhshrink() Threshold(1,2,True) GLU(1) MultiheadAttention(4,2,dropout=.1,bias=False,batch_first=True) 
Dropout(.3,True) Dropout1d() Dropout2d(.1) Dropout3d() AlphaDropout(.2) FeatureAlphaDropout()
ZeroPad1d(2) ZeroPad2d((1,2,3,4)) ZeroPad3d(1) ConstantPad1d(2,3.5) ConstantPad2d(1,2) ConstantPad3d(1,0) ReflectionPad1d(1) ReflectionPad2d((1,2,3,4)) ReflectionPad3d(1) ReplicationPad1d(1) ReplicationPad2d(1) ReplicationPad3d(1) CircularPad1d(1) CircularPad2d(1) CircularPad3d(1)
Embedding(3,4) Embedding(3,4,padding_idx=-1,max_norm=1,norm_type=1,scale_grad_by_freq=True) EmbeddingBag(3,4) EmbeddingBag(3,4,max_norm=1,mode='sum',include_last_offset=True,padding_idx=0)
RNN(3,4) RNN(3,4,2,nonlinearity='relu',bias=False,batch_first=True,dropout=.2,bidirectional=True) LSTM(3,4,proj_size=2) GRU(3,4,num_layers=2) RNNCell(3,4) RNNCell(3,4,bias=False,nonlinearity='relu') LSTMCell(3,4) GRUCell(3,4,bias=False)
TransformerEncoderLayer(4,2,8) TransformerDecoderLayer(4,2,8,batch_first=True,norm_first=True,activation='gelu') TransformerEncoder(nn.TransformerEncoderLayer(4,2,8),2,norm=nn.LayerNorm(4)) TransformerDecoder(nn.TransformerDecoderLayer(4,2,8),2) Transformer(4,2,1,1,8)
L1Loss() MSELoss(reduction='sum') NLLLoss(torch.ones(3),ignore_index=2) CrossEntropyLoss(label_smoothing=.1) BCELoss() BCEWithLogitsLoss(pos_weight=torch.ones(2)) KLDivLoss(log_target=True) PoissonNLLLoss(full=True) GaussianNLLLoss(full=True,eps=1) CTCLoss(2,zero_infinity=True) HuberLoss(delta=2.) SmoothL1Loss(beta=.5) SoftMarginLoss() MarginRankingLoss(2) HingeEmbeddingLoss() MultiLabelMarginLoss() MultiLabelSoftMarginLoss() MultiMarginLoss(2,2) CosineEmbeddingLoss(.2) TripletMarginLoss(2,3,swap=True) TripletMarginWithDistanceLoss(margin=2,swap=True) AdaptiveLogSoftmaxWithLoss(8,10,[3,6],head_bias=True) NLLLoss2d() LinearCrossEntropyLoss(3,4)
Upsample(2) Upsample(scale_factor=2,mode='bilinear',align_corners=True) Upsample((2,3)) UpsamplingNearest2d(scale_factor=2) UpsamplingBilinear2d((2,3)) PixelShuffle(2) PixelUnshuffle(2) ChannelShuffle(2) Fold((4,5),2,padding=1) Unfold((2,3),2,1,2) Flatten(0) Unflatten(1,(2,3)) Unflatten('a',(('b',2),)) CosineSimilarity(0) PairwiseDistance(1,keepdim=True) 
Sequential(nn.ReLU(),nn.Linear(2,2)) ModuleList([nn.ReLU(),nn.ReLU(),nn.Linear(1,1),nn.Linear(1,1)]) ModuleDict({'a':nn.ReLU(),'b':nn.Sequential()}) ParameterList([torch.zeros(2),nn.Parameter(torch.ones(3,2)),5,'s']) ParameterDict({'a':torch.zeros(2),'b':3,'c':nn.Parameter(torch.ones(1))}) ModuleList() ModuleDict() Sequential() ParameterList() ParameterDict()
ModuleList([nn.Sequential(nn.Linear(1,1)),nn.Sequential(nn.Linear(1,1)),nn.ReLU()])'''
import re
toks=[]; cur=''; depth=0
for ch in C:
    if ch in '([{': depth+=1
    if ch in ')]}': depth-=1
    if ch.isspace() and depth==0:
        if cur: toks.append(cur); cur=''
    else: cur+=ch
if cur: toks.append(cur)
used=set()
for t in toks:
    used.add(t.split('(')[0])
    def f():
        m=eval('nn.'+t); 
        s=repr(m)
        d=repr(copy.deepcopy(m)); b=pickle.loads(pickle.dumps(m)); assert d==s and repr(b)==s,(d,repr(b))
        return s+' '+str([(k,tuple(v.shape) if not isinstance(v,nn.UninitializedParameter) and not isinstance(v,nn.parameter.UninitializedBuffer) else repr(v),str(v.dtype)) for k,v in m.state_dict().items()])+str(sorted(k for k in m.__dict__ if k[0]!='_'))+str(list(getattr(m,'__constants__',[])))+m._get_name()
    show(t,f)
