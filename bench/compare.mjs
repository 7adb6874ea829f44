// Compares programs that burngen makes with ONNX Runtime: the same model, the
// same inputs, the same threads, in turns. A case whose outputs differ fails and
// has no ratio. README.md says what the options and the columns mean.

import os from 'node:os';
import {parseArgs} from 'node:util';
import * as ort from 'onnxruntime-node';
import {commands, draw, exec, find, prepare, reason, tools, verdict} from './cases.mjs';
import {Worker, median, pins, sit, starts, summary} from './measure.mjs';

const small = 1e6; // nanoseconds of a call under which the binding is timed too
const manyValues = 1000; // that are enough to tell accuracy from one number's luck
const draws = 50; // of arguments, at most, for as many

const {values: flags, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    threads: {type: 'string', default: '1'},
    rounds: {type: 'string', default: '9'},
    quick: {type: 'boolean', default: false},
    starts: {type: 'string', default: '0'},
    batch: {type: 'string'},
    dim: {type: 'string', multiple: true, default: []},
    fixed: {type: 'boolean', default: false},
    static: {type: 'boolean', default: false},
    accuracy: {type: 'boolean', default: false},
    json: {type: 'boolean', default: false},
    wrap: {type: 'string'},
    burngen: {type: 'string', default: 'go tool burngen'},
  },
});
const count = flags.quick ? 3 : Number(flags.rounds);
const turn = flags.quick ? 1e8 : 2.5e8; // nanoseconds that a turn should take
const say = flags.json ? console.error : console.log;

const {host, missing} = await tools();
const report = {
  cpu: os.cpus()[0].model.trim(),
  cpus: os.cpus().length,
  onnxruntime: ort.env.versions.node,
  host: host ? 'C' : 'node',
  node: process.version,
  go: await exec('go', ['env', 'GOVERSION']),
  cases: [],
};
say(`${report.cpu}, ${report.cpus} processors; ONNX Runtime ${report.onnxruntime} through ${host ? 'its C API' : 'its Node binding'}, node ${report.node}, ${report.go}`);
if (!host) say(`left out: the C API (${missing})`);
if (!pins) say('left out: pinning to processors (no taskset)');
say('milliseconds; ratio above 1: burngen is faster; rms: difference of the outputs as a share of them\n');
say(row(['case', 'threads', 'ORT min', 'median', 'burngen', 'median', 'ratio', 'median', 'spread', 'rms', 'ORT MB', 'MB', 'load']));

let failures = 0;
for (const found of await find(positionals, flags.batch)) {
  let program, fixed;
  try {
    const options = {batch: flags.batch, dims: flags.dim, fixed: flags.fixed, burngen: flags.burngen};
    program = await prepare(found, options);
    if (flags.static && Object.keys(program.symbols).length) fixed = await prepare(found, {...options, fixed: true});
  } catch (error) {
    fail(found.name, error);
    continue;
  }
  for (const [i, threads] of flags.threads.split(',').map(Number).entries()) {
    try {
      const result = await compare(program, fixed, threads, flags.accuracy && i === 0);
      report.cases.push(result);
      print(result);
    } catch (error) {
      fail(found.name, error, threads);
    }
  }
}
if (flags.json) console.log(JSON.stringify(report, null, 1));
process.exit(failures ? 1 : 0);

function fail(model, error, threads) {
  const problem = reason(error);
  report.cases.push({model, threads, problem});
  say(`${model.padEnd(28)} FAIL: ${problem}`);
  failures++;
}

// compare checks and times one case at a number of threads; fixed is the same model
// with its symbols' values compiled in, if it is to be timed too; accurate compares with
// float64, which does not depend on the threads.
async function compare(program, fixed, threads, accurate) {
  const sides = {...commands(program, threads, host), static: fixed && commands(fixed, threads).burngen};
  const rival = sides.c ? 'c' : 'node';
  const symbols = Object.keys(program.symbols).length ? program.symbols : undefined;
  const [call] = await first(sides[rival], threads);
  await first(sides.burngen, threads);
  const {problem, note, rms, accuracy: one} = await verdict(program, sides.files[rival], sides.files.burngen, accurate);
  if (problem) throw new Error(problem);
  const accuracy = one && await overDraws(program, rival, threads, one);

  const timed = [rival, 'burngen', 'static', ...(rival === 'c' && call < small ? ['node'] : [])].filter((side) => sides[side]);
  const load = os.loadavg()[0];
  const sat = count && await sittings(timed.map((side) => sides[side]), threads);
  if (!count) return {model: program.name, threads, symbols, fixed: flags.fixed || undefined, rms, accuracy, note};
  const [a, b] = sat.map(({times}) => summary(times));
  const [c, d] = ['node', 'static'].map((side) => timed.indexOf(side, 1)).map((i) => i > 0 ? summary(sat[i].times) : undefined);
  const ms = (ns) => Number((ns / 1e6).toPrecision(6));
  const mb = (bytes) => (bytes === null ? undefined : Math.round(bytes / 2 ** 20));
  return {
    model: program.name, threads, symbols, fixed: flags.fixed || undefined,
    ort_ms: ms(a.median), burngen_ms: ms(b.median), ratio: a.median / b.median,
    ort_min_ms: ms(a.min), burngen_min_ms: ms(b.min), ratio_min: a.min / b.min,
    node_ms: c && ms(c.median), node_min_ms: c && ms(c.min),
    static_ms: d && ms(d.median), static_min_ms: d && ms(d.min),
    spread: Math.max(a.spread, b.spread), rms, accuracy, note, load,
    ort_mb: mb(sat[0].memory), burngen_mb: mb(sat[1].memory),
    start_ms: Number(flags.starts) ? await coldStarts(sides, threads) : undefined,
  };
}

