
// serve runs the program in main.wasm, and lets it answer the questions of burngen.js.
async function serve() {
  const onNode = typeof process === 'object' && Boolean(process.versions?.node);
  const port = onNode ? (await import('node:worker_threads')).parentPort : globalThis;
  const post = (message, transfer) => port.postMessage(message, transfer ?? []);
  const url = new URL('./main.wasm', import.meta.url);
  const go = new Go();
  let api;

  // answer returns the answer to a question, or throws an error. fatal of the error says that the program cannot
  // answer other questions.
  function answer({ method, inputs, reset }) {
    if (reset) {
      api.reset();
      return [];
    }
    const result = api.call(method, inputs);
    if (result?.outputs === undefined && result?.error === undefined) {
      throw new Error('the program did not answer');
    }
    return result;
  }

  function hear(question) {
    let result;
    try {
      result = answer(question);
    } catch (e) {
      post({ fatal: `the program has ended: ${e.message}` });
      return;
    }
    if (result.error !== undefined) {
      post({ id: question.id, error: result.error });
      return;
    }
    const outputs = result.outputs ?? [];
    post({ id: question.id, answer: outputs }, outputs.map((o) => o.data.buffer).filter(Boolean));
  }

  globalThis.burngenReady = (object) => {
    if (object.error !== undefined) {
      post({ fatal: object.error });
      return;
    }
    api = object;
    if (onNode) {
      port.on('message', hear);
    } else {
      port.onmessage = (e) => hear(e.data);
    }
    post({ id: -1, answer: { name: api.name, methods: api.methods } });
  };

  try {
    const { instance } = await instantiate(url, go.importObject, onNode);
    await go.run(instance);
    post({ fatal: 'the program has ended' });
  } catch (e) {
    post({ fatal: `${url}: ${e.message}` });
  }
}

async function instantiate(url, imports, onNode) {
  if (onNode) {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.instantiate(await readFile(url), imports);
  }
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`status ${response.status}`);
  }
  // Not every server of files knows the type of main.wasm.
  return response.headers.get('Content-Type') === 'application/wasm'
    ? WebAssembly.instantiateStreaming(response, imports)
    : WebAssembly.instantiate(await response.arrayBuffer(), imports);
}

serve();

export {};
