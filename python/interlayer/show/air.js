// The air of a run: `Scene` tells of any instant, `Picture` draws it on a canvas, `Goodput` draws flows over time.
// No library, no server, nothing to fetch. A scene is the JSON that animation.py writes; docs/design/pictures.md has its keys.
"use strict";

const InterlayerAir = (() => {
  // The last index of a sorted list whose value is at most `wanted`; -1 if there is none.
  const lastAtMost = (length, value, wanted) => {
    let low = 0, high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value(middle) <= wanted) low = middle + 1; else high = middle;
    }
    return low - 1;
  };

  class Scene {
    constructor(data) {
      Object.assign(this, data);
      this.until = data.until_s;
      this.radios = data.nodes.map((node, i) => i).filter(i => data.nodes[i].radio);
      this.mobile = this.radios.filter(i => data.nodes[i].path.length > 3);
      const rows = data.frames ? data.frames.rows : [];
      this.longest = rows.reduce((most, row) => Math.max(most, row[1]), 0);
      this.applied = 0;
      this.up = new Map();
      this.linkTime = -1;
    }

    // The place of a node in metres: straight between the points of its path.
    place(node, t) {
      const path = this.nodes[node].path, points = path.length / 3;
      const at = Math.max(0, lastAtMost(points, i => path[3 * i], t));
      const [t0, x0, y0] = path.slice(3 * at, 3 * at + 3);
      if (at + 1 >= points || t <= t0) return [x0, y0];
      const [t1, x1, y1] = path.slice(3 * at + 3, 3 * at + 6), part = (t - t0) / (t1 - t0);
      return [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
    }

    // True of a node that an event has killed.
    isDead(node, t) {
      return (this.nodes[node].dead || []).some(([from, to]) => from <= t && (to === null || t < to));
    }

    // Pairs of radio neighbours at an instant, as [one, other].
    links(t) {
      const { changes } = this.neighbours;
      if (t < this.linkTime) {
        this.applied = 0;
        this.up.clear();
      }
      for (; this.applied < changes.length && changes[this.applied] <= t; this.applied += 5) {
        const [, channel, one, other, isUp] = changes.slice(this.applied, this.applied + 5);
        const key = (channel * this.nodes.length + one) * this.nodes.length + other;
        if (isUp) this.up.set(key, [one, other]); else this.up.delete(key);
      }
      this.linkTime = t;
      return [...this.up.values()];
    }

    // Frames of the bins that end within (from, until], added up by transmitter, receiver and kind. `age` is that of the last
    // of them, from 0 to 1.
    pulses(from, until) {
      const { bin_s: bin, rows: bins } = this.bins, found = new Map();
      const last = lastAtMost(bins.length, i => (bins[i][0] + 1) * bin, until + 1e-9);
      for (let i = last; i >= 0 && (bins[i][0] + 1) * bin > from + 1e-9; i--) {
        const row = bins[i], age = Math.min(1, Math.max(0, (until - (row[0] + 1) * bin) / (until - from || 1)));
        for (let k = 1; k < row.length; k += 5) {
          const key = `${row[k]} ${row[k + 1]} ${row[k + 2]}`, known = found.get(key);
          if (known) {
            known.frames += row[k + 3];
            known.lost += row[k + 4];
          } else {
            const [a, b, kind, frames, lost] = row.slice(k, k + 5);
            found.set(key, { from: a, to: b, kind, frames, lost, age });
          }
        }
      }
      return [...found.values()];
    }

    // True where every frame is known.
    isExact(t) {
      return Boolean(this.frames) && this.frames.from_s <= t && t < this.frames.until_s;
    }

    // The frames in the air at an instant within the window, with the part of each that has been sent.
    inTheAir(t) {
      if (!this.isExact(t)) return [];
      const rows = this.frames.rows, now = Math.round((t - this.frames.from_s) * 1e9), found = [];
      for (let i = lastAtMost(rows.length, i => rows[i][0], now); i >= 0 && rows[i][0] >= now - this.longest; i--) {
        const [start, airtime, from, to, kind, name, outcome, isRetry] = rows[i];
        if (now < start + airtime) {
          found.push({
            from, to, kind, name: this.frames.classes[name], outcome: this.frames.outcomes[outcome],
            isRetry: Boolean(isRetry), part: (now - start) / airtime, lost: this.frames.lost.includes(outcome) ? 1 : 0,
            frames: 1, age: 0, index: i,
          });
        }
      }
      return found.reverse();
    }

    // The begin of the frame before or after an instant of the window; null if there is none.
    neighbouringFrame(t, isForward) {
      const rows = this.frames ? this.frames.rows : [], now = (t - (this.frames ? this.frames.from_s : 0)) * 1e9;
      const at = lastAtMost(rows.length, i => rows[i][0], now + (isForward ? 0.5 : -1.5));
      const row = rows[isForward ? at + 1 : at];
      return row ? this.frames.from_s + row[0] / 1e9 : null;
    }

    // Goodput of a flow in b/s at an instant, over the sample that holds it; null before the first and after the last.
    goodput(flow, t) {
      const { every_s: every, kbps } = this.flows[flow];
      const value = kbps[Math.min(kbps.length - 1, Math.max(0, Math.ceil(t / every - 1e-9) - 1))];
      return value === undefined ? null : value * 1000;
    }
  }
  const FONT = '"DejaVu Sans", Verdana, system-ui, sans-serif';

  // Colours as the page's style sheet has them, anew in light and dark.
  const palette = element => {
    const style = getComputedStyle(element), colour = name => style.getPropertyValue(name).trim();
    return {
      ink: colour("--ink"), soft: colour("--soft"), rule: colour("--rule"), paper: colour("--paper"),
      link: colour("--air-link"), lost: colour("--air-lost"), chosen: colour("--link"),
      kind: i => colour(`--air-${i}`), flow: i => colour(`--flow-${i}`),
    };
  };

  // A canvas as large as its box in CSS pixels, sharp on any screen; gives its context and size.
  const sized = canvas => {
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, height };
  };

  // 1, 2 or 5 times a power of ten, at most `value`.
  const round = value => {
    const power = 10 ** Math.floor(Math.log10(value));
    return power * (value / power >= 5 ? 5 : value / power >= 2 ? 2 : 1);
  };

  class Picture {
    constructor(canvas, scene) {
      this.canvas = canvas;
      this.scene = scene;
      this.sides = new Map();
      const xs = [], ys = [];
      for (const i of scene.radios) {
        const path = scene.nodes[i].path;
        for (let k = 0; k < path.length; k += 3) {
          xs.push(path[k + 1]);
          ys.push(path[k + 2]);
        }
      }
      const least = list => list.reduce((a, b) => Math.min(a, b), Infinity);
      const most = list => list.reduce((a, b) => Math.max(a, b), -Infinity);
      this.box = xs.length ? [least(xs), least(ys), most(xs), most(ys)] : [0, 0, 0, 0];
      this.asides = this.together();
      this.shown = [];
      this.arrows = [];
    }

    // True if no place matters: all stand at one point, and are drawn in a circle.
    get isSchematic() {
      return this.box[0] === this.box[2] && this.box[1] === this.box[3] && this.scene.radios.length > 1;
    }

    // Nodes that stand at the same point for the whole run: of each its place among them, and their number.
    together() {
      const at = new Map(), found = new Map();
      for (const i of this.scene.radios) {
        const path = this.scene.nodes[i].path;
        if (path.length > 3) continue;
        const key = `${path[1]} ${path[2]}`;
        at.set(key, [...(at.get(key) || []), i]);
      }
      for (const group of at.values()) {
        if (group.length > 1) group.forEach((node, nth) => found.set(node, [nth, group.length]));
      }
      return found;
    }

    // Metres to pixels, north up.
    frame(width, height) {
      const [x0, y0, x1, y1] = this.box, margin = Math.min(56, 0.1 * Math.min(width, height) + 18);
      const scale = Math.min((width - 2 * margin) / (x1 - x0 || 1e-9), (height - 2 * margin) / (y1 - y0 || 1e-9));
      this.scale = this.isSchematic ? 0 : Math.min(scale, 1e4);
      const middle = [(x0 + x1) / 2, (y0 + y1) / 2];
      const ring = 0.5 * Math.min(width, height) - margin;
      this.toPixels = (node, t) => {
        const [x, y] = this.scene.place(node, t), aside = this.asides.get(node);
        let px = width / 2 + (x - middle[0]) * this.scale, py = height / 2 - (y - middle[1]) * this.scale;
        if (aside) {
          const [nth, all] = aside, turn = (2 * Math.PI * nth) / all - Math.PI / 2;
          const radius = this.isSchematic ? ring : Math.min(ring, Math.max(14, (all * 18) / (2 * Math.PI)));
          px += radius * Math.cos(turn);
          py += radius * Math.sin(turn);
        }
        return [px, py];
      };
    }

    // Draws an instant. `span` are the seconds before it whose frames are shown; `isSlow` shows each frame of the window instead,
    // of which `told` is set off.
    draw(t, { span = 0.2, isSlow = false, names = true, links = true, trails = 0, chosen = -1, told = -1 } = {}) {
      const { context: c, width, height } = sized(this.canvas), scene = this.scene, ink = palette(this.canvas);
      this.frame(width, height);
      const at = new Map(scene.radios.map(i => [i, this.toPixels(i, t)]));
      const radius = scene.radios.length > 30 || width < 500 ? 4.5 : 6.5;
      this.ruler(c, ink, width, height);
      if (trails > 0) this.trails(c, ink, t, trails);
      const pairs = scene.links(t);
      if (links) this.lines(c, ink, pairs, at, chosen);
      const exact = isSlow && scene.isExact(t), air = exact ? scene.inTheAir(t) : scene.pulses(t - span, t);
      // Old ones first, and control frames below data; a node has the colour of the data that it sends.
      const order = (a, b) => this.isControl(b) - this.isControl(a) || b.age - a.age;
      this.arrows = [];
      for (const one of [...air].sort(order)) this.transmission(c, ink, one, at, radius, exact, told);
      const recent = air.filter(one => one.age < 0.5).sort((a, b) => b.kind - a.kind);
      const sending = new Map(recent.map(one => [one.from, one.kind]));
      for (const i of scene.radios) this.node(c, ink, i, at.get(i), radius, sending.get(i), scene.isDead(i, t), i === chosen);
      if (names) this.names(c, ink, at, radius, pairs, chosen);
      this.shown = [...at];
      return { pairs, air, exact };
    }

    isControl(one) {
      return one.kind === this.scene.kinds.length - 1;
    }

    // The node nearest to a point of the canvas, in CSS pixels, within 16 of them; -1 for none.
    pick(x, y) {
      let best = -1, least = 16;
      for (const [node, [px, py]] of this.shown) {
        const distance = Math.hypot(px - x, py - y);
        if (distance < least) [best, least] = [node, distance];
      }
      return best;
    }

    // The frame of the window whose arrow or ring is nearest to a point, within 10 pixels; -1 for none.
    pickFrame(x, y) {
      let best = -1, least = 10;
      for (const { index, a, b, radius } of this.arrows) {
        const dx = b[0] - a[0], dy = b[1] - a[1], long = dx * dx + dy * dy || 1;
        const along = Math.min(1, Math.max(0, ((x - a[0]) * dx + (y - a[1]) * dy) / long));
        const distance = Math.abs(Math.hypot(a[0] + along * dx - x, a[1] + along * dy - y) - radius);
        if (distance < least) [best, least] = [index, distance];
      }
      return best;
    }

    ruler(c, ink, width, height) {
      if (!this.scale || !isFinite(this.scale)) return;
      const metres = round(Math.min(180, 0.3 * width) / this.scale), long = metres * this.scale, y = height - 12;
      c.strokeStyle = c.fillStyle = ink.soft;
      c.lineWidth = 1.5;
      c.beginPath();
      c.moveTo(12, y - 5);
      c.lineTo(12, y);
      c.lineTo(12 + long, y);
      c.lineTo(12 + long, y - 5);
      c.stroke();
      c.font = `12px ${FONT}`;
      c.textAlign = "left";
      c.textBaseline = "middle";
      const text = metres >= 1000 ? `${metres / 1000} km` : `${Number(metres.toPrecision(1))} m`;
      c.fillText(text, 20 + long, y - 3);
      this.taken = [{ x: 8, y: y - 14, w: long + 24 + c.measureText(text).width, h: 22 }];
    }

    trails(c, ink, t, seconds) {
      c.strokeStyle = ink.ink;
      c.lineWidth = 1.4;
      c.setLineDash([1.5, 3]);
      for (const node of this.scene.mobile) {
        const path = this.scene.nodes[node].path, from = Math.max(0, t - seconds), times = [from];
        for (let k = 0; k < path.length; k += 3) if (path[k] > from && path[k] < t) times.push(path[k]);
        times.push(t);
        for (let k = 1; k < times.length; k++) {
          const [x0, y0] = this.toPixels(node, times[k - 1]), [x1, y1] = this.toPixels(node, times[k] - (k + 1 < times.length ? 1e-9 : 0));
          c.globalAlpha = 0.2 + 0.5 * ((times[k] - from) / (t - from || 1));
          c.beginPath();
          c.moveTo(x0, y0);
          c.lineTo(x1, y1);
          c.stroke();
        }
      }
      c.setLineDash([]);
      c.globalAlpha = 1;
    }

    lines(c, ink, pairs, at, chosen) {
      const crowd = pairs.length > 4 * this.scene.radios.length;
      for (const [one, other] of pairs) {
        const a = at.get(one), b = at.get(other), own = one === chosen || other === chosen;
        if (!a || !b) continue;
        c.strokeStyle = own ? ink.chosen : ink.link;
        c.globalAlpha = own ? 1 : crowd ? 0.45 : 0.9;
        c.lineWidth = own ? 1.8 : 1;
        c.beginPath();
        c.moveTo(...a);
        c.lineTo(...b);
        c.stroke();
      }
      c.globalAlpha = 1;
    }

    // Frames of one kind from one node: an arrow on the right-hand side of the way, red and broken where they were lost.
    transmission(c, ink, one, at, radius, exact, told) {
      const a = at.get(one.from), b = at.get(one.to);
      if (!a) return;
      c.globalAlpha = 1 - 0.8 * one.age;
      c.strokeStyle = c.fillStyle = ink.kind(one.kind);
      const isThin = this.isControl(one) && !exact;
      c.lineWidth = isThin ? 1.2 : 1.6 + Math.min(2.4, 0.5 * Math.log2(one.frames));
      c.beginPath();
      if (!b) { // to all
        const far = radius + 6 + 14 * (exact ? one.part : one.age);
        if (exact) this.arrows.push({ index: one.index, a, b: a, radius: far });
        if (exact && one.index === told) c.lineWidth = 5;
        c.arc(a[0], a[1], far, 0, 2 * Math.PI);
        c.stroke();
        c.globalAlpha = 1;
        return;
      }
      const dx = b[0] - a[0], dy = b[1] - a[1], long = Math.hypot(dx, dy) || 1, ux = dx / long, uy = dy / long;
      // Lanes: control frames in the middle, data beside them, and ACKs of TCP outside.
      const side = isThin ? 1 : one.kind === 1 ? 7 : 3.5, from = radius, to = Math.max(from + 1, long - radius - 1);
      const point = (along, aside) => [a[0] + ux * along - uy * aside, a[1] + uy * along + ux * aside];
      const isLost = one.lost > 0 && one.lost * 2 >= one.frames;
      if (isLost) {
        c.strokeStyle = c.fillStyle = ink.lost;
        c.setLineDash([9, 5]);
      }
      const reached = exact ? from + (to - from) * one.part : to;
      if (exact) { // the way in thin, the part that has been sent in full width
        this.arrows.push({ index: one.index, a: point(from, side), b: point(to, side), radius: 0 });
        if (one.index === told) this.halo(c, ink, point(from, side), point(to, side));
        c.globalAlpha = 0.4;
        c.moveTo(...point(from, side));
        c.lineTo(...point(to, side));
        c.stroke();
        c.globalAlpha = 1;
        c.lineWidth = 3.4;
        c.beginPath();
      }
      c.moveTo(...point(from, side));
      c.lineTo(...point(Math.max(from, reached - 5), side));
      c.stroke();
      c.setLineDash([]);
      const head = isThin ? 5 : 6 + c.lineWidth;
      c.beginPath();
      c.moveTo(...point(reached, side));
      c.lineTo(...point(reached - head, side + 0.55 * head));
      c.lineTo(...point(reached - head, side - 0.55 * head));
      c.fill();
      if (one.lost && !isThin) { // a cross where something was lost
        const [x, y] = point(from + 0.6 * (to - from), side);
        c.strokeStyle = ink.lost;
        c.lineWidth = 2;
        c.beginPath();
        for (const [sx, sy] of [[1, 1], [1, -1]]) {
          c.moveTo(x - 4 * sx, y - 4 * sy);
          c.lineTo(x + 4 * sx, y + 4 * sy);
        }
        c.stroke();
      }
      c.globalAlpha = 1;
    }

    // What sets the frame off whose story is told.
    halo(c, ink, a, b) {
      c.save();
      c.setLineDash([]);
      [c.strokeStyle, c.lineWidth, c.globalAlpha, c.lineCap] = [ink.chosen, 12, 0.28, "round"];
      c.beginPath();
      c.moveTo(...a);
      c.lineTo(...b);
      c.stroke();
      c.restore();
      c.beginPath();
    }

    node(c, ink, i, [x, y], radius, kind, isDead, isChosen) {
      c.lineWidth = 1.6;
      c.strokeStyle = isDead ? ink.soft : ink.ink;
      c.fillStyle = kind === undefined || isDead ? ink.paper : ink.kind(kind);
      c.beginPath();
      if (this.scene.nodes[i].ap) c.rect(x - radius, y - radius, 2 * radius, 2 * radius);
      else c.arc(x, y, radius, 0, 2 * Math.PI);
      c.fill();
      c.stroke();
      if (isDead) {
        c.beginPath();
        c.moveTo(x - radius, y - radius);
        c.lineTo(x + radius, y + radius);
        c.moveTo(x - radius, y + radius);
        c.lineTo(x + radius, y - radius);
        c.stroke();
      }
      if (isChosen) {
        c.strokeStyle = ink.chosen;
        c.lineWidth = 2.4;
        c.beginPath();
        c.arc(x, y, radius + 5, 0, 2 * Math.PI);
        c.stroke();
      }
    }

    // Names where they have room: the chosen node's, its neighbours', ends of flows and access points first.
    names(c, ink, at, radius, pairs, chosen) {
      c.font = `12px ${FONT}`;
      c.textBaseline = "middle";
      const near = new Set(pairs.filter(pair => pair.includes(chosen)).flat());
      const ends = new Set(this.scene.flows.flatMap(flow => [flow.from, flow.to]));
      const rank = i => (i === chosen ? 0 : near.has(i) ? 1 : this.scene.nodes[i].ap ? 2 : ends.has(i) ? 3 : 4);
      const { width, height } = this.canvas.getBoundingClientRect();
      const discs = [...at].map(([node, [x, y]]) => ({ node, x: x - radius, y: y - radius, w: 2 * radius, h: 2 * radius }));
      const taken = [...(this.taken || [])];
      const overlap = (p, q) => p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h;
      const gap = radius + 4;
      // Of each node the links to its right and left, above and below: a name goes where fewest are.
      const busy = new Map([...at.keys()].map(i => [i, [0, 0, 0, 0]]));
      const count = (i, dx, dy) => {
        if (busy.has(i)) busy.get(i)[Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? 0 : 1) : dy < 0 ? 2 : 3]++;
      };
      for (const [one, other] of pairs) {
        const a = at.get(one), b = at.get(other);
        if (!a || !b) continue;
        count(one, b[0] - a[0], b[1] - a[1]);
        count(other, a[0] - b[0], a[1] - b[1]);
      }
      for (const i of [...at.keys()].sort((a, b) => rank(a) - rank(b) || a - b)) {
        const [x, y] = at.get(i), name = this.scene.nodes[i].name, w = c.measureText(name).width, h = 14;
        const around = [[gap, -h / 2], [-gap - w, -h / 2], [-w / 2, -gap - h], [-w / 2, gap]];
        // The side of the last picture is preferred, so that names do not jump.
        const crowd = side => busy.get(i)[side] - (side === this.sides.get(i) ? 1.5 : 0);
        const order = [0, 1, 2, 3].sort((a, b) => crowd(a) - crowd(b) || a - b);
        const side = order.find(s => {
          const box = { x: x + around[s][0] - 1, y: y + around[s][1], w: w + 2, h };
          const inside = box.x >= 0 && box.y >= 0 && box.x + box.w <= width && box.y + box.h <= height;
          return inside && !taken.some(other => overlap(box, other)) && !discs.some(d => d.node !== i && overlap(box, d));
        });
        if (side === undefined) continue;
        this.sides.set(i, side);
        const [left, top] = [x + around[side][0], y + around[side][1]];
        taken.push({ x: left - 1, y: top, w: w + 2, h });
        c.textAlign = "left";
        c.globalAlpha = 0.75;
        c.fillStyle = ink.paper;
        c.fillRect(left - 1, top, w + 2, h);
        c.globalAlpha = 1;
        c.fillStyle = i === chosen ? ink.chosen : ink.ink;
        c.fillText(name, left, top + h / 2);
      }
    }
  }

  const DASHES = [[], [7, 3], [2, 2], [7, 3, 2, 3]];

  // Goodput of flows over time: a line each, of many flows their sum.
  class Goodput {
    constructor(canvas, scene) {
      this.canvas = canvas;
      this.scene = scene;
      this.isSum = scene.flows.length > Goodput.NAMED;
      const flows = scene.flows;
      const longest = flows.reduce((most, flow) => Math.max(most, flow.kbps.length), 0);
      const sum = [...Array(longest).keys()].map(i => flows.reduce((total, flow) => total + (flow.kbps[i] || 0), 0));
      this.lines = this.isSum ? [{ every_s: flows[0].every_s, kbps: sum }] : flows;
      this.most = this.lines.reduce((most, line) => line.kbps.reduce((a, b) => Math.max(a, b), most), 1);
    }

    // The dashes of a flow's line, for a legend.
    static dashes(flow) {
      return DASHES[flow % DASHES.length];
    }

    draw(t) {
      const { context: c, width, height } = sized(this.canvas), ink = palette(this.canvas), { until } = this.scene;
      const left = 44, right = width - 12, top = 10, bottom = height - 24;
      this.toTime = x => Math.min(until, Math.max(0, ((x - left) / (right - left)) * until));
      const x = time => left + ((right - left) * time) / until, y = kbps => bottom - ((bottom - top) * kbps) / this.most;
      c.font = `12px ${FONT}`;
      c.lineWidth = 1;
      c.strokeStyle = ink.rule;
      c.fillStyle = ink.soft;
      const step = round(this.most / 2000) * 1000 || 1;
      c.textBaseline = "middle";
      c.textAlign = "right";
      for (let kbps = 0; kbps <= this.most; kbps += step) {
        c.beginPath();
        c.moveTo(left, y(kbps));
        c.lineTo(right, y(kbps));
        c.stroke();
        c.fillText(String(Number((kbps / 1000).toPrecision(3))), left - 6, y(kbps));
      }
      c.textBaseline = "top";
      const seconds = round(until / 3);
      for (let time = 0; time <= until + 1e-9; time += seconds) {
        c.textAlign = time === 0 ? "left" : x(time) > right - 20 ? "right" : "center";
        c.fillText(`${Number(time.toPrecision(6))}${time === 0 ? " s" : ""}`, x(time), bottom + 7);
      }
      this.lines.forEach((line, i) => {
        c.strokeStyle = this.isSum ? ink.ink : ink.flow(i % Goodput.COLOURS);
        c.lineWidth = 1.6;
        c.setLineDash(this.isSum ? [] : Goodput.dashes(i));
        c.beginPath();
        line.kbps.forEach((kbps, k) => {
          if (k === 0) c.moveTo(x(0), y(kbps)); else c.lineTo(x(k * line.every_s), y(kbps));
          c.lineTo(x(Math.min(until, (k + 1) * line.every_s)), y(kbps));
        });
        c.stroke();
      });
      c.setLineDash([]);
      c.strokeStyle = ink.ink;
      c.lineWidth = 1.5;
      c.beginPath();
      c.moveTo(x(t), top - 6);
      c.lineTo(x(t), bottom);
      c.stroke();
    }
  }
  Goodput.NAMED = 7;
  Goodput.COLOURS = 7;

  return { Scene, Picture, Goodput };
})();

if (typeof module !== "undefined") module.exports = InterlayerAir;
