"""Writes pickles.json: values as Python pickles them with every protocol, and as text.

python3 make.py
"""
import collections, json, pickle, struct

shared = [1, 2]
values = [
    None, True, False, 0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, -2**31, 2**31, 2**63 - 1, -2**63, 2**63, -2**63 - 1, 2**200, -2**200, 3**150,
    0.0, -0.0, 0.1, -1e300, 5e-324, float("inf"), float("-inf"),
    "", "a", "naïve ☃ \U0001f600", "line\nend\\ \\u0041 'quote'", "x" * 300, b"", b"\x00\xff'\"\\n\n", b"y" * 300, bytearray(b"ab\x80"),
    (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ((), ((),)), [], [1, [2, [3]]], [None] * 1100,
    {}, {"a": 1, 2: "b", None: 3.5, (1, 2): []}, {i: -i for i in range(40)}, {1: "int", True: "bool wins"},
    set(), {3}, frozenset({4}), [shared, shared, (shared,)], collections.OrderedDict([("z", 1), ("a", 2)]),
]


def text(v):
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, (int, float)):
        return {type(v).__name__: repr(v) if isinstance(v, int) else struct.pack(">d", v).hex()}
    if isinstance(v, (bytes, bytearray)):
        return {"bytes": bytes(v).hex()}
    if isinstance(v, (tuple, list)):
        return {type(v).__name__: [text(x) for x in v]}
    if isinstance(v, (set, frozenset)):
        return {"set": [text(x) for x in v]}
    return {"dict": [[text(k), text(x)] for k, x in v.items()]}


cases = []
for v in values:
    for protocol in range(6):
        data = pickle.dumps(v, protocol)
        assert pickle.loads(data) == v
        cases.append({"protocol": protocol, "data": data.hex(), "value": text(v)})
json.dump(cases, open("pickles.json", "w"), separators=(",", ":"))
