// The worker trains while it is told to. Its messages are {ready}, {id, loss, view}, where loss or view may be missing,
// and {error}. id is the number that came with the task, and the seed of its random numbers.
let trainer, id, running = false;

function call(f, ...args) {
  const result = f(...args);
  if (result.error !== undefined) {
    throw new Error(result.error);
  }
  return result;
}

// train trains until it is told to stop. Between the steps, the worker hears messages.
async function train() {
  let last = 0;
  while (running) {
    const message = { id, loss: call(trainer.step).loss };
    if (performance.now() - last > 250) { // looking costs time, too
      message.view = call(trainer.look);
      last = performance.now();
    }
    postMessage(message);
    await new Promise((resume) => setTimeout(resume));
  }
}

// hear begins a task, and starts or stops to train it.
async function hear(message) {
  if (message.task !== undefined) {
    id = message.id;
    call(trainer.start, message.task, id);
    postMessage({ id, view: call(trainer.look) });
  }
  if (message.run !== undefined && message.run !== running) {
    running = message.run;
    if (running) {
      await train();
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
