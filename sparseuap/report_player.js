(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("player-data").textContent);
  const part = (name) => document.getElementById("player-" + name);
  const total = data.layers.length;
  const PACE = 900; // milliseconds a layer
  const PRINTED = 200; // layers up to which the whole table goes on paper
  let states = []; // states[i][token]: the value after i layers
  let shown = []; // the layers that the slider walks through
  let place = 0;
  let timer = null;

  const size = (value) => {
    const bits = (value < 0n ? -value : value).toString(2).length;
    return bits <= 50 ? value.toString().replace("-", "−") : "about " + (value < 0n ? "−" : "") + "2^" + (bits - 1);
  };
  // log2(1 + |v|) with the sign of v; a long number is measured by its digits
  const logarithm = (value) => {
    const digits = (value < 0n ? -value : value).toString(16);
    const over = Math.max(0, digits.length - 12);
    const log = 4 * over + Math.log2((over ? 0 : 1) + parseInt(digits.slice(0, digits.length - over), 16));
    return value < 0n ? -log : log;
  };

  function add(parent, tag, text, name) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    parent.appendChild(element);
    return element;
  }

  function load() {
    const input = data.inputs[Number(part("input").value)];
    states = [input.start.map(BigInt)];
    input.changes.forEach((changes) => {
      const next = states[states.length - 1].slice();
      changes.forEach(([token, value]) => { next[token] = BigInt(value); });
      states.push(next);
    });
    const [first, all] = [states[0], states.flat()].map((values) => extremes(values)[1]);
    part("scale").value = all > 64n * first ? "log" : "whole";
    choose();
  }

  function choose() {
    const input = data.inputs[Number(part("input").value)];
    const kept = shown[place] || 0;
    shown = [0];
    for (let layer = 1; layer <= total; layer += 1) {
      if (!part("skip").checked || input.changes[layer - 1].length) shown.push(layer);
    }
    if (input.outputs) shown.push(total + 1);
    place = Math.max(0, shown.findLastIndex((layer) => layer <= kept));
    part("slider").max = shown.length - 1;
    if (part("all").open) tabulate();
    show();
  }

  const extremes = (values) => values.reduce(
    ([low, high], value) => [value < low ? value : low, value > high ? value : high], [values[0], values[0]]);

  // a function from doubled values to 0..1
  function scale(before, after) {
    const kind = part("scale").value;
    let [low, high] = extremes(kind === "near" ? before.concat(after) : states.flat());
    if (low === high) high = low + 1n;
    part("low").textContent = size(low);
    part("high").textContent = size(high);
    if (kind === "log") {
      const start = logarithm(2n * low), width = logarithm(2n * high) - start;
      return (doubled) => (logarithm(doubled) - start) / width;
    }
    return (doubled) => Number(((doubled - 2n * low) * 1000000n) / (2n * (high - low))) / 1000000;
  }

  function describe(layer) {
    if (layer === 0) return ["Start", "The quantized input with its positional embedding, uᵀH."];
    if (layer > total) {
      return ["Value mapping", data.value_layers + " feed-forward layers read the ids and write the outputs."];
    }
    const { stage, note, text, pattern } = data.layers[layer - 1];
    const number = "Layer " + layer + " of " + total + ": " + stage + (note ? ", " + note : "");
    const where = pattern === null || data.attends.length === 1 ? "" : " Pattern " + pattern + ".";
    return [number, text[0].toUpperCase() + text.slice(1) + "." + where];
  }

  // why a token moved, from the values that it attends to
  function reason(layer, token, before) {
    const { kind, pattern, factor } = data.layers[layer - 1];
    if (kind === "affine") return "feed-forward";
    const keys = data.attends[pattern][token];
    const best = (better) => keys.reduce((a, b) => (better(before[b], before[a]) ? b : a));
    const top = best((a, b) => a > b), bottom = best((a, b) => a < b);
    const times = "+ " + size(BigInt(factor)) + " × ";
    return kind === "all-max" ? times + "value of " + top : times + "(value of " + top + " − value of " + bottom + ")";
  }

  function show() {
    const layer = shown[place], input = data.inputs[Number(part("input").value)];
    const after = states[Math.min(layer, total)];
    const moving = layer >= 1 && layer <= total;
    const before = moving ? states[layer - 1] : after;
    const at = scale(before, after);
    const percent = (x) => (100 * Math.min(1, Math.max(0, x))).toFixed(3) + "%";
    const band = moving ? data.layers[layer - 1].band : null;
    const [title, text] = describe(layer);
    part("place").textContent = title;
    part("text").textContent = text;
    part("rows").replaceChildren();
    after.forEach((value, token) => {
      const moved = value !== before[token];
      const row = add(part("rows"), "tr", undefined, moved ? "moved" : "");
      add(row, "th", String(token)).scope = "row";
      add(row, "td", input.grid.map((line) => line[token]).join(", "), "number entry");
      const cell = add(row, "td", size(value), "number value");
      cell.title = value.toString();
      const track = add(add(row, "td", undefined, "axis"), "div", undefined, "track");
      if (band) {
        const low = at(BigInt(band[0])), high = at(BigInt(band[1]));
        const window_ = add(track, "span", undefined, "band");
        window_.style.left = percent(low);
        window_.style.width = "max(2px, " + percent(Math.min(1, high) - Math.max(0, low)) + ")";
        window_.hidden = high < 0 || low > 1;
      }
      if (moved) {
        const ends = [at(2n * before[token]), at(2n * value)].sort((a, b) => a - b);
        const trail = add(track, "span", undefined, "trail");
        trail.style.left = percent(ends[0]);
        trail.style.width = percent(ends[1] - ends[0]);
        add(track, "span", undefined, "ghost").style.left = percent(at(2n * before[token]));
      }
      add(track, "span", undefined, "dot").style.left = percent(at(2n * value));
      const why = layer > total ? "output " + input.outputs[token] : moved ? reason(layer, token, before) : "";
      add(row, "td", why, "why");
    });
    part("slider").value = place;
    part("slider").setAttribute("aria-valuetext", title);
    ["first", "previous"].forEach((name) => part(name).setAttribute("aria-disabled", String(place === 0)));
    ["next", "last"].forEach((name) => part(name).setAttribute("aria-disabled", String(place === shown.length - 1)));
  }

  function go(where) {
    place = Math.min(shown.length - 1, Math.max(0, where));
    show();
  }

  function play(on) {
    window.clearInterval(timer);
    timer = null;
    if (on) {
      if (place === shown.length - 1) go(0);
      timer = window.setInterval(() => {
        go(place + 1);
        if (place === shown.length - 1) play(false);
      }, PACE);
    }
    part("word").textContent = on ? "Pause" : "Play";
    part("play").classList.toggle("playing", on);
    part("status").setAttribute("aria-live", on ? "off" : "polite");
  }

  function tabulate() {
    const table = document.createElement("table");
    const head = add(add(table, "thead"), "tr");
    ["Layer", ...states[0].map((_, token) => "token " + token)].forEach((text, column) => {
      add(head, "th", text, column ? "number" : "").scope = "col";
    });
    const body = add(table, "tbody");
    const input = data.inputs[Number(part("input").value)];
    shown.forEach((layer) => {
      const row = add(body, "tr");
      const name = layer === 0 ? "start" : layer > total ? "output" : layer + ", " + data.layers[layer - 1].stage;
      add(row, "th", name).scope = "row";
      const changed = new Set(layer > 0 && layer <= total ? input.changes[layer - 1].map(([token]) => token) : []);
      states[0].forEach((_, token) => {
        const text = layer > total ? input.outputs[token] : size(states[layer][token]);
        add(row, "td", text, changed.has(token) ? "number changed" : "number");
      });
    });
    part("table").replaceChildren(table);
  }

  data.inputs.forEach((input, index) => {
    add(part("input"), "option", input.grid.map((line) => line.join(" ")).join(" / ")).value = index;
  });
  const step = (where) => { play(false); go(where); };
  part("first").onclick = () => step(0);
  part("previous").onclick = () => step(place - 1);
  part("next").onclick = () => step(place + 1);
  part("last").onclick = () => step(shown.length - 1);
  part("play").onclick = () => play(timer === null);
  part("slider").oninput = () => step(Number(part("slider").value));
  part("input").onchange = load;
  part("scale").onchange = show;
  part("skip").onchange = choose;
  part("all").ontoggle = () => { if (part("all").open) tabulate(); };
  window.addEventListener("beforeprint", () => {
    if (shown.length > PRINTED) return;
    part("all").open = true;
    tabulate();
  });
  part("box").addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const name = event.target.tagName;
    const own = name === "SELECT" || (name === "INPUT" && event.target.type === "checkbox");
    if (own || (name === "BUTTON" && event.key === " ")) return; // the control's own keys
    const jump = {
      ArrowLeft: () => step(place - 1),
      ArrowRight: () => step(place + 1),
      Home: () => step(0),
      End: () => step(shown.length - 1),
      " ": () => play(timer === null),
    }[event.key];
    if (jump) {
      event.preventDefault();
      jump();
    }
  });
  part("skip").closest("label").hidden = data.inputs.every((input) => input.changes.every((changes) => changes.length));
  part("box").hidden = false;
  load();
}());
