"""Writes references.json: what PyTorch computes for the cases of reference_test.go.

Run it where the file is, with PyTorch 1.13 or later: python3 references.py
"""
import json
import math

import torch
import torch.nn as N
import torch.nn.functional as F

torch.manual_seed(7)
cases = []


def tensor(t):
    kinds = {torch.float32: "f32", torch.int64: "i64", torch.bool: "bool"}
    t = t.detach()
    data = t.flatten().tolist()
    if t.dtype == torch.float32:
        data = [str(x) if math.isnan(x) or math.isinf(x) else float("%.6g" % x) for x in data]
    if t.dtype == torch.bool:
        data = [int(x) for x in data]
    return {"Type": kinds[t.dtype], "Shape": list(t.shape), "Data": data}


def case(name, f, *inputs, module=None, grads=True, state=None):
    """A case: outputs of f, and gradients of the sum of all float outputs times
    cosines of their numbers, with respect to float inputs and parameters."""
    wanted = [x for x in inputs if x.dtype == torch.float32] if grads else []
    params = list(module.named_parameters()) if module is not None else []
    for x in wanted:
        x.requires_grad_(True)
    out = f(*inputs)
    out = list(out) if isinstance(out, (tuple, list)) else [out]
    c = {"Name": name, "Inputs": [tensor(x) for x in inputs], "Outputs": [tensor(o) for o in out]}
    if module is not None:
        c["State"] = state or {k: tensor(v) for k, v in module.state_dict().items() if v.dtype == torch.float32}
    if grads:
        loss = sum((o.flatten() * torch.cos(torch.arange(o.numel(), dtype=torch.float32))).sum() for o in out if o.dtype == torch.float32 and o.requires_grad)
        names = ["input %d" % i for i, x in enumerate(inputs) if x.dtype == torch.float32] + [k for k, _ in params]
        g = torch.autograd.grad(loss, wanted + [p for _, p in params], allow_unused=True)
        c["Grads"] = {k: tensor(v) for k, v in zip(names, g) if v is not None}
    if module is not None and module.training:
        c["After"] = {k: tensor(v) for k, v in module.named_buffers() if v.dtype == torch.float32}
    cases.append(c)


def module(name, m, *inputs, f=None, train=False):
    with torch.no_grad():
        for k, v in m.named_buffers():
            if v.dtype == torch.float32:
                v.copy_(0.5 + rand(*v.shape))
        for v in m.parameters():
            v.copy_(short(v + 0.1 * torch.randn(*v.shape)))
    m.train(train)
    state = {k: tensor(v) for k, v in m.state_dict().items() if v.dtype == torch.float32}
    case(name, f or m, *inputs, module=m, state=state)


def short(t):
    """Numbers of few digits, which keep the file small."""
    return torch.round(t * 1000) / 1000


def randn(*shape):
    return short(torch.randn(*shape))


def rand(*shape):
    return short(torch.rand(*shape))


def ints(high, *shape):
    return torch.randint(0, high, shape)


# Functions.
x, y = randn(2, 3, 4), randn(3, 1)
for name, f in {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b, "Div": lambda a, b: a / b,
    "Rem": torch.remainder, "Fmod": torch.fmod, "Maximum": torch.maximum, "Minimum": torch.minimum,
    "Atan2": torch.atan2, "Hypot": torch.hypot,
}.items():
    case(name, f, x.clone(), y.clone(), grads=name not in ("Rem", "Fmod"))
for name, f in {
    "Greater": torch.gt, "GreaterEqual": torch.ge, "Less": torch.lt, "LessEqual": torch.le, "Equal": torch.eq, "NotEqual": torch.ne,
}.items():
    case(name, f, torch.round(x), torch.round(y), grads=False)
