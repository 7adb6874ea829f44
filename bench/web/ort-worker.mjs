// Answers calls with ONNX Runtime Web, as the worker of a folder of burngen does.

import { parentPort, workerData } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import fs from 'node:fs';

const dist = path.join(workerData.ort, 'dist');
const ort = await import(pathToFileURL(path.join(dist, 'ort.node.min.mjs')));
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = pathToFileURL(dist + path.sep).href;
const session = await ort.InferenceSession.create(fs.readFileSync(workerData.model), { executionProviders: ['wasm'] });

parentPort.on('message', async ({ id, inputs }) => {
  const feeds = {};
  for (const { name, type, data, shape } of inputs) {
    feeds[name] = new ort.Tensor(type, data, shape);
  }
  const results = await session.run(feeds);
  const outputs = session.outputNames.map((name) => ({ data: results[name].data.slice(), shape: results[name].dims }));
  parentPort.postMessage({ id, outputs }, outputs.map((o) => o.data.buffer));
});
parentPort.postMessage({ id: -1 });
