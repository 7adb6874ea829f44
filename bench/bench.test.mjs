import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {Worker, calls, median, rounds, sit, starts, summary} from './measure.mjs';
import {read, write} from './tensors.mjs';
import {uniform} from './uniform.mjs';

test('uniform makes the numbers that models/uniform.go makes', () => {
  assert.deepEqual([...uniform(new Float32Array(4), 1, -1, 1)], [0.1467951536178589, 0.17678749561309814, 0.40826737880706787, 0.8555257320404053]);
  assert.deepEqual([...uniform(new BigInt64Array(4), 1, 0, 10)], [5n, 5n, 7n, 9n]);
});

test('files of tensors come back as they went', () => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'bench-')), 'tensors.bin');
  const list = [
    {name: 'an input', type: 'float32', dims: [2, 1], bytes: new Uint8Array([0, 0, 128, 63, 10, 10, 10, 10])},
    {name: '', type: 'int64', dims: [], bytes: new Uint8Array([7, 0, 0, 0, 0, 0, 0, 0])},
    {name: 'none', type: 'bool', dims: [0], bytes: new Uint8Array()},
  ];
  write(file, list);
  assert.deepEqual(read(file).map(({size, ...t}) => t), list);
  assert.equal(fs.readFileSync(file).indexOf('3\nfloat32 8 2 2 1 an input\nint64 8 0 \nbool 0 1 0 none\n'), 0);
  fs.rmSync(path.dirname(file), {recursive: true});
});

test('a turn has as many calls as fit, and samples that a clock can tell', () => {
  assert.deepEqual(calls(1e6, 2.5e8), [250, 1]);
  assert.deepEqual(calls(1e9, 2.5e8), [3, 1]);
  assert.deepEqual(calls(5e4, 2.5e8), [2000, 1]);
  assert.deepEqual(calls(200, 2.5e8), [2000, 100]);
});

test('summaries keep minimum, median and spread', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.deepEqual(summary([[10, 12, 14], [20, 11, 13]]), {min: 10, median: 12.5, spread: 1.1});
});

// fake is the command of a worker whose calls take the given nanoseconds, it says.
function fake(ns) {
  return [process.execPath, '-e', `
    console.log('ready');
    require('readline').createInterface({input: process.stdin}).on('line', (line) =>
      console.log(Array(Number(line.split(' ')[1])).fill(${ns}).join(' ')));`];
}

test('workers take turns', async () => {
  const workers = [fake(1e8), fake(5e8)].map((command) => new Worker(command, 1));
  for (const w of workers) await w.ready();
  const times = await rounds(workers, 2, 2.5e8);
  assert.deepEqual(times, [[[1e8, 1e8, 1e8], [1e8, 1e8, 1e8]], [[5e8, 5e8, 5e8], [5e8, 5e8, 5e8]]]);
  await Promise.all(workers.map((w) => w.end()));
});

test('a sitting returns times and memory of each command', async () => {
  const [a, b] = await sit({commands: [fake(1e8), fake(2e8)], threads: 1, rounds: 1, turn: 1e9, first: 1});
  assert.deepEqual(a.times, [Array(10).fill(1e8)]);
  assert.deepEqual(b.times, [Array(5).fill(2e8)]);
  if (process.platform === 'linux') assert.ok(a.memory > 1e6);
});

test('a sitting can be wrapped in a command', () => {
  const task = JSON.stringify({commands: [fake(1e8)], threads: 1, rounds: 1, turn: 1e9, first: 0});
  const run = spawnSync(process.execPath, [path.join(import.meta.dirname, 'measure.mjs'), task], {encoding: 'utf8'});
  assert.deepEqual(JSON.parse(run.stdout)[0].times, [Array(10).fill(1e8)]);
});

test('starts are timed', async () => {
  const [ms] = await starts([fake(1)], 1, 3);
  assert.ok(ms > 1 && ms < 1e4, `${ms} ms`);
});

test('a worker that dies says why', async () => {
  const dead = new Worker([process.execPath, '-e', 'console.error("no weights"); process.exit(3)'], 1);
  await assert.rejects(dead.ready(), /no weights/);
  const silent = new Worker([process.execPath, '-e', 'process.exit(3)'], 1);
  await assert.rejects(silent.ready(), /ended with 3/);
});