for name, f in {
    "Neg": torch.neg, "Abs": torch.abs, "Sign": torch.sign, "Square": torch.square, "Recip": torch.reciprocal,
    "Exp": torch.exp, "Expm1": torch.expm1, "Erf": torch.erf, "Sin": torch.sin, "Cos": torch.cos, "Tan": torch.tan,
    "Atan": torch.atan, "Sinh": torch.sinh, "Cosh": torch.cosh, "Tanh": torch.tanh, "Asinh": torch.asinh,
    "Floor": torch.floor, "Ceil": torch.ceil, "Round": torch.round, "Trunc": torch.trunc,
    "ReLU": F.relu, "ReLU6": F.relu6, "LeakyReLU": lambda v: F.leaky_relu(v, 0.1), "GELU": F.gelu,
    "GELUTanh": lambda v: F.gelu(v, approximate="tanh"), "Sigmoid": torch.sigmoid, "LogSigmoid": F.logsigmoid, "SiLU": F.silu, "Mish": F.mish,
    "ELU": lambda v: F.elu(v, 0.7), "CELU": lambda v: F.celu(v, 0.7), "SELU": F.selu, "Softplus": lambda v: F.softplus(v, 2.0),
    "Softsign": F.softsign, "HardSigmoid": F.hardsigmoid, "HardSwish": F.hardswish, "HardTanh": lambda v: F.hardtanh(v, -0.5, 0.7),
    "HardShrink": lambda v: F.hardshrink(v, 0.5), "SoftShrink": lambda v: F.softshrink(v, 0.5), "TanhShrink": F.tanhshrink,
    "Threshold": lambda v: F.threshold(v, 0.1, 20.0), "RReLU": lambda v: F.rrelu(v, 0.1, 0.3), "GLU": lambda v: F.glu(v, -1),
    "Softmax": lambda v: F.softmax(v, 1), "LogSoftmax": lambda v: F.log_softmax(v, -1), "Softmin": lambda v: F.softmin(v, 2),
    "Clamp": lambda v: v.clamp(-0.5, 0.5), "Deg2Rad": torch.deg2rad,
    "Sum": lambda v: v.sum(), "SumDim": lambda v: v.sum(1, keepdim=True), "Mean": lambda v: v.mean(), "MeanDim": lambda v: v.mean((0, 2), keepdim=True),
    "Prod": lambda v: v.prod(2, keepdim=True), "Max": lambda v: v.amax(1, keepdim=True), "Min": lambda v: v.amin(1, keepdim=True),
    "LogSumExp": lambda v: v.logsumexp(1, keepdim=True), "Var": lambda v: v.var(1, keepdim=True), "VarBiased": lambda v: v.var(1, unbiased=False, keepdim=True),
    "Std": lambda v: v.std(), "CumSum": lambda v: v.cumsum(1), "CumProd": lambda v: v.cumprod(2), "CumMax": lambda v: v.cummax(2)[0], "CumMin": lambda v: v.cummin(1)[0],
    "Sort": lambda v: v.sort(2)[0], "SortDescending": lambda v: v.sort(1, descending=True)[0], "TopK": lambda v: v.topk(2, 2)[0],
    "Median": lambda v: v.median(2, keepdim=True)[0], "Reshape": lambda v: v.reshape(4, -1), "Permute": lambda v: v.permute(2, 0, 1),
    "MoveDim": lambda v: v.movedim(0, 2), "Expand": lambda v: v.unsqueeze(1).expand(2, 5, 3, 4), "Repeat": lambda v: v.repeat(1, 2, 1), "Slice": lambda v: v[:, 1:, ::2],
    "Narrow": lambda v: v.narrow(2, 1, 2), "SelectDim": lambda v: v.select(1, 1), "Flip": lambda v: v.flip(0, 2), "Roll": lambda v: v.roll(1, 2),
    "Pad": lambda v: F.pad(v, (1, 2, 0, 1), value=0.5), "PadReflect": lambda v: F.pad(v, (1, 2), mode="reflect"), "PadEdge": lambda v: F.pad(v, (2, 1), mode="replicate"),
    "PadCircular": lambda v: F.pad(v, (2, 1), mode="circular"), "PadNegative": lambda v: F.pad(v, (-1, 0, 1, -1)),
    "Tril": torch.tril, "Triu": lambda v: v.triu(1), "Unfold": lambda v: v.unfold(2, 2, 1), "Diagonal": lambda v: v.diagonal(dim1=1, dim2=2), "Unflatten": lambda v: v.unflatten(2, (2, 2)),
    "Norm1": lambda v: v.norm(1, 1, keepdim=True), "Norm2": lambda v: v.norm(2, 1, keepdim=True), "Norm3": lambda v: v.norm(3, 1, keepdim=True),
    "Normalize": lambda v: F.normalize(v, 2.0, 1), "SliceAssign": lambda v: torch.cat([v[:, :1], torch.full((2, 1, 4), 5.0), v[:, 2:]], 1),
    "MaskFill": lambda v: v.masked_fill(v > 0, -1.0),
}.items():
    case(name, f, x.clone())
