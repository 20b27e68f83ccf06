// The page around the picture of a run: play and pause, time, speed, choices, and the same in words. It needs air.js and story.js.
"use strict";

(() => {
  const scene = new InterlayerAir.Scene(JSON.parse(document.getElementById("scene").textContent));
  const find = id => document.getElementById(id);
  const picture = new InterlayerAir.Picture(find("air"), scene);
  const goodput = new InterlayerAir.Goodput(find("goodput"), scene);
  const slider = find("time"), speeds = find("speed"), play = find("play"), follow = find("follow");
  const SLOW = 0.05; // up to this speed the window shows each frame
  const AFTERGLOW = 0.2; // seconds of the viewer for which a counted frame is seen
  const stories = new InterlayerStory.Stories(scene), section = find("story");
  let told = -1; // the frame whose story is shown
  let t = 0, isPlaying = false, last = 0, chosen = -1, range = [0, scene.until], isDue = false, saidAt = 0;

  const speed = () => Number(speeds.value);
  const isOn = id => find(id).checked;
  const names = list => list.map(i => scene.nodes[i].name);
  const metres = value => value.toFixed(1).replace("-", "−");
  const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;

  const shownTime = () => {
    const digits = speed() <= SLOW && scene.isExact(t) ? 6 : speed() < 0.5 ? 4 : 2;
    return `${t.toFixed(digits)} s`;
  };

  const draw = () => {
    isDue = false;
    const trail = Math.min(10, scene.until);
    const span = Math.max(AFTERGLOW * speed(), scene.bins.bin_s);
    const found = picture.draw(t, {
      span, isSlow: speed() <= SLOW, names: isOn("names"), links: isOn("links"), chosen, told,
      trails: isOn("trails") ? trail : 0,
    });
    goodput.draw(t);
    find("clock").textContent = shownTime();
    slider.value = String(((t - range[0]) / (range[1] - range[0])) * 1000);
    slider.setAttribute("aria-valuetext", shownTime());
    tell(found, span);
  };
  const redraw = () => {
    if (!isDue) {
      isDue = true;
      requestAnimationFrame(draw);
    }
  };

  // The picture in words: four times a second while it plays, and to a screen reader when it stands.
  const tell = (found, span) => {
    const now = performance.now();
    if (isPlaying && now - saidAt < 250) return;
    saidAt = now;
    const to = one => (one.to < 0 ? "all" : scene.nodes[one.to].name);
    const lines = [];
    if (found.exact) {
      lines.push(found.air.length ? "In the air:" : "Nothing is in the air.");
      for (const one of found.air) {
        const retry = one.isRetry ? ", a retry" : "", fate = one.outcome === "received" ? "" : `, ${one.outcome}`;
        lines.push(`${scene.nodes[one.from].name} → ${to(one)}: ${one.name}${retry}, ${Math.round(100 * one.part)} % sent${fate}`);
      }
    } else {
      const frames = found.air.reduce((sum, one) => sum + one.frames, 0), lost = found.air.reduce((sum, one) => sum + one.lost, 0);
      const senders = new Set(found.air.map(one => one.from)).size;
      lines.push(`${plural(found.pairs.length, "pair")} of neighbours. ${plural(frames, "frame")} of ${plural(senders, "node")} in the ` +
        `last ${Number((1000 * span).toPrecision(3))} ms, ${lost} lost.`);
      const byFrames = (a, b) => picture.isControl(a) - picture.isControl(b) || b.frames - a.frames;
      const busiest = [...found.air].sort(byFrames).slice(0, 3);
      for (const one of busiest) {
        lines.push(`${scene.nodes[one.from].name} → ${to(one)}: ${plural(one.frames, "frame")}, ${scene.kinds[one.kind].label}` +
          (one.lost ? `, ${one.lost} lost` : ""));
      }
    }
    if (chosen >= 0) {
      const near = found.pairs.filter(pair => pair.includes(chosen)).map(([a, b]) => (a === chosen ? b : a));
      const [x, y] = scene.place(chosen, t), where = picture.isSchematic ? "" : ` at ${metres(x)} m east, ${metres(y)} m north`;
      const dead = scene.isDead(chosen, t) ? " It is dead." : "";
      lines.push(`${scene.nodes[chosen].name}${where}.${dead} Neighbours: ${names(near.sort((a, b) => a - b)).join(", ") || "none"}.`);
    }
    const said = find("said");
    said.setAttribute("aria-live", isPlaying || told >= 0 ? "off" : "polite");
    said.replaceChildren(...lines.map(text => Object.assign(document.createElement("span"), { textContent: text })));
    scene.flows.forEach((flow, i) => {
      const value = scene.goodput(i, t);
      find(`flow-${i}`).textContent = value === null ? "–" : (value / 1e6).toFixed(2);
    });
  };

  const seek = to => {
    t = Math.min(range[1], Math.max(range[0], to));
    redraw();
  };
  const step = now => {
    if (!isPlaying) return;
    // A page in the background has no frames for a while: it goes on from where it was.
    seek(t + Math.min(0.1, (now - last) / 1000) * speed());
    last = now;
    if (t >= range[1]) toggle(); else requestAnimationFrame(step);
  };
  const toggle = () => {
    isPlaying = !isPlaying;
    play.textContent = isPlaying ? "Pause" : "Play";
    if (isPlaying) {
      if (t >= range[1]) t = range[0];
      last = performance.now();
      requestAnimationFrame(step);
    } else redraw();
  };
  const choose = node => {
    chosen = node;
    follow.value = String(node);
    redraw();
  };
  const span = (from, until) => {
    range = [from, until];
    seek(Math.max(from, Math.min(until, t)));
  };
  // The story of a frame, with the picture in its middle; -1 closes it. Where it was asked for, it comes into view: a step from frame
  // to frame leaves the page where it is, since the picture may be what is looked at.
  const story = (index, isAsked = false) => {
    const hadFocus = section.contains(document.activeElement);
    told = index;
    section.hidden = index < 0;
    if (index < 0) {
      if (hadFocus) find("tell").focus();
      return redraw();
    }
    if (isPlaying) toggle();
    if (zoom.getAttribute("aria-pressed") !== "true" || speed() > SLOW) showWindow(true);
    find("story-title").textContent = stories.title(index);
    find("story-back").disabled = index === 0;
    find("story-on").disabled = index + 1 >= stories.rows.length;
    const part = one => (typeof one === "string" ? document.createTextNode(one)
      : Object.assign(document.createElement("button"), { type: "button", className: "frame", textContent: one.text, onclick: () => story(one.frame) }));
    const filled = (name, children) => {
      const found = document.createElement(name);
      found.append(...children);
      return found;
    };
    const items = said => filled("ul", said.map(sentence => filled("li", sentence.map(part))));
    find("story-said").replaceChildren(...stories.tell(index).flatMap(({ heading, said }) => [filled("h3", [heading]), items(said)]));
    find("story-title").focus({ preventScroll: true });
    if (isAsked) for (const part of [section, find("story-title")]) part.scrollIntoView({ block: "nearest" });
    seek(scene.frames.from_s + (stories.start(index) + stories.end(index)) / 2e9);
  };
  // The frame that the keyboard means: the last that began, else the next.
  const present = () => {
    const now = (t - scene.frames.from_s) * 1e9, later = stories.rows.findIndex(row => row[0] > now);
    return later < 0 ? stories.rows.length - 1 : Math.max(0, later - 1);
  };
  const zoom = find("zoom");
  const showWindow = isShown => {
    zoom.setAttribute("aria-pressed", String(isShown));
    span(...(isShown ? [scene.frames.from_s, Math.min(scene.until, scene.frames.until_s)] : [0, scene.until]));
    const wanted = isShown ? (range[1] - range[0]) / 20 : scene.until / 40;
    const all = [...speeds.options].map(option => Number(option.value)).filter(value => !isShown || value <= SLOW);
    speeds.value = String(all.reduce((best, one) => (Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best)));
    if (isShown) seek(range[0]);
  };

  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => seek(range[0] + (Number(slider.value) / 1000) * (range[1] - range[0])));
  for (const id of ["names", "links", "trails", "speed"]) find(id).addEventListener("change", redraw);
  follow.addEventListener("change", () => choose(Number(follow.value)));
  if (zoom) zoom.addEventListener("click", () => showWindow(zoom.getAttribute("aria-pressed") !== "true"));
  find("air").addEventListener("click", event => {
    const node = picture.pick(event.offsetX, event.offsetY), frame = node < 0 ? picture.pickFrame(event.offsetX, event.offsetY) : -1;
    if (frame >= 0) story(frame, true); else choose(node);
  });
  if (section) {
    find("tell").addEventListener("click", () => story(present(), true));
    find("story-back").addEventListener("click", () => story(told - 1));
    find("story-on").addEventListener("click", () => story(told + 1));
    find("story-end").addEventListener("click", () => story(-1));
  }
  find("goodput").addEventListener("click", event => seek(goodput.toTime(event.offsetX)));

  // Space plays; arrows go a step, with Shift ten; in the window a step is a frame. Home and End; + and - for the speed.
  const arrow = (isForward, isLong) => {
    if (isPlaying) toggle();
    if (told >= 0 && !isLong) {
      const next = told + (isForward ? 1 : -1);
      return stories.rows[next] && story(next);
    }
    const frame = speed() <= SLOW && scene.isExact(t) ? scene.neighbouringFrame(t, isForward) : null;
    if (frame !== null && !isLong) return seek(frame + 1e-9);
    const long = Math.max(scene.bins.bin_s, (range[1] - range[0]) / 500) * (isLong ? 10 : 1);
    seek(t + (isForward ? long : -long));
  };
  const faster = by => {
    speeds.selectedIndex = Math.min(speeds.options.length - 1, Math.max(0, speeds.selectedIndex + by));
    redraw();
  };
  document.addEventListener("keydown", event => {
    const on = event.target.tagName, isRange = event.target === slider;
    if (event.ctrlKey || event.metaKey || event.altKey || on === "SELECT") return;
    if (["Enter", "Escape"].includes(event.key) && (!section || on === "BUTTON" || on === "INPUT" || on === "SUMMARY")) return;
    if (event.key === " " && (on === "BUTTON" || (on === "INPUT" && !isRange) || on === "SUMMARY")) return;
    const act = {
      " ": toggle, ArrowLeft: () => arrow(false, event.shiftKey), ArrowRight: () => arrow(true, event.shiftKey),
      Home: () => seek(range[0]), End: () => seek(range[1]), "+": () => faster(1), "-": () => faster(-1),
      Enter: () => story(present(), true), Escape: () => story(-1),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  new ResizeObserver(redraw).observe(find("air"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // A page can be linked to at an instant: animation.html#t=12.5, with &speed=0.001 and &node=name; at a frame by #frame=12; at
  // its single frames by #window.
  const asked = new URLSearchParams(location.hash.slice(1));
  if (zoom) showWindow(asked.has("window"));
  if (asked.has("speed")) speeds.value = asked.get("speed");
  if (asked.has("node")) choose(scene.nodes.findIndex(node => node.name === asked.get("node")));
  seek(Number(asked.get("t")) || range[0]);
  if (section && stories.rows[Number(asked.get("frame")) - 1]) story(Number(asked.get("frame")) - 1, true);
})();
