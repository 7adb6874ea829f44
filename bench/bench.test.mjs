import assert from 'node:assert/strict';
import test from 'node:test';
import {disagreement, sizeOf} from './agree.mjs';
import {Worker, median, rounds, summary} from './measure.mjs';
import {uniform} from './uniform.mjs';

test('uniform makes the numbers that models/uniform.go makes', () => {
  assert.deepEqual([...uniform(new Float32Array(4), 1, -1, 1)], [0.1467951536178589, 0.17678749561309814, 0.40826737880706787, 0.8555257320404053]);
  assert.deepEqual([...uniform(new BigInt64Array(4), 1, 0, 10)], [5n, 5n, 7n, 9n]);
});

test('outputs agree within rounding', () => {
  assert.equal(disagreement([1, 2.001, -3], [1, 2, -3]).problem, null);
  assert.equal(disagreement([1e-6, 100], [0, 100]).problem, null);
  assert.equal(disagreement([NaN, Infinity, 0], [NaN, Infinity, -0]).problem, null);
  assert.equal(disagreement([1, 2], [1, 2]).error, 0);
});

test('outputs that differ are told', () => {
  for (const [got, want] of [
    [[1, 2.1], [1, 2]],
    [[1, 0.01], [1, 0]],
    [[1, NaN], [1, 2]],
    [[1, 2], [1, NaN]],
    [[1, Infinity], [1, 2]],
    [[1, -Infinity], [1, Infinity]],
  ]) {
    assert.match(disagreement(got, want).problem, /^output 1 is /, `${got} against ${want}`);
  }
  assert.match(disagreement([1], [1, 2]).problem, /^1 outputs/);
});

test('open dimensions are one', () => {
  assert.deepEqual([3, 'N', -1, undefined].map(sizeOf), [3, 1, 1, 1]);
});

test('summaries keep minimum, median and spread', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.deepEqual(summary([[10, 12, 14], [20, 11, 13]]), {min: 10, median: 12.5, spread: 1.1});
});

// fake is a worker that says how often it ran, in the given nanoseconds.
function fake(ns) {
  return new Worker([process.execPath, '-e', `
    console.log('ready');
    require('readline').createInterface({input: process.stdin}).on('line', (line) =>
      console.log(Array(Number(line.split(' ')[1])).fill(${ns}).join(' ')));`], 1);
}

test('workers take turns', async () => {
  const workers = [fake(1e8), fake(5e8)];
  for (const w of workers) await w.ready();
  const times = await rounds(workers, 2);
  assert.deepEqual(times, [[[1e8, 1e8, 1e8], [1e8, 1e8, 1e8]], [[5e8, 5e8, 5e8], [5e8, 5e8, 5e8]]]);
  await Promise.all(workers.map((w) => w.end()));
});

test('a worker that dies says why', async () => {
  const dead = new Worker([process.execPath, '-e', 'console.error("no weights"); process.exit(3)'], 1);
  await assert.rejects(dead.ready(), /no weights/);
  const silent = new Worker([process.execPath, '-e', 'process.exit(3)'], 1);
  await assert.rejects(silent.ready(), /ended with 3/);
});