p = short(rand(2, 3, 4) * 0.8 + 0.1)
for name, f in {
    "Sqrt": torch.sqrt, "Rsqrt": torch.rsqrt, "Log": torch.log, "Log1p": torch.log1p, "Log2": torch.log2, "Log10": torch.log10, "Asin": torch.asin, "Acos": torch.acos,
    "Atanh": torch.atanh, "Acosh": lambda v: torch.acosh(v + 1.5), "Pow": lambda v: v ** 2.5,
}.items():
    case(name, f, p.clone())
for name, f in {
    "ArgMax": lambda v: v.argmax(1, keepdim=True), "ArgMin": lambda v: v.argmin(2, keepdim=True), "ArgSort": lambda v: v.argsort(2), "ArgTopK": lambda v: v.topk(2, 1)[1],
    "Any": lambda v: (v > 1).any(1, keepdim=True), "All": lambda v: (v > -1).all(2, keepdim=True), "ArgWhere": lambda v: (v > 0.5).argwhere(),
    "MaskSelect": lambda v: v.masked_select(v > 0), "IsFinite": lambda v: (v / torch.round(v)).isfinite(), "Int": lambda v: (v * 3).long(),
}.items():
    case(name, f, x.clone(), grads=False)
a, b = ints(20, 2, 3) - 10, ints(5, 3) + 1
for name, f in {
    "IntAdd": lambda a, b: a + b, "IntDiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"), "IntRem": torch.remainder, "IntFmod": torch.fmod, "IntPow": lambda a, b: a ** b,
    "BitAnd": torch.bitwise_and, "BitOr": torch.bitwise_or, "BitXor": torch.bitwise_xor, "ShiftLeft": lambda a, b: a << b,
}.items():
    case(name, f, a.clone(), b.clone(), grads=False)
m, n = x > 0, y > 0
for name, f in {"And": torch.logical_and, "Or": torch.logical_or, "Xor": torch.logical_xor}.items():
    case(name, f, m, n, grads=False)
at = ints(3, 2, 2, 4)
case("Gather", lambda v, i: v.gather(1, i), x.clone(), at)
case("Scatter", lambda v, i, u: v.scatter_add(1, i, u), x.clone(), at, randn(2, 2, 4))
case("Select", lambda v, i: v.index_select(2, i), x.clone(), ints(4, 5))
case("SelectAssign", lambda v, i, u: v.index_add(1, i, u), x.clone(), torch.tensor([2, 0]), randn(2, 2, 4))
case("OneHot", lambda i: F.one_hot(i, 5).float(), ints(5, 2, 3), grads=False)
case("MatMul", torch.matmul, randn(2, 3, 4), randn(4, 5))
case("MatMulBatch", torch.matmul, randn(2, 1, 3, 4), randn(3, 4, 2))
case("Einsum", lambda u, v: torch.einsum("bij,bkj->bik", u, v), randn(2, 3, 4), randn(2, 5, 4))
case("AddMM", lambda c, u, v: torch.addmm(c, u, v, beta=0.5, alpha=2), randn(3), randn(2, 4), randn(4, 3))
case("Outer", torch.outer, randn(3), randn(4))
case("Cross", lambda u, v: torch.cross(u, v, dim=1), randn(2, 3), randn(2, 3))
case("Det", torch.det, randn(2, 3, 3), grads=False)
case("Inverse", torch.inverse, randn(2, 3, 3) + 3 * torch.eye(3), grads=False)
case("Trace", torch.trace, randn(3, 4))
case("CosineSimilarity", lambda u, v: F.cosine_similarity(u, v, 1), randn(2, 3), randn(2, 3))
case("PairwiseDistance", lambda u, v: F.pairwise_distance(u, v), randn(2, 3), randn(2, 3))
case("RFFT", lambda v: torch.view_as_real(torch.fft.rfft(v)), randn(2, 7), grads=False)
case("IRFFT", lambda v: torch.fft.irfft(torch.view_as_complex(v), n=7), randn(2, 4, 2), grads=False)
case("STFT", lambda v: torch.view_as_real(torch.stft(v, 8, 3, window=torch.hann_window(8), center=False, return_complex=True)), randn(2, 20), grads=False)
case("Meshgrid", lambda u, v: torch.meshgrid(u, v, indexing="ij"), randn(2), randn(3))
case("Where", lambda c, u, v: torch.where(c, u, v), rand(2, 3) > 0.5, randn(2, 3), randn(3))

