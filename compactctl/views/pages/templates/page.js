"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const create = (name, text = "") => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  };

  // Long lists are in <noscript>: complete without this script, and a single text node with it. The
  // script parses that text into a separate document and moves rows onto the page while in view.
  const readRows = (name) => {
    const source = one(`noscript[data-${name}]`);
    return source && new DOMParser().parseFromString(source.textContent, "text/html").body;
  };

  // Draw rows in blocks; a block out of view is a spacer of the same height.
  const BLOCK = 40;
  const lazyList = (box, blockTag, rowTag) => {
    const blocks = new Map();
    const isFilled = (element) => !blocks.get(element).spacer.isConnected;
    const fill = (element) => {
      if (!isFilled(element)) element.replaceChildren(...blocks.get(element).rows);
    };
    const clear = (element) => {
      if (!isFilled(element) || element.contains(document.activeElement)) return;
      const { spacer } = blocks.get(element);
      spacer.style.height = `${element.offsetHeight}px`;
      element.replaceChildren(spacer);
    };
    const onIntersect = (entries) => {
      for (const { target, isIntersecting } of entries) {
        // Reports about rows that were replaced meanwhile come late.
        if (blocks.has(target)) (isIntersecting ? fill : clear)(target);
      }
    };
    const observer = new IntersectionObserver(onIntersect, { root: box.closest(".scroll"), rootMargin: "800px 0px" });
    addEventListener("beforeprint", () => [...blocks.keys()].forEach(fill));
    return {
      show(rows) {
        observer.disconnect();
        blocks.clear();
        for (let at = 0; at < rows.length; at += BLOCK) {
          const element = create(blockTag), spacer = create(rowTag), part = rows.slice(at, at + BLOCK);
          spacer.style.height = `calc(${part.length} * var(--row))`;
          element.append(spacer);
          blocks.set(element, { rows: part, spacer });
        }
        box.replaceChildren(...blocks.keys());
        for (const element of blocks.keys()) observer.observe(element);
      },
      draw(row) {
        const entry = [...blocks].find(([, block]) => block.rows.includes(row));
        if (entry) fill(entry[0]);
        return Boolean(entry);
      },
    };
  };

  // A slider selects a column of the charts; `describe` returns elements and a spoken text.
  const follow = (root, count, describe) => {
    const slide = one("[data-slide]", root), readout = one("[data-readout]", root);
    const plots = all(".plot", root);
    const show = () => {
      const at = Number(slide.value) - 1;
      for (const plot of plots) {
        const x = `${(100 * (at + 0.5)) / count}%`, line = one(".cursor", plot);
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      }
      const [elements, spoken] = describe(at);
      readout.replaceChildren(...elements);
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
    slide.parentElement.hidden = false;
    show();
  };

  // A session: the readout of a request is its row of the table.
  const life = one("[data-life]"), table = readRows("table");
  if (life && table) {
    const titles = all("th", table).map((cell) => cell.textContent);
    const rows = all("tbody tr", table);
    const swatches = new Map(all(".legend li", life).map((item) => [item.textContent, one("svg", item)]));
    follow(life, rows.length, (at) => {
      const cells = [...rows[at].cells];
      const texts = new Map(titles.map((title, index) => [title, cells[index].textContent]));
      const head = create("p"), link = one("a", cells[0]);
      const name = create(link ? "a" : "strong", `Request ${texts.get("Request")}`);
      if (link) name.href = link.getAttribute("href");
      head.append(name, ` turn ${texts.get("Turn")}${texts.get("Time") ? `, ${texts.get("Time")}` : ""}: `);
      head.append(create("strong", `${texts.get("Context")} tokens`));
      const parts = [];
      for (const [title, unit] of [["New", " new"], ["Cache read", " read from the cache"], ["Cache miss", " cache miss"], ["Output", " output"], ["Cost $", " dollars"]]) {
        if (texts.get(title)) parts.push(texts.get(title) + unit);
      }
      if (texts.get("Marks")) parts.push(texts.get("Marks"));
      const list = create("ul");
      const categories = titles.slice(titles.indexOf("Marks") + 1);
      const size = (title) => Number(texts.get(title).replaceAll(",", ""));
      for (const title of categories.filter(size).sort((a, b) => size(b) - size(a))) {
        const item = create("li"), swatch = swatches.get(title);
        if (swatch) item.append(swatch.cloneNode(true));
        item.append(`${title} ${texts.get(title)}`);
        list.append(item);
      }
      return [[head, create("p", parts.join(" · ")), list], `${head.textContent}; ${parts.join(", ")}`];
    });
    const figures = one(".figures");
    figures.addEventListener("toggle", () => {
      const element = one("table", table);
      one(".scroll", figures).append(element);
      const head = one("thead", element);
      lazyList(element, "tbody", "tr").show(rows);
      element.prepend(head);
    }, { once: true });
  }

  const listing = one("[data-messages]");
  if (!listing) return;
  const messages = all(".m", readRows("rows"));
  for (const row of messages) {
    const text = one("pre", row);
    // A preview fills its row, however wide that is.
    if (text) one("span", row).lastChild.data = ` ${text.textContent.slice(0, 300)}`;
  }
  const messageById = new Map(messages.map((row) => [row.id, row]));
  const list = lazyList(one("[data-list]", listing), "div", "div");

  // A compaction: the readout of a message is its row of the list.
  const strip = one("[data-strip]");
  if (strip) {
    const targets = strip.dataset.strip.split(" ");
    follow(strip, targets.length, (at) => {
      const row = messageById.get(targets[at]);
      const texts = ["i", "b", "em"].map((name) => one(name, row).textContent);
      const head = create("p"), link = create("a", `${texts[0]}, ${texts[1]}`);
      link.href = `#${row.id}`;
      head.append(link, `: ${texts[2]} tokens`);
      const why = create("p", one(".why", row).textContent), preview = create("p", one("span", row).textContent);
      return [[head, why, preview], `${head.textContent}; ${why.textContent}`];
    });
  }

  // The form filters by text and by what is known of a message, and sorts.
  const find = one("[data-find]", listing);
  const words = one("[data-words]", find), sent = one("[data-sent]", find);
  const sort = one("[data-sort]", find), count = one("[data-count]", find);
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const valuesOf = (row, name) => (row.dataset[name] || "").split("\n").filter(Boolean);
  const choices = all("[data-by]", find).filter((select) => {
    const counts = new Map();
    for (const row of messages) {
      for (const value of valuesOf(row, select.dataset.by)) counts.set(value, (counts.get(value) || 0) + 1);
    }
    for (const value of [...counts.keys()].sort()) {
      const option = create("option", `${value} (${counts.get(value).toLocaleString("en")})`);
      option.value = value;
      select.append(option);
    }
    select.parentElement.hidden = counts.size < 2;
    return counts.size > 1;
  });
  const tokensOf = (row) => Number(row.dataset.tokens);
  const filter = () => {
    const query = words.value.toLowerCase();
    const matches = messages.filter((row) =>
      (!sent.checked || !row.classList.contains("gone")) &&
      choices.every((select) => !select.value || valuesOf(row, select.dataset.by).includes(select.value)) &&
      (!query || textOf(row).includes(query)));
    if (sort.value) matches.sort((a, b) => tokensOf(b) - tokensOf(a));
    list.show(matches);
    const tokens = matches.reduce((sum, row) => sum + tokensOf(row), 0);
    const [found, total, size] = [matches.length, messages.length, tokens].map((number) => number.toLocaleString("en"));
    count.textContent = `${found} of ${total} messages, ${size} tokens`;
  };
  find.addEventListener("input", filter);
  find.addEventListener("submit", (event) => event.preventDefault());
  find.hidden = false;
  filter();

  // A link to a message draws and opens it.
  let marked = null;
  const open = () => {
    const row = messageById.get(location.hash.slice(1));
    if (!row) return;
    if (!list.draw(row)) {
      find.reset();
      filter();
      list.draw(row);
    }
    if (row.matches("details")) row.open = true;
    if (marked) marked.classList.remove("target");
    row.classList.add("target");
    marked = row;
    (one("summary", row) || row).focus({ preventScroll: true });
    row.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", open);
  addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && link.hash && link.hash === location.hash) open();
  });
  open();
})();
