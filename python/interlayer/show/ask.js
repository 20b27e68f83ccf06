// Figures that answer: a point says what it is of when it is hovered or focused, and arms are switched on and off.
// What is said stands in the page (asked.py): no number is computed here, and nothing is fetched.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const NEAR = 24; // pixels of the screen from the pointer to a point that it means

  function make(tag, text, attributes = {}, parent = null) {
    const isDrawn = parent !== null && parent.namespaceURI === SVG;
    const made = isDrawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
    if (text !== null) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent?.append(made);
    return made;
  }

  /** A short line as an arm's, on white as the figure is. */
  function swatch({ colour, dashes }) {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("viewBox", "0 0 26 14");
    made.setAttribute("aria-hidden", "true");
    make("rect", null, { width: 26, height: 14, rx: 2, fill: "#fff" }, made);
    make("path", null, { d: "M3 7h20", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashes }, made);
    return made;
  }

  class Figure {
    constructor(data, svg) {
      this.svg = svg;
      this.readings = data.readings ?? [];
      this.arms = data.arms;
      this.points = [];
      this.focused = null; // has the focus of the keyboard
      this.pinned = null; // is shown because of that, until Escape
      this.hovered = null;
      this.isOpen = false; // the list of readings
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", "Figure; a table on this page has its numbers, too");
      this.list = make("g", null, {
        role: "listbox",
        "aria-orientation": "horizontal",
        "aria-label": "Points. Left and right arrow: along an arm. Up and down: to another arm. Escape: close.",
      }, svg);
      this.arms.forEach((arm, i) => {
        arm.isOn = true;
        arm.parts = svg.querySelectorAll(`[id*="arm-${i}.part-"]`);
        arm.names = svg.querySelectorAll(`[id*="arm-${i}.name-"]`);
        arm.group = make("g", null, { role: "group", "aria-label": arm.name }, this.list);
        for (const point of arm.points) this.add(arm, point);
      });
      this.rings = ["#fff", "#000"].map((stroke, i) =>
        make("circle", null, { class: "ring", r: 9, stroke, "stroke-width": i ? 2 : 5, visibility: "hidden" }, svg));
      this.box = make("div", null, { class: "told", role: "group", "aria-label": "Chosen point" });
      this.box.hidden = true;
      svg.after(this.box);
      if (this.arms.length > 1) svg.parentElement.before(this.switches()); // which scrolls where it is narrow
      this.setTabStop(this.visible()[0]);
      this.listen();
    }

    add(arm, point) {
      point.arm = arm;
      const said = point.lines.map(([name, text]) => `${name} ${text}`);
      if (point.in_readings) said.push(point.in_readings);
      point.mark = make("circle", null, {
        role: "option", cx: point.at[0], cy: point.at[1], r: 9, tabindex: -1, "aria-selected": false,
        "aria-label": `${arm.name}: ${said.join("; ")}`,
      }, arm.group);
      this.points.push(point);
    }

    // ------------------------------------------------------------------------------------------------ arms

    switches() {
      const all = make("fieldset", null, { class: "arms" });
      make("legend", "Arms shown", {}, all);
      const boxes = this.arms.map((arm) => {
        const label = make("label", null, {}, all);
        const box = make("input", null, { type: "checkbox" }, label);
        box.checked = true;
        if (arm.colour) label.append(swatch(arm));
        label.append(arm.name);
        box.addEventListener("change", () => this.setOn(arm, box.checked));
        return box;
      });
      if (boxes.length > 3) {
        for (const [text, isOn] of [["all", true], ["none", false]]) {
          make("button", text, { type: "button", "aria-label": `Show ${text} of the arms` }, all)
            .addEventListener("click", () => boxes.forEach((box, i) => this.setOn(this.arms[i], (box.checked = isOn))));
        }
      }
      return all;
    }

    setOn(arm, isOn) {
      arm.isOn = isOn;
      for (const part of arm.parts) part.classList.toggle("is-off", !isOn);
      for (const name of arm.names) name.classList.toggle("is-dim", !isOn);
      arm.group.classList.toggle("is-off", !isOn);
      if (!this.stop?.arm.isOn) this.setTabStop(this.visible()[0]);
      this.hovered = null;
      this.show();
    }

    visible() {
      return this.points.filter((point) => point.arm.isOn);
    }

    // ---------------------------------------------------------------------------------------------- points

    /** The one point that the Tab key reaches. */
    setTabStop(point) {
      this.stop?.mark.setAttribute("tabindex", -1);
      this.stop = point;
      point?.mark.setAttribute("tabindex", 0);
    }

    listen() {
      this.svg.addEventListener("pointermove", (event) => this.hover(this.at(event)));
      this.svg.addEventListener("pointerleave", (event) => {
        if (!this.box.contains(event.relatedTarget)) this.hover(null);
      });
      this.box.addEventListener("pointerleave", () => this.hover(null));
      this.svg.addEventListener("click", (event) => this.at(event)?.mark.focus({ preventScroll: true }));
      this.list.addEventListener("keydown", (event) => this.key(event));
      // Not in the SVG: where an element of it listens for the focus, Chromium lets the Tab key reach it.
      const around = this.svg.parentElement;
      around.addEventListener("focusin", (event) => {
        const point = this.points.find(({ mark }) => mark === event.target);
        if (point) this.focus(point);
      });
      around.addEventListener("focusout", (event) => this.leave(event));
      document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && !this.box.hidden) this.dismiss();
      });
      for (const moved of ["scroll", "resize"]) {
        addEventListener(moved, () => this.place(), { capture: true, passive: true });
      }
    }

    /** A place in the figure, in pixels of the screen. */
    onScreen([x, y]) {
      return new DOMPoint(x, y).matrixTransform(this.svg.getScreenCTM());
    }

    /** The point nearest to the pointer, or to whose printed number it is nearest; null if none is near. */
    at(event) {
      let nearest = null;
      let least = NEAR;
      for (const point of this.visible()) {
        for (const place of [point.at, ...(point.also ?? [])]) {
          const { x, y } = this.onScreen(place);
          const away = Math.hypot(x - event.clientX, y - event.clientY);
          if (away < least) [nearest, least] = [point, away];
        }
      }
      return nearest;
    }

    hover(point) {
      if (point === this.hovered) return;
      this.hovered = point;
      this.show();
    }

    focus(point) {
      this.setTabStop(point);
      this.focused?.mark.setAttribute("aria-selected", false);
      point.mark.setAttribute("aria-selected", true);
      this.focused = this.pinned = point;
      this.show();
      const { y } = this.onScreen(point.at);
      const under = y + 14 - this.box.getBoundingClientRect().top;
      if (isNarrow() && under > 0) scrollBy(0, under);
    }

    leave(event) {
      if (!this.focused || this.list.contains(event.relatedTarget) || this.box.contains(event.relatedTarget)) return;
      this.focused?.mark.setAttribute("aria-selected", false);
      this.focused = this.pinned = null;
      this.show();
    }

    dismiss() {
      if (this.box.contains(document.activeElement)) this.focused.mark.focus();
      this.pinned = null;
      this.hide(); // the hovered point stays what it is: it is shown again once the pointer has been elsewhere
    }

    key(event) {
      const from = this.focused;
      if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
      const own = from.arm.points;
      const i = own.indexOf(from);
      const to = {
        ArrowRight: () => own[i + 1],
        ArrowLeft: () => own[i - 1],
        ArrowUp: () => this.beside(from, -1),
        ArrowDown: () => this.beside(from, 1),
        Home: () => own[0],
        End: () => own[own.length - 1],
        Enter: () => from,
        " ": () => from,
      }[event.key];
      if (!to) return;
      event.preventDefault();
      const point = to();
      if (point === from) this.focus(from); // shown again, after Escape
      else point?.mark.focus();
    }

    /** In the arm before or after a point's, the point nearest to it along x. */
    beside(point, step) {
      const arms = this.arms.filter((arm) => arm.isOn && arm.points.length);
      const arm = arms[arms.indexOf(point.arm) + step];
      const away = (other) => Math.abs(other.at[0] - point.at[0]);
      return arm?.points.reduce((best, other) => (away(other) < away(best) ? other : best));
    }

    // ------------------------------------------------------------------------------------------ what is said

    /** The focused point is shown, else the hovered one, else none. */
    show() {
      const point = [this.pinned, this.hovered].find((one) => one?.arm.isOn);
      if (!point) return this.hide();
      if (point !== this.shown || this.box.hidden) {
        this.shown = point;
        this.fill(point);
        for (const ring of this.rings) {
          ring.setAttribute("cx", point.at[0]);
          ring.setAttribute("cy", point.at[1]);
          ring.setAttribute("visibility", "visible");
        }
        this.box.hidden = false;
      }
      this.place();
    }

    hide() {
      this.box.hidden = true;
      for (const ring of this.rings) ring.setAttribute("visibility", "hidden");
    }

    fill(point) {
      const head = make("strong", point.arm.name);
      const list = make("dl", null);
      const digits = point.ci95 === null ? `${point.mean}` : `${point.mean} ± ${point.ci95}`;
      const unit = ["", "1"].includes(point.unit) ? "" : ` ${point.unit}`;
      for (const [name, text] of [...point.lines, ["all digits", digits + unit]]) {
        make("dt", name, {}, list);
        make("dd", text, {}, list);
      }
      this.box.replaceChildren(head, list);
      if (!point.readings) return;
      const details = make("details", null, {}, this.box);
      details.open = this.isOpen;
      make("summary", point.in_readings, {}, details);
      const table = make("table", null, {}, details);
      const top = make("tr", null, {}, make("thead", null, {}, table));
      for (const name of ["reading", "measured"]) make("th", name, { scope: "col" }, top);
      const body = make("tbody", null, {}, table);
      point.readings.forEach((text, i) => {
        const row = make("tr", null, {}, body);
        make("td", this.readings[i], {}, row);
        make("td", text, {}, row);
      });
      details.addEventListener("toggle", () => {
        this.isOpen = details.open;
        this.place();
      });
    }

    /** Beside the point and inside the window; below, over the whole width, where it is narrow (asked.py's style). */
    place() {
      if (this.box.hidden) return;
      const { x, y } = this.onScreen(this.shown.at);
      const { width, height } = this.box.getBoundingClientRect();
      const right = document.documentElement.clientWidth - 8;
      const left = x + 18 + width <= right ? x + 18 : Math.max(8, x - 18 - width);
      this.box.style.left = `${left}px`;
      this.box.style.top = `${Math.max(8, Math.min(y - height / 2, innerHeight - height - 8))}px`;
    }
  }

  const isNarrow = () => matchMedia("(max-width: 36rem)").matches;

  for (const element of document.querySelectorAll("script.asked")) {
    new Figure(JSON.parse(element.textContent), element.previousElementSibling);
  }
})();