# Layers.
image = randn(2, 4, 7, 6)
module("Conv1d", N.Conv1d(4, 6, 3, stride=2, padding=1), randn(2, 4, 9))
module("Conv2d", N.Conv2d(4, 6, 3), image.clone())
module("Conv2d/options", N.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2, bias=False), image.clone())
module("Conv2d/same", N.Conv2d(4, 2, 3, padding="same"), image.clone())
module("Conv2d/reflect", N.Conv2d(4, 2, 3, padding=1, padding_mode="reflect"), image.clone())
module("Conv3d", N.Conv3d(2, 3, 2), randn(1, 2, 3, 4, 3))
module("ConvTranspose1d", N.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1), randn(2, 4, 5))
module("ConvTranspose2d", N.ConvTranspose2d(4, 6, 3, stride=2, groups=2), randn(2, 4, 3, 4))
module("ConvTranspose3d", N.ConvTranspose3d(2, 3, 2, stride=2), randn(1, 2, 2, 2, 3))
for name, m in {
    "MaxPool1d": (N.MaxPool1d(2), randn(2, 3, 8)), "MaxPool2d": (N.MaxPool2d(3, stride=2, padding=1), image), "MaxPool2d/ceil": (N.MaxPool2d(2, ceil_mode=True), image),
    "MaxPool3d": (N.MaxPool3d(2), randn(1, 2, 4, 4, 2)), "AvgPool1d": (N.AvgPool1d(3, stride=2), randn(2, 3, 8)), "AvgPool2d": (N.AvgPool2d(3, stride=2, padding=1), image),
    "AvgPool2d/nocount": (N.AvgPool2d(3, stride=2, padding=1, count_include_pad=False), image), "AvgPool3d": (N.AvgPool3d(2), randn(1, 2, 4, 4, 2)),
    "AdaptiveAvgPool1d": (N.AdaptiveAvgPool1d(4), randn(2, 3, 8)), "AdaptiveAvgPool2d": (N.AdaptiveAvgPool2d((3, 4)), image), "AdaptiveAvgPool2d/1": (N.AdaptiveAvgPool2d(1), image),
    "AdaptiveAvgPool3d": (N.AdaptiveAvgPool3d((2, 2, 1)), randn(1, 2, 4, 4, 2)), "AdaptiveMaxPool2d": (N.AdaptiveMaxPool2d((3, 4)), image),
    "PixelShuffle": (N.PixelShuffle(2), image), "PixelUnshuffle": (N.PixelUnshuffle(2), randn(1, 2, 4, 6)), "Unfold4d": (N.Unfold(3, padding=1, stride=2), image),
    "Fold4d": (N.Fold((4, 5), 2), randn(1, 8, 12)),
    "Interpolate/nearest": (N.Upsample(size=(5, 9), mode="nearest"), image), "Interpolate/linear": (N.Upsample(size=(5, 9), mode="bilinear"), image),
    "Interpolate/align": (N.Upsample(size=(9, 5), mode="bilinear", align_corners=True), image), "Interpolate/cubic": (N.Upsample(size=(9, 12), mode="bicubic"), image),
    "Interpolate/exact": (N.Upsample(size=(5, 9), mode="nearest-exact"), image), "Upsample": (N.Upsample(scale_factor=2, mode="nearest"), image),
    "LocalResponseNorm": (N.LocalResponseNorm(3), image),
}.items():
    case(name, m[0], m[1].clone())
