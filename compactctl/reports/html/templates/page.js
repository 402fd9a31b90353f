"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };

  // The request that the slider is on, told below the drawings from its row of the table.
  const life = one("[data-life]");
  if (life) {
    const slide = one("[data-slide]", life), readout = one("[data-readout]", life);
    const titles = all("[data-table] th").map((cell) => cell.textContent);
    const rows = all("[data-table] tbody tr");
    const plots = all(".plot", life);
    const swatches = new Map(all(".legend li").map((item) => [item.textContent, one("svg", item)]));
    const show = () => {
      const at = Number(slide.value) - 1, cells = [...rows[at].cells];
      const told = new Map(titles.map((title, index) => [title, cells[index].textContent]));
      for (const plot of plots) {
        const x = `${(100 * (at + 0.5)) / rows.length}%`, line = one(".cursor", plot);
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      }
      const head = made("p", "");
      const link = one("a", cells[0]);
      const name = made(link ? "a" : "strong", `Request ${told.get("Request")}`);
      if (link) name.href = link.hash;
      head.append(name, ` turn ${told.get("Turn")}${told.get("Time") ? `, ${told.get("Time")}` : ""}: `);
      head.append(made("strong", `${told.get("Context")} tokens`));
      const parts = [];
      for (const [title, unit] of [["New", " new"], ["Cached", " cached"], ["Paid again", " paid again"], ["Output", " answered"], ["Cost $", " dollars"]]) {
        if (told.get(title)) parts.push(told.get(title) + unit);
      }
      if (told.get("Marks")) parts.push(told.get("Marks"));
      const list = document.createElement("ul");
      const held = titles.slice(titles.indexOf("Marks") + 1);
      const size = (title) => Number(told.get(title).replaceAll(",", ""));
      for (const title of held.filter(size).sort((a, b) => size(b) - size(a))) {
        const item = document.createElement("li"), swatch = swatches.get(title);
        if (swatch) item.append(swatch.cloneNode(true));
        item.append(`${title} ${told.get(title)}`);
        list.append(item);
      }
      readout.replaceChildren(head, made("p", parts.join(" · ")), list);
      slide.setAttribute("aria-valuetext", `${head.textContent}; ${parts.join(", ")}`);
    };
    const point = (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * rows.length);
      slide.value = Math.min(rows.length, Math.max(1, at + 1));
      show();
    };
    for (const plot of plots) {
      plot.addEventListener("pointermove", point);
      plot.addEventListener("click", (event) => {
        point(event);
        const link = one("a", readout);
        if (link) location.hash = link.hash;
      });
    }
    slide.addEventListener("input", show);
    show();
  }

  // A link to a message opens it.
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !target.classList.contains("m")) return;
    target.hidden = false;
    target.open = true;
    const place = one("summary", target) || target;
    place.focus({ preventScroll: true });
    target.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", open);
  open();

  // Messages are found by the words in them.
  const find = one("[data-find]");
  if (find) {
    const words = one("[data-words]", find), sent = one("[data-sent]", find), count = one("[data-count]", find);
    const messages = all("[data-messages] .m").map((item) => [item, null]);
    const filter = () => {
      const wanted = words.value.toLowerCase();
      let shown = 0;
      for (const each of messages) {
        each[1] ??= each[0].textContent.toLowerCase();
        const fits = (!sent.checked || !each[0].classList.contains("gone")) && each[1].includes(wanted);
        each[0].hidden = !fits;
        shown += fits;
      }
      count.textContent = `${shown} of ${messages.length}`;
    };
    words.addEventListener("input", filter);
    sent.addEventListener("input", filter);
    find.addEventListener("submit", (event) => event.preventDefault());
    find.hidden = false;
  }
})();
