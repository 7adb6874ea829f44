"""PyTorch's side of networks.sh. It measures the networks that its arguments name, with torch.compile in the mode
max-autotune-no-cudagraphs or default, and a CUDA graph of each call or step. It prints the medians of a call and of a replay of the
graph, in µs, and the peak memory. Calls are in bf16 as a whole. Training has weights of f32, autocast to bf16 and fused AdamW."""
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_float32_matmul_precision("high")
MODE = os.environ.get("MODE") or None


class Layer(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def attend(self, x):
        n, t, width = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(n, t, width))

    def forward(self, x):
        if self.causal:
            x = x + self.attend(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50304, 768), nn.Parameter(torch.randn(1024, 768) * 0.02)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.layers = nn.Sequential(*[Layer(768, 12, True) for _ in range(12)])
        self.norm = nn.LayerNorm(768)

    def forward(self, tokens):
        return F.linear(self.norm(self.layers(self.tokens(tokens) + self.places)), self.tokens.weight)


def encoder(layers, width, heads, causal=False):
    return nn.Sequential(*[Layer(width, heads, causal) for _ in range(layers)])


def graphed(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = step()
    return graph, y


def inference(build, shape, host):
    net = build().cuda().eval().to(torch.bfloat16)
    source = torch.rand(*shape)
    x = source.to("cuda", torch.bfloat16)
    run = torch.compile(net, mode=MODE)
    with torch.inference_mode():
        graph, y = graphed(lambda: run(x))

    def call():
        x.copy_(source)
        graph.replay()
        y.float().cpu().numpy()

    return (call if host else graph.replay), graph.replay


def training(build, inputs, loss):
    net = build().cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True, capturable=True)
    run = torch.compile(lambda x, y: loss(net(x), y), mode=MODE)

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            value = run(*inputs)
        value.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return value

    graph, value = graphed(step)

    def call():
        graph.replay()
        value.item()

    return call, graph.replay


def tokens():
    x = torch.randint(50257, (16, 1024), device="cuda")
    return x, (7 * x + 1) % 50257


def block_inputs():
    return torch.rand(4, 2048, 4096, device="cuda"), torch.rand(4, 2048, 4096, device="cuda")


NETWORKS = {
    "minilm": lambda: inference(lambda: encoder(6, 384, 12), (1, 128, 384), True),
    "bert": lambda: inference(lambda: encoder(12, 768, 12), (1, 128, 768), True),
    "block": lambda: inference(lambda: encoder(1, 4096, 32, True), (4, 2048, 4096), False),
    "block-step": lambda: training(lambda: encoder(1, 4096, 32, True), block_inputs(), F.mse_loss),
    "gpt2-step": lambda: training(GPT, tokens(), lambda y, t: F.cross_entropy(y.flatten(0, 1), t.flatten())),
}


def microseconds(step):
    times = []
    begin = time.perf_counter()
    while len(times) < 15 or time.perf_counter() - begin < 0.5:
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times[5:])


def on_device(step):
    times = []
    for _ in range(20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(200_000)  # the step is on the queue before the device begins it
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return 1e3 * statistics.median(times[5:])


for name in sys.argv[1:]:
    try:
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        call, replay = NETWORKS[name]()
        print(f"{name}: PyTorch {microseconds(call):.1f} µs a call, {on_device(replay):.1f} µs on the device, peak memory {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
        del call, replay
    except Exception as e:
        print(name + ":", " ".join(str(e).split())[:300], flush=True)