case("GridSample", lambda v, g: F.grid_sample(v, g, align_corners=False), image.clone(), rand(2, 3, 4, 2) * 2 - 1)
case("AffineGrid", lambda t: F.affine_grid(t, (2, 1, 3, 4), align_corners=False), randn(2, 2, 3))
module("BatchNorm", N.BatchNorm2d(4), image.clone())
module("BatchNorm/1d", N.BatchNorm1d(4, eps=1e-3, affine=False), randn(5, 4))
module("BatchNorm/train", N.BatchNorm2d(4, momentum=0.2), image.clone(), train=True)
module("BatchNorm/train 1d", N.BatchNorm1d(4, eps=1e-3), randn(5, 4), train=True)
module("GroupNorm", N.GroupNorm(2, 4), image.clone())
module("InstanceNorm", N.InstanceNorm2d(4, affine=True), image.clone())
module("LayerNorm", N.LayerNorm(6), image.clone())
module("LayerNorm/shape", N.LayerNorm([7, 6], elementwise_affine=False), image.clone())
module("Linear", N.Linear(4, 3), randn(2, 5, 4))
module("Embedding", N.Embedding(7, 3), ints(7, 2, 4))
module("PReLU", N.PReLU(4), image.clone())
module("RNN", N.RNN(3, 4), randn(5, 2, 3))
module("RNN/relu", N.RNN(3, 4, nonlinearity="relu", batch_first=True, bidirectional=True), randn(2, 5, 3))
lstm = N.LSTM(3, 4, num_layers=2)
module("LSTM", lstm, randn(5, 2, 3), randn(2, 2, 4), randn(2, 2, 4), f=lambda v, h, c: (lambda o, s: (o, s[0], s[1]))(*lstm(v, (h, c))))
bi = N.LSTM(3, 4, batch_first=True, bidirectional=True, bias=False)
module("LSTM/bidirectional", bi, randn(2, 5, 3), f=lambda v: (lambda o, s: (o, s[0], s[1]))(*bi(v)))
module("GRU", N.GRU(3, 4, num_layers=2, bidirectional=True), randn(5, 2, 3))
torch.manual_seed(8)
mha = N.MultiheadAttention(8, 2, batch_first=True)
module("MultiHeadAttention", mha, randn(2, 3, 8), randn(2, 5, 8), randn(2, 5, 8), f=lambda q, k, v: mha(q, k, v)[0])
masked = N.MultiheadAttention(8, 2, batch_first=True)
module("MultiHeadAttention/mask", masked, randn(2, 3, 8), f=lambda v: masked(v, v, v, attn_mask=torch.ones(3, 3).triu(1) > 0)[0])


class Cross(N.Module):
    """Attention in four heads, of which two share keys and values."""

    def __init__(self):
        super().__init__()
        self.query, self.output = N.Linear(8, 8), N.Linear(8, 8)
        self.key, self.value = N.Linear(8, 4), N.Linear(8, 4)

    def forward(self, q, m):
        def split(v, heads):
            return v.view(2, -1, heads, 2).transpose(1, 2)

        k, v = (split(f(m), 2).repeat_interleave(2, 1) for f in (self.key, self.value))
        w = (split(self.query(q), 4) @ k.transpose(2, 3) / math.sqrt(2)).softmax(-1)
        return self.output((w @ v).transpose(1, 2).reshape(2, -1, 8))


module("CrossAttention", Cross(), randn(2, 3, 8), randn(2, 5, 8))
enc = N.TransformerEncoderLayer(8, 2, 16, batch_first=True)
encoder = N.TransformerEncoder(enc, 2, enable_nested_tensor=False)
module("TransformerEncoder", encoder, randn(2, 3, 8), train=False)
first = N.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu")
module("TransformerEncoderLayer/first", first, randn(2, 3, 8))
dec = N.TransformerDecoder(N.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2)
module("TransformerDecoder", dec, randn(2, 3, 8), randn(2, 5, 8), f=lambda v, w: dec(v, w, tgt_mask=torch.ones(3, 3).triu(1) > 0))

