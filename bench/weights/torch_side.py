"""PyTorch's side: torch_side.py save FILE.safetensors FILE.pt writes the tensors as a
checkpoint; torch_side.py load FILE.pt ROUNDS prints the seconds that the fastest of so many
torch.load takes, with each page of each tensor touched."""
import json
import struct
import sys
import time

import numpy as np
import torch

if sys.argv[1] == "save":
    data = np.memmap(sys.argv[2], dtype=np.uint8, mode="r")
    n = struct.unpack("<Q", data[:8].tobytes())[0]
    tensors = {}
    for name, t in json.loads(data[8 : 8 + n].tobytes()).items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            tensors[name] = torch.from_numpy(np.array(data[8 + n + begin : 8 + n + end]).view(np.float32).reshape(t["shape"]))
    torch.save(tensors, sys.argv[3])
else:
    best = float("inf")
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        tensors = torch.load(sys.argv[2])
        for t in tensors.values():
            t.view(-1)[::1024].sum()
        best = min(best, time.perf_counter() - start)
        del tensors
    print(best)
