"""PyTorch's side of the command convolutions: a line of standard input is a convolution, "IMAGES HEIGHT WIDTH DEPTH CHANNELS KERNEL STRIDE
TYPE RESIDUAL". The answer is the median time of relu(conv(x) + bias + residual) in milliseconds, in a CUDA graph. It is an operator of cuDNN."""
import sys

import torch

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = False
types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
kept = {}


def prepare(line):
    *numbers, d, res = line.split()
    images, height, width, depth, channels, kernel, stride = map(int, numbers)

    def tensor(*shape):
        return torch.randn(*shape, device="cuda").to(types[d]).to(memory_format=torch.channels_last)

    x, w = tensor(images, depth, height, width), tensor(channels, depth, kernel, kernel) / (depth * kernel**2) ** 0.5
    bias = torch.randn(channels, device="cuda").to(types[d])
    residual = tensor(*torch.nn.functional.conv2d(x, w, None, stride, kernel // 2).shape) if res == "true" else None

    def step():
        if residual is None:
            return torch.cudnn_convolution_relu(x, w, bias, (stride, stride), (kernel // 2, kernel // 2), (1, 1), 1)
        return torch.cudnn_convolution_add_relu(x, w, residual, 1.0, bias, (stride, stride), (kernel // 2, kernel // 2), (1, 1), 1)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    side.synchronize()
    flops = 2 * images * (height // stride) * (width // stride) * depth * kernel**2 * channels
    launches = int(min(max(0.004 * 500e12 / flops, 4), 200))
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
