// Loads a folder that burngen -web wrote, calls the model of examples/digits, and prints what it answers as JSON.
import { pathToFileURL } from 'node:url';

const { load } = await import(pathToFileURL(`${process.argv[2]}/burngen.js`));
const m = await load();
const image = Float32Array.from({ length: 784 }, (_, i) => (i % 7) / 7);
const twice = { data: new Float32Array(2 * 784), shape: [2, 1, 28, 28] };
twice.data.set(image, 784);

async function failure(inputs) {
  try {
    await m.forward(inputs);
    return 'no error';
  } catch (e) {
    return e.message;
  }
}

const first = await m.forward({ image });
const together = await Promise.all([m.forward({ image }), m.forward({ image: twice })]);
const errors = [];
for (const inputs of [
  {}, null, { image, mask: image }, { image: 1 }, { image: null }, { image: { data: image, shape: 'N' } },
  { image: new Float64Array(784) }, { image: image.subarray(1) }, { image: ['1'] }, { image: new DataView(image.buffer) },
  { image: { data: image, shape: [1, 28, 28] } }, { image: { data: image, shape: [NaN, 1, 28, 28] } },
  { image: { data: image, shape: [-1, 1, 28, 28] } }, { image: { data: image, shape: [2 ** 62, 1, 28, 28] } },
  { image: { data: image, shape: Array(1000).fill(1) } }, { image: { data: () => 1 } },
]) {
  errors.push(await failure(inputs));
}
await m.reset();
const last = await m.forward({ image });
const open = m.forward({ image }).catch((e) => e.message);
m.close();
console.log(JSON.stringify({
  name: m.name,
  methods: m.methods,
  class: first.logits.data.constructor.name,
  shapes: [first, ...together].map((r) => r.logits.shape),
  logits: [first, together[0], last].map((r) => Array.from(r.logits.data)),
  second: Array.from(together[1].logits.data.subarray(10)),
  passed: image.length,
  errors,
  closed: [await open, await failure({ image })],
}));
