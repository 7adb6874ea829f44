// Timing worker processes fairly: one runs at a time, the others are stopped, so
// that spinning threads cost it nothing, and who goes first alternates.
//
//   node measure.mjs SITTING
//
// does what the JSON text says, as sit has it, and prints the result as JSON: so can
// another command wrap the measuring, and only that.

import {spawn, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import readline from 'node:readline';
import {performance} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';

const quiet = 50; // milliseconds between one worker's turn and the next
const warming = 2e7; // nanoseconds of calls before those of a turn
const shortest = 2e4; // nanoseconds that a sample takes at least
const stops = process.platform !== 'win32';

// pins tells whether workers can be put on processors.
export const pins = process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0;

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

  // run returns n times the nanoseconds of one of k calls.
  async run(n, k = 1) {
    this.process.stdin.write(`run ${n} ${k}\n`);
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

// calls returns how many samples of how many calls make a turn of so many
// nanoseconds, when a call takes about that many.
export function calls(call, turn) {
  const k = Math.max(1, Math.ceil(shortest / call));
  return [Math.min(2000, Math.max(3, Math.round(turn / (call * k)))), k];
}

// rounds lets the workers take turns of so many nanoseconds, count of them each, and
// returns each one's times by round. The first round's number decides who begins.
export async function rounds(workers, count, turn, first = 0) {
  const times = workers.map(() => []);
  for (const w of workers) w.pause();
  for (let round = first; round < first + count; round++) {
    const order = round % 2 ? [...workers.keys()].reverse() : [...workers.keys()];
    for (const k of order) {
      const w = workers[k];
      w.resume();
      const once = Math.min(...await w.run(2));
      const warm = Math.min(...await w.run(...calls(once, Math.max(warming, 3 * Math.min(once, warming)))));
      times[k].push(await w.run(...calls(Math.min(once, warm), turn)));
      w.pause();
      await sleep(quiet);
    }
  }
  return times;
}

// sit starts a worker for each of the commands and lets them take turns: {commands,
// threads, rounds, turn, first}. It returns each one's times by round and its peak
// memory.
export async function sit({commands, threads, rounds: count, turn, first}) {
  const workers = [];
  try {
    for (const command of commands) {
      const worker = new Worker(command, threads);
      workers.push(worker);
      await worker.ready();
      worker.pause();
    }
    const times = await rounds(workers, count, turn, first);
    return workers.map((w, i) => ({times: times[i], memory: w.memory()}));
  } finally {
    await Promise.all(workers.map((w) => w.end()));
  }
}

// starts returns the median milliseconds of each command from its start to its first
// result, of so many alternating starts.
export async function starts(commands, threads, count) {
  const times = commands.map(() => []);
  for (let i = 0; i < count; i++) {
    for (const [k, command] of commands.entries()) {
      const worker = new Worker(command, threads);
      try {
        times[k].push(await worker.ready());
      } finally {
        await worker.end();
      }
    }
  }
  return times.map(median);
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

if (process.argv[1] === import.meta.filename) {
  try {
    const {task, ...rest} = JSON.parse(process.argv[2]);
    const result = task === 'starts' ? await starts(rest.commands, rest.threads, rest.count) : await sit(rest);
    console.log(JSON.stringify(result));
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
