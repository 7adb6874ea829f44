"""PyTorch's side of the command products: a line of standard input is a product, "M N K TYPE A_IS_KM B_IS_KN EPILOGUE". The answer is the
median time of a product in milliseconds, in a CUDA graph."""
import sys

import torch

torch.backends.cuda.matmul.allow_tf32 = True
types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
kept = {}


def gelu(a, b, bias, residual):
    return torch.nn.functional.gelu(a @ b + bias) + residual


compiled = torch.compile(gelu)


def prepare(line):
    m, n, k, d, km, kn, epilogue = line.split()
    m, n, k = int(m), int(n), int(k)

    def matrix(*shape):
        return (torch.randn(*shape, device="cuda") / 2).to(types[d])

    a = matrix(k, m).T if km == "true" else matrix(m, k)
    b = matrix(k, n) if kn == "true" else matrix(n, k).T
    if epilogue == "true":
        bias, residual = matrix(n), matrix(m, n)
        step = lambda: compiled(a, b, bias, residual)
    else:
        out = torch.empty(m, n, device="cuda", dtype=types[d])
        step = lambda: torch.matmul(a, b, out=out)
    launches = int(min(max(0.008 * 500e12 / (2 * m * n * k), 4), 400))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            step()
    return graph, launches


for line in sys.stdin:
    if line not in kept:
        kept.clear()
        torch.cuda.empty_cache()
        kept[line] = prepare(line)
    graph, launches = kept[line]
    laps = []
    for _ in range(5):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        laps.append(start.elapsed_time(end) / launches)
    print(sorted(laps[1:])[2], flush=True)
