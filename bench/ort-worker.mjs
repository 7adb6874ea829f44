// Runs a model in ONNX Runtime at the command of compare.mjs. The protocol is
// that of worker/worker.go.
//
//   node ort-worker.mjs MODEL.onnx THREADS INPUTS OUTPUTS

import fs from 'node:fs';
import readline from 'node:readline';
import * as ort from 'onnxruntime-node';
import {sizeOf} from './agree.mjs';

process.on('uncaughtException', (error) => {
  console.error(error.message);
  process.exit(1);
});

const [model, threads, inputs, outputs] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  interOpNumThreads: 1,
  intraOpNumThreads: Number(threads),
  logSeverityLevel: 3,
});

const bytes = fs.readFileSync(inputs);
const feeds = {};
let at = 0;
for (const {name, shape} of session.inputMetadata) {
  const dims = shape.map(sizeOf);
  const count = dims.reduce((n, d) => n * d, 1);
  const end = at + 4 * count;
  feeds[name] = new ort.Tensor('float32', new Float32Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + end)), dims);
  at = end;
}

const first = await session.run(feeds);
fs.writeFileSync(outputs, Buffer.concat(session.outputNames.map((name) => {
  const {data} = first[name];
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
})));
console.log('ready');

for await (const line of readline.createInterface({input: process.stdin})) {
  const n = Number(line.match(/^run (\d+)$/)[1]);
  const times = [];
  for (let i = 0; i < n; i++) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    times.push(Number(process.hrtime.bigint() - start));
  }
  console.log(times.join(' '));
}
