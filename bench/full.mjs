// Runs all that RESULTS.md is made of, one after the other, and writes it: times at one
// thread and two, starts and accuracy; batches of eight, with the batch open and
// compiled in.
//
//   node full.mjs [-o DIR] [--burngen CMD] [--wrap CMD] [NAME ...]
//
// The names are models of models/, all of them without names. What was measured stays in
// out/full/; RESULTS.md, results.json and ratios.svg are written to DIR, this folder
// unless it is given. --wrap is compare.mjs's. All models take about 25 minutes on two processors.

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {exec} from './cases.mjs';

const {values: flags, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    o: {type: 'string', short: 'o', default: '.'},
    burngen: {type: 'string', default: 'go tool burngen'},
    wrap: {type: 'string'},
  },
});
const here = import.meta.dirname;
const folder = path.join(here, 'out', 'full');
fs.mkdirSync(folder, {recursive: true});

const names = await models(positionals);
const operators = await models(['operators']);
const batched = names.filter((name) => !operators.includes(name));

const files = [
  await compare('times', names, '--threads', '1,2', '--rounds', '5', '--starts', '5', '--accuracy'),
  await compare('batch', batched, '--batch', '8', '--static', '--quick'),
].filter(Boolean);
const from = path.join(path.resolve(flags.o), 'notes.json');
if (!fs.existsSync(from)) fs.copyFileSync(path.join(here, 'notes.json'), from);
console.error(await exec('go', ['run', './report', '-o', path.resolve(flags.o), ...files]));

async function models(list) {
  return (await exec('go', ['run', './models', '-list', ...list])).split('\n');
}

// compare runs compare.mjs and returns the file of its report, which is there whether
// cases fail or not; nothing without models.
async function compare(name, list, ...options) {
  if (!list.length) return undefined;
  const began = Date.now();
  const file = path.join(folder, name + '.json');
  const child = spawn(process.execPath, ['compare.mjs', '--json', '--burngen', flags.burngen, ...(flags.wrap ? ['--wrap', flags.wrap] : []), ...options, ...list], {
    cwd: here, stdio: ['ignore', fs.openSync(file, 'w'), 'inherit'],
  });
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  console.error(`${name}: ${((Date.now() - began) / 6e4).toFixed(1)} minutes`);
  return file;
}
