// What both sides of a comparison are given, and whether they agree on it.

// sizeOf returns the extent of a declared dimension; one that the model leaves
// open, such as a batch, is 1.
export function sizeOf(dim) {
  return typeof dim === 'number' && dim > 0 ? dim : 1;
}

// disagreement compares two lists of outputs, relative to the largest of the
// reference: |got − want| ≤ 1e-3·|want| + 1e-5·max|want|. It returns a
// description of the worst violation, or null, and the largest error as a share
// of the largest value.
export function disagreement(got, want) {
  if (got.length !== want.length) return {problem: `${got.length} outputs, ONNX Runtime has ${want.length}`, error: NaN};
  let scale = 0;
  for (const w of want) if (Number.isFinite(w)) scale = Math.max(scale, Math.abs(w));
  let problem = null, worst = 0, error = 0;
  for (let i = 0; i < want.length; i++) {
    if (Object.is(got[i], want[i]) || got[i] === want[i]) continue;
    const off = Math.abs(got[i] - want[i]);
    const excess = off / (1e-3 * Math.abs(want[i]) + 1e-5 * scale);
    if (!(off <= error)) error = off;
    if (!(excess <= 1) && !(excess <= worst)) {
      worst = excess;
      problem = `output ${i} is ${got[i]}, ONNX Runtime says ${want[i]}`;
    }
  }
  return {problem, error: scale > 0 ? error / scale : error};
}
