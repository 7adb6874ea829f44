"""Writes reference.json: mel spectrograms and coefficients, computed with SciPy.

    python3 make.py > reference.json

needs NumPy and SciPy. The frames, scales, bands and norms are those of the documentation of torchaudio's
MelSpectrogram and MFCC, and of librosa's feature.melspectrogram and feature.mfcc. Options have the names
of MelOptions in mel.go.
"""

import json
import sys

import numpy as np
from scipy.fft import dct
from scipy.signal import get_window


def signal(n):
    i = np.arange(n, dtype=np.int64)
    return ((i * i * 31 + i * 7) % 257) / 128 - 1


def spectrum(x, o):
    """The magnitudes of the frames, [bins, frames]."""
    n, width = o["FFT"], o.get("Window", o["FFT"])
    window = np.pad(get_window("hann", width, fftbins=True), ((n - width) // 2, n - width - (n - width) // 2))
    if o.get("Pad", 0) != 2:
        x = np.pad(x, n // 2, mode=["reflect", "constant"][o.get("Pad", 0)])
    frames = np.lib.stride_tricks.sliding_window_view(x, n)[:: o["Hop"]]
    return np.abs(np.fft.rfft(frames * window, axis=1)).T


def mel_points(o):
    """The ends and the middles of the bands in Hz."""
    low, high = o.get("Low", 0.0), o.get("High", o["Rate"] / 2)
    if not o.get("Slaney"):
        a, b = 2595 * np.log10(1 + np.array([low, high]) / 700)
        return 700 * (10 ** (np.linspace(a, b, o["Mels"] + 2) / 2595) - 1)
    step = np.log(6.4) / 27

    def mel(f):
        return f / (200 / 3) if f < 1000 else 15 + np.log(f / 1000) / step

    def hertz(m):
        return m * 200 / 3 if m < 15 else 1000 * np.exp(step * (m - 15))

    return np.array([hertz(m) for m in np.linspace(mel(low), mel(high), o["Mels"] + 2)])


def bands(o):
    """The weights, [bands, bins]."""
    f = np.fft.rfftfreq(o["FFT"], 1 / o["Rate"])
    p = mel_points(o)
    w = np.array([np.interp(f, p[i : i + 3], [0, 1, 0]) for i in range(o["Mels"])])
    if o.get("Area"):
        w *= (2 / (p[2:] - p[:-2]))[:, None]
    return w


cases = []


def case(name, samples, coefficients, **o):
    s = spectrum(signal(samples), o)
    y = bands(o) @ (s**2 if o.get("Squared") else s)
    if coefficients:
        y = 10 * np.log10(np.maximum(y, 1e-10))
        y = dct(np.maximum(y, y.max() - 80), type=2, norm="ortho", axis=0)[:coefficients]
    cases.append({
        "Name": name, "Samples": samples, "Coefficients": coefficients, "Options": o, "Shape": list(y.shape),
        "Data": [float("%.8g" % v) for v in y.flatten().tolist()],
    })


case("torchaudio", 1000, 0, Rate=16000, FFT=400, Hop=200, Mels=128, Squared=True)
case("librosa", 3000, 0, Rate=22050, FFT=2048, Hop=512, Mels=128, Pad=1, Slaney=True, Area=True, Squared=True)
case("magnitudes", 1500, 0, Rate=16000, FFT=512, Window=400, Hop=160, Mels=40, Low=20.0, High=7600.0)
case("no padding", 1200, 0, Rate=8000, FFT=256, Hop=100, Mels=23, Pad=2, Squared=True)
case("odd sizes", 700, 0, Rate=8000, FFT=201, Window=96, Hop=37, Mels=11, Slaney=True, Squared=True)
case("area", 600, 0, Rate=44100, FFT=300, Hop=75, Mels=30, Area=True, Low=300.0)
case("coefficients", 2000, 13, Rate=16000, FFT=400, Hop=160, Mels=40, Squared=True)
case("coefficients of librosa", 3000, 20, Rate=22050, FFT=1024, Hop=512, Mels=64, Pad=1, Slaney=True, Area=True, Squared=True)
json.dump(cases, sys.stdout, separators=(",", ":"))
print()
