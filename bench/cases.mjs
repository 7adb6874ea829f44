// What is compared: the models and arguments that names stand for, and the programs
// that run them.

import {execFile} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';

const here = import.meta.dirname;
const out = path.join(here, 'out');
const programs = path.join(out, '_programs');
const suffix = process.platform === 'win32' ? '.exe' : '';
const judge = path.join(out, 'cases' + suffix);

const patience = 300_000; // milliseconds that an evaluation in float64 may take

// exec runs a command and returns its output.
export async function exec(command, args, options) {
  return (await promisify(execFile)(command, args, {cwd: here, maxBuffer: 1 << 26, ...options})).stdout.trim();
}

// tools builds what all cases need, and returns the command that runs a model in
// ONNX Runtime's C API, or why there is none.
export async function tools() {
  fs.mkdirSync(out, {recursive: true});
  await exec('go', ['build', '-o', judge, './cases']);
  try {
    return {host: await cHost()};
  } catch (error) {
    return {missing: reason(error)};
  }
}

async function cHost() {
  const found = fs.globSync?.(`node_modules/onnxruntime-node/bin/napi-v*/${process.platform}/${process.arch}/libonnxruntime.*`, {cwd: here}) ?? libraries();
  if (!found.length) throw new Error('no library of ONNX Runtime that this platform can load');
  const binary = path.join(out, 'ort' + suffix);
  await exec(process.env.CC ?? 'cc', ['-O2', '-o', binary, path.join('host', 'ort.c'), '-ldl']);
  return [binary, path.join(here, found.sort()[0])];
}

// libraries does what globSync does where Node has none.
function libraries() {
  const bin = path.join('node_modules', 'onnxruntime-node', 'bin');
  return fs.readdirSync(path.join(here, bin)).flatMap((napi) => {
    const folder = path.join(bin, napi, process.platform, process.arch);
    if (!fs.existsSync(path.join(here, folder))) return [];
    return fs.readdirSync(path.join(here, folder)).filter((f) => f.startsWith('libonnxruntime.')).map((f) => path.join(folder, f));
  });
}

// reason returns the first line of an error that says something.
export function reason(error) {
  return (error.stderr || error.message).trim().split('\n').find((line) => !line.startsWith('# ')) ?? 'no reason';
}

// find returns the models that command line arguments stand for, {name, model}:
// names and groups that models/ knows, ONNX files, and folders with model.onnx. Where
// a batch is asked for, the models of models/ are those whose batch is open.
export async function find(names, batch) {
  const found = [];
  for (const given of names.length ? names : ['all']) {
    const name = batch && isName(given) && !given.endsWith('-n') ? `${given}-n` : given;
    const made = path.join(out, 'models', name, 'model.onnx');
    if (fs.existsSync(path.join(name, 'model.onnx'))) {
      found.push({name: path.basename(path.resolve(name)), model: path.resolve(name, 'model.onnx')});
    } else if (name.endsWith('.onnx')) {
      const base = path.basename(name, '.onnx');
      found.push({name: base === 'model' ? path.basename(path.dirname(path.resolve(name))) : base, model: path.resolve(name)});
    } else if (fs.existsSync(made)) {
      found.push({name, model: made});
    } else {
      const listed = await exec('go', ['run', './models', '-list', name]);
      for (const one of listed.split('\n')) found.push({name: one, model: path.join(out, 'models', one, 'model.onnx'), made: true});
    }
  }
  return found;
}

// isName tells that a case is not a file or folder.
function isName(given) {
  return !given.endsWith('.onnx') && !fs.existsSync(path.join(given, 'model.onnx'));
}

// prepare makes a model, if need be, its arguments and the program that burngen makes
// of it. It returns the commands of the two sides without the file for their outputs,
// and the arguments' symbols. Options: batch and dims, the symbols' values; fixed,
// which compiles them in; burngen, the generator's command; host.
export async function prepare({name, model, made}, options) {
  if (made && !fs.existsSync(model)) await exec('go', ['run', './models', name]);
  const id = name.toLowerCase().replace(/[^a-z0-9]+/g, '-') + (options.fixed ? '-fixed' : '');
  const folder = path.join(programs, id);
  fs.mkdirSync(folder, {recursive: true});

  const inputs = path.join(folder, 'inputs.bin');
  const flags = [...(options.batch ? ['-batch', options.batch] : []), ...options.dims.flatMap((d) => ['-dim', d])];
  const {symbols, reference} = JSON.parse(await exec(judge, ['inputs', ...flags, model, inputs]));
  const fixed = options.fixed ? Object.entries(symbols).map(([s, n]) => `${s}=${n}`) : [];

  const [command, ...args] = options.burngen.split(' ');
  await exec(command, [...args, model, '-o', path.join(folder, 'model'), '-weights', 'embed', ...fixed.flatMap((d) => ['-dim', d])]);
  fs.writeFileSync(path.join(folder, 'main.go'), `package main

import (
	"github.com/burngen/burngen/bench/out/_programs/${id}/model"
	"github.com/burngen/burngen/bench/worker"
)

func main() {
	worker.Main(model.Load, (*model.Model).Meta, (*model.Model).NewSession, (*model.Session).Forward)
}
`);
  const binary = path.join(folder, 'worker' + suffix);
  await exec('go', ['build', '-o', binary, '.'], {cwd: folder, env: {...process.env, CGO_ENABLED: '0'}});
  return {name, model, folder, inputs, binary, symbols, fixed, drawn: reference ? undefined : flags};
}

// draw returns the program with other arguments, of a number from 1 on, where its own were
// drawn.
export async function draw(program, number) {
  const inputs = path.join(program.folder, 'draw.bin');
  await exec(judge, ['inputs', ...program.drawn, '-draw', String(number), program.model, inputs]);
  return {...program, inputs};
}

// commands returns the command of each side at a number of threads, and the files
// they write their outputs to.
export function commands(program, threads, host) {
  const {model, folder, inputs, binary, fixed} = program;
  const files = Object.fromEntries(['c', 'node', 'burngen'].map((side) => [side, path.join(folder, `${side}.bin`)]));
  const ort = (start, side) => [...start, model, String(threads), inputs, files[side], ...fixed];
  return {
    files,
    c: host && ort(host, 'c'),
    node: ort([process.execPath, path.join(here, 'ort-worker.mjs')], 'node'),
    burngen: [binary, inputs, files.burngen],
  };
}

// verdict compares the outputs of two sides: {problem, note, rms, accuracy}. The last,
// both sides' distance from float64, is there when it is asked for and can be computed
// within patience, else the note says why not.
export async function verdict(program, want, got, accurate) {
  const args = [program.model, program.inputs, want, got];
  if (accurate) {
    try {
      return JSON.parse(await exec(judge, ['judge', '-accuracy', ...args], {timeout: patience}));
    } catch (error) {
      const result = JSON.parse(await exec(judge, ['judge', ...args]));
      const why = error.killed ? 'it takes too long' : reason(error);
      return {...result, note: [result.note, `no accuracy: ${why}`].filter(Boolean).join('; ')};
    }
  }
  return JSON.parse(await exec(judge, ['judge', ...args]));
}
