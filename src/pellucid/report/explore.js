// Any row and any feature: contributions as bars, and the prediction along the curve of one feature. Everything shown
// was computed beforehand; texts come from the data, so they are only ever set as text.
(() => {
  "use strict";
  const holder = document.getElementById("explore-data");
  if (!holder) return;
  const known = JSON.parse(holder.textContent);
  const at = (name) => document.getElementById(`explore-${name}`);
  const [rowBox, outputBox, featureBox, slider] = ["row", "output", "feature", "slider"].map(at);
  const ROW = "this row", AVERAGE = "average effect";
  const COLOURS = ["#0072B2", "#222222"], SPOT = "#D55E00";

  // -- numbers as people read them: three significant digits, probabilities in percent -------------------------------

  function number(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
    const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en-US", { maximumFractionDigits: digits });
  }
  const signed = (value, text) => (value > 0 ? `+${text}` : text);
  const level = (value, scale) => (scale === "probability" ? `${number(100 * value)}%` : number(value));
  const change = (value, scale) =>
    signed(value, scale === "probability" ? `${number(100 * value)} pp` : number(value));

  // -- contributions of the row --------------------------------------------------------------------------------------

  function element(kind, className, text) {
    const made = document.createElement(kind);
    made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function steps(row, k) {
    const named = row.named.map(([name, value, ...amounts]) => ({ name, text: `${name} = ${value}`, by: amounts[k] }));
    named.sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
    const [count, ...rest] = row.others;
    if (count) named.push({ text: count === 1 ? "1 other feature" : `${count} other features`, by: rest[k] });
    let from = row.base[k];
    return named.map((step) => {
      const start = from;
      from += step.by;
      return { ...step, start, end: from };
    });
  }

  function bar(text, amount, low, high, range, kind) {
    const line = element("div", `bar ${kind}`);
    const track = element("div", "track");
    const mark = element("div", "mark");
    const span = range[1] - range[0] || 1;
    mark.style.left = `${(100 * (low - range[0])) / span}%`;
    mark.style.width = `${Math.max((100 * (high - low)) / span, 0.6)}%`;
    track.append(mark);
    line.append(element("span", "what", text), track, element("span", "amount", amount));
    return line;
  }

  function drawBars(row, k) {
    const scale = known.contributed;
    const parts = steps(row, k);
    const ends = [row.base[k], row.end[k], ...parts.map((part) => part.end)];
    const range = [Math.min(...ends), Math.max(...ends)];
    const lines = parts.map((part) => {
      const low = Math.min(part.start, part.end), high = Math.max(part.start, part.end);
      const line = bar(part.text, change(part.by, scale), low, high, range, part.by < 0 ? "down" : "up");
      const place = known.features.findIndex((feature) => feature.name === part.name);
      if (place >= 0) {
        line.tabIndex = 0;
        line.setAttribute("role", "button");
        line.title = "Show what-if for this feature";
        const choose = () => { featureBox.value = place; drawFeature(); };
        line.addEventListener("click", choose);
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
      }
      return line;
    });
    const first = bar("average prediction", level(row.base[k], scale), row.base[k], row.base[k], range, "level");
    const last = bar("this prediction", level(row.end[k], scale), row.end[k], row.end[k], range, "level");
    at("bars").replaceChildren(first, ...lines, last);
    at("label").textContent = row.label;
    at("said").textContent = row.said;
    at("scale").textContent = known.outputs.length > 1 || scale === "probability"
      ? `Contributions (SHAP) to the ${scale} of ${known.outputs[k]}`
      : "Contributions (SHAP) to the prediction";
  }

  // -- the feature ---------------------------------------------------------------------------------------------------

  // The values that the slider visits: those of the grid, and the row's own, where the prediction is the row's own.
  function visits(feature, i, j, k) {
    const row = known.rows[i], curve = feature.curves[i][k], own = row.own[j], mine = row.prediction[k];
    const grid = feature.labels.map((label, g) => ({ label, x: feature.at[g], y: curve[g], own: false }));
    if (feature.kind === "level") {
      const place = feature.labels.indexOf(own);
      if (place >= 0) grid[place] = { ...grid[place], y: mine, own: true };
      else grid.unshift({ label: own, x: null, y: mine, own: true });
      return grid;
    }
    const x = feature.own[i];
    if (x === null) return [{ label: own, x: null, y: mine, own: true }, ...grid];
    const apart = grid.filter((point) => Math.abs(point.x - x) > 1e-6 * Math.abs(x) + 1e-300);
    return [...apart, { label: own, x, y: mine, own: true }].sort((a, b) => a.x - b.x);
  }

  const state = { visits: [], view: null, drawn: 0 };

  function spot() {
    const here = state.visits[Number(slider.value)];
    return here.x === null && !state.level ? [] : [{ x: state.level ? here.label : here.x, y: here.y }];
  }

  function read() {
    const here = state.visits[Number(slider.value)], own = state.visits.find((point) => point.own);
    const feature = known.features[Number(featureBox.value)], scale = known.scale;
    const moved = here.own ? " (as it is)" : ` (${change(here.y - own.y, scale)} against ${own.label}, as it is)`;
    at("reading").textContent = `${feature.name} = ${here.label}: prediction ${level(here.y, scale)}${moved}`;
    slider.setAttribute("aria-valuetext", at("reading").textContent);
  }

  function specification(feature, k, width) {
    const nominal = feature.kind === "level", date = feature.kind === "date";
    const type = nominal ? "nominal" : date ? "temporal" : "quantitative";
    const place = (g) => (nominal ? feature.labels[g] : feature.at[g]);
    const average = feature.average[k].map((y, g) => ({ x: place(g), y, which: AVERAGE }));
    const mine = state.visits.filter((point) => nominal || point.x !== null)
      .map((point) => ({ x: nominal ? point.label : point.x, y: point.y, which: ROW }));
    const domain = nominal ? state.visits.map((point) => point.label) : undefined;
    const percent = known.scale === "probability";
    const x = {
      field: "x", type, sort: null, title: feature.name,
      axis: { labelLimit: 110, labelAngle: nominal && domain.length > 4 ? -40 : 0, grid: !nominal },
      scale: nominal ? { domain } : date ? { type: "utc", nice: false } : { zero: false, nice: false },
    };
    const y = {
      field: "y", type: "quantitative", title: percent ? `probability of ${known.outputs[k]}` : "prediction",
      scale: { zero: false }, axis: percent ? { format: "%", tickCount: 5 } : { tickCount: 5 },
    };
    const colour = {
      field: "which", type: "nominal", scale: { domain: [ROW, AVERAGE], range: COLOURS },
      legend: { title: null, orient: "top", symbolType: nominal ? "circle" : "stroke" },
    };
    const mark = nominal ? { type: "point", filled: true, size: 70 } : { type: "line", strokeWidth: 2 };
    return {
      width: Math.max(width - 90, 130), height: 190,
      layer: [
        { data: { values: average }, mark: { ...mark, opacity: nominal ? 0.45 : 0.55 }, encoding: { x, y, color: colour } },
        { data: { values: mine }, mark: { ...mark, opacity: 1 }, encoding: { x, y, color: colour } },
        {
          data: { name: "spot", values: spot() },
          mark: { type: "point", filled: true, size: 130, color: SPOT, opacity: 1 }, encoding: { x, y },
        },
      ],
      config: globalThis.pellucidReport.config,
    };
  }

  async function drawFeature() {
    const i = Number(rowBox.value), k = Number(outputBox.value), j = Number(featureBox.value);
    const feature = known.features[j], box = at("chart"), turn = (state.drawn += 1);
    state.level = feature.kind === "level";
    state.visits = visits(feature, i, j, k);
    slider.max = state.visits.length - 1;
    slider.value = state.visits.findIndex((point) => point.own);
    at("name").textContent = `What if ${feature.name} were different?`;
    at("note").textContent = `Average effect: ${feature.note}`;
    read();
    const drawn = await vegaEmbed(
      box, specification(feature, k, box.clientWidth), { ...globalThis.pellucidReport.options, actions: false });
    if (turn !== state.drawn) { drawn.finalize(); return; }
    if (state.view) state.view.finalize();
    state.view = drawn.view;
  }

  async function drawRow() {
    drawBars(known.rows[Number(rowBox.value)], Number(outputBox.value));
    await drawFeature();
  }

  rowBox.append(...known.rows.map((row, i) => new Option(row.label, i)));
  outputBox.append(...known.outputs.map((name, k) => new Option(name, k)));
  featureBox.append(...known.features.map((feature, j) => new Option(feature.name, j)));
  outputBox.closest("label").hidden = known.outputs.length < 2;
  rowBox.addEventListener("change", () => { outputBox.value = known.rows[Number(rowBox.value)].output; drawRow(); });
  outputBox.addEventListener("change", drawRow);
  featureBox.addEventListener("change", drawFeature);
  slider.addEventListener("input", () => {
    read();
    if (state.view) state.view.data("spot", spot()).runAsync();
  });
  outputBox.value = known.rows[0].output;
  drawBars(known.rows[0], Number(outputBox.value)); // at once; the chart follows those of the report
  globalThis.pellucidReport.alsoDraw(drawRow);
})();
