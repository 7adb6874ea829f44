// The worker trains while it is told to. Its messages are {ready}, {of, loss, view}, where loss or view may be missing,
// and {error}. of is the number that came with the task, and the seed of its random numbers.
let trainer, of, running = false, training = null;
let goOn = () => {}; // ends the wait for the page

function call(f, ...args) {
  const result = f(...args);
  if (result.error !== undefined) {
    throw new Error(result.error);
  }
  return result;
}

// train trains until it is told to stop. After a step, it waits until the page has shown the loss.
async function train() {
  let last = 0;
  while (running) {
    const message = { of, loss: call(trainer.step).loss };
    if (performance.now() - last > 250) { // looking costs time, too
      message.view = call(trainer.look);
      last = performance.now();
    }
    const shown = new Promise((resolve) => { goOn = resolve; });
    postMessage(message);
    await shown;
  }
}

// hear begins a task, starts or stops to train it, or goes on after a step.
async function hear(message) {
  if (message.shown) {
    goOn();
  }
  if (message.task !== undefined) {
    of = message.id;
    call(trainer.start, message.task, of);
    postMessage({ of, view: call(trainer.look) });
  }
  if (message.run !== undefined) {
    running = message.run;
    if (running) {
      training ??= train().finally(() => { training = null; });
      await training;
    }
  }
}

function fail(e) {
  running = false;
  postMessage({ error: e.message });
}

async function start() {
  globalThis.trainerReady = (object) => {
    trainer = object;
    onmessage = (e) => hear(e.data).catch(fail);
    postMessage({ ready: true });
  };
  try {
    await import('./model/wasm_exec.js');
  } catch {
    throw new Error('There is no program yet: run go generate ./examples/web.');
  }
  const go = new Go(), response = await fetch(new URL('model/main.wasm', import.meta.url));
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), go.importObject);
  await go.run(instance);
  throw new Error('The program has ended.');
}

start().catch(fail);
