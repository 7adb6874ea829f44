// Runs a model in ONNX Runtime's Node binding at the command of compare.mjs. The
// protocol is that of worker/worker.go.
//
//   node ort-worker.mjs MODEL.onnx THREADS INPUTS OUTPUTS [SYMBOL=N ...]

import readline from 'node:readline';
import * as ort from 'onnxruntime-node';
import {read, write} from './tensors.mjs';

process.on('uncaughtException', (error) => {
  console.error(error.message);
  process.exit(1);
});

const arrays = {
  float32: Float32Array, float64: Float64Array, float16: globalThis.Float16Array ?? Uint16Array, bool: Uint8Array,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
};

const [model, threads, inputs, outputs, ...symbols] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  interOpNumThreads: 1,
  intraOpNumThreads: Number(threads),
  logSeverityLevel: 3,
  freeDimensionOverrides: Object.fromEntries(symbols.map((s) => [s.slice(0, s.lastIndexOf('=')), Number(s.slice(s.lastIndexOf('=') + 1))])),
});

const feeds = {};
for (const {name, type, dims, bytes} of read(inputs)) {
  if (!arrays[type]) throw new Error(`input ${name}: the binding has no ${type}`);
  const data = new arrays[type](bytes.buffer, 0, bytes.length / arrays[type].BYTES_PER_ELEMENT);
  feeds[name] = new ort.Tensor(type, data, dims);
}
// The binding does not return sequences and maps.
const fetches = session.outputMetadata.filter((o) => o.isTensor).map((o) => o.name);

const first = await session.run(feeds, fetches);
write(outputs, session.outputMetadata.map(({name}) => {
  const {type, dims, data} = first[name] ?? {};
  if (!arrays[type]) return {name, type: 'other', dims: [], bytes: new Uint8Array()};
  return {name, type, dims: [...dims], bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength)};
}));
console.log('ready');

for await (const line of readline.createInterface({input: process.stdin})) {
  const [n, k] = line.match(/^run (\d+) (\d+)$/).slice(1).map(Number);
  const times = [];
  for (let i = 0; i < n; i++) {
    const start = process.hrtime.bigint();
    for (let j = 0; j < k; j++) await session.run(feeds, fetches);
    times.push(Number(process.hrtime.bigint() - start) / k);
  }
  console.log(times.join(' '));
}
