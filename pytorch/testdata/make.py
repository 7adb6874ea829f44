"""Writes the files beside it with PyTorch, and expected.json: what PyTorch reads of them.

python3 make.py (PyTorch 1.13 wrote those in the repository)
"""
import argparse, collections, hashlib, io, json, pickle, struct, tarfile, zipfile
import numpy as np
import torch


class Labelled(torch.Tensor):
    """A subclass with a state of its own."""


def walk(value, path, out):
    if isinstance(value, torch.Tensor):
        out[".".join(path) or "tensor"] = value
    elif isinstance(value, dict):
        for k, v in value.items():
            walk(v, path + [str(k)], out)
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            walk(v, path + [str(i)], out)


def contents(t):
    t = t.detach().as_subclass(torch.Tensor).contiguous()
    if t.numel() == 0:
        return b""
    return bytes(t.reshape(-1).view(torch.uint8).numpy() if t.dtype != torch.bool else t.reshape(-1).numpy())


names = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
         torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8",
         torch.bool: "bool"}
complexes = {torch.complex64: "c64"}
expected = {}


def expect(file, value):
    tensors = {}
    walk(value, [], tensors)
    expected[file] = {k: {"dtype": (names | complexes)[t.dtype], "shape": list(t.shape), "sha256": hashlib.sha256(contents(t)).hexdigest()}
                      for k, t in tensors.items()}


def save(file, value, **options):
    torch.save(value, file, **options)
    expect(file, torch.load(file))


torch.manual_seed(1)
base = torch.arange(60, dtype=torch.float32).reshape(3, 4, 5)
views = collections.OrderedDict(
    whole=base, row=base[1], part=base[1:, 2:4, 1:3], transposed=base.transpose(0, 2), steps=base[::2, :, ::3],
    diagonal=torch.diagonal(base[0]), one=base[2, 3, 4], expanded=torch.tensor([[1.0], [2.0]]).expand(2, 6),
    fortran=torch.arange(24).reshape(4, 3, 2).permute(2, 1, 0), none=torch.zeros(0, 3), empty=base[3:], channels=torch.rand(
        2, 3, 4, 4).contiguous(memory_format=torch.channels_last))
types = {str(d): (torch.arange(7) - 3).to(d) for d in names}
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
model(torch.rand(5, 3)).sum().backward()
optimizer.step()
checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "rng": torch.get_rng_state(),
              "history": [{"loss": 0.5, "sample": torch.rand(2)}, (torch.ones(1), None, True)], 7: {2.5: torch.zeros(1), None: torch.ones(2)},
              "size": torch.Size([1, 2]), "device": torch.device("cpu"), "dtype": torch.float16, "seen": {1, 2}, "raw": b"\xff\x00", "huge": 1 << 80}
subclass = torch.arange(4.0).as_subclass(Labelled)
subclass.label = "four"

save("views.pt", views)
save("views_legacy.pt", views, _use_new_zipfile_serialization=False)
save("types.pt", types)
save("types_legacy.pt", types, _use_new_zipfile_serialization=False)
save("lone.pt", torch.arange(3))
save("subclass.pt", {"x": subclass, "p": torch.nn.Parameter(torch.ones(2)), "plist": [torch.nn.Parameter(torch.zeros(1))]})
for protocol in range(2, 6):
    save(f"checkpoint_{protocol}.pt", checkpoint, pickle_protocol=protocol)
save("checkpoint_legacy.pt", checkpoint, _use_new_zipfile_serialization=False)
save("checkpoint_legacy_4.pt", checkpoint, _use_new_zipfile_serialization=False, pickle_protocol=4)

config = {"config": {"Hidden": 512, "n_layers": 4, "rate": 0.1, "bias": True, "name": "tiny", "sizes": [8, 16], "pair": (1, 2), "nothing": None,
                     "inner": {"kind": "gelu", "eps": 1e-5}, "map": {"a": 1, "b": 2}}, "w": torch.ones(1)}
save("config.pt", config)
save("numpy.pt", {"best": np.float64(0.75), "half": np.float32(-0.5), "step": np.int64(-7), "flag": np.bool_(True), "big": np.array(3.0, dtype=">f8")[()],
                  "byte": np.uint8(200), "device": torch.device("cuda", 1), "args": argparse.Namespace(depth=3, name="n"), "w": torch.ones(1)})


def repack(source, target, method=zipfile.ZIP_STORED, drop=(), change=lambda name, data: data):
    """Copies an archive, as zip tools would write it."""
    with zipfile.ZipFile(source) as i, zipfile.ZipFile(target, "w", method) as o:
        for n in i.namelist():
            if not n.endswith(drop):
                o.writestr(zipfile.ZipInfo(n, (1980, 1, 1, 0, 0, 0)), change(n, i.read(n)), method)
    expect(target, torch.load(target))


repack("views.pt", "views_deflated.pt", zipfile.ZIP_DEFLATED)


class Script(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 3)
        self.register_buffer("scale", torch.tensor([2.0]))

    def forward(self, x):
        return self.fc(x) * self.scale


script = torch.jit.script(Script())
script.save("script.pt")
expect("script.pt", dict(script.state_dict()))


def tar(file):
    """Writes the form of the first versions, which torch.load still reads."""
    root, view = torch.arange(6.0), (1, 4)
    storages, tensors = io.BytesIO(), io.BytesIO()
    pickle.dump(1, storages, 2)
    pickle.dump((11, "cpu", torch.FloatStorage), storages, 2)
    storages.write(struct.pack("<q", 6) + root.numpy().tobytes())
    pickle.dump([(12, 11, *view)], storages, 2)
    pickle.dump(2, tensors, 2)
    for key, storage, shape, stride, offset in ((21, 11, (2, 3), (1, 2), 0), (22, 12, (3,), (1,), 1)):
        pickle.dump((key, storage, torch.FloatTensor), tensors, 2)
        tensors.write(struct.pack(f"<{2 + 2 * len(shape)}q", len(shape), *shape, *stride, offset))

    class Pickler(pickle.Pickler):
        def persistent_id(self, x):
            return x.number if isinstance(x, Numbered) else None

    class Numbered:
        def __init__(self, number):
            self.number = number

    top = io.BytesIO()
    Pickler(top, 2).dump({"a": Numbered(21), "b": {"c": Numbered(22)}})
    info = pickle.dumps({"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 8}}, 2)
    with tarfile.open(file, "w:", format=tarfile.PAX_FORMAT) as t:
        for name, data in (("sys_info", info), ("pickle", top.getvalue()), ("tensors", tensors.getvalue()), ("storages", storages.getvalue())):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            t.addfile(entry, io.BytesIO(data))
    expect(file, torch.load(file))


tar("tar.pt")

save("complex.pt", {"a": torch.ones(2), "z": torch.zeros(2, dtype=torch.complex64)})

# What is refused, the file or the use of its tensor, with a part of the reason.
refused = {
    "quantised.pt": ({"q": torch.quantize_per_tensor(torch.rand(4), 0.1, 3, torch.qint8)}, "dequantize()"),
    "sparse.pt": ({"s": torch.eye(2).to_sparse()}, "not a dense tensor"),
    "module.pt": (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"),
    "meta.pt": ({"m": torch.empty(2, device="meta")}, "a meta tensor"),
}
for file, (value, why) in refused.items():
    torch.save(value, file)
    expected[file] = why

json.dump(expected, open("expected.json", "w"), indent=1)
