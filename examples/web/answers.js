// softmax returns the probabilities that belong to logits.
export function softmax(logits) {
  const most = Math.max(...logits);
  const shares = Array.from(logits, (x) => Math.exp(x - most));
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((x) => x / sum);
}

// showBars fills a list with a bar for each answer {label, share}, and marks the largest share. A share is from 0
// to 1.
export function showBars(list, answers) {
  while (list.children.length < answers.length) {
    list.append(newBar());
  }
  while (list.children.length > answers.length) {
    list.lastChild.remove();
  }
  const most = Math.max(...answers.map((a) => a.share));
  answers.forEach(({ label, share }, i) => {
    const [name, track, text] = list.children[i].children;
    name.textContent = name.title = label;
    track.firstChild.style.width = `${100 * share}%`;
    text.textContent = `${(100 * share).toFixed(1)} %`;
    list.children[i].classList.toggle('best', share > 0 && share === most);
  });
}

function newBar() {
  const span = (name) => Object.assign(document.createElement('span'), { className: name });
  const item = document.createElement('li'), track = span('track');
  track.append(span('fill'));
  item.append(span('label'), track, span('share'));
  return item;
}

// loadModel loads the model in the folder model of a page. It rejects with an error that says how to make one.
export async function loadModel(page, how) {
  let module;
  try {
    module = await import(new URL('model/burngen.js', page));
  } catch {
    throw new Error(`There is no model yet: ${how}`);
  }
  return module.load();
}
