// Files of arguments and results: tensors/tensors.go says what they look like.

import fs from 'node:fs';

// read returns the tensors of a file: {name, type, dims, bytes}, each with memory of
// its own.
export function read(file) {
  const data = fs.readFileSync(file);
  let at = 0;
  const line = () => {
    const end = data.indexOf(10, at);
    const text = data.toString('utf8', at, end);
    at = end + 1;
    return text;
  };
  const list = [];
  for (let n = Number(line()); n > 0; n--) {
    const fields = line().split(' ');
    const [type, size, rank] = [fields[0], Number(fields[1]), Number(fields[2])];
    list.push({type, size, dims: fields.slice(3, 3 + rank).map(Number), name: fields.slice(3 + rank).join(' ')});
  }
  for (const t of list) {
    t.bytes = new Uint8Array(data.subarray(at, at + t.size));
    at += t.size;
  }
  return list;
}

// write writes tensors of the same form.
export function write(file, list) {
  const head = list.map((t) => [t.type, t.bytes.length, t.dims.length, ...t.dims, t.name].join(' ') + '\n');
  fs.writeFileSync(file, Buffer.concat([Buffer.from(`${list.length}\n${head.join('')}`), ...list.map((t) => t.bytes)]));
}
