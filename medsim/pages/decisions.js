"use strict";
// Decisions of a reader on the rows of a long table, kept in the browser and saved as files.

// A change is made to what is stored, so that another tab with the same rows loses nothing.
function keptIn(name) {
  const kept = () => {
    try {
      return JSON.parse(localStorage.getItem(name)) ?? {};
    } catch {
      return {};
    }
  };
  let known = kept();
  return {
    of: (id) => (Object.hasOwn(known, id) ? known[id] : ""),
    set(values) {
      known = { ...known, ...kept(), ...values };
      for (const id of Object.keys(values)) if (!known[id]) delete known[id];
      try {
        localStorage.setItem(name, JSON.stringify(known));
        return true;
      } catch {
        return false;
      }
    },
  };
}

const quotedCell = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function rowsIn(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ",") rows.push([]);
  }
  return rows;
}

function saveFile(name, rows) {
  const text = rows.map((row) => `${row.map(quotedCell).join(",")}\r\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// Returns the cells, the filter and the buttons of decisions on rows; null if none are asked for.
function decisionsOn(settings, names, columns, redraw) {
  if (!settings) return null;
  const [ids, kept] = [unpacked(settings.ids), keptIn(settings.name)];
  const [first, second] = settings.texts.map((name) => columns[names.indexOf(name)]);
  const isPair = (row) => second[row] && lowered(first[row]) !== lowered(second[row]);
  const choicesOf = (row) => (isPair(row) ? settings.choices : settings.alone);
  const labels = { ...settings.choices, ...settings.alone };
  const status = document.createElement("output");
  const decided = () => ids.map((id, row) => [row, kept.of(id)]).filter(([row, value]) => value in choicesOf(row));
  const safe = (cell) => settings.guarded[cell] ?? String(cell ?? "");
  const count = (number) => number.toLocaleString("en");
  const report = () => (status.textContent = `${count(decided().length)} of ${count(ids.length)} decided`);

  function keep(values) {
    if (kept.set(values)) report();
    else status.textContent = "This browser does not keep decisions. Save them before you close the page.";
  }

  function cell(row) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", `Decision on ${first[row] ?? ""}${second[row] ? ` and ${second[row]}` : ""}`);
    select.append(new Option("", ""), ...Object.entries(choicesOf(row)).map(([value, label]) => new Option(label, value)));
    select.value = kept.of(ids[row]);
    select.addEventListener("change", () => {
      keep({ [ids[row]]: select.value });
    });
    const place = document.createElement("td");
    place.className = "decision";
    place.append(select);
    return place;
  }

  function saved(text, name, head, rowsOf) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.addEventListener("click", () => {
      const rows = decided().flatMap(rowsOf);
      saveFile(name, [head, ...rows]);
      status.textContent = `Saved ${count(rows.length)} decisions to ${name}`;
    });
    return button;
  }

  // A saved decision is in the last cell of a row, and its identifier in the first one.
  const file = Object.assign(document.createElement("input"), { type: "file", accept: ".csv", hidden: true });
  const open = Object.assign(document.createElement("button"), { type: "button", textContent: "Open decisions" });
  open.addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    const read = rowsIn(await file.files[0].text()).filter((cells) => cells.length > 1 && cells.at(-1) in labels);
    keep(Object.fromEntries(read.map((cells) => [cells[0], cells.at(-1)])));
    status.textContent = `Read ${count(read.length)} decisions; ${status.textContent}`;
    file.value = "";
    redraw();
  });

  const bar = document.createElement("p");
  bar.className = "turns";
  bar.append(
    saved("Save corrections", "corrections.csv", ["term1", "term2", "judged"], ([row, value]) =>
      isPair(row) ? [[safe(first[row]), safe(second[row]), value]] : []),
    saved("Save all decisions", "decisions.csv", ["finding_id", ...names, "decision"], ([row, value]) =>
      [[ids[row], ...columns.map((column) => safe(column[row])), value]]),
    open,
    file,
    status,
  );
  const select = document.createElement("select");
  select.append(new Option("all", "all"), new Option("none", ""), ...Object.entries(labels).map(([value, label]) => new Option(label, value)));
  const heading = Object.assign(document.createElement("th"), { scope: "col", className: "decision", textContent: "decision" });
  report();
  return { cell, bar, heading, select, allows: (row) => select.value === "all" || kept.of(ids[row]) === select.value };
}
