"""PyTorch's side of speed.sh. It reads lines "MODEL N PRECISION HOW" and answers each with a line of two numbers: the
microseconds of a call from NumPy arrays to NumPy arrays, and of a replay of its graph on the device, both medians. It
answers "- - REASON" if it cannot measure. HOW is "eager", whose operators are captured in a CUDA graph, or "compile", which is
torch.compile in the mode reduce-overhead. f32 is without TF32. Weights are random."""
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
WARM_UP, CALLS = 5, 30


class Bottleneck(nn.Module):
    def __init__(self, inner, width, out, stride):
        super().__init__()
        layers = []
        for i, o, k, s in ((inner, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1)):
            layers += [nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
        self.body = nn.Sequential(*layers[:-1])
        self.short = nn.Identity()
        if inner != out:
            self.short = nn.Sequential(nn.Conv2d(inner, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inner = 64
    for i, blocks in enumerate((3, 4, 6, 3)):
        for j in range(blocks):
            layers.append(Bottleneck(inner, 64 << i, 256 << i, 2 if i and not j else 1))
            inner = 256 << i
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000), nn.Softmax(1))


class Fire(nn.Module):
    def __init__(self, inner, squeezed, expanded):
        super().__init__()
        self.squeeze = nn.Conv2d(inner, squeezed, 1)
        self.one, self.three = nn.Conv2d(squeezed, expanded, 1), nn.Conv2d(squeezed, expanded, 3, 1, 1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


def squeezenet():
    pool = lambda: nn.MaxPool2d(3, 2)
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 2), nn.ReLU(), pool(), Fire(64, 16, 64), Fire(128, 16, 64), pool(), Fire(128, 32, 128),
        Fire(256, 32, 128), pool(), Fire(256, 48, 192), Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256),
        nn.Conv2d(512, 1000, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Softmax(1))


class Layer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, width)
        x = self.norm1(x + self.out(y))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


def encoder(layers, width, heads, hidden):
    return lambda: nn.Sequential(*[Layer(width, heads, hidden) for _ in range(layers)])


def perceptron():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def digits():
    def conv(i, o):
        return [nn.Conv2d(i, o, 3, 1, 1), nn.BatchNorm2d(o), nn.ReLU()]

    return nn.Sequential(
        *conv(1, 16), *conv(16, 16), nn.MaxPool2d(2), *conv(16, 32), *conv(32, 32), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 49, 10))


MODELS = {
    "resnet50": (resnet50, (3, 224, 224)),
    "squeezenet": (squeezenet, (3, 224, 224)),
    "minilm-s128": (encoder(6, 384, 12, 1536), (128, 384)),
    "bert-base-s128": (encoder(12, 768, 12, 3072), (128, 768)),
    "bert-base-s1": (encoder(12, 768, 12, 3072), (1, 768)),
    "mlp-784": (perceptron, (784,)),
    "digits": (digits, (1, 28, 28)),
}


def microseconds(step):
    """microseconds returns the median time of a step that ends when the device has ended."""
    times = []
    for i in range(WARM_UP + CALLS):
        start = time.perf_counter()
        step()
        if i >= WARM_UP:
            times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def on_device(step):
    """on_device returns the median time of the work of a step, by the clock of the device."""
    times = []
    for i in range(WARM_UP + CALLS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(200_000)  # the step is on the queue before the device begins it
        begin.record()
        step()
        end.record()
        end.synchronize()
        if i >= WARM_UP:
            times.append(begin.elapsed_time(end))
    return 1e3 * statistics.median(times)


@torch.inference_mode()
def measure(model, n, precision, how):
    build, shape = MODELS[model]
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[precision]
    net = build().cuda().eval().to(dtype)
    host = torch.rand(n, *shape)
    x = host.to("cuda", dtype)
    if len(shape) == 3:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    if how == "compile":
        run = torch.compile(net, mode="reduce-overhead")
        for _ in range(3):
            run(x)
        replay = lambda: run(x)

        def call():
            x.copy_(host)
            run(x).float().cpu().numpy()
    else:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                net(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = net(x)
        replay = graph.replay

        def call():
            x.copy_(host)
            graph.replay()
            y.float().cpu().numpy()

    return microseconds(call), on_device(replay)


for line in sys.stdin:
    name, n, precision, how = line.split()
    try:
        answer = "%.0f %.0f" % measure(name, int(n), precision, how)
    except Exception as e:
        answer = "- - " + " ".join(str(e).split())[:200]
    print(answer, flush=True)
    torch.cuda.empty_cache()
