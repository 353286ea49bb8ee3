"use strict";
const off = new Set();

// A click on a name hides the contender everywhere; its lines go by their colour.
document.getElementById("legend")?.addEventListener("click", e => {
  const b = e.target.closest("button");
  if (!b) return;
  const c = Number(b.dataset.c), hide = !off.has(c);
  hide ? off.add(c) : off.delete(c);
  hide ? document.documentElement.style.setProperty("--c" + c, "transparent")
       : document.documentElement.style.removeProperty("--c" + c);
  for (const el of document.querySelectorAll(`[data-c="${c}"]`)) el.classList.toggle("off", hide);
});

function scaled(v, units) {
  let i = 0;
  while (Math.abs(v) >= 999.5 && i < units.length - 1) { v /= 1000; i++; }
  return Number(v.toPrecision(3)) + " " + units[i];
}
const print = {
  ns: v => scaled(v, ["ns", "µs", "ms", "s"]),
  bytes: v => scaled(v, ["B", "kB", "MB", "GB", "TB"]),
  "": v => scaled(v, ["", "k", "M", "G"]),
};

function at(line, x) { // the last point at or before x; null beyond the line's end
  const p = line.p;
  if (x > p[p.length - 1][0] * 1.0001) return null;
  let y = p[0][1];
  for (const [px, py] of p) { if (px > x) break; y = py; }
  return y;
}

for (const fig of document.querySelectorAll("[data-chart]")) {
  const d = charts[fig.dataset.chart], area = fig.querySelector(".area");
  const tip = area.querySelector(".tip"), cursor = area.querySelector(".cursor");
  area.addEventListener("mouseleave", () => { tip.style.display = cursor.style.display = "none"; });
  area.addEventListener("mousemove", e => {
    const r = area.getBoundingClientRect();
    const f = Math.min(1, Math.max(0, (e.clientX - r.left) / r.width));
    const [lo, hi] = d.x;
    const x = d.log ? lo * Math.pow(hi / lo, f) : lo + (hi - lo) * f;
    const rows = d.lines.filter(l => !off.has(l.c)).map(l => [l.c, at(l, x)]).filter(v => v[1] !== null);
    rows.sort((a, b) => b[1] - a[1]);
    const title = document.createElement("b");
    title.textContent = d.kind === "percentile" ? "P" + Number((100 - 100 / x).toFixed(Math.max(1, Math.ceil(Math.log10(x))))) : d.kind === "series" ? x.toPrecision(3) + " s" : scaled(x, ["", "k", "M", "G"]);
    tip.replaceChildren(title, ...rows.map(([c, y]) => {
      const row = document.createElement("div"), name = document.createElement("span"), dot = document.createElement("i"), v = document.createElement("span");
      dot.style.background = `var(--c${c})`;
      name.append(dot, names[c]);
      v.textContent = print[d.unit](y);
      row.append(name, v);
      return row;
    }));
    tip.style.display = cursor.style.display = "block";
    cursor.style.left = 100 * f + "%";
    Object.assign(tip.style, f > 0.5 ? { left: "", right: 100 - 100 * f + 2 + "%" } : { right: "", left: 100 * f + 2 + "%" });
  });
}
