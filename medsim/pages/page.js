"use strict";
// Tables sort by the headings; charts are drawn to the width of the page, and again when it changes.

const missing = (cell) => cell.textContent === "";

const valueOf = (cell) => cell.dataset.value ?? (cell.className === "number" ? cell.textContent : undefined);

function compare(one, other) {
  const [a, b] = [valueOf(one), valueOf(other)];
  return a !== undefined && b !== undefined
    ? Number(a) - Number(b)
    : one.textContent.localeCompare(other.textContent, "en", { numeric: true });
}

// Marks a heading as the one by which its table is sorted; returns 1, or -1 for descending order.
function turn(heading) {
  const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const other of heading.parentElement.cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  return sign;
}

function sort(table, heading) {
  const [at, sign] = [heading.cellIndex, turn(heading)];
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const [a, b] = [one.cells[at], other.cells[at]];
    return missing(a) - missing(b) || sign * compare(a, b);
  });
  table.tBodies[0].append(...rows);
}

function makeSortable(table, onClick) {
  for (const heading of table.tHead?.rows[0].cells ?? []) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => onClick(heading));
  }
}

for (const table of document.querySelectorAll("main table:not([data-rows])")) {
  makeSortable(table, (heading) => sort(table, heading));
}

function labelled(text, control) {
  const label = document.createElement("label");
  label.append(text, control);
  return label;
}

function selectOf(values) {
  const select = document.createElement("select");
  select.append(new Option("all", ""), ...[...new Set(values)].sort().map((value) => new Option(value || "none", value)));
  return select;
}

for (const table of document.querySelectorAll("table[data-filters]:not([data-rows])")) {
  const rows = [...table.tBodies[0].rows];
  const choice = document.createElement("div");
  choice.className = "choice";
  const text = (row, at) => row.cells[at].textContent;
  const filters = table.dataset.filters.split(" ").map((at) => {
    const select = selectOf(rows.map((row) => text(row, at)));
    choice.append(labelled(`${text(table.tHead.rows[0], at)}:`, select));
    return { at, select };
  });
  choice.addEventListener("change", () => {
    for (const row of rows) {
      row.hidden = filters.some(({ at, select }) => select.selectedIndex && text(row, at) !== select.value);
    }
  });
  table.parentElement.before(choice);
}

// Words of the list of words are explained where they stand: on hover, and to screen readers.
const meanings = new Map(
  [...document.querySelectorAll("#words dt")].map((word) => [word.textContent, word.nextElementSibling.textContent]),
);
const longestFirst = [...meanings.keys()].sort((one, other) => other.length - one.length);
const literally = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyWord = new RegExp(`(?<![\\w-])(?:${longestFirst.map(literally).join("|")})(?![\\w-])`, "g");

function meaningOf(text, whole) {
  if (!meanings.size) return "";
  const found = whole ? [text].filter((word) => meanings.has(word)) : new Set(text.match(anyWord));
  return [...found].map((word) => `${word}: ${meanings.get(word)}`).join("\n");
}

function explain(elements, whole) {
  for (const element of elements) {
    const meaning = meaningOf(element.textContent, whole);
    if (meaning) element.title = meaning;
  }
}

function explainDrawn(place) {
  for (const text of place.querySelectorAll("svg text")) {
    const meaning = meaningOf(text.textContent, false);
    if (!meaning) continue;
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = meaning;
    text.append(title);
    text.classList.add("word");
  }
}

explain(document.querySelectorAll("main :is(th, td)"), true);
explain(document.querySelectorAll("main :is(h3, summary)"), false);

// The contents show the section that is being read.
const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const inSight = new Set();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.isIntersecting ? inSight.add(entry.target) : inSight.delete(entry.target);
  const current = [...document.querySelectorAll("main > section")].find((section) => inSight.has(section));
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}, { rootMargin: "-15% 0px -60% 0px" });
for (const section of document.querySelectorAll("main > section")) observer.observe(section);

const config = (width, panels) => {
  const text = {
    labelColor: "var(--ink)", titleColor: "var(--ink)", labelFontSize: 12, titleFontSize: 12,
    titleFontWeight: "normal",
  };
  return {
    background: "transparent",
    font: 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif',
    axis: { ...text, domainColor: "var(--quiet)", gridColor: "var(--line)", tickColor: "var(--quiet)" },
    axisY: { labelLimit: Math.max(140, 0.34 * width), labelPadding: 8, titleLimit: 400 },
    axisX: {
      labelOverlap: true, tickCount: Math.max(3, Math.floor(width / panels / 90)),
      titleLimit: width - 40,
    },
    header: {
      ...text, labelFontSize: width < 420 ? 11 : 13, labelFontWeight: 600, titleFontSize: 0,
      labelLimit: width / panels - (panels > 1 ? 90 : 150),
    },
    legend: {
      ...text, orient: "top", title: null, columns: Math.max(1, Math.floor((width - 140) / 180)),
      labelLimit: 260, symbolSize: 90,
    },
    mark: { aria: false, tooltip: true },
    view: { stroke: "transparent" },
  };
};

