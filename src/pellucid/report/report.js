(() => {
  "use strict";
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const boxes = Array.from(document.querySelectorAll("[data-chart]"));
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    ast: true, // the expression interpreter: the page's policy forbids making code from text
    // The interpreter takes a single number for a year; everywhere else in Vega it is a time.
    expressionFunctions: {
      datetime: (first, ...rest) => (rest.length ? new Date(first, ...rest) : new Date(first)),
    },
    actions: { export: true, source: false, compiled: false, editor: false },
  };
  const NARROW = 480; // below this, legends go under the chart
  const LEAST = 130; // a plotting area is not made narrower than this
  const LABELS = 0.36; // share of the width that long names may take
  const READABLE = 0.62; // a chart is not scaled below this; it scrolls in its box instead

  const parts = (view) => view.concat || view.hconcat || view.vconcat || [];

  // How many plotting areas stand side by side and can give way.
  function abreast(view) {
    const inside = parts(view);
    if (!inside.length) return view.width > 100 ? 1 : 0;
    const columns = view.hconcat ? inside.length : view.vconcat ? 1 : view.columns || inside.length;
    const row = inside.slice(0, columns);
    return Math.max(1, row.reduce((sum, part) => sum + abreast(part), 0));
  }

  function narrow(view, pixels) {
    if (view.width > 100) view.width = Math.max(LEAST, view.width - pixels);
    parts(view).forEach((part) => narrow(part, pixels));
  }

  function fitted(chart, excess, room) {
    const spec = JSON.parse(JSON.stringify(chart.spec));
    const { axis, legend, ...config } = spec.config || {};
    const longest = Math.max(120, LABELS * room); // the tooltip has the whole name
    const below = { orient: "bottom", direction: "horizontal", columns: 2, gradientLength: 180 };
    spec.config = {
      ...config,
      axis: { ...axis, labelSeparation: 6, labelLimit: longest },
      legend: { ...legend, labelLimit: longest, ...(room < NARROW ? below : {}) },
    };
    // One output below the other; views whose plots line up (a curve, its value at missing, its histogram) stay so.
    if (room < NARROW && spec.concat && chart.stacks && spec.bounds !== "flush") spec.columns = 1;
    if (chart.fits && (excess > 0 || chart.grows)) narrow(spec, excess / abreast(spec));
    return spec;
  }

  const widthOf = (box) => {
    const picture = box.querySelector("svg.marks, svg");
    return picture ? Number(picture.getAttribute("width")) : 0;
  };

  async function draw(box) {
    const chart = charts[box.dataset.chart];
    const room = box.clientWidth;
    let excess = 0;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (box.drawn) box.drawn.finalize();
      box.drawn = await vegaEmbed(box, fitted(chart, excess, room), options);
      const over = widthOf(box) - room;
      if (Math.abs(over) <= 1 || !chart.fits || (over < 0 && !chart.grows)) break;
      excess += over;
    }
    box.classList.toggle("wide", room < READABLE * widthOf(box));
    box.room = room;
  }

  // What other scripts of the page draw, when it is opened and when its width changes.
  const others = [];
  let wide = 0;
  globalThis.pellucidReport = {
    options,
    config: Object.values(charts).map((chart) => chart.spec.config).find(Boolean),
    alsoDraw: (draws) => others.push(draws),
  };

  async function drawAll() {
    for (const box of boxes) if (box.room !== box.clientWidth) await draw(box);
    if (wide !== document.body.clientWidth) for (const draws of others) await draws();
    wide = document.body.clientWidth;
    document.documentElement.dataset.ready = "yes";
  }

  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 200);
  });
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll(".card details:not(.chart details), section > details").forEach((fold) => { fold.open = true; });
  });
  setTimeout(drawAll); // after the other scripts
})();
