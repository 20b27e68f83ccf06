// The story of a frame: why it was sent, what it waited for, what became of it. It needs the scene of air.js and no document.
// Told is what the core has recorded (`scene.story`), and what the rows of the window say: responses, overlaps, attempts.
"use strict";

const InterlayerStory = (() => {
  const SIFS = 16_000; // ns: no longer in any standard, and every other access waits longer
  const SLOT = 20_000; // ns: the longest of any standard; stations that hear each other may begin together within one
  const SHOWN = 6; // frames or MPDUs that a sentence lists
  const RESPONSES = ["cts", "ack", "block-ack", "nack"];
  const ASKING = ["rts", "block-ack-request"];

  const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  const number = (value, digits = 3) => String(Number(value.toPrecision(digits)));
  // A span of so many ns.
  const span = ns => (ns < 1e6 ? `${number(ns / 1e3, 4)} µs` : ns < 1e9 ? `${number(ns / 1e6, 4)} ms` : `${number(ns / 1e9, 4)} s`);
  // A segment that opens, closes or breaks a connection, by its control bits; nothing of others.
  const segment = bits => (bits < 0 ? "" : bits & 4 ? "RST" : bits & 2 ? (bits & 16 ? "SYN-ACK" : "SYN") : bits & 1 ? "FIN" : "");

  class Stories {
    constructor(scene) {
      this.scene = scene;
      this.rows = scene.frames ? scene.frames.rows : [];
      this.known = scene.story || { flows: [], facts: [], msdus: [], portions: [], accesses: [], lost: [], whole: 0 };
      const by = (rows, key) => {
        const found = new Map();
        for (const row of rows) {
          if (!found.has(key(row))) found.set(key(row), []);
          found.get(key(row)).push(row);
        }
        return found;
      };
      // Of a portion: frame, place, MSDU, sequence number, fragment, attempt.
      this.portions = by(this.known.portions, row => row[0]);
      this.carriers = by(this.known.portions, row => row[2]);
      this.accesses = new Map(this.known.accesses.map(row => [row[0], row.slice(1)]));
      this.lost = new Map(this.known.lost.map(([frame, ...places]) => [frame, places]));
      this.own = by(this.rows.map((row, i) => i), i => this.rows[i][2]);
    }

    // ---------------------------------------------------------------------------------------------------- parts of words

    name(node) {
      return node < 0 ? "all" : this.scene.nodes[node].name;
    }

    kind(frame) {
      return this.scene.frames.classes[this.rows[frame][5]];
    }

    outcome(frame) {
      return this.scene.frames.outcomes[this.rows[frame][6]];
    }

    start(frame) {
      return this.rows[frame][0];
    }

    end(frame) {
      return this.rows[frame][0] + this.rows[frame][1];
    }

    // An instant in ns of the window, in seconds of the run.
    at(ns) {
      return `${(this.scene.frames.from_s + ns / 1e9).toFixed(6)} s`;
    }

    // A frame as a part of a sentence that leads to its own story.
    link(frame) {
      return { frame, text: `${this.kind(frame)} ${this.name(this.rows[frame][2])} → ${this.name(this.rows[frame][3])}` };
    }

    // Several frames in a sentence.
    links(frames) {
      const shown = frames.slice(0, SHOWN).flatMap((frame, i) => [i ? ", " : "", this.link(frame)]);
      return [...shown, frames.length > SHOWN ? ` and ${frames.length - SHOWN} more` : ""];
    }

    title(frame) {
      const [, , from, to] = this.rows[frame];
      return `Frame ${frame + 1}: ${this.name(from)} → ${this.name(to)}, ${this.kind(frame)}`;
    }

    // The MSDU of a place in the list, as words.
    msdu(place) {
      const [, flow, , payload, seq, ack, , , , , , , flags] = this.known.msdus[place];
      const of = flow < 0 ? "" : ` of ${this.known.flows[flow]}`;
      if (seq < 0) return flow < 0 ? "a packet of no flow" : `${payload} B${of}`;
      const control = segment(flags);
      if (payload) return `TCP data${of}: ${payload} B from sequence number ${seq} on${control ? `, with ${control}` : ""}`;
      if (control) return `a ${control}${of}, sequence number ${seq}${control === "SYN" || control === "RST" ? "" : `, up to ${ack}`}`;
      return `a TCP ACK${of} up to ${ack}`;
    }

    // -------------------------------------------------------------------------------------------------- frames by frames

    isResponse(frame) {
      return RESPONSES.includes(this.kind(frame));
    }

    // The frame that another one answers, a SIFS after its end; null if there is none in the window.
    cause(frame) {
      const [start, , from, to] = this.rows[frame];
      if (to < 0) return null;
      return this.last(to, start, other => this.rows[other][3] === from && this.isSifs(other, frame));
    }

    isSifs(before, after) {
      const gap = this.start(after) - this.end(before);
      return gap >= 0 && gap <= SIFS;
    }

    // The last frame of a node that began before an instant, if it is one of those wanted.
    last(node, before, isIt) {
      const own = this.own.get(node) || [];
      for (let i = own.length - 1; i >= 0; i--) {
        if (this.start(own[i]) < before) return isIt(own[i]) ? own[i] : null;
      }
      return null;
    }

    // The frame that answers this one.
    response(frame) {
      const [, , from, to] = this.rows[frame];
      const found = (this.own.get(to) || []).find(other => this.rows[other][3] === from && this.isSifs(frame, other));
      return found === undefined ? null : found;
    }

    // The frame with which the exchange or opportunity of a frame began: it had to wait for the medium.
    root(frame) {
      const from = this.rows[frame][2];
      for (let at = frame; ;) {
        if (this.accesses.has(at)) return at;
        const follows = other => {
          const response = this.rows[other][3] < 0 ? null : this.response(other);
          return this.isSifs(other, at) || (response !== null && this.isSifs(response, at));
        };
        const previous = this.last(from, this.start(at), follows);
        if (previous === null) return at;
        at = previous;
      }
    }

    // Frames of other nodes that were in the air between two instants.
    others(node, from, until) {
      const found = [];
      this.rows.forEach((row, i) => {
        if (row[2] !== node && row[0] < until && row[0] + row[1] > from) found.push(i);
      });
      return found;
    }

    // Nanoseconds between two instants in which one of these frames was in the air.
    busy(frames, from, until) {
      let reached = from, sum = 0;
      for (const frame of frames) { // in order of their begin
        const begin = Math.max(reached, this.start(frame)), end = Math.min(until, this.end(frame));
        if (end > begin) sum += end - begin;
        reached = Math.max(reached, end);
      }
      return sum;
    }

    // --------------------------------------------------------------------------------------------------------- the story

    // Paragraphs with a heading each: lists of sentences, and a sentence is a list of texts and of links { frame, text }.
    tell(frame) {
      return [
        { heading: "Why it was sent", said: this.why(frame) },
        { heading: "What it waited for", said: this.waited(frame) },
        { heading: "What became of it", said: this.became(frame) },
      ];
    }

    // The story as one text, for those who do not see links.
    text(frame) {
      const words = said => said.map(part => (typeof part === "string" ? part : part.text)).join("");
      return [this.title(frame), ...this.tell(frame).flatMap(part => [`${part.heading}:`, ...part.said.map(words)])].join("\n");
    }

    why(frame) {
      const kind = this.kind(frame), fact = this.known.facts[frame], cause = this.cause(frame), said = [];
      const [, airtime, , , , , , isRetry] = this.rows[frame];
      if (this.isResponse(frame)) {
        const words = { cts: "It clears the air for", ack: "It acknowledges", "block-ack": "It tells which MPDUs arrived of", nack: "It refuses" };
        said.push(cause === null ? ["What it answers is outside the window."] : [`${words[kind]} `, this.link(cause), "."]);
      } else if (kind === "rts") {
        said.push(["It asks for the air: its Duration field covers the whole exchange."]);
      } else if (kind === "block-ack-request") {
        said.push(["It asks its addressee which MPDUs have arrived."]);
      } else if (kind === "cf-end") {
        said.push(["It gives back what was left of the opportunity."]);
      } else {
        const portions = this.portions.get(frame) || [];
        if (!portions.length) said.push(["What it carried is beyond what the page keeps."]);
        const several = portions.length > 1;
        if (several) said.push([`It carries ${plural(portions.length, "MSDU")} in ${plural(fact ? fact[1] : 1, "MPDU")}:`]);
        for (const [, place, msdu, seq, fragment, attempt] of portions.slice(0, SHOWN)) {
          const part = fragment ? `, fragment ${fragment}` : "";
          if (several) {
            said.push([`MPDU ${place + 1}, number ${seq}${part}: ${this.msdu(msdu)}; attempt ${attempt}.`]);
            continue;
          }
          const which = attempt > 1 ? `Attempt ${attempt} of its MSDU` : "The first attempt of its MSDU";
          said.push([`It carries ${this.msdu(msdu)}.`]);
          said.push([`${which}, MAC sequence number ${seq}${part}${isRetry ? ", with the retry bit" : ""}.`]);
        }
        if (portions.length > SHOWN) said.push([`And ${plural(portions.length - SHOWN, "more MSDU")}, up to number ${portions[portions.length - 1][3]}.`]);
      }
      if (fact) said.push([`${fact[0]} B at ${number(fact[5] / 1000, 4)} Mb/s: ${span(airtime)}, from ${this.at(this.start(frame))} on.`]);
      return said;
    }

    waited(frame) {
      const cause = this.cause(frame);
      if (this.isResponse(frame)) {
        const gap = cause === null ? "" : ` of ${span(this.start(frame) - this.end(cause))}`;
        return [[`For the SIFS${gap} after what it answers, and for nothing else.`]];
      }
      const said = [], root = this.root(frame), start = this.start(frame), from = this.rows[frame][2];
      const portions = this.portions.get(frame) || [], first = portions.length ? this.known.msdus[portions[0][2]] : null;
      const earlier = portions.length ? this.attempts(portions[0][2]).filter(other => this.start(other) < start) : [];
      let ready = null;
      if (first && first[6] !== null) {
        const [, , , , , , queued, head] = first, several = portions.length > 1 ? "Its first MSDU" : "Its MSDU";
        said.push([`${several} was queued at ${this.at(queued)}, ${span(start - queued)} before this frame began, and came to the head of the queue ` +
          `${head > queued ? `${span(head - queued)} after that` : "at once"}.`]);
        ready = head;
      }
      if (earlier.length) {
        const before = earlier[earlier.length - 1];
        said.push(["The attempt before: ", this.link(before), `, which ended ${span(start - this.end(before))} before.`]);
        ready = Math.max(ready === null ? -Infinity : ready, this.end(before));
      }
      if (root !== frame) said.push(["It had the medium since ", this.link(root), `, ${span(start - this.start(root))} before.`]);
      const begin = this.start(root);
      if (ready !== null && ready < begin) {
        const seen = Math.max(ready, 0), others = this.others(from, seen, begin);
        const cut = seen > ready ? " (as far as the window goes back)" : "";
        said.push(others.length
          ? [`In the ${span(begin - seen)} before the exchange began${cut}, ${plural(others.length, "frame")} of others ${others.length === 1 ? "was" : "were"} ` +
            `in the air, ${span(this.busy(others, seen, begin))} in all: `, ...this.links(others), "."]
          : [`In the ${span(begin - seen)} before the exchange began${cut}, no frame of others was in the air.`]);
      }
      return [...said, ...this.backoff(root, first && first[6] !== null ? first[6] : null), ...this.unheard(root)];
    }

    // Frames that had been in the air for longer than a slot when a contended one began, so that its sender's medium was idle.
    unheard(frame) {
      const begin = this.start(frame), from = this.rows[frame][2];
      if (!this.accesses.has(frame)) return [];
      const found = this.others(from, begin, begin + 1).filter(other => this.start(other) < begin - SLOT);
      if (!found.length) return [];
      const who = [...new Set(found.map(other => this.name(this.rows[other][2])))].join(" and ");
      return [[`${this.name(from)} does not hear ${who}: its medium was idle, though in the air was `, ...this.links(found), "."]];
    }

    // The contention for a frame.
    backoff(frame, queued) {
      const access = this.accesses.get(frame);
      if (!access) return [["How it came by the medium is not recorded."]];
      const [cw, from, slots, leftOut, ...numbers] = access, said = [], stops = [];
      for (let i = 0; i < numbers.length; i += 3) stops.push(numbers.slice(i, i + 3));
      // A backoff that ran before the MSDU was queued was that of the one before.
      const own = queued === null ? [] : stops.filter(([, until]) => until >= queued);
      if (own.length) {
        const more = leftOut && own.length === stops.length ? `, after ${plural(leftOut, "earlier stop")}` : "";
        const each = own.map(([left, until, nav]) =>
          `at ${plural(left, "slot")} until ${this.at(until)}${nav ? ` (the last ${span(nav)} by its NAV alone)` : ""}`);
        said.push([`While its medium was busy, its backoff stood ${each.join(", ")}${more}. The contention window was ${cw}.`]);
      }
      said.push([slots
        ? `From ${this.at(from)} on, the interframe space being over, it counted ${plural(slots, "idle slot")}, and sent.`
        : `${own.length ? "No slot was left" : "It had no slot to count"}: it sent once the medium had been idle for the interframe space.`]);
      return said;
    }

    // Frames of the window that carried an MSDU, in order.
    attempts(msdu) {
      return [...new Set((this.carriers.get(msdu) || []).map(row => row[0]))];
    }

    became(frame) {
      const [, , , to] = this.rows[frame], outcome = this.outcome(frame), fact = this.known.facts[frame] || [];
      const overlap = fact[4] >= 0 && fact[4] !== undefined ? fact[4] : null, who = this.name(to);
      const by = overlap === null ? ["another frame"] : [this.link(overlap)];
      const said = [{
        received: [`${who} received it.`],
        captured: [`${who} received it, although it overlapped with `, ...by, "."],
        noise: [`Lost: noise spoilt it at ${who}.`],
        collision: [`Lost: at ${who} it collided with `, ...by, "."],
        "half-duplex": overlap === null ? [`Lost: ${who} transmitted itself.`] : [`Lost: ${who} transmitted itself: `, ...by, "."],
        "out-of-reach": [`Lost: it did not reach ${who}.`],
        group: ["It went to all. No fate is kept of it."],
        "in-the-air": ["The run ended before it did."],
      }[outcome] || [outcome]];
      const lost = this.lost.get(frame) || [];
      if (lost.length) {
        const places = lost.slice(0, 2 * SHOWN).map(place => place + 1).join(", ");
        said.push([`Of ${fact[1]} MPDUs ${fact[2]} were received. Lost: MPDU ${places}${lost.length > 2 * SHOWN ? " and others" : ""}.`]);
      }
      const also = this.others(this.rows[frame][2], this.start(frame), this.end(frame)).filter(other => other !== overlap);
      if (also.length) said.push(["In the air at the same time: ", ...this.links(also), "."]);
      if (to >= 0 && !this.isResponse(frame) && this.kind(frame) !== "cf-end" && outcome !== "in-the-air") said.push(this.answer(frame));
      return [...said, ...this.settled(frame)];
    }

    // The response to a frame.
    answer(frame) {
      const found = this.response(frame);
      if (found === null) {
        const isKnown = this.end(frame) + SIFS < (this.scene.frames.until_s - this.scene.frames.from_s) * 1e9;
        return [isKnown ? "No response came." : "A response is outside the window."];
      }
      const outcome = this.outcome(found), fate = ["received", "captured"].includes(outcome) ? "" : `, which was lost (${outcome})`;
      const verb = ASKING.includes(this.kind(frame)) ? "Answered" : "Acknowledged";
      return [`${verb} by `, this.link(found), `, ${span(this.start(found) - this.end(frame))} after its end${fate}.`];
    }

    // What became of the MSDUs of a data frame.
    settled(frame) {
      const portions = this.portions.get(frame) || [], end = this.end(frame), said = [];
      const msdus = [...new Set(portions.map(row => row[2]))];
      if (!msdus.length) return said;
      if (msdus.length > 1) {
        const again = [...new Set(msdus.flatMap(msdu => this.attempts(msdu).filter(other => this.start(other) >= end).slice(0, 1)))];
        const of = key => msdus.filter(msdu => key(this.known.msdus[msdu])).length;
        if (again.length) said.push(["Sent again, in part: ", ...this.links(again), "."]);
        const [given, reached] = [of(one => one[9] === 0), of(one => one[11] !== null)];
        said.push([`Of its ${msdus.length} MSDUs ${of(one => one[9] === 1)} were delivered in the end` +
          `${given ? `, ${given} dropped` : ""}${reached ? `; ${reached} reached TCP` : ""}.`]);
        return said;
      }
      const [, , , , , , , , done, isDelivered, attempts, tcp] = this.known.msdus[msdus[0]];
      const next = this.attempts(msdus[0]).find(other => this.start(other) >= end);
      if (next !== undefined) said.push(["The next attempt: ", this.link(next), `, ${span(this.start(next) - end)} after its end.`]);
      if (tcp !== null) said.push([`Its segment reached TCP at ${this.at(tcp)}${tcp < end ? ", before this frame ended: in an earlier attempt" : ""}.`]);
      if (isDelivered === 1) said.push([`Its MAC took it for delivered at ${this.at(done)}, after ${plural(attempts, "attempt")}.`]);
      else if (isDelivered === 0) said.push([`Its MSDU was dropped at ${this.at(done)}, after ${plural(attempts, "attempt")}.`]);
      else said.push(["The run ended before the fate of its MSDU was known."]);
      const onward = this.onward(frame, msdus[0]);
      if (onward !== null) said.push(["Its packet went on in ", this.link(onward), "."]);
      return said;
    }

    // The first frame in which the addressee sent the same packet on.
    onward(frame, msdu) {
      const [node, ...facts] = this.known.msdus[msdu], to = this.rows[frame][3], same = facts.slice(0, 5).join();
      for (const i of this.own.get(to) || []) {
        if (this.start(i) < this.end(frame)) continue;
        const is = row => this.known.msdus[row[2]].slice(1, 6).join() === same;
        if (node !== to && facts[3] >= 0 && (this.portions.get(i) || []).some(is)) return i;
      }
      return null;
    }
  }

  return { Stories };
})();

if (typeof module !== "undefined") module.exports = InterlayerStory;
