import { loadModel, showBars, softmax } from '../answers.js';

const $ = (id) => document.getElementById(id);

// Means and standard deviations of ImageNet's red, green and blue, with which the network was trained.
const means = [0.485, 0.456, 0.406], deviations = [0.229, 0.224, 0.225];

let model, size; // size is the side of the network's input in pixels
let shares = []; // the last answer
let names = (localStorage.getItem('names of classes') ?? '').split('\n').filter(Boolean);

// squareOf draws the middle of a picture on the canvas, so that its shorter side is the canvas's, and returns the pixels.
function squareOf(picture) {
  const canvas = $('crop');
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.imageSmoothingQuality = 'high';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, size, size);
  const scale = size / Math.min(picture.width, picture.height);
  const width = Math.round(scale * picture.width), height = Math.round(scale * picture.height);
  context.drawImage(picture, Math.round((size - width) / 2), Math.round((size - height) / 2), width, height);
  return context.getImageData(0, 0, size, size).data;
}

// inputOf returns the network's input for pixels of four bytes: the planes of red, green and blue, normalised.
function inputOf(pixels) {
  const plane = pixels.length / 4, input = new Float32Array(3 * plane);
  for (let i = 0; i < plane; i++) {
    for (let c = 0; c < 3; c++) {
      input[c * plane + i] = (pixels[4 * i + c] / 255 - means[c]) / deviations[c];
    }
  }
  return input;
}

async function classify(file) {
  $('status').textContent = 'Looking…';
  let picture;
  try {
    picture = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name} is not a picture that this browser can read.`);
  }
  const [method, { inputs, outputs }] = Object.entries(model.methods)[0];
  const input = inputOf(squareOf(picture));
  $('hint').hidden = true;
  const start = performance.now();
  const answer = await model[method]({ [inputs[0].name]: input });
  const took = performance.now() - start;
  shares = softmax(answer[outputs[0].name].data);
  showBest();
  $('status').textContent = `One of ${shares.length} classes. The answer took ${took.toFixed(0)} ms.`;
}

// showBest shows the five classes with the largest shares.
function showBest() {
  const best = shares.map((share, i) => ({ label: names[i] ?? `class ${i}`, share }));
  showBars($('bars'), best.sort((a, b) => b.share - a.share).slice(0, 5));
}

async function take(files) {
  try {
    for (const file of files) {
      if (file.type.startsWith('text/')) {
        const text = await file.text();
        names = text.trimEnd().split(/\r?\n/);
        localStorage.setItem('names of classes', names.join('\n'));
        showBest();
      } else {
        await classify(file);
      }
    }
  } catch (e) {
    $('status').textContent = e.message;
  }
}

try {
  model = await loadModel(import.meta.url, 'examples/web/README.md says how to make one.');
  const { inputs } = Object.values(model.methods)[0];
  size = inputs[0].shape.at(-1);
  for (const id of ['photo', 'names']) {
    $(id).addEventListener('change', () => take($(id).files));
  }
  document.addEventListener('dragover', (e) => {
    e.preventDefault();
    $('sheet').classList.add('over');
  });
  document.addEventListener('dragleave', () => $('sheet').classList.remove('over'));
  document.addEventListener('drop', (e) => {
    e.preventDefault();
    $('sheet').classList.remove('over');
    take(e.dataTransfer.files);
  });
  $('status').textContent = '';
} catch (e) {
  $('status').textContent = e.message;
}
