const side = 28; // of an image in pixels
const box = 20; // the longer side of the digit
const faint = 0.2; // ink below this share of the darkest ink counts as paper

// fit converts a drawing to the form of MNIST's images: the digit fills a box of 20×20 pixels with its aspect ratio
// kept, and its centre of mass is the centre of 28×28 pixels. ink has the ink of each pixel from 0 to 1, in row-major
// order. fit returns null if there is no ink. It computes what package fit of examples/digits computes.
export function fit(ink, width) {
  const darkest = ink.reduce((a, b) => Math.max(a, b), 0);
  ink = ink.map((v) => (v > faint * darkest ? v / darkest : 0));
  let mass = 0, cx = 0, cy = 0, left = Infinity, right = -1, top = Infinity, bottom = -1;
  ink.forEach((v, i) => {
    if (v === 0) {
      return;
    }
    const x = i % width, y = Math.floor(i / width);
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
    mass += v;
    cx += v * (x + 0.5);
    cy += v * (y + 0.5);
  });
  if (mass === 0) {
    return null;
  }
  const scale = (Math.max(right - left, bottom - top) + 1) / box;
  return Float32Array.from({ length: side * side }, (_, i) => {
    const x = cx / mass + ((i % side) + 0.5 - side / 2) * scale;
    const y = cy / mass + (Math.floor(i / side) + 0.5 - side / 2) * scale;
    return sample(ink, width, x, y, Math.max(scale, 1));
  });
}

// sample returns the weighted mean of the pixels around (x, y). Along each axis, the weights fall linearly to 0 at the
// distance reach. Pixels outside of the drawing are 0.
function sample(ink, width, x, y, reach) {
  const height = ink.length / width;
  let sum = 0, weights = 0;
  for (let i = Math.floor(y - reach); i <= Math.ceil(y + reach); i++) {
    const wy = 1 - Math.abs(i + 0.5 - y) / reach;
    if (wy <= 0) {
      continue;
    }
    for (let j = Math.floor(x - reach); j <= Math.ceil(x + reach); j++) {
      const wx = 1 - Math.abs(j + 0.5 - x) / reach;
      if (wx <= 0) {
        continue;
      }
      weights += wy * wx;
      if (i >= 0 && i < height && j >= 0 && j < width) {
        sum += wy * wx * ink[i * width + j];
      }
    }
  }
  return sum / weights;
}
