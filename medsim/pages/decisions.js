"use strict";
// Decisions of a reader on the rows of a long table, kept in the browser and saved as files.

const COLUMNS = ["subject_id", "subject_label", "object_id", "object_label", "decision", "comment", "reviewer", "date"];
// The names of columns and decisions in files that earlier versions saved.
const EARLIER = { concept1: "subject_id", term1: "subject_label", concept2: "object_id", term2: "object_label", same: "exact", not_same: "different" };
const today = () => new Date().toLocaleDateString("sv"); // as in 2026-01-31
const count = (number) => number.toLocaleString("en");
const storedText = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};
const store = (name, text) => {
  try {
    localStorage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
};
const element = (tag, fields) => Object.assign(document.createElement(tag), fields);

// A short name for a text, of 53 bits; see github.com/bryc/code, cyrb53.
function hashed(text) {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}

// The decisions in the browser's store, by identifier. They are stored in parts by the end of the identifier, so that
// a click writes little. A part has them by day and reviewer, which most share, and without empty fields at the end,
// so that 50,000 fit. A change is made to what is stored, so that another tab with the same rows loses nothing.
const FIELDS = ["decision", "comment", "object_id", "object_label"];

function keptIn(name) {
  const parts = new Map([..."0123456789abcdefghijklmnopqrstuvwxyz"].map((end) => [end, { key: `${name} ${end}`, text: null, known: new Map() }]));
  const partOf = (id) => parts.get(id.at(-1));
  let isSaved = storedText(`${name} saved`) !== "no";
  const readStore = (part) => {
    if (storedText(part.key) === part.text) return;
    part.text = storedText(part.key);
    try {
      for (const [by, values] of Object.entries(JSON.parse(part.text))) {
        const [date, reviewer] = [by.slice(0, by.indexOf("\t")), by.slice(by.indexOf("\t") + 1)];
        for (const [id, fields] of Object.entries(values)) {
          part.known.set(id, { date, reviewer, ...Object.fromEntries(FIELDS.map((field, at) => [field, fields[at] ?? ""])) });
        }
      }
    } catch {} // there is nothing, or it is not of this page
  };
  const write = (part) => {
    const rows = {};
    for (const [id, entry] of part.known) {
      const fields = FIELDS.map((field) => entry[field] ?? "");
      while (fields.at(-1) === "") fields.pop();
      (rows[`${entry.date}\t${entry.reviewer}`] ??= {})[id] = fields;
    }
    const written = JSON.stringify(rows);
    if (!store(part.key, written)) return false;
    part.text = written;
    return true;
  };
  for (const part of parts.values()) readStore(part);
  return {
    of: (id) => partOf(id).known.get(id),
    isSaved: () => isSaved,
    // Sets entries by identifier; one without a decision is removed. Returns whether the browser keeps them.
    set(entries, saved = false) {
      const changed = [...new Set([...entries.keys()].map(partOf))];
      changed.forEach(readStore);
      for (const [id, entry] of entries) entry.decision ? partOf(id).known.set(id, entry) : partOf(id).known.delete(id);
      isSaved = saved;
      return [store(`${name} saved`, saved ? "yes" : "no"), ...changed.map(write)].every(Boolean);
    },
  };
}

// Cells that spreadsheets would take for more than text are saved with an apostrophe; as in medsim.core.tables.
const TAKEN = new RegExp(
  "^'*(?:\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20].*|[\\t\\r\\n].*|true|false"
  + "|(?=.*[0-9])(?:[^\\p{L}\\p{N}]|\\p{Nd})*"
  + "(?:(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|[de]|[ap]m?)(?:[^\\p{L}\\p{N}]|\\p{Nd})*)?)$",
  "isu",
);
const guarded = (text) => (TAKEN.test(text) ? `'${text}` : text);
const unguarded = (cell) => (cell.startsWith("'") && TAKEN.test(cell) ? cell.slice(1) : cell);

const quotedCell = (cell) => (/[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

// The rows of a text with commas, semicolons or tabs between cells.
function rowsIn(text) {
  const plain = text.replace(/^sep=.\r?\n/i, "");
  const heading = plain.split(/[\r\n]/, 1)[0];
  const sign = [";", "\t"].find((other) => heading.includes(other)) ?? ",";
  const rows = [[]];
  const cells = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${sign}\\r\\n]*))(${sign}|\\r?\\n|$)`, "g");
  for (const [, quoted, bare, end] of plain.matchAll(cells)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? bare);
    if (end !== sign) rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}

// Spreadsheets on Windows may save files in its own encoding.
function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function saveFile(name, rows) {
  const text = rows.map((row) => `${row.map(quotedCell).join(",")}\r\n`).join("");
  const link = element("a", { href: URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Returns the cells, the filter and the buttons of decisions on rows; null if none are asked for.
//
// settings: `name` in the store; `subject_columns` and `object_columns`, the columns with identifier and label of each,
// where the latter is empty if the reader chooses it; `choices`, labels of decisions by the set of a row, which the column `choices_of` names;
// `family`, the column of rows that are decided together, and `together`, the decision that all of them get;
// `corrections`, what a decision says of two names, for `medsim build`, or null.
// links: addresses of identifiers; redraw: shows the rows again; turn: see `candidatesOn`.
function decisionsOn(settings, columns, table, { links, redraw, turn }) {
  if (!settings) return null;
  const kept = keptIn(settings.name);
  const n_rows = Object.values(columns)[0].length;
  const texts = (names, row) => names.map((name) => (columns[name][row] ?? "").trim());
  const ids = Array.from({ length: n_rows }, (_, row) => hashed(texts([...settings.subject_columns, ...settings.object_columns], row).join("\t")));
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const choicesOf = (row) => settings.choices[columns[settings.choices_of][row]];
  const labels = Object.assign({}, ...Object.values(settings.choices));
  const families = new Map();
  for (const [row, family] of (columns[settings.family] ?? []).entries()) {
    if (families.has(family)) families.get(family).push(row);
    else if (family) families.set(family, [row]);
  }
  const familyOf = (row) => families.get(columns[settings.family]?.[row]) ?? [row];
  const entryOf = (row) => kept.of(ids[row]) ?? { decision: "", comment: "" };
  const isDecided = (row) => Object.hasOwn(choicesOf(row), entryOf(row).decision);
  const decided = () => [...ids.keys()].filter(isDecided);
  const status = element("output");
  const reviewer = element("input", { type: "text", autocomplete: "name", maxLength: 100, value: storedText("medsim reviewer") ?? "" });
  const report = () => (status.textContent = `${count(decided().length)} of ${count(n_rows)} decided`);

  function keep(entries, saved = kept.isSaved()) {
    if (kept.set(entries, saved)) report();
    else status.textContent = "The browser's store is full, or off. Save the decisions to a file before you close the page.";
    for (const place of table.querySelectorAll("td.decision")) fill(place);
  }

  // A decision on a row, also for the rows of its family that had the same decision, if it is one that they share.
  function decide(row, fields) {
    const before = entryOf(row);
    const entry = { ...before, ...fields, reviewer: reviewer.value.trim(), date: today() };
    const isShared = [before.decision, entry.decision].sort().join() === `,${settings.together}`;
    const rows = isShared ? familyOf(row).filter((other) => entryOf(other).decision === before.decision) : [row];
    keep(new Map(rows.map((other) => [ids[other], entry])), false);
  }

  function fill(place) {
    const row = Number(place.dataset.row);
    if (candidates) return candidates.fill(place, row);
    const [select, comment] = place.children;
    const entry = entryOf(row);
    [select.value, comment.value, comment.hidden] = [entry.decision, entry.comment, !entry.decision];
  }

  const candidates = candidatesOn(table, {
    settings, links, entryOf, decide, turn, nameOf: (row) => columns[settings.subject_columns[1]][row],
  });

  function cell(row) {
    const place = candidates ? candidates.cell(row) : cellOfChoices(row);
    place.className = "decision";
    place.dataset.row = row;
    fill(place);
    return place;
  }

  function cellOfChoices(row) {
    const place = element("td");
    const on = [settings.subject_columns, settings.object_columns].map((names) => columns[names[1]]?.[row]).filter(Boolean).join(" and ");
    const select = element("select", { ariaLabel: `Decision on ${on}` });
    select.append(new Option("", ""), ...Object.entries(choicesOf(row)).map(([value, label]) => new Option(label, value)));
    select.addEventListener("change", () => decide(row, select.value ? { decision: select.value } : { decision: "", comment: "" }));
    const comment = element("input", { type: "text", placeholder: "comment", ariaLabel: `Comment on ${on}`, maxLength: 1000 });
    comment.addEventListener("change", () => decide(row, { comment: comment.value.trim() }));
    place.append(select, comment);
    const n_family = familyOf(row).length;
    if (n_family > 1) place.append(element("small", { textContent: `family of ${count(n_family)}` }));
    return place;
  }

  function saved(text, name, head, cellsOf) {
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", () => {
      if (head === COLUMNS) kept.set(new Map(), true);
      const rows = decided().map(cellsOf).filter(Boolean);
      saveFile(name, [head, ...rows.map((cells) => cells.map(guarded))]);
      status.textContent = `Saved ${count(rows.length)} decisions to ${name}`;
    });
    return button;
  }

  function correction(row) {
    const [one, other] = [settings.subject_columns, settings.object_columns].map((names) => columns[names[1]]?.[row] ?? "");
    const judged = settings.corrections[entryOf(row).decision];
    return judged && other && lowered(one) !== lowered(other) ? [one, other, judged] : null;
  }

  function decision(row) {
    const { decision, comment, reviewer, date, ...entry } = entryOf(row);
    const object = settings.object_columns.length ? texts(settings.object_columns, row) : [entry.object_id, entry.object_label];
    return [...texts(settings.subject_columns, row), ...object, decision, comment, reviewer, date];
  }

  // Takes the decisions of a file on rows of the page, unless one in the browser is later.
  function take(rows) {
    const renamed = (name) => (Object.hasOwn(EARLIER, name) ? EARLIER[name] : name);
    const [heading, ...lines] = rows.map((cells) => cells.map((cell) => unguarded(cell.trim())));
    const at = Object.fromEntries(heading.map((name, place) => [renamed(name.toLowerCase()), place]));
    const entries = new Map();
    let [n_known, n_others] = [0, 0];
    for (const cells of lines) {
      const entry = Object.fromEntries(COLUMNS.map((name) => [name, cells[at[name]] ?? ""]));
      entry.decision = renamed(entry.decision.toLowerCase());
      entry.date = entry.date.replace(/^(\d+)\.(\d+)\.(\d{4})$/, "$3-$2-$1");
      const id = hashed(COLUMNS.slice(0, settings.object_columns.length ? 4 : 2).map((name) => entry[name]).join("\t"));
      const isKnown = rowOf.has(id) && Object.hasOwn(choicesOf(rowOf.get(id)), entry.decision);
      n_known += isKnown ? 1 : 0;
      if (!isKnown) n_others += entry.decision ? 1 : 0;
      else if ((entries.get(id) ?? kept.of(id))?.date > entry.date) continue;
      else entries.set(id, settings.object_columns.length ? { ...entry, object_id: "", object_label: "" } : entry);
    }
    keep(entries);
    const n_more = n_known - entries.size; // of other reviewers, other concepts of a code, or earlier ones
    const more = n_more ? `, not ${count(n_more)} more on the same rows, so keep the file` : "";
    const others = n_others ? `, ${count(n_others)} others are on no row of this page` : "";
    status.textContent = `Read ${count(entries.size)} decisions${more}${others}; ${status.textContent}`;
    redraw();
  }

  const file = element("input", { type: "file", accept: ".csv,.tsv,.txt", hidden: true });
  const open = element("button", { type: "button", textContent: "Open decisions" });
  open.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    take(rowsIn(decoded(await file.files[0].arrayBuffer())));
    file.value = "";
  });
  reviewer.addEventListener("change", () => store("medsim reviewer", reviewer.value.trim()));
  addEventListener("beforeunload", (event) => {
    if (!kept.isSaved()) event.preventDefault();
  });

  const bar = element("p", { className: "turns" });
  bar.append(
    labelled("Reviewer:", reviewer),
    saved("Save all decisions", "decisions.csv", COLUMNS, decision),
    ...(settings.corrections ? [saved("Save corrections", "corrections.csv", ["term1", "term2", "judged"], correction)] : []),
    open,
    file,
    ...(candidates ? [candidates.hint] : []),
    status,
  );
  const select = element("select");
  select.append(new Option("all", "all"), new Option("none", ""), ...Object.entries(labels).map(([value, label]) => new Option(label, value)));
  const heading = element("th", { scope: "col", className: "decision", textContent: candidates ? "candidates and decision" : "decision" });
  report();
  return { cell, bar, heading, select, allows: (row) => select.value === "all" || entryOf(row).decision === select.value };
}
