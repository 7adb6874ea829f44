"use strict";
// Shows the messages of the server. All texts are set as text, never as HTML.
const find = id => document.getElementById(id);
const maxPoints = 8192; // of a curve; then every second one is dropped
let curves = new Map(); // by tab and split
let generation = -1, tab = "", last = null, logarithmic = false;

function connect() {
  const events = new EventSource("events");
  events.onopen = () => { generation = -1; };
  events.onerror = () => { find("speed").textContent = "no connection"; };
  events.onmessage = e => { last = JSON.parse(e.data); take(last); };
}

function take(m) {
  if (m.generation !== generation) { curves = new Map(); generation = m.generation; }
  for (const c of m.curves || []) {
    const key = JSON.stringify([c.tab, c.split]);
    let points = c.whole ? [] : (curves.get(key) || []);
    for (const p of c.points) points.push(p);
    while (points.length > maxPoints) points = points.filter((_, i) => i % 2 === 1 || i === points.length - 1);
    curves.set(key, points);
  }
  document.title = m.name;
  find("name").textContent = m.name;
  find("position").textContent = m.position;
  find("speed").textContent = m.speed;
  if (m.done < 0) find("done").removeAttribute("value"); else find("done").value = m.done;
  find("readings").textContent = (m.readings || []).join("   ");
  fill(find("head"), [["", ...(m.columns || []), "best @"]], "th", m.columns || []);
  fill(find("rows"), m.rows || [], "td", m.columns || []);
  showLog(m.log || []);
  showTabs(m.tabs || []);
  draw();
}

function element(name, text, parent) {
  const e = document.createElement(name);
  e.textContent = text;
  parent.append(e);
  return e;
}

function fill(parent, rows, kind, columns) {
  parent.replaceChildren();
  for (const row of rows) {
    const line = element("tr", "", parent);
    row.forEach((text, i) => { element(kind, text, line).className = columns[i - 1] || ""; });
  }
}

function showLog(lines) {
  const log = find("log"), atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.replaceChildren();
  for (const l of lines) element("div", l.text, log).className = "kind" + l.kind;
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function showTabs(names) {
  if (!names.includes(tab)) tab = names[0] || "";
  find("tabs").replaceChildren();
  for (const name of names) {
    const b = element("button", name, find("tabs"));
    b.setAttribute("aria-pressed", name === tab);
    b.onclick = () => { tab = name; showTabs(names); draw(); };
  }
}

const left = 60, right = 630, top_ = 10, bottom = 290;

// shown returns the curves of the tab as [split, points], with logarithms if these are wanted.
function shown() {
  const out = [];
  for (const [key, points] of curves) {
    const [of, split] = JSON.parse(key);
    if (of !== tab) continue;
    out.push([split, logarithmic ? points.filter(p => p[1] > 0).map(p => [p[0], Math.log10(p[1])]) : points]);
  }
  return out.filter(c => c[1].length > 0);
}

function range(all, i) {
  let lo = Infinity, hi = -Infinity;
  for (const [, points] of all) for (const p of points) { lo = Math.min(lo, p[i]); hi = Math.max(hi, p[i]); }
  return lo < hi ? [lo, hi] : [lo - 0.5, hi + 0.5];
}

function shape(name, attributes, text) {
  const svg = find("plot"), e = document.createElementNS(svg.namespaceURI, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text) e.textContent = text;
  svg.append(e);
}

function number(v) {
  const a = Math.abs(v);
  return a !== 0 && (a < 0.01 || a >= 1e5) ? v.toExponential(1) : String(Number(v.toPrecision(4)));
}

function draw() {
  find("plot").replaceChildren();
  const all = shown();
  if (all.length === 0) { shape("text", { x: 300, y: 160 }, "no values"); return; }
  const [x0, x1] = range(all, 0), [y0, y1] = range(all, 1);
  const across = x => left + (x - x0) / (x1 - x0) * (right - left);
  const down = y => bottom - (y - y0) / (y1 - y0) * (bottom - top_);
  for (let i = 0; i <= 4; i++) {
    const y = y0 + (y1 - y0) * i / 4, x = x0 + (x1 - x0) * i / 4;
    shape("text", { x: left - 6, y: down(y) + 4, "text-anchor": "end" }, number(logarithmic ? 10 ** y : y));
    shape("text", { x: across(x), y: bottom + 20, "text-anchor": i === 4 ? "end" : "middle" }, number(Math.round(x)));
  }
  for (const [split, points] of all) {
    const end = points[points.length - 1];
    shape("polyline", {
      class: split, "data-tab": tab, "data-split": split, "data-count": points.length, "data-x": end[0],
      "data-y": logarithmic ? 10 ** end[1] : end[1],
      points: points.map(p => across(p[0]).toFixed(1) + "," + down(p[1]).toFixed(1)).join(" "),
    });
  }
}

find("log-scale").onclick = e => {
  logarithmic = !logarithmic;
  e.target.setAttribute("aria-pressed", logarithmic);
  draw();
};

// The values at the step under the mouse.
find("plot").onmousemove = e => {
  const all = shown();
  if (all.length === 0) return;
  const box = find("plot").getBoundingClientRect(), [x0, x1] = range(all, 0);
  const x = x0 + ((e.clientX - box.left) / box.width * 640 - left) / (right - left) * (x1 - x0);
  const texts = all.map(([split, points]) => {
    const p = points.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a);
    return split + " " + number(logarithmic ? 10 ** p[1] : p[1]) + " at " + p[0];
  });
  find("under").textContent = texts.join("   ");
};
find("plot").onmouseleave = () => { find("under").textContent = ""; };

connect();