// overDraws returns the root mean squares of the distances from float64 with some draws of
// the arguments, of which one was the first, unless that has enough values in its outputs or
// the arguments are a reference's.
async function overDraws(program, rival, threads, one) {
  const all = [one];
  while (program.drawn && all.length < draws && all.length * one.values < manyValues) {
    const other = await draw(program, all.length);
    const sides = commands(other, threads, host);
    await first(sides[rival], threads);
    await first(sides.burngen, threads);
    const {accuracy, problem} = await verdict(other, sides.files[rival], sides.files.burngen, true);
    if (problem) throw new Error(`draw ${all.length}: ${problem}`);
    all.push(accuracy);
  }
  const rms = (key) => Math.hypot(...all.map((a) => a[key])) / Math.sqrt(all.length);
  return {ort: rms('ort'), burngen: rms('burngen'), strict: rms('strict'), draws: all.length};
}

// first runs a side once, for its outputs, and returns the nanoseconds of a few calls.
async function first(command, threads) {
  const worker = new Worker(command, threads);
  try {
    await worker.ready();
    return (await worker.run(3)).sort((a, b) => a - b);
  } finally {
    await worker.end();
  }
}

// sittings measures all rounds: in one sitting, or each in one of its own under the
// wrapping command.
async function sittings(timed, threads) {
  const one = {commands: timed, threads, turn};
  if (!flags.wrap) return sit({...one, rounds: count, first: 0});
  const all = timed.map(() => ({times: [], memory: null}));
  for (let round = 0; round < count; round++) {
    const result = await wrapped({...one, rounds: 1, first: round});
    for (const [k, {times, memory}] of result.entries()) {
      all[k].times.push(...times);
      all[k].memory = memory && Math.max(memory, all[k].memory);
    }
  }
  return all;
}

async function wrapped(task) {
  const [command, ...args] = [...flags.wrap.split(' '), process.execPath, 'measure.mjs', JSON.stringify(task)];
  return JSON.parse(await exec(command, args));
}

// coldStarts returns the milliseconds from start to first result of each side.
async function coldStarts(sides, threads) {
  const names = ['c', 'node', 'burngen'].filter((side) => sides[side]);
  const task = {commands: names.map((side) => sides[side]), threads, count: Number(flags.starts)};
  const times = flags.wrap ? await wrapped({task: 'starts', ...task}) : await starts(task.commands, threads, task.count);
  return Object.fromEntries(names.map((side, i) => [side, Number(times[i].toPrecision(4))]));
}

function print(r) {
  const ms = (n) => n?.toPrecision(4) ?? '-';
  const share = (n) => n?.toFixed(2) ?? '-';
  say(row([
    r.model, r.threads, ms(r.ort_min_ms), ms(r.ort_ms), ms(r.burngen_min_ms), ms(r.burngen_ms),
    share(r.ratio_min), share(r.ratio), share(r.spread), r.rms.toExponential(0),
    r.ort_mb ?? '-', r.burngen_mb ?? '-', r.load?.toFixed(1) ?? '-',
  ]));
  if (r.accuracy) say(`  off float64: ${['ort', 'burngen', 'strict'].map((side) => `${side} ${r.accuracy[side].toExponential(1)}`).join(', ')}; draws of the arguments: ${r.accuracy.draws}`);
  if (r.note) say(`  ${r.note}`);
  if (r.node_ms) say(row(['  Node binding', '', ms(r.node_min_ms), ms(r.node_ms), '', '', (r.node_min_ms / r.burngen_min_ms).toFixed(2), (r.node_ms / r.burngen_ms).toFixed(2)]));
  if (r.static_ms) say(row(['  with fixed extents', '', '', '', ms(r.static_min_ms), ms(r.static_ms)]));
  if (r.start_ms) {
    const {c, node, burngen} = r.start_ms;
    say(`  start to first result: ${[c && `C host ${c}`, `node ${node}`, `burngen ${burngen}`].filter(Boolean).join(', ')} ms`);
  }
}

function row(cells) {
  const widths = [28, 7, 9, 9, 9, 9, 6, 6, 6, 7, 7, 6, 5];
  return cells.map((c, i) => (i ? String(c).padStart(widths[i]) : String(c).padEnd(widths[i]))).join(' ').trimEnd();
}
