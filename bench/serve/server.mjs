// Serves a model with ONNX Runtime's Node binding and node's own HTTP server, by the Open Inference Protocol with
// binary tensors: what a program in node would do for `go run ./serve`, which compares.
//
//   node server.mjs MODEL.onnx PORT

import http from 'node:http';
import * as ort from 'onnxruntime-node';

const arrays = {
  FP32: ['float32', Float32Array], FP64: ['float64', Float64Array], INT32: ['int32', Int32Array], INT64: ['int64', BigInt64Array],
};
const names = Object.fromEntries(Object.entries(arrays).map(([name, [type]]) => [type, name]));

const [model, port] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {
  executionMode: 'sequential', graphOptimizationLevel: 'all', interOpNumThreads: 1, intraOpNumThreads: 1, logSeverityLevel: 3,
});

// infer decodes a request, runs the model and encodes the answer.
async function infer(body, length) {
  const {inputs} = JSON.parse(body.toString('utf8', 0, length));
  let at = body.byteOffset + length;
  const feeds = {};
  for (const {name, datatype, shape, parameters} of inputs) {
    const [type, array] = arrays[datatype];
    const size = parameters.binary_data_size;
    feeds[name] = new ort.Tensor(type, new array(body.buffer.slice(at, at + size)), shape);
    at += size;
  }
  const results = await session.run(feeds);
  const tail = [];
  const outputs = session.outputNames.map((name) => {
    const {type, dims, data} = results[name];
    tail.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    return {name, datatype: names[type], shape: dims, parameters: {binary_data_size: data.byteLength}};
  });
  const head = Buffer.from(JSON.stringify({model_name: 'model', model_version: '1', outputs}));
  return {head: head.length, body: Buffer.concat([head, ...tail])};
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    try {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      const answer = await infer(body, Number(request.headers['inference-header-content-length']));
      response.writeHead(200, {
        'Content-Type': 'application/octet-stream', 'Content-Length': answer.body.length, 'Inference-Header-Content-Length': answer.head,
      });
      response.end(answer.body);
    } catch (error) {
      response.writeHead(400, {'Content-Type': 'application/json'});
      response.end(JSON.stringify({error: error.message}));
    }
  });
});
server.listen(Number(port), '127.0.0.1');