const views = new Map();

// A column is its values; or its different values, and which of them each row has, maybe in runs.
function unpacked(column) {
  if (Array.isArray(column)) return column;
  const { of, at, runs } = column;
  if (at) return at.map((place) => of[place]);
  const values = [];
  for (let i = 0; i < runs.length; i += 2) for (let n = runs[i + 1]; n; n -= 1) values.push(of[runs[i]]);
  return values;
}

// A long table shows a part of its rows at a time, of those that its search and filters choose.
const SHOWN = 100;
const inOrder = new Intl.Collator("en", { numeric: true });
const lowered = (text) => text.toLowerCase().normalize(); // as in medsim.core.terms

// A text whose part that differs from another text is marked.
function marked(text, other) {
  const [letters, others] = [[...text], [...other]];
  const same = (a, b) => a !== undefined && a.toLowerCase() === b?.toLowerCase();
  let [start, end] = [0, 0];
  while (same(letters[start], others[start])) start += 1;
  const most = Math.min(letters.length, others.length) - start;
  while (end < most && same(letters.at(-1 - end), others.at(-1 - end))) end += 1;
  if (!other || start + end >= letters.length) return [text];
  const mark = document.createElement("mark");
  mark.textContent = letters.slice(start, letters.length - end).join("");
  return [letters.slice(0, start).join(""), mark, letters.slice(letters.length - end).join("")];
}

function linkOf(id, links) {
  const start = Object.keys(links).find((known) => id.startsWith(known));
  if (!id || start === undefined) return id;
  const link = document.createElement("a");
  Object.assign(link, { href: links[start] + encodeURIComponent(id.slice(start.length)), target: "_blank", rel: "noreferrer" });
  link.textContent = id;
  return link;
}

