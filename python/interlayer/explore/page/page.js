// The page of `interlayer explore`: controls made from what the server says of a cell, and its answers as they come in.
// It knows no key of a scenario and computes no result: both are the server's. docs/design/explore.md.
"use strict";

(() => {
  const find = id => document.getElementById(id);
  const within = (element, selector) => element.querySelector(selector);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name in element && name !== "list") element[name] = value; else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const DRAG_MS = 60; // a slider that moves asks so often at most
  let start = null, state = null, shown = null, asking = null, described = 0, runsSeen = [], result = null, recorded = [], number = 0;

  // ------------------------------------------------------------------------------------------------------------- state

  // The state is the fragment of the address: from, set and arm (each as --set has it), seed, runs.
  const read = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    const pairs = name => said.getAll(name).map(text => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]);
    const source = said.get("from") || start.sources[0], whole = (name, other) => (said.has(name) ? Number(said.get(name)) : other);
    const found = { source, changes: pairs("set"), other: pairs("arm"), seed: whole("seed", 1), runs: whole("runs", 10), frames: said.get("frames") || "" };
    const station = start.stations.find(one => `station:${one.id}` === source);
    if (station && !said.has("arm")) Object.assign(found, { other: station.other });
    if (station && !said.has("runs")) found.runs = station.runs;
    if (station && !said.has("frames")) found.frames = station.frames;
    return found;
  };
  const fragment = of => {
    const said = new URLSearchParams([["from", of.source]]);
    for (const [path, value] of of.changes) said.append("set", `${path}=${value}`);
    for (const [path, value] of of.other) said.append("arm", `${path}=${value}`);
    said.append("seed", of.seed);
    said.append("runs", of.runs);
    if (of.frames) said.append("frames", of.frames);
    return `#${said}`;
  };
  const remember = isNew => {
    const address = fragment(state);
    if (address === location.hash) return;
    if (isNew) history.pushState(null, "", address); else history.replaceState(null, "", address);
  };

  // Pairs with one more: what was said of the same key, or of keys below it, goes.
  const withPair = (pairs, path, value) => [...pairs.filter(([p]) => p !== path && !p.startsWith(`${path}.`)), [path, value]];
  const change = (control, value, isOther, isMoving) => {
    const needs = control.needs && !(isOther ? state.other : state.changes).some(([p]) => p === control.needs[0][0]) ? control.needs : [];
    if (isOther) state.other = [...needs, [control.path, value]];
    else state.changes = [...needs, [control.path, value]].reduce((pairs, [p, v]) => withPair(pairs, p, v), state.changes);
    remember(!isMoving);
    ask(isMoving);
  };

  // An entry of its own is appended to an array of tables: in the cell, or in the other arm.
  const append = (added, value, isOther) => {
    if (isOther) state.other = [[added.path, value]];
    else state.changes = [...state.changes, [added.path, value]];
    opened.delete(added.path);
    remember(true);
    ask(false);
  };
  // What was appended is taken back with the changes of it; later entries have another number then.
  const takeBack = group => {
    const own = state.changes.findLastIndex(([p, v]) => p === group.added[0] && v === group.added[1]), [key, at] = group.at.split(".");
    const isBelow = p => [group.path, group.at].some(of => dotted(p) === of || dotted(p).startsWith(`${of}.`));
    const moved = p => dotted(p).replace(/^(\w+)\.(\d+)(?=\.|$)/, (all, of, n) => (of === key && Number(n) > Number(at) ? `${of}.${n - 1}` : all));
    const without = pairs => pairs.filter(([p]) => !isBelow(p)).map(([p, v]) => [moved(p), v]);
    state.changes = without(state.changes.filter((pair, i) => i !== own));
    state.other = without(state.other);
    remember(true);
    ask(false);
  };

  // ------------------------------------------------------------------------------------------------------------ server

  const gone = isGone => {
    find("gone").hidden = !isGone;
    if (isGone) find("gone").textContent = "The server does not answer: it has ended. Start `interlayer explore` again; what is shown stays.";
  };
  const say = text => { find("status").textContent = text; };
  // The instant of single frames is no part of a question: it changes no number.
  const post = (to, body, signal) => fetch(to, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...body, frames: undefined }), signal });

  const describe = async () => {
    const mine = ++described;
    let answer;
    try {
      answer = await post("describe", state);
      if (mine !== described) return;
      gone(false);
    } catch {
      gone(true);
      return;
    }
    const found = await answer.json();
    if (mine !== described) return;
    if (found.groups) {
      shown = found;
      controls();
      for (const name of ["toml", "command", "python"]) find(name).textContent = found.exports[name];
      if (!state.other.length) standIn();
    }
    wrong(found.mistakes);
  };

  // The other arm of a cell that names none: without its scheme, else another receiver, else RTS/CTS.
  const standIn = () => {
    const all = shown.groups.flatMap(group => group.controls), scheme = all.find(one => one.path === "scheme");
    const receiver = all.find(one => /^flow\..*\.transport\.receiver$/.test(one.path));
    if (scheme && scheme.value !== "none") state.other = [["scheme", "none"]];
    else if (receiver) state.other = [[receiver.path, receiver.value === "every" ? "delayed-ack" : "every"]];
    else state.other = [["radio.rts_threshold", "0 B"]];
    remember(false);
    ask(false);
  };

  // Ask for both arms; what was asked before is given up, here and by the server.
  let last = 0, due = null;
  const ask = isMoving => {
    clearTimeout(due);
    const wait = isMoving ? Math.max(0, last + DRAG_MS - performance.now()) : 0;
    due = setTimeout(async () => {
      last = performance.now();
      if (!isMoving) describe();
      if (state.other.length) await compare();
    }, wait);
  };

  const compare = async () => {
    if (asking) asking.abort();
    const own = asking = new AbortController(), began = performance.now();
    runsSeen = [];
    recorded = [];
    find("unrecorded").textContent = "";
    find("stop").disabled = false;
    say("asked …");
    old(true);
    try {
      const answer = await post("compare", state, own.signal);
      gone(false);
      if (!answer.ok) return wrong((await answer.json()).mistakes, true);
      const reader = answer.body.getReader(), decoder = new TextDecoder();
      let text = "", end = -1;
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
        while ((end = text.indexOf("\n\n")) >= 0) {
          if (asking === own) take(JSON.parse(text.slice(5, end)), began);
          text = text.slice(end + 2);
        }
      }
      if (asking === own && !find("stop").disabled) {
        say("stopped");
        gone(true);
      }
    } catch (error) {
      if (error.name !== "AbortError" && asking === own) {
        say("stopped");
        gone(true);
      }
    } finally {
      if (asking === own) find("stop").disabled = true;
    }
  };

  // What is below is of a cell asked before, until this one has a figure.
  const old = isOld => find("results").classList.toggle("is-old", isOld && result !== null);

  const take = (event, began) => {
    const took = `${((performance.now() - began) / 1000).toFixed(2)} s`;
    if (event.event === "result") {
      number = event.number;
      if (!runsSeen.length) document.body.dataset.first = String(performance.now() - began);
      old(false);
      runsSeen.push(event.result);
      result = event.result;
      say(`${result.runs} of ${result.asked_runs} runs of each arm, ${took}`);
      results();
    } else if (event.event === "recorded") {
      recorded[event.arm] = event;
      series();
      air();
    } else if (event.event === "unrecorded") {
      find("unrecorded").textContent = event.why;
    } else {
      find("stop").disabled = true;
      if (event.event === "refused") wrong(event.mistakes, true);
      if (event.event === "done") {
        document.body.dataset.done = String(Number(document.body.dataset.done || 0) + 1);
        document.body.dataset.of = location.hash;
      }
      if (event.event === "ended") say("ended: something newer was asked, on this page or in another window");
      if (event.event === "done" && result) say(`${result.runs} runs of each arm, seeds from ${result.seed}, ${took}`);
      pictures();
    }
  };

  // ---------------------------------------------------------------------------------------------------------- controls

  const dotted = path => path.replace(/\[(\d+|\*)\]/g, ".$1");
  const isOf = (control, path) => {
    const wanted = dotted(path);
    const like = pattern => new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, "[^.]+")}(\\.|$)`).test(wanted);
    return like(control.path) || like(control.at);
  };

  const placeOf = control => {
    const seek = () => [...document.querySelectorAll(".control")].find(one => one.dataset.path === control.path);
    if (!seek()) {
      const { title } = shown.groups.find(group => group.controls.includes(control));
      for (const more of document.querySelectorAll("#groups details")) if (more.dataset.of === title) more.fill();
    }
    return seek();
  };

  // Of a mistake without a control: the form that appends, or what was appended.
  const placeOfAppended = path => {
    if (!path) return null;
    const wanted = dotted(path), is = of => wanted === of || wanted.startsWith(`${of}.`);
    return [...document.querySelectorAll("#groups [data-appends], #groups [data-appended]")].find(one => is(one.dataset.appends) || is(one.dataset.appended));
  };

  // Each mistake at its control, in the words of the command line; what has none is told above the controls.
  const wrong = (mistakes = [], isAnswer = false) => {
    const before = isAnswer ? [...document.querySelectorAll("#cell .wrong li, #cell p.wrong")].map(one => one.textContent) : [];
    if (!isAnswer) for (const one of document.querySelectorAll("#cell p.wrong")) one.textContent = "";
    const rest = isAnswer ? [...find("mistakes").children].map(one => one.textContent) : [];
    const all = shown ? shown.groups.flatMap(group => group.controls) : [];
    for (const { path, line } of mistakes) {
      if (before.includes(line)) continue;
      const owners = path ? all.filter(one => isOf(one, path)) : [];
      const owner = owners.sort((a, b) => b.path.length - a.path.length)[0];
      const at = (owner && placeOf(owner)) || placeOfAppended(path);
      if (!at) {
        rest.push(line);
        continue;
      }
      if (at.closest("details")) at.closest("details").open = true;
      const place = at.querySelector(":scope > p.wrong");
      place.textContent = place.textContent ? `${place.textContent} ${line}` : line;
    }
    find("mistakes").replaceChildren(...rest.map(line => make("li", {}, line)));
    const what = isAnswer ? "refused, what is below is of the cell before" : mistakes.length === 1 ? "a mistake in the cell" : `${mistakes.length} mistakes in the cell`;
    if (mistakes.length) say(`${what}: ${mistakes[0].line}`);
  };

  const plain = value => Number(value.toPrecision(value < 1e3 ? 3 : 4));
  const scales = {
    log: { value: (s, part) => s.from * (s.to / s.from) ** part, part: (s, v) => Math.log(v / s.from) / Math.log(s.to / s.from) },
    cube: { value: (s, part) => s.from + (s.to - s.from) * part ** 3, part: (s, v) => Math.cbrt((v - s.from) / (s.to - s.from)) },
    linear: { value: (s, part) => s.from + (s.to - s.from) * part, part: (s, v) => (v - s.from) / (s.to - s.from) },
  };

  // The fields and the slider of a control; for the other arm the same.
  const field = (control, value, id, isOther) => {
    const of = isOther ? `${control.label} of the other arm` : control.label;
    const told = `${id}-help ${id}-wrong`.replaceAll("-other", "");
    if (control.choices) {
      const select = make("select", { id, name: control.path, "aria-describedby": told });
      if (!control.choices.some(one => one.value === value)) select.append(make("option", { value }, value || "(not set)"));
      for (const one of control.choices) select.append(make("option", { value: one.value, title: one.help || "" }, one.label));
      if (control.is_given && !control.is_needed && !isOther && value) select.append(make("option", { value: "" }, "leave it out"));
      select.value = value;
      select.addEventListener("change", () => change(control, select.value, isOther, false));
      return [select];
    }
    const input = make("input", { id, name: control.path, value, spellcheck: false, "aria-describedby": told });
    if (control.words && control.words.length) input.placeholder = control.words.join(", ");
    input.addEventListener("input", () => { input.dataset.typed = "yes"; });
    input.addEventListener("change", () => { delete input.dataset.typed; });
    input.addEventListener("change", () => change(control, input.value, isOther, false));
    const slider = control.slider, scale = slider && scales[slider.scale], at = parseFloat(value);
    if (!slider || !(slider.to > slider.from) || !Number.isFinite(at)) return [input];
    const range = make("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": `${of}, slider` });
    range.id = `${id}-range`;
    range.value = String(Math.round(1000 * Math.min(1, Math.max(0, scale.part(slider, at) || 0))));
    range.setAttribute("aria-valuetext", value);
    const moved = isMoving => {
      let to = scale.value(slider, Number(range.value) / 1000);
      to = control.whole ? Math.round(to) : plain(to);
      input.value = slider.unit ? `${to} ${slider.unit}` : String(to);
      range.setAttribute("aria-valuetext", input.value);
      change(control, input.value, isOther, isMoving);
    };
    range.addEventListener("input", () => moved(true));
    range.addEventListener("change", () => moved(false));
    return [input, range];
  };

  const controlOf = control => {
    const id = `c-${control.path.replace(/[^\w-]/g, "_")}`, own = state.changes.some(([p]) => p === control.path);
    const others = state.other.filter(([p]) => p === control.path), isOther = others.length > 0;
    const unit = !control.choices && control.units && control.units.length > 1 ? ` Units: ${control.units.join(", ")}.` : "";
    const help = `${control.help}${control.default ? ` Default: ${control.default}.` : ""}${unit}`;
    const box = make("div", { className: "control" });
    box.dataset.path = control.path;
    const swap = make("button", { type: "button", className: "swap", title: "Change this in the other arm" }, "⇄");
    swap.id = `${id}-swap`;
    swap.setAttribute("aria-label", `${control.label}: change it in the other arm`);
    swap.setAttribute("aria-pressed", String(isOther));
    swap.addEventListener("click", () => {
      if (isOther) return find(`${id}-other`).focus();
      state.other = [...(control.needs || []), [control.path, control.value]];
      remember(true);
      controls();
      wrong(shown.mistakes);
      find(`${id}-other`).focus();
    });
    box.append(make("label", { htmlFor: id }, control.label), swap, ...field(control, control.value, id, false));
    if (own) within(box, `#${CSS.escape(id)}`).classList.add("is-changed");
    if (isOther) {
      const inner = field(control, others[0][1], `${id}-other`, true);
      box.append(make("div", { className: "other" }, make("label", { htmlFor: `${id}-other` }, "in the other arm"), ...inner));
    }
    const said = make("small", { id: `${id}-help` }, help), line = make("p", { className: "wrong", id: `${id}-wrong` });
    line.setAttribute("role", "alert");
    box.append(said, line);
    return box;
  };
  // The form of what can be added: fields, and what is wrong with it in the words of the command line.
  const opened = new Set();
  const adder = added => {
    const id = `add-${added.of}`, isOther = state.other.some(([p]) => p === added.path);
    const box = make("div", { className: "adds" }), line = make("p", { className: "wrong", id: `${id}-wrong` });
    box.dataset.appends = added.path;
    line.setAttribute("role", "alert");
    const button = make("button", { type: "button", id }, added.label), form = make("div", { className: "control", id: `${id}-form`, hidden: !opened.has(added.path) });
    button.setAttribute("aria-expanded", String(!form.hidden));
    button.setAttribute("aria-controls", form.id);
    button.addEventListener("click", () => {
      form.hidden = !form.hidden;
      if (form.hidden) opened.delete(added.path); else opened.add(added.path);
      button.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) within(form, "input, select").focus();
    });
    const fields = added.fields.map((of, i) => {
      const name = `${id}-${i}`;
      const one = of.choices
        ? make("select", { id: name }, ...of.choices.map(({ value, label }, nth) => make("option", { value, selected: nth === of.index }, label)))
        : make("input", { id: name, value: of.value, spellcheck: false });
      one.setAttribute("aria-describedby", line.id);
      one.addEventListener("keydown", event => { if (event.key === "Enter" && !of.choices) add(false); });
      form.append(make("label", { htmlFor: name }, of.label), one);
      return one;
    });
    const said = () => added.fields.map((of, i) => (of.choices ? fields[i].value : `${of.key} = ${JSON.stringify(fields[i].value.trim())}`));
    // Nothing is added that is wrong: the server is asked for what that would be.
    const add = async isOtherArm => {
      const value = `{ ${[added.also, ...said()].filter(Boolean).join(", ")} }`, pair = [added.path, value];
      const tried = isOtherArm ? { ...state, other: [pair] } : { ...state, changes: [...state.changes, pair] };
      try {
        const found = await (await post("describe", tried)).json(), known = shown.mistakes.map(one => one.line);
        const fresh = found.mistakes.filter(one => !known.includes(one.line));
        find(line.id).textContent = fresh.map(one => one.line).join(" ");
        if (fresh.length) return;
      } catch {
        return gone(true);
      }
      find(id).focus();
      append(added, value, isOtherArm);
    };
    const press = (text, isOtherArm) => {
      const one = make("button", { type: "button" }, text);
      one.addEventListener("click", () => add(isOtherArm));
      return one;
    };
    form.append(make("p", { className: "buttons" }, press("Add", false), press("⇄ Add in the other arm", true)));
    box.append(button, form, line);
    if (isOther) {
      const back = make("button", { type: "button" }, "Take back");
      back.setAttribute("aria-label", `Take back: ${added.label} in the other arm`);
      back.addEventListener("click", () => {
        state.other = [];
        remember(true);
        ask(false);
      });
      box.append(make("p", { className: "other" }, `${added.label} is in the other arm. `, back));
    }
    return box;
  };

  // A slider that is held, and what somebody is typing, are left as they are.
  let isHeld = false, isDue = false;
  const controls = () => {
    isDue = isHeld;
    if (isHeld) return;
    const at = document.activeElement, focused = at && at.id, typed = at && at.dataset.typed ? [at.value, at.selectionStart] : null;
    const open = new Set([...document.querySelectorAll("#groups details[open]")].map(one => one.dataset.of));
    const begun = [...document.querySelectorAll("#groups .adds .control:not([hidden])")].flatMap(form => [...form.querySelectorAll("input, select")]).map(one => [one.id, one.value]);
    const groups = shown.groups.map(({ title, controls: all, ...of }) => {
      const isMain = one => one.is_main || state.changes.some(([p]) => p === one.path) || state.other.some(([p]) => p === one.path);
      const rest = all.filter(one => !isMain(one)), main = all.filter(isMain);
      const group = make("fieldset", {}, make("legend", {}, title), ...main.map(controlOf));
      if (rest.length) {
        const more = make("details", {}, make("summary", {}, `${rest.length} more of ${title}`));
        more.dataset.of = title;
        more.fill = () => { // what nobody looks at is not made
          more.fill = () => {};
          more.append(...rest.map(controlOf));
        };
        more.addEventListener("toggle", () => more.fill());
        if (open.has(title)) {
          more.fill();
          more.open = true;
        }
        group.append(more);
      }
      if (of.added) {
        group.dataset.appended = of.at;
        const back = make("button", { type: "button" }, "Take back"), line = make("p", { className: "wrong" });
        back.setAttribute("aria-label", `Take back: ${title}`);
        back.addEventListener("click", () => takeBack(of));
        line.setAttribute("role", "alert");
        group.append(back, line);
      }
      return group;
    });
    const all = [...groups];
    for (const added of shown.added) { // behind the last of its kind
      const last = shown.groups.findLastIndex(group => group.of === added.of);
      all.splice(last < 0 ? all.length : all.indexOf(groups[last]) + 1, 0, adder(added));
    }
    find("groups").replaceChildren(...all);
    for (const [id, value] of begun) {
      const one = find(id);
      if (one && !one.parentElement.hidden && (!one.options || [...one.options].some(it => it.value === value))) one.value = value;
    }
    const again = focused && find(focused);
    if (!again) return;
    again.focus({ preventScroll: true });
    if (!typed) return;
    again.value = typed[0];
    again.dataset.typed = "yes";
    again.setSelectionRange(typed[1], typed[1]);
  };

  // ----------------------------------------------------------------------------------------------------------- results

  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const mark = arm => make("span", { className: arm ? "dot b" : "dot", style: `background: var(--arm-${arm})`, ariaHidden: "true" });
  const short = value => (value === null ? "–" : Math.abs(value) >= 1000 ? Math.round(value).toString() : Number(value.toPrecision(4)).toString());
  const names = () => result.labels.map((label, arm) => (arm ? label : "the cell"));

  const results = () => {
    find("sentence").textContent = result.sentence.replace(/ against file\b/, " against the cell");
    const head = make("tr", {}, make("th", { scope: "col" }, "metric"));
    names().forEach((name, arm) => head.append(make("th", { scope: "col", className: "n" }, mark(arm), name)));
    for (const name of ["paired difference", "p", ""]) head.append(make("th", { scope: "col", className: "n" }, name));
    within(find("table"), "thead").replaceChildren(head);
    within(find("table"), "tbody").replaceChildren(...result.metrics.filter(one => !(one.metric in result.same)).map(one => make("tr", {},
      make("th", { scope: "row", title: one.meaning }, one.unit ? `${one.name}, ${one.unit}` : one.name), ...one.words.map(word => make("td", { className: "n" }, word)))));
    within(find("table"), "caption").textContent = result.caption;
    const same = Object.values(result.same);
    find("same").textContent = same.length ? `The same in both arms: ${same.join(", ")}.` : "";
    const metric = find("metric"), chosen = metric.value || (guided() ? guided().metric : "goodput");
    metric.replaceChildren(...result.metrics.map(one => make("option", { value: one.name }, one.unit ? `${one.name}, ${one.unit}` : one.name)));
    metric.value = result.metrics.some(one => one.name === chosen) ? chosen : result.metrics[0].name;
    pictures();
    both();
    flows();
  };

  const both = () => {
    if (!result) return;
    const name = find("metric").value, one = result.metrics.find(it => it.name === name);
    find("meaning").textContent = one.meaning;
    dots(one);
    narrows(name, one);
  };

  const flows = () => {
    const [a, b] = result.flows.map(all => new Map(all.map(one => [one.id, one.goodput_bps])));
    const ids = [...new Set([...a.keys(), ...b.keys()])];
    find("flows").hidden = ids.length < 2;
    const head = make("tr", {}, make("th", { scope: "col" }, "flow"));
    names().forEach((label, arm) => head.append(make("th", { scope: "col", className: "n" }, mark(arm), label)));
    within(find("flows"), "thead").replaceChildren(head);
    const cell = value => make("td", { className: "n" }, value === undefined ? "–" : short(value / 1e6));
    within(find("flows"), "tbody").replaceChildren(...ids.map(id => make("tr", {}, make("th", { scope: "row" }, id), cell(a.get(id)), cell(b.get(id)))));
  };

  // Means with their intervals: a picture of two lines, from zero where that is near.
  const dots = one => {
    const NS = "http://www.w3.org/2000/svg", width = 460, height = 110, left = 12, right = width - 16;
    const draw = (tag, attributes, text) => {
      const element = document.createElementNS(NS, tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      if (text !== undefined) element.textContent = text;
      return element;
    };
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const unit = one.unit ? ` ${one.unit}` : "";
    svg.setAttribute("aria-label", names().map((name, arm) => `${name}: ${one.words[arm]}${unit}`).join("; "));
    const ends = one.arms.flat().filter(value => value !== null), most = Math.max(...ends, 0), least = Math.min(...ends, 0);
    const x = value => left + ((value - least) / (most - least || 1)) * (right - left);
    svg.append(draw("line", { x1: x(least), x2: x(most), y1: 84, y2: 84, stroke: "var(--rule)" }));
    for (const part of [0, 0.5, 1]) {
      const value = least + part * (most - least);
      svg.append(draw("text", { x: x(value), y: 102, "font-size": 12, fill: "var(--soft)", "text-anchor": part === 0 ? "start" : part === 1 ? "end" : "middle" }, short(value)));
    }
    one.arms.forEach(([mean, low, high], arm) => {
      const y = 30 + 36 * arm, stroke = `var(--arm-${arm})`;
      if (mean === null) return;
      svg.append(draw("line", { x1: x(least), x2: x(mean), y1: y, y2: y, stroke, "stroke-width": 10, opacity: 0.25 }));
      if (low !== null && high !== null) svg.append(draw("line", { x1: x(low), x2: x(high), y1: y, y2: y, stroke, "stroke-width": 3 }));
      svg.append(arm ? draw("rect", { x: x(mean) - 5, y: y - 5, width: 10, height: 10, fill: stroke }) : draw("circle", { cx: x(mean), cy: y, r: 5.5, fill: stroke }));
      svg.append(draw("text", { x: left, y: y - 10, "font-size": 12, fill: "var(--ink)" }, `${names()[arm]}: ${one.words[arm]}${unit}`));
    });
    find("dots").replaceChildren(svg);
  };

  // Charts by place: one that is there is thrown away before another takes its place.
  const charts = new Map();
  const drop = place => {
    if (charts.has(place)) charts.get(place).destroy();
    charts.delete(place);
  };
  const chart = (place, label, lines, data, unit, bands, isCount = false) => {
    drop(place);
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule") }, font: "12px sans-serif" };
    const options = {
      width: Math.max(160, place.clientWidth), height: 190, legend: { show: false }, cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false } }, bands: bands || [],
      axes: [{ ...axis, size: 34, ...(isCount ? { incrs: [1, 2, 5, 10, 20, 50] } : {}) }, { ...axis, size: 56, values: (u, ticks) => ticks.map(short) }],
      series: [{}, ...lines],
      hooks: { setCursor: [u => tell(u, place, lines, unit)] },
    };
    const made = new uPlot(options, data, place);
    charts.set(place, made);
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", label);
    return made;
  };
  const tell = (u, place, lines, unit) => {
    const at = u.cursor.idx, out = place.parentElement.querySelector(".read");
    if (!out || at === null || at === undefined) return;
    const values = lines.map((line, i) => (line.label && u.data[i + 1][at] !== null && u.data[i + 1][at] !== undefined ? `${line.label} ${short(u.data[i + 1][at])}` : "")).filter(Boolean);
    out.textContent = `${short(u.data[0][at])}: ${values.join(", ")}${unit ? ` ${unit}` : ""}`;
  };
  document.addEventListener("keydown", event => {
    const made = charts.get(event.target), step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (!made || !step) return;
    event.preventDefault();
    const many = made.data[0].length, was = made.cursor.idx === null || made.cursor.idx === undefined ? (step > 0 ? -1 : many) : made.cursor.idx;
    const at = Math.min(many - 1, Math.max(0, was + step));
    made.setCursor({ left: made.valToPos(made.data[0][at], "x"), top: 20 });
  });

  const narrows = (name, one) => {
    const points = runsSeen.map(of => [of.runs, of.metrics.find(it => it.name === name)]).filter(([, it]) => it && it.difference[0] !== null);
    const place = find("narrows");
    if (!points.length) return drop(place);
    const at = i => points.map(([, it]) => it.difference[i]), runs = points.map(([n]) => n);
    const ink = colour("--arm-0"), still = { points: { show: false } };
    chart(place, `Difference of ${name} after ${runs[runs.length - 1]} runs: ${one.words[2]} ${one.unit}`,
      [{ stroke: "transparent", label: "from", ...still }, { stroke: "transparent", label: "to", ...still }, { stroke: ink, width: 2, label: "difference", points: { show: true, size: 5, fill: ink } }, { stroke: colour("--soft"), dash: [4, 4], width: 1, ...still }],
      [runs, at(1), at(2), at(0), runs.map(() => 0)], one.unit, [{ series: [2, 1], fill: colour("--fill") }], true);
  };

  // --------------------------------------------------------------------------------------------------------- over time

  const FIRST = 4; // quantities that are drawn
  const series = () => {
    const arms = recorded.filter(Boolean), entry = find("entry"), chosen = entry.value;
    const entries = [...new Set(arms.flatMap(one => one.series.flatMap(q => q.lines.map(line => line.entry))))];
    entry.replaceChildren(make("option", { value: "" }, "all"), ...entries.map(name => make("option", { value: name }, name)));
    entry.value = entries.includes(chosen) ? chosen : "";
    find("entry-label").hidden = entries.length < 2;
    const constant = arms.length ? arms[0].constant : [];
    find("constant").textContent = constant.length ? ` The same all the time: ${constant.slice(0, 6).join(", ")}.` : "";
    drawSeries();
  };
  const drawSeries = () => {
    const wanted = find("entry").value, place = find("series");
    for (const old of place.querySelectorAll(".chart")) drop(old);
    const names_ = [...new Set(recorded.filter(Boolean).flatMap(one => one.series.map(q => q.name)))];
    const figures = [];
    for (const name of names_) {
      if (figures.length >= FIRST) break;
      const lines = [], tables = [];
      let unit = "";
      recorded.forEach((one, arm) => {
        const q = one && one.series.find(it => it.name === name);
        for (const line of q ? q.lines : []) {
          if (wanted && line.entry !== wanted) continue;
          unit = q.unit;
          tables.push([line.t, line.values]);
          lines.push({ stroke: colour(`--arm-${arm}`), width: 1.2, dash: arm ? [6, 3] : [], spanGaps: true, points: { show: false }, label: `${line.entry}, ${names()[arm] || "the cell"}` });
        }
      });
      if (!tables.length) continue;
      const box = make("div", { className: "chart", tabIndex: 0 });
      const title = unit ? `${name}, ${unit}` : name;
      figures.push([make("figure", {}, make("figcaption", {}, `${title} over time, s`), box, make("output", { className: "read" })), box, title, lines, tables, unit]);
    }
    place.replaceChildren(...figures.map(([figure]) => figure));
    for (const [, box, title, lines, tables, unit] of figures) {
      const means = tables.map(([, values], i) => {
        const known = values.filter(value => value !== null);
        return `${lines[i].label}: mean ${known.length ? short(known.reduce((a, b) => a + b, 0) / known.length) : "–"}`;
      });
      chart(box, `${title} over time. ${means.slice(0, 6).join("; ")}`, lines, uPlot.join(tables), unit);
    }
  };

  const air = () => {
    const arms = recorded.map((one, arm) => (one ? arm : -1)).filter(arm => arm >= 0), select = find("air-arm"), chosen = select.value;
    select.replaceChildren(...arms.map(arm => make("option", { value: arm }, names()[arm] || "the cell")));
    select.value = arms.includes(Number(chosen)) && chosen !== "" ? chosen : String(arms[0]);
    play();
    pictures();
  };
  const since = () => (state.frames ? `?${new URLSearchParams({ frames: state.frames })}` : "");
  const play = async () => {
    const arm = Number(find("air-arm").value), address = `air/${number}/${arm}${since()}`;
    if (!recorded[arm] || find("air").dataset.at === address) return;
    find("air").dataset.at = address;
    find("frames-wrong").textContent = "";
    if (state.frames) { // made for this: an instant that is none is told at its field
      try {
        const answer = await fetch(address);
        if (find("air").dataset.at !== address) return;
        if (!answer.ok) {
          find("frames-wrong").textContent = (await answer.json()).mistakes[0].line;
          return;
        }
      } catch {
        return gone(true);
      }
    }
    find("air").contentWindow.location.replace(new URL(`${address}${state.frames ? "#window" : ""}`, location.href)); // no step of the page's history
  };
  const look = text => {
    find("frames").value = state.frames = text.trim();
    remember(true);
    play();
    pictures();
  };

  // The run is made again for its captures: what is refused is told on the page, and not saved as a file.
  const captured = async link => {
    say("captures are being written");
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) return wrong((await answer.json()).mistakes, true);
      const address = URL.createObjectURL(await answer.blob());
      const [, named] = (answer.headers.get("Content-Disposition") || "").match(/filename="(.*)"/) || [null, link.download];
      make("a", { href: address, download: named }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      say(`saved: ${named}`);
    } catch {
      say("no captures: the server does not answer");
    }
  };

  // The link of captures: a run whose captures would be too large has one that cannot be followed, and says why.
  const captures = (row, why) => {
    const link = within(row, "a");
    if (why) {
      link.removeAttribute("href");
      link.setAttribute("role", "link");
      link.setAttribute("aria-disabled", "true");
      row.append(" ", make("small", { className: "wrong" }, `${why}.`));
    } else {
      link.addEventListener("click", event => {
        event.preventDefault();
        captured(link);
      });
    }
    return row;
  };

  const pictures = () => {
    const of = result && result.metrics.find(one => one.name === find("metric").value);
    const asked = name => (name.startsWith("air") ? since() : name === "comparison" && of ? `?${new URLSearchParams({ metric: of.metric })}` : "");
    const link = (name, ending) => make("a", { href: `picture/${number}/${name}.${ending}${asked(name)}`, download: `${name}.${ending}` }, ending.toUpperCase());
    const row = (text, name, endings) => make("li", {}, `${text}: `, ...endings.flatMap((ending, i) => [i ? ", " : "", link(name, ending)]));
    const rows = [];
    if (result && find("stop").disabled) rows.push(row("Both arms", "comparison", ["svg", "png", "csv", "json"]));
    recorded.forEach((one, arm) => {
      rows.push(row(`Over time, ${names()[arm]}`, `series-${arm}`, ["svg", "png", "csv"]));
      rows.push(row(`The air, ${names()[arm]}: one file that plays`, `air-${arm}`, ["html"]));
      rows.push(captures(row(`Captures of its nodes, ${names()[arm]}, for Wireshark`, `captures-${arm}`, ["zip"]), one.no_captures));
    });
    find("pictures").replaceChildren(...rows);
  };

  // ------------------------------------------------------------------------------------------------------ the page itself

  const guided = () => start.stations.find(one => `station:${one.id}` === state.source);
  const guide = () => {
    const one = guided(), place = find("guide");
    place.hidden = !one;
    find("station").value = one ? one.id : "";
    if (!one) return;
    place.replaceChildren(make("h2", {}, `${start.stations.indexOf(one) + 1}. ${one.title}`), make("p", {}, one.said), make("p", { className: "question" }, one.question),
      make("details", {}, make("summary", {}, "The answer, as it was measured"), make("p", {}, one.answer)));
    const next = start.stations[start.stations.indexOf(one) + 1];
    if (!next) return;
    const button = make("button", { type: "button" }, `Next: ${next.title}`);
    button.addEventListener("click", () => go(`station:${next.id}`));
    place.append(make("p", {}, button));
  };
  const enter = () => {
    const was = state;
    state = read();
    find("source").value = state.source;
    find("seed").value = String(state.seed);
    find("runs").value = String(state.runs);
    find("frames").value = state.frames;
    if (!was || was.source !== state.source) {
      guide();
      find("metric").replaceChildren();
    }
    ask(false);
  };
  const go = source => {
    state = { source, changes: [], other: [], seed: state.seed, runs: state.runs, frames: "" };
    const station = start.stations.find(one => `station:${one.id}` === source);
    if (station) Object.assign(state, { other: station.other, runs: station.runs, frames: station.frames });
    history.pushState(null, "", fragment(state));
    enter();
    guide();
  };
  const numbers = () => {
    for (const name of ["seed", "runs"]) state[name] = /^\d+$/.test(find(name).value.trim()) ? Number(find(name).value) : find(name).value;
    remember(true);
    ask(false);
  };

  const begin = async () => {
    try {
      start = await (await fetch("start")).json();
    } catch {
      return gone(true);
    }
    const label = name => (name === "file" ? start.own : name.replace(/^\w+:/, ""));
    find("source").append(...start.sources.map(name => make("option", { value: name }, name.startsWith("station:") ? `station: ${label(name)}` : label(name))));
    find("station").append(...start.stations.map((one, i) => make("option", { value: one.id }, `${i + 1}. ${one.title}`)));
    find("source").addEventListener("change", () => go(find("source").value));
    find("station").addEventListener("change", () => go(find("station").value ? `station:${find("station").value}` : start.sources[0]));
    for (const name of ["seed", "runs"]) find(name).addEventListener("change", numbers);
    find("again").addEventListener("click", () => ask(false));
    find("stop").addEventListener("click", () => {
      if (asking) asking.abort();
      asking = null;
      find("stop").disabled = true;
      say("stopped");
    });
    find("reset").addEventListener("click", () => go(state.source));
    find("cell").addEventListener("pointerdown", event => { isHeld = event.target.type === "range"; });
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, () => {
        isHeld = false;
        if (isDue) controls();
      });
    }
    find("cell").addEventListener("submit", event => event.preventDefault());
    find("metric").addEventListener("change", () => {
      both();
      pictures();
    });
    find("entry").addEventListener("change", drawSeries);
    find("air-arm").addEventListener("change", play);
    find("frames").addEventListener("change", () => look(find("frames").value));
    find("frames-here").addEventListener("click", () => {
      const clock = find("air").contentDocument && find("air").contentDocument.getElementById("clock");
      if (clock) look(clock.textContent);
    });
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(find(button.dataset.copy).textContent);
        say(`copied: ${button.dataset.copy}`);
      });
    }
    document.querySelector("[data-save]").addEventListener("click", () => {
      const address = URL.createObjectURL(new Blob([find("toml").textContent], { type: "text/plain" }));
      make("a", { href: address, download: `${shown.name.replace(/[^A-Za-z0-9.]+/g, "-") || "cell"}.toml` }).click();
      URL.revokeObjectURL(address);
    });
    addEventListener("popstate", enter);
    // The fragment is the state: a link into the page must not replace it.
    document.querySelector("a.skip").addEventListener("click", event => {
      event.preventDefault();
      find("results").focus();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      both();
      drawSeries();
    });
    let wide = 0;
    new ResizeObserver(() => {
      if (wide === innerWidth) return;
      wide = innerWidth;
      for (const [place, made] of charts) made.setSize({ width: Math.max(160, place.clientWidth), height: 190 });
    }).observe(document.body);
    setInterval(async () => {
      if (document.hidden) return;
      try {
        await fetch("alive");
        if (!find("gone").hidden) gone(false);
      } catch {
        gone(true);
      }
    }, 3000);
    enter();
    guide();
  };
  begin();
})();
