"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const made = (name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };

  // A slider and drawings, whose columns it goes through, with what there is to say of each.
  const follow = (root, count, tell) => {
    const slide = one("[data-slide]", root), readout = one("[data-readout]", root);
    const plots = all(".plot", root);
    const show = () => {
      const at = Number(slide.value) - 1;
      for (const plot of plots) {
        const x = `${(100 * (at + 0.5)) / count}%`, line = one(".cursor", plot);
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      }
      const [shown, spoken] = tell(at);
      readout.replaceChildren(...shown);
      slide.setAttribute("aria-valuetext", spoken);
    };
    const point = (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      const at = Math.floor(((event.clientX - box.left) / box.width) * count);
      slide.value = Math.min(count, Math.max(1, at + 1));
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
  };

  // A session: each request is told from its row of the table.
  const life = one("[data-life]");
  if (life) {
    const titles = all("[data-table] th").map((cell) => cell.textContent);
    const rows = all("[data-table] tbody tr");
    const swatches = new Map(all(".legend li", life).map((item) => [item.textContent, one("svg", item)]));
    follow(life, rows.length, (at) => {
      const cells = [...rows[at].cells];
      const told = new Map(titles.map((title, index) => [title, cells[index].textContent]));
      const head = made("p", ""), link = one("a", cells[0]);
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
      return [[head, made("p", parts.join(" · ")), list], `${head.textContent}; ${parts.join(", ")}`];
    });
  }

  // A compaction: each message is told from its row of the list.
  const strip = one("[data-strip]");
  if (strip) {
    const targets = strip.dataset.strip.split(" ");
    follow(strip, targets.length, (at) => {
      const row = document.getElementById(targets[at]);
      const texts = ["i", "b", "em"].map((name) => one(name, row).textContent);
      const head = made("p", ""), link = made("a", `${texts[0]}, ${texts[1]}`);
      link.href = `#${row.id}`;
      head.append(link, `: ${texts[2]} tokens`);
      const why = made("p", one(".why", row).textContent), says = made("p", one("span", row).textContent);
      return [[head, why, says], `${head.textContent}; ${why.textContent}`];
    });
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
