// Compares folders that burngen writes for browsers with ONNX Runtime Web, in one process of node.
//
//   node compare.mjs [--ort FOLDER] [--rounds 15] [--ms 150] MODEL.onnx=FOLDER ...
//
// See README.md.

import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import path from 'node:path';
import { uniform } from '../uniform.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ort: { type: 'string', default: 'node_modules/onnxruntime-web' },
    rounds: { type: 'string', default: '15' },
    ms: { type: 'string', default: '150' },
  },
});
if (positionals.length === 0) {
  console.error('usage: node compare.mjs [--ort FOLDER] [--rounds 15] [--ms 150] MODEL.onnx=FOLDER ...');
  process.exit(2);
}

const types = { f32: 'float32', i64: 'int64', i32: 'int32', u8: 'uint8', bool: 'bool' };

// operands returns random inputs of a model's only method; open extents are 1.
function operands({ inputs }) {
  return inputs.map(({ name, type, array, shape }, i) => {
    const extents = shape.map((n) => (typeof n === 'number' ? n : 1));
    const data = new globalThis[array](extents.reduce((n, m) => n * m, 1));
    if (type === 'f32') {
      uniform(data, i + 1, 0, 1);
    } else {
      data.fill(array.startsWith('Big') ? 1n : 1);
    }
    return { name, type: types[type], data, shape: extents };
  });
}

async function startORT(model) {
  const worker = new Worker(new URL('./ort-worker.mjs', import.meta.url), { workerData: { ort: path.resolve(flags.ort), model } });
  const waiting = new Map();
  let last = 0;
  const answer = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  worker.on('message', ({ id, outputs }) => waiting.get(id).resolve(outputs));
  worker.on('error', (e) => waiting.forEach(({ reject }) => reject(e)));
  await answer(-1);
  return {
    close: () => worker.terminate(),
    call(inputs) {
      const done = answer(++last);
      worker.postMessage({ id: last, inputs });
      return done;
    },
  };
}

// time calls a side for about flags.ms, several calls at a time, and returns the milliseconds that a call takes: of
// time, and of all cores.
async function time(call, atOnce) {
  const cpu = process.cpuUsage(), start = performance.now();
  let n = 0;
  do {
    await Promise.all(Array.from({ length: atOnce }, call));
    n += atOnce;
  } while (performance.now() - start < Number(flags.ms));
  const passed = performance.now() - start, used = process.cpuUsage(cpu);
  return { wall: passed / n, cpu: (used.user + used.system) / 1000 / n };
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const row = (...cells) => console.log('| ' + cells.join(' | ') + ' |');

row('model', 'burngen ms', 'ORT ms', 'ratio', 'burngen CPU ms', 'ORT CPU ms', 'ratio', 'largest difference');
row('---', '--:', '--:', '--:', '--:', '--:', '--:', '--:');
const ratios = { wall: [], cpu: [] };
for (const pair of positionals) {
  const [model, folder] = pair.split('=');
  const { load } = await import(pathToFileURL(path.resolve(folder, 'burngen.js')));
  const m = await load();
  const [[method, ports]] = Object.entries(m.methods);
  const inputs = operands(ports);
  const named = Object.fromEntries(inputs.map(({ name, data, shape }) => [name, { data, shape }]));
  const other = await startORT(model);
  const sides = { burngen: () => m[method](named), ort: () => other.call(inputs) };

  const [ours, theirs] = [Object.values(await sides.burngen()), await sides.ort()];
  let difference = 0;
  theirs.forEach(({ data }, i) => data.forEach((v, k) => (difference = Math.max(difference, Math.abs(Number(v) - Number(ours[i].data[k]))))));

  const times = { burngen: [], ort: [] };
  for (let round = -3; round < Number(flags.rounds); round++) {
    for (const [name, call] of Object.entries(sides)) {
      const once = (await time(call, 1)).wall;
      const t = await time(call, Math.max(1, Math.min(50, Math.round(20 / once))));
      if (round >= 0) times[name].push(t);
    }
  }
  const middle = (name, clock) => median(times[name].map((t) => t[clock]));
  const cells = [];
  for (const clock of ['wall', 'cpu']) {
    const [a, b] = [middle('burngen', clock), middle('ort', clock)];
    ratios[clock].push(a / b);
    cells.push(a.toFixed(3), b.toFixed(3), (a / b).toFixed(2));
  }
  row(path.basename(folder), ...cells, difference.toExponential(1));
  m.close();
  await other.close();
}
const mean = (list) => Math.exp(list.reduce((s, r) => s + Math.log(r), 0) / list.length).toFixed(2);
row('geometric mean', '', '', mean(ratios.wall), '', '', mean(ratios.cpu), '');
