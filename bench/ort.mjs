// Writes reference outputs of a model, computed by ONNX Runtime on generated
// inputs, to ref/ beside it: a manifest and files of raw little-endian values,
// which `burngen verify` reads.
//
//   node ort.mjs MODEL.onnx [--cases 1] [--low -1] [--high 1] [--dim NAME=SIZE ...]

import fs from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';
import * as ort from 'onnxruntime-node';
import {uniform} from './uniform.mjs';

process.on('uncaughtException', (error) => {
  console.error(error.message);
  process.exit(1);
});

const arrays = {
  float32: Float32Array, float64: Float64Array, bool: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};
const whole = 65536; // values of a tensor that is kept in full
const head = 1000, strided = 4096; // values that are kept of a larger one

const {values: flags, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    cases: {type: 'string', default: '1'},
    low: {type: 'string', default: '-1'},
    high: {type: 'string', default: '1'},
    dim: {type: 'string', multiple: true, default: []},
  },
});
if (positionals.length !== 1) {
  console.error('usage: node ort.mjs MODEL.onnx [--cases 1] [--low -1] [--high 1] [--dim NAME=SIZE ...]');
  process.exit(2);
}
const [model] = positionals;
const sizes = Object.fromEntries(flags.dim.map((d) => d.split('=')));
const folder = path.join(path.dirname(model), 'ref');

const session = await ort.InferenceSession.create(model, {
  graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, interOpNumThreads: 1,
});
fs.mkdirSync(folder, {recursive: true});
const cases = [];
for (let seed = 1; seed <= Number(flags.cases); seed++) cases.push(await reference(`gen${seed - 1}`, seed));
fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify({
  model: path.basename(path.dirname(path.resolve(model))),
  runtime: `onnxruntime-node ${ort.env.versions.node} CPU`,
  graphOptimizationLevel: 'disabled',
  cases,
}, null, 1) + '\n');
console.log(`${path.join(folder, 'manifest.json')}: ${cases.length} cases`);

// reference runs the model on the inputs of a seed.
async function reference(name, seed) {
  const feeds = {}, inputs = {}, outputs = {};
  session.inputMetadata.forEach(({name: input, type, shape}, i) => {
    const dims = shape.map((d) => size(input, d));
    const low = Number(flags.low), high = Number(flags.high);
    const data = uniform(new (arrayOf(input, type))(count(dims)), seed + 1000 * i, low, high);
    feeds[input] = new ort.Tensor(type, data, dims);
    inputs[input] = {dtype: type, dims, gen: {kind: 'murmur3', lo: low, hi: high, seed: seed + 1000 * i}};
    if (data.length <= whole) inputs[input].file = write(`${name}.in.${i}.bin`, data);
  });
  const results = await session.run(feeds);
  session.outputNames.forEach((output, i) => {
    const {type, dims, data} = results[output];
    arrayOf(output, type);
    outputs[output] = {dtype: type, dims: [...dims], stats: stats(data), ...kept(`${name}.out.${i}`, data)};
  });
  return {name, inputs, outputs};
}

function size(input, dim) {
  if (typeof dim === 'number' && dim >= 0) return dim;
  if (dim in sizes) return Number(sizes[dim]);
  throw new Error(`${model}: input ${input}: dimension ${dim} needs --dim ${dim}=SIZE`);
}

function arrayOf(name, type) {
  if (type in arrays) return arrays[type];
  throw new Error(`${model}: ${name}: ${type} is not supported`);
}

function count(dims) {
  return dims.reduce((n, d) => n * d, 1);
}

// kept writes a tensor, or the beginning and every so many values of a large one.
function kept(name, data) {
  if (data.length <= whole) return {file: write(`${name}.bin`, data)};
  const stride = Math.floor(data.length / strided);
  const some = data.filter((_, i) => i % stride === 0);
  return {
    head: {file: write(`${name}.head.bin`, data.slice(0, head)), count: head},
    strided: {file: write(`${name}.strided.bin`, some), stride, count: some.length},
  };
}

function write(file, data) {
  fs.writeFileSync(path.join(folder, file), Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  return file;
}

function stats(data) {
  const s = {count: data.length, sum: 0, sumsq: 0, min: Infinity, max: -Infinity, argmax: 0, nan: 0};
  data.forEach((value, i) => {
    const v = Number(value);
    if (Number.isNaN(v)) {
      s.nan++;
      return;
    }
    s.sum += v;
    s.sumsq += v * v;
    s.min = Math.min(s.min, v);
    if (v > s.max) [s.max, s.argmax] = [v, i];
  });
  return s;
}
