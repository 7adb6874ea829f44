
// serve runs the program in main.wasm, and lets it answer the questions of burngen.js.
async function serve() {
  const onNode = typeof process === 'object' && Boolean(process.versions?.node);
  const port = onNode ? (await import('node:worker_threads')).parentPort : globalThis;
  const post = (message, transfer) => port.postMessage(message, transfer ?? []);
  const url = new URL('./main.wasm', import.meta.url);
  const kernelsURL = new URL('./kernels.wasm', import.meta.url);
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
    const [program, kernels] = await Promise.all([compile(url, onNode), compile(kernelsURL, onNode).catch(withoutVectors)]);
    if (kernels === undefined) {
      go.env.BURNGEN_CPU = 'generic';
    }
    // The kernels compute in the memory of the program, which exists only after the program has its imports.
    let kernel;
    go.importObject.kernels = {};
    for (const { module, name } of WebAssembly.Module.imports(program)) {
      if (module === 'kernels') {
        go.importObject.kernels[name] = (a, b, c, d, e, f, g, h, i) => kernel[name](a, b, c, d, e, f, g, h, i);
      }
    }
    const instance = await WebAssembly.instantiate(program, go.importObject);
    if (kernels !== undefined) {
      kernel = (await WebAssembly.instantiate(kernels, { go: { memory: instance.exports.mem } })).exports;
    }
    await go.run(instance);
    post({ fatal: 'the program has ended' });
  } catch (e) {
    post({ fatal: e.message });
  }
}

// withoutVectors returns undefined if a module cannot be compiled because the engine has no vector instructions.
function withoutVectors(error) {
  if (error.cause instanceof WebAssembly.CompileError) {
    return undefined;
  }
  throw error;
}

// compile returns the module at a URL. Its error begins with the URL.
async function compile(url, onNode) {
  try {
    if (onNode) {
      const { readFile } = await import('node:fs/promises');
      return await WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) {
      throw new Error(`status ${response.status}`);
    }
    // Not every server of files knows the type of modules.
    return response.headers.get('Content-Type') === 'application/wasm'
      ? await WebAssembly.compileStreaming(response)
      : await WebAssembly.compile(await response.arrayBuffer());
  } catch (e) {
    throw new Error(`${url}: ${e.message}`, { cause: e });
  }
}

serve();

export {};
