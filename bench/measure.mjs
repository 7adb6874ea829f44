// Timing two worker processes fairly: one runs at a time, the other is stopped,
// so that spinning threads cost it nothing, and who goes first alternates.

import {spawn, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import readline from 'node:readline';
import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';

const quiet = 50; // milliseconds between one worker's turn and the next
const turn = 0.25e9; // nanoseconds that a turn should take
const stops = process.platform !== 'win32';
const pins = process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0;

// pinned puts a command on as many processors as it has threads: the last ones,
// since the first serves interrupts.
function pinned(threads, command) {
  const cpus = os.cpus().length;
  if (!pins || threads > cpus) return command;
  return ['taskset', '-c', `${cpus - threads}-${cpus - 1}`, ...command];
}

// Worker is a process that speaks the protocol of worker/worker.go.
export class Worker {
  constructor(command, threads) {
    const [program, ...args] = pinned(threads, command);
    this.started = performance.now();
    this.process = spawn(program, args, {
      env: {...process.env, GOMAXPROCS: String(threads)},
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.errors = '';
    this.process.stderr.on('data', (text) => { this.errors += text; });
    this.process.stdin.on('error', () => {});
    this.failed = new Promise((resolve) => { this.process.once('error', resolve); });
    this.ended = new Promise((resolve) => { this.process.once('close', resolve); });
    this.lines = readline.createInterface({input: this.process.stdout})[Symbol.asyncIterator]();
  }

  async line() {
    const {value, done} = await Promise.race([this.lines.next(), this.failed.then((error) => { throw error; })]);
    if (!done) return value;
    const code = await this.ended;
    throw new Error(this.errors.trim().split('\n')[0] || `worker ended with ${code ?? this.process.signalCode}`);
  }

  // ready waits for the first result and returns the milliseconds it took.
  async ready() {
    const line = await this.line();
    if (line !== 'ready') throw new Error(`worker said ${JSON.stringify(line)}`);
    return performance.now() - this.started;
  }

  // run returns the nanoseconds of each of n calls.
  async run(n) {
    this.process.stdin.write(`run ${n}\n`);
    return (await this.line()).split(' ').map(Number);
  }

  pause() {
    if (stops) this.process.kill('SIGSTOP');
  }

  resume() {
    if (stops) this.process.kill('SIGCONT');
  }

  // memory returns the most bytes that the process ever had resident, or null
  // where the system does not say.
  memory() {
    try {
      const status = fs.readFileSync(`/proc/${this.process.pid}/status`, 'utf8');
      return 1024 * Number(status.match(/VmHWM:\s+(\d+)/)[1]);
    } catch {
      return null;
    }
  }

  async end() {
    this.resume();
    this.process.stdin.end();
    this.process.kill();
    await this.ended;
  }
}

// rounds lets the workers take turns and returns each one's times by round.
export async function rounds(workers, count) {
  const times = workers.map(() => []);
  for (const w of workers) w.pause();
  for (let round = 0; round < count; round++) {
    const order = round % 2 ? [...workers.keys()].reverse() : [...workers.keys()];
    for (const k of order) {
      const w = workers[k];
      w.resume();
      const warm = median((await w.run(6)).slice(3));
      times[k].push(await w.run(Math.min(2000, Math.max(3, Math.round(turn / warm)))));
      w.pause();
      await sleep(quiet);
    }
  }
  return times;
}

// summary condenses one worker's rounds, in nanoseconds; spread is the slowest
// round's minimum over the fastest's.
export function summary(byRound) {
  const minima = byRound.map((times) => Math.min(...times));
  return {min: Math.min(...minima), median: median(byRound.flat()), spread: Math.max(...minima) / Math.min(...minima)};
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
