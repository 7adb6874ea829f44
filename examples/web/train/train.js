const $ = (id) => document.getElementById(id);

const about = {
  xor: 'A perceptron learns from four examples. Each point of the square is a pair of numbers from −0.5 to 1.5; its colour is the probability of the answer 1. Two opposite corners have to become orange.',
  digits: 'A convolutional network learns from 1,000 digits that the page draws. These are 50 others. The network reads the red ones wrongly.',
};

const most = 400; // points of the curve
let task = 'xor', running = false;
let id = 0; // of the task, and its seed; messages about earlier tasks may still come
let steps = 0, curve; // curve is {points, width, open}: means of so many steps each, and the steps of the next point

const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });

worker.onmessage = ({ data: { error, ready, of, loss, view } }) => {
  if (error !== undefined) {
    fail(error);
  }
  if (ready) {
    enable(true);
    begin();
  }
  if (of === id && loss !== undefined) {
    add(loss);
  }
  if (of === id && view !== undefined) {
    show(view);
  }
  if (loss !== undefined) {
    requestAnimationFrame(() => {
      draw();
      worker.postMessage({ shown: true });
    });
  }
};
worker.onerror = (e) => fail(e.message || 'The worker cannot be started.');

function fail(text) {
  running = false;
  label();
  enable(false);
  $('status').textContent = text;
}

function enable(yes) {
  for (const button of document.querySelectorAll('button')) {
    button.disabled = !yes;
  }
}

function label() {
  $('run').textContent = running ? 'Stop' : steps > 0 ? 'Go on' : 'Start';
}

// begin gives the network new weights.
function begin() {
  steps = 0;
  curve = { points: [], width: 1, open: [] };
  $('hint').hidden = false;
  $('steps').textContent = '0';
  $('loss').textContent = '–';
  $('status').textContent = '';
  $('about').textContent = about[task];
  label();
  draw();
  worker.postMessage({ task, id: ++id });
}

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

// add adds a step to the curve. When the curve is full, each two points become one.
function add(loss) {
  steps++;
  $('steps').textContent = steps.toLocaleString('en');
  curve.open.push(loss);
  if (curve.open.length === curve.width) {
    curve.points.push(mean(curve.open));
    curve.open = [];
    if (curve.points.length === most) {
      curve.points = curve.points.flatMap((y, i, all) => (i % 2 === 0 ? [(y + all[i + 1]) / 2] : []));
      curve.width *= 2;
    }
  }
  $('loss').textContent = loss.toFixed(4);
  $('hint').hidden = true;
}

function draw() {
  const canvas = $('curve'), pen = canvas.getContext('2d'), { width, height } = canvas;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const pixel = width / canvas.clientWidth; // of CSS
  const { points } = curve, top = 1.05 * Math.max(...points, 0.1), edge = 12 * pixel;
  const x = (i) => edge + (width - 2 * edge) * i / Math.max(points.length - 1, 1);
  const y = (loss) => height - edge - (height - 2 * edge) * loss / top;
  pen.clearRect(0, 0, width, height);
  if (points.length === 0) {
    return;
  }
  pen.font = `${11 * pixel}px system-ui, sans-serif`;
  pen.lineWidth = pixel;
  pen.strokeStyle = colour('--line');
  pen.fillStyle = colour('--quiet');
  const unit = 10 ** Math.floor(Math.log10(top)), tick = top / unit < 2 ? unit / 2 : top / unit < 5 ? unit : 2 * unit;
  for (let loss = 0; loss <= top; loss += tick) {
    pen.beginPath();
    pen.moveTo(edge, y(loss));
    pen.lineTo(width - edge, y(loss));
    pen.stroke();
    pen.fillText(String(Number(loss.toFixed(6))), edge, y(loss) - 3 * pixel);
  }
  pen.lineWidth = 1.5 * pixel;
  pen.lineJoin = 'round';
  pen.strokeStyle = colour('--accent');
  pen.beginPath();
  points.forEach((loss, i) => pen.lineTo(x(i), y(loss)));
  pen.stroke();
}

function show({ right, of, width, pixels }) {
  $('right').textContent = `${right} of ${of}`;
  const canvas = $('picture');
  canvas.width = width;
  canvas.height = pixels.length / 4 / width;
  canvas.getContext('2d').putImageData(new ImageData(pixels, width), 0, 0);
}

$('run').addEventListener('click', () => {
  running = !running;
  label();
  worker.postMessage({ run: running });
});
$('anew').addEventListener('click', begin);
for (const button of $('tasks').children) {
  button.addEventListener('click', () => {
    task = button.dataset.task;
    for (const b of $('tasks').children) {
      b.setAttribute('aria-pressed', b === button);
    }
    begin();
  });
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => curve && draw());
addEventListener('resize', () => curve && draw());
