"use strict";
// Shows the values under the pointer below each chart.
for (const figure of document.querySelectorAll("figure.chart")) {
  const svg = figure.querySelector("svg"), cursor = svg.querySelector(".cursor"), caption = figure.querySelector("figcaption");
  const legend = [...caption.childNodes];
  const lines = [...svg.querySelectorAll("path[data-steps]")].map((p) => ({
    label: p.dataset.label,
    steps: p.dataset.steps.split(" ").map(Number),
    values: p.dataset.values.split(" "),
    at: [...p.getAttribute("d").matchAll(/[ML](-?[\d.]+)/g)].map((m) => Number(m[1])),
  }));
  const nearest = (at, x) => {
    let low = 0, high = at.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (at[middle] < x) low = middle; else high = middle;
    }
    return Math.abs(at[low] - x) <= Math.abs(at[high] - x) ? low : high;
  };
  svg.addEventListener("pointermove", (e) => {
    const box = svg.getBoundingClientRect();
    const x = ((e.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    caption.textContent = lines.map((l) => {
      const i = nearest(l.at, x);
      return `${l.label}: ${l.values[i]} at step ${l.steps[i]}`;
    }).join(" · ");
  });
  svg.addEventListener("pointerleave", () => {
    cursor.style.visibility = "hidden";
    caption.replaceChildren(...legend);
  });
}
