// Compares programs that burngen makes with ONNX Runtime: the same model, the
// same inputs, the same threads, in turns. A case whose outputs differ fails and
// has no ratio.
//
//   node compare.mjs [--threads 1] [--rounds 9] [--starts 0] [--json FILE] [CASE ...]
//
// A case is the name of a model that models/ makes, or an ONNX file. --threads
// takes a list; --starts times that many fresh processes of each side from start
// to first result; --burngen names another generator command.

import {execFile} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {parseArgs, promisify} from 'node:util';
import * as ort from 'onnxruntime-node';
import {disagreement, sizeOf} from './agree.mjs';
import {Worker, median, rounds, summary} from './measure.mjs';
import {uniform} from './uniform.mjs';

const here = import.meta.dirname;
const out = path.join(here, 'out');
const exec = promisify(execFile);
const seed = 1;

const {values: flags, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    threads: {type: 'string', default: '1'},
    rounds: {type: 'string', default: '9'},
    starts: {type: 'string', default: '0'},
    json: {type: 'string'},
    burngen: {type: 'string', default: 'go tool burngen'},
  },
});
const threads = flags.threads.split(',').map(Number);

const report = {
  cpu: os.cpus()[0].model.trim(),
  cpus: os.cpus().length,
  onnxruntime: ort.env.versions.node,
  node: process.version,
  go: (await exec('go', ['env', 'GOVERSION'])).stdout.trim(),
  cases: [],
};
console.log(`${report.cpu}, ${report.cpus} processors; onnxruntime-node ${report.onnxruntime}, node ${report.node}, ${report.go}`);
console.log('milliseconds, f32; ratio above 1: burngen is faster; error as a share of the largest output\n');
console.log(row(['case', 'threads', 'ORT min', 'median', 'burngen', 'median', 'ratio', 'median', 'spread', 'error', 'ORT MB', 'MB', 'load']));

let failures = 0;
for (const name of positionals.length ? positionals : await allCases()) {
  let program;
  try {
    program = await prepare(name);
  } catch (error) {
    fail(name, error);
    continue;
  }
  for (const t of threads) {
    try {
      const result = await compare(program, t);
      report.cases.push(result);
      print(result);
    } catch (error) {
      fail(name, error, t);
    }
  }
}
if (flags.json) fs.writeFileSync(flags.json, JSON.stringify(report, null, 1) + '\n');
process.exit(failures ? 1 : 0);

function fail(name, error, t) {
  const problem = (error.stderr || error.message).trim().split('\n')[0];
  report.cases.push({case: caseName(name), threads: t, problem});
  console.log(`${caseName(name).padEnd(22)} FAIL: ${problem}`);
  failures++;
}

async function allCases() {
  return (await exec('go', ['run', './models', '-list'], {cwd: here})).stdout.trim().split('\n');
}

function caseName(name) {
  return path.basename(name, '.onnx');
}

// prepare makes the model, if need be, its inputs, the generated package and the
// worker program around it.
async function prepare(name) {
  const given = name.endsWith('.onnx');
  const model = given ? path.resolve(name) : path.join(out, 'models', name, 'model.onnx');
  if (!given && !fs.existsSync(model)) await exec('go', ['run', './models', name], {cwd: here});

  const folder = path.join(out, 'programs', caseName(name));
  fs.mkdirSync(folder, {recursive: true});
  const inputs = path.join(folder, 'inputs.bin');
  fs.writeFileSync(inputs, await inputsOf(model));

  const [command, ...args] = flags.burngen.split(' ');
  await exec(command, [...args, model, '-o', path.join(folder, 'model'), '-weights', 'embed'], {cwd: here, maxBuffer: 1 << 26});
  fs.writeFileSync(path.join(folder, 'main.go'), `package main

import (
	"github.com/burngen/burngen/bench/out/programs/${caseName(name)}/model"
	"github.com/burngen/burngen/bench/worker"
)

func main() {
	worker.Main(model.Load, (*model.Model).NewSession, (*model.Session).Forward)
}
`);
  const binary = path.join(folder, process.platform === 'win32' ? 'worker.exe' : 'worker');
  await exec('go', ['build', '-o', binary, '.'], {cwd: folder, maxBuffer: 1 << 26});
  return {name: caseName(name), folder, model, inputs, binary};
}

// inputsOf returns the values of all inputs, one after the other.
async function inputsOf(model) {
  const session = await ort.InferenceSession.create(model, {graphOptimizationLevel: 'disabled'});
  try {
    return Buffer.concat(session.inputMetadata.map(({name, type, shape}, i) => {
      if (type !== 'float32') throw new Error(`input ${name} is ${type}, not float32`);
      const count = shape.map(sizeOf).reduce((n, d) => n * d, 1);
      return Buffer.from(uniform(new Float32Array(count), seed + i, -1, 1).buffer);
    }));
  } finally {
    await session.release();
  }
}

// compare checks and times one case at a number of threads.
async function compare(program, t) {
  const results = ['ort.bin', 'burngen.bin'].map((file) => path.join(program.folder, file));
  const commands = [
    [process.execPath, path.join(here, 'ort-worker.mjs'), program.model, String(t), program.inputs, results[0]],
    [program.binary, program.inputs, results[1]],
  ];
  const load = os.loadavg()[0];
  const workers = [];
  try {
    for (const command of commands) {
      const worker = new Worker(command, t);
      workers.push(worker);
      await worker.ready();
      worker.pause();
    }
    const {problem, error} = disagreement(...results.map(floats).reverse());
    if (problem) throw new Error(problem);

    const [a, b] = (await rounds(workers, Number(flags.rounds))).map(summary);
    const memory = workers.map((w) => w.memory());
    return {
      case: program.name, threads: t, onnxruntime: a, burngen: b, error, load, memory,
      ratio: {min: a.min / b.min, median: a.median / b.median},
      starts: Number(flags.starts) ? await starts(commands, t) : undefined,
    };
  } finally {
    await Promise.all(workers.map((w) => w.end()));
  }
}

// starts returns the median milliseconds from start to first result.
async function starts(commands, t) {
  const times = commands.map(() => []);
  for (let i = 0; i < Number(flags.starts); i++) {
    for (const [k, command] of commands.entries()) {
      const worker = new Worker(command, t);
      try {
        times[k].push(await worker.ready());
      } finally {
        await worker.end();
      }
    }
  }
  return times.map(median);
}

function floats(file) {
  const b = fs.readFileSync(file);
  return new Float32Array(b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength));
}

function print(r) {
  const ms = (ns) => (ns / 1e6).toPrecision(4);
  const mb = (bytes) => (bytes === null ? '-' : (bytes / 2 ** 20).toFixed(0));
  console.log(row([
    r.case, r.threads, ms(r.onnxruntime.min), ms(r.onnxruntime.median), ms(r.burngen.min), ms(r.burngen.median),
    r.ratio.min.toFixed(2), r.ratio.median.toFixed(2), Math.max(r.onnxruntime.spread, r.burngen.spread).toFixed(2),
    r.error.toExponential(0), ...r.memory.map(mb), r.load.toFixed(1),
  ]));
  if (r.starts) {
    const [a, b] = r.starts;
    console.log(row(['  start to first result', '', a.toFixed(1), '', b.toFixed(1), '', (a / b).toFixed(1)]));
  }
}

function row(cells) {
  const widths = [22, 7, 9, 9, 9, 9, 6, 6, 6, 7, 7, 6, 5];
  return cells.map((c, i) => (i ? String(c).padStart(widths[i]) : String(c).padEnd(widths[i]))).join(' ').trimEnd();
}