function showRows(table) {
  const packed = Object.entries(JSON.parse(document.getElementById(table.dataset.rows).textContent));
  const columns = Object.fromEntries(packed.map(([name, column]) => [name, unpacked(column)]));
  const settings = JSON.parse(document.getElementById(table.dataset.settings).textContent);
  const headings = new Map([...table.tHead.rows[0].cells].map((heading) => [heading.textContent, heading]));
  const shown = Object.keys(columns).filter((name) => !settings.hidden.includes(name));
  const decisions = decisionsOn(settings.decisions, columns, table, {
    links: settings.links,
    redraw: () => choose(),
    turn: (step) => {
      const start = first + step * SHOWN;
      const isThere = start >= 0 && start < rows.length;
      if (isThere) show(start);
      return isThere;
    },
  });
  const texts = columns[shown[0]].map((_, row) => lowered(shown.map((name) => columns[name][row] ?? "").join("\n")));
  let order = [...texts.keys()];
  let [rows, first] = [order, 0];

  const search = Object.assign(document.createElement("input"), { type: "search" });
  const filters = settings.filters.map((name) => {
    const select = selectOf(columns[name].map((value) => value ?? ""));
    const several = settings.preset[name];
    if (several) select.add(new Option(several.join(" or "), several.join(" or "), true, true), 1);
    return { name, select, allows: (value) => (select.value === several?.join(" or ") ? several.includes(value) : value === select.value) };
  });
  const choice = document.createElement("div");
  choice.className = "choice row";
  choice.append(labelled("Search:", search), ...filters.map(({ name, select }) => labelled(`${name}:`, select)));
  if (decisions) choice.append(labelled("decision:", decisions.select));
  table.parentElement.before(choice, ...(decisions ? [decisions.bar] : []));

  const buttons = ["Previous", "Next"].map((text) => {
    return Object.assign(document.createElement("button"), { type: "button", textContent: text });
  });
  const status = document.createElement("output");
  const turns = document.createElement("p");
  turns.className = "turns";
  turns.append(...buttons, status);
  table.parentElement.after(turns);

  function contentOf(row, name) {
    const value = columns[name][row];
    if (typeof value === "number") return [value.toLocaleString("en")];
    if (settings.linked.includes(name)) return [linkOf(value ?? "", settings.links)];
    if (!settings.differing.includes(name)) return [value ?? ""];
    const other = settings.differing.find((different) => different !== name);
    return marked(value ?? "", columns[other][row] ?? "");
  }

  function cellOf(row, [name, heading], at) {
    const cell = document.createElement(at ? "td" : "th");
    if (!at) cell.scope = "row";
    cell.className = heading.className;
    cell.dataset.name = name;
    cell.append(...contentOf(row, name));
    const below = (settings.below[name] ?? []).filter((other) => (columns[other][row] ?? "") !== "");
    if (below.length) {
      const line = document.createElement("small");
      const sign = (place) => (place ? (settings.linked.includes(below[place - 1]) ? " " : " \u00b7 ") : "");
      line.append(...below.flatMap((other, place) => [sign(place), ...contentOf(row, other)]));
      cell.append(line);
    }
    return cell;
  }

  function show(start) {
    first = start;
    const last = Math.min(first + SHOWN, rows.length);
    table.tBodies[0].replaceChildren(...rows.slice(first, last).map((row) => {
      const line = document.createElement("tr");
      line.append(...[...headings].map((heading, at) => cellOf(row, heading, at)));
      if (decisions) {
        line.tabIndex = -1;
        line.append(decisions.cell(row));
      }
      return line;
    }));
    const counted = (number) => number.toLocaleString("en");
    status.textContent = rows.length ? `Rows ${counted(first + 1)} to ${counted(last)} of ${counted(rows.length)}` : "No rows";
    buttons[0].disabled = first === 0;
    buttons[1].disabled = last === rows.length;
  }

  function choose() {
    const words = lowered(search.value).split(/\s+/).filter(Boolean);
    const chosen = filters.filter(({ select }) => select.selectedIndex);
    rows = order.filter((row) => words.every((word) => texts[row].includes(word))
      && chosen.every(({ name, allows }) => allows(columns[name][row] ?? ""))
      && (!decisions || decisions.allows(row)));
    show(0);
  }

  choice.addEventListener("input", choose);
  buttons[0].addEventListener("click", () => show(first - SHOWN));
  buttons[1].addEventListener("click", () => show(first + SHOWN));
  makeSortable(table, (heading) => {
    const [column, sign] = [columns[[...headings.keys()][heading.cellIndex]], turn(heading)];
    const values = [...new Set(column)].sort((a, b) => (typeof a === "number" ? a - b : inOrder.compare(a, b)));
    const places = new Map(values.map((value, place) => [value, place]));
    const isMissing = (row) => (column[row] ?? "") === "";
    order.sort((a, b) => isMissing(a) - isMissing(b) || sign * (places.get(column[a]) - places.get(column[b])) || a - b);
    choose();
  });
  if (decisions) table.tHead.rows[0].append(decisions.heading);
  choose();
}

for (const table of document.querySelectorAll("table[data-rows]")) showRows(table);

async function draw(place) {
  place.replaceChildren();
  const { spec, columns } = JSON.parse(document.getElementById(place.dataset.chart).textContent);
  const width = Math.max(place.clientWidth, Number(place.dataset.least));
  if (width > place.clientWidth) place.tabIndex = 0;
  const [names, values] = [Object.keys(columns), Object.values(columns).map(unpacked)];
  const record = (_, row) => Object.fromEntries(names.map((name, at) => [name, values[at][row]]));
  spec.datasets = { ...spec.datasets, rows: (values[0] ?? []).map(record) };
  const panels = spec.facet ? Math.max(1, Math.min(spec.columns, Math.floor(width / 300))) : 0;
  if (panels) {
    spec.columns = panels;
    spec.spec.width = (width - 60) / panels;
  } else {
    spec.width = width;
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  const earlier = views.get(place);
  for (const param of spec.params ?? []) {
    if (earlier && param.bind) param.value = earlier.view.signal(param.name);
  }
  earlier?.finalize();
  const choice = place.previousElementSibling;
  choice.replaceChildren();
  const drawn = await vegaEmbed(place, spec, {
    actions: false, ast: true, bind: choice, config: config(width, panels || 1), defaultStyle: false,
    renderer: "svg", tooltip: { disableDefaultStyle: true },
  });
  views.set(place, drawn);
  if (panels) {
    const excess = Number(place.querySelector("svg").getAttribute("width")) - width;
    const child = drawn.view.signal("child_width") - Math.ceil(excess) / panels;
    await drawn.view.signal("child_width", Math.max(60, child)).resize().runAsync();
  }
  place.dataset.width = place.clientWidth;
  explainDrawn(place);
}

async function drawAll() {
  for (const place of document.querySelectorAll(".chart")) await draw(place);
  document.documentElement.dataset.drawn = "yes";
}

let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    for (const place of document.querySelectorAll(".chart")) {
      if (place.clientWidth && Number(place.dataset.width) !== place.clientWidth) draw(place);
    }
  }, 200);
});
drawAll();