# Losses.
logits, target = randn(5, 4), torch.tensor([0, 3, 2, 1, 1])
w = torch.tensor([0.5, 1.0, 2.0, 1.5])
case("CrossEntropy", F.cross_entropy, logits.clone(), target)
case("CrossEntropy/sum", lambda v, t: F.cross_entropy(v, t, reduction="sum"), logits.clone(), target)
case("CrossEntropy/none", lambda v, t: F.cross_entropy(v, t, reduction="none"), logits.clone(), target)
case("CrossEntropy/weights", lambda v, t: F.cross_entropy(v, t, weight=w), logits.clone(), target)
case("CrossEntropy/smoothing", lambda v, t: F.cross_entropy(v, t, label_smoothing=0.1), logits.clone(), target)
case("CrossEntropy/all", lambda v, t: F.cross_entropy(v, t, weight=w, label_smoothing=0.1, ignore_index=2), logits.clone(), target)
case("CrossEntropy/ignored", lambda v, t: F.cross_entropy(v, t, ignore_index=1), logits.clone(), target)
case("CrossEntropy/images", F.cross_entropy, randn(2, 3, 4, 2), ints(3, 2, 4, 2))
case("CrossEntropy/soft", lambda v, t: F.cross_entropy(v, t.softmax(1), label_smoothing=0.2), logits.clone(), randn(5, 4))
case("NLL", lambda v, t: F.nll_loss(F.log_softmax(v, 1), t), logits.clone(), target)
prob, want = rand(3, 4) * 0.9 + 0.05, rand(3, 4)
case("BinaryCrossEntropy", F.binary_cross_entropy, prob.clone(), want, grads=False)
case("BCEWithLogits", F.binary_cross_entropy_with_logits, randn(3, 4), want.clone())
u, v = randn(3, 4), randn(3, 4)
for name, f in {
    "MSE": F.mse_loss, "MSE/sum": lambda a, b: F.mse_loss(a, b, reduction="sum"), "L1": F.l1_loss, "Huber": lambda a, b: F.huber_loss(a, b, delta=0.7),
    "SmoothL1": lambda a, b: F.smooth_l1_loss(a, b, beta=0.7), "KLDiv": lambda a, b: F.kl_div(a.log_softmax(1), b.softmax(1), reduction="batchmean"),
    "KLDiv/log": lambda a, b: F.kl_div(a.log_softmax(1), b.log_softmax(1), reduction="sum", log_target=True),
    "PoissonNLL": lambda a, b: F.poisson_nll_loss(a, b.exp(), full=True), "PoissonNLL/linear": lambda a, b: F.poisson_nll_loss(a.exp(), b.exp(), log_input=False),
    "GaussianNLL": lambda a, b: F.gaussian_nll_loss(a, b, a.exp() + 0.1, full=True),
}.items():
    case(name, f, u.clone(), v.clone())
sign = torch.tensor([1.0, -1.0, -1.0])
case("HingeEmbedding", lambda a: F.hinge_embedding_loss(a, sign.unsqueeze(1).expand(3, 4)), u.clone())
case("CosineEmbedding", lambda a, b: F.cosine_embedding_loss(a, b, sign, margin=0.1), u.clone(), v.clone())
case("MarginRanking", lambda a, b: F.margin_ranking_loss(a, b, sign.unsqueeze(1), margin=0.3), u.clone(), v.clone())
case("SoftMargin", lambda a: F.soft_margin_loss(a, sign.unsqueeze(1).expand(3, 4)), u.clone())
case("MultiMargin", lambda a: F.multi_margin_loss(a, torch.tensor([1, 0, 3])), u.clone())
case("MultiMargin/2", lambda a: F.multi_margin_loss(a, torch.tensor([1, 0, 3]), p=2, margin=0.5), u.clone())
case("TripletMargin", lambda a, b, c: F.triplet_margin_loss(a, b, c), u.clone(), v.clone(), randn(3, 4))
case("CTC", lambda a, t: F.ctc_loss(a.log_softmax(2), t, torch.tensor([6, 6]), torch.tensor([3, 2])), randn(6, 2, 5), torch.tensor([[1, 2, 2], [4, 3, 1]]))

with open("references.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(len(cases), "cases")
