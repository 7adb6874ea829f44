"""Writes reference.json: pictures that Pillow computes from one picture.

    python3 make.py > reference.json

needs Pillow. The picture has 17 × 11 pixels, given by a formula that the test has, too. Results are rows
of RGB in base64. reference_test.go says which transform belongs to which name.
"""

import base64
import io
import json
import sys

from PIL import Image, ImageEnhance, ImageOps

WIDTH, HEIGHT = 17, 11


def channel(x, y, c):
    return (x * x * (3 + c) + 11 * y * (c + 1) + x * y * 5 + 40 * c) % 251


source = Image.new("RGB", (WIDTH, HEIGHT))
source.putdata([tuple(channel(x, y, c) for c in range(3)) for y in range(HEIGHT) for x in range(WIDTH)])

results = []


def add(name, m):
    results.append({"name": name, "width": m.width, "height": m.height, "pixels": base64.b64encode(m.convert("RGB").tobytes()).decode()})


def turned(orientation):
    """The picture as a viewer shows it if its EXIF orientation is this one."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    source.save(file, "PNG", exif=exif.tobytes())
    return ImageOps.exif_transpose(Image.open(file))


for name, kernel in [("bilinear", Image.Resampling.BILINEAR), ("bicubic", Image.Resampling.BICUBIC), ("nearest", Image.Resampling.NEAREST)]:
    for size in [(17, 11), (8, 5), (5, 8), (40, 23), (3, 30), (1, 1), (16, 11)]:
        add("resize %s %d %d" % (name, *size), source.resize(size, kernel))
    add("resized crop %s" % name, source.crop((3, 2, 14, 9)).resize((6, 9), kernel))
for orientation in range(1, 9):
    add("orientation %d" % orientation, turned(orientation))
for name, kernel in [("bilinear", Image.Resampling.BILINEAR), ("nearest", Image.Resampling.NEAREST)]:
    for degrees in [0, 30, 90, 180, -17, 200]:
        add("rotate %s %d" % (name, degrees), source.rotate(degrees, kernel))
    add("warp %s" % name, source.transform(source.size, Image.Transform.AFFINE, (0.75, 0.25, 1.375, -0.125, 1.25, -0.625), kernel))
for factor in [0, 0.4, 1, 1.7]:
    add("brightness %g" % factor, ImageEnhance.Brightness(source).enhance(factor))
    add("contrast %g" % factor, ImageEnhance.Contrast(source).enhance(factor))
    add("saturation %g" % factor, ImageEnhance.Color(source).enhance(factor))
    add("sharpness %g" % factor, ImageEnhance.Sharpness(source).enhance(factor))
for bits in [1, 3, 8]:
    add("posterize %d" % bits, ImageOps.posterize(source, bits))
for threshold in [0, 100, 256]:
    add("solarize %d" % threshold, ImageOps.solarize(source, threshold))
add("autocontrast", ImageOps.autocontrast(source.point(lambda v: 30 + v // 2)))
# Few values, often: 17 × 11 pixels of many values are too few to be equalized.
add("equalize", ImageOps.equalize(source.resize((68, 44), Image.Resampling.NEAREST)))
add("grey", ImageOps.grayscale(source))

json.dump(results, sys.stdout, separators=(",\n", ":"))
print()
