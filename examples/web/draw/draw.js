import { loadModel, showBars, softmax } from '../answers.js';
import { fit } from './fit.js';

const $ = (id) => document.getElementById(id);
const paper = $('paper'), side = paper.width;
const pen = paper.getContext('2d', { willReadFrequently: true });
pen.lineWidth = side * 0.07;
pen.lineCap = pen.lineJoin = 'round';

let model; // once it is loaded
let stroke = null; // the pointer that draws, and the end of its line: {id, x, y}

// place returns where an event is, in pixels of the paper.
function place(e) {
  const r = paper.getBoundingClientRect();
  return { x: (e.clientX - r.left) * side / r.width, y: (e.clientY - r.top) * side / r.height };
}

function lineTo({ x, y }) {
  pen.beginPath();
  pen.moveTo(stroke.x, stroke.y);
  pen.lineTo(x + 0.01, y); // a line without length would be no dot
  pen.stroke();
  Object.assign(stroke, { x, y });
}

paper.addEventListener('pointerdown', (e) => {
  if (stroke !== null || e.button !== 0) {
    return;
  }
  paper.setPointerCapture(e.pointerId);
  stroke = { id: e.pointerId, ...place(e) };
  lineTo(stroke); // a dot
  $('hint').hidden = true;
  read();
});
paper.addEventListener('pointermove', (e) => {
  if (e.pointerId !== stroke?.id) {
    return;
  }
  const events = e.getCoalescedEvents?.() ?? [];
  (events.length > 0 ? events : [e]).forEach((one) => lineTo(place(one)));
  read();
});
for (const kind of ['pointerup', 'pointercancel']) {
  paper.addEventListener(kind, (e) => {
    if (e.pointerId === stroke?.id) {
      stroke = null;
      read();
    }
  });
}
$('clear').addEventListener('click', () => {
  pen.clearRect(0, 0, side, side);
  $('hint').hidden = false;
  read();
});

// read asks the model about the drawing. While an answer is computed, only the last question is kept.
let asked = false, reading = false;
async function read() {
  asked = true;
  if (model === undefined || reading) {
    return;
  }
  reading = true;
  try {
    while (asked) {
      asked = false;
      await answer();
    }
  } catch (e) {
    $('status').textContent = e.message;
  }
  reading = false;
}

async function answer() {
  const pixels = pen.getImageData(0, 0, side, side).data;
  const ink = Float32Array.from({ length: side * side }, (_, i) => pixels[4 * i + 3] / 255);
  const image = fit(ink, side);
  showImage(image ?? new Float32Array(28 * 28));
  if (image === null) {
    show(new Array(10).fill(0), '');
    return;
  }
  const start = performance.now();
  const { logits } = await model.forward({ image });
  const took = performance.now() - start;
  const shares = softmax(logits.data);
  show(shares, `This is a ${shares.indexOf(Math.max(...shares))}. The answer took ${took.toFixed(1)} ms.`);
}

function show(shares, text) {
  showBars($('bars'), shares.map((share, digit) => ({ label: String(digit), share })));
  $('status').textContent = text;
}

function showImage(image) {
  const context = $('seen').getContext('2d'), view = context.createImageData(28, 28);
  image.forEach((v, i) => view.data.set([255 * v, 255 * v, 255 * v, 255], 4 * i));
  context.putImageData(view, 0, 0);
}

show(new Array(10).fill(0), 'Loading…');
try {
  model = await loadModel(import.meta.url, 'run go generate ./examples/web.');
  show(new Array(10).fill(0), '');
  if (asked) {
    read();
  }
} catch (e) {
  $('status').textContent = e.message;
}
