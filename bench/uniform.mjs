// uniform fills an array with the first of the numbers between low and high that
// belong to a seed; models/uniform.go makes the same ones. Whole numbers are
// rounded down.
export function uniform(array, seed, low, high) {
  const whole = !(array instanceof Float32Array || array instanceof Float64Array);
  const big = array instanceof BigInt64Array || array instanceof BigUint64Array;
  const start = Math.imul(seed, 0x9e3779b9);
  for (let i = 0; i < array.length; i++) {
    let x = (i + start) >>> 0;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    x = (x ^ (x >>> 16)) >>> 0;
    let v = low + (high - low) * ((x >>> 8) / 2 ** 24);
    if (whole) v = Math.floor(v);
    array[i] = big ? BigInt(v) : v;
  }
  return array;
}
