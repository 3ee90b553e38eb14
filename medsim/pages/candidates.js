"use strict";
// Candidates of a row to choose from, and the search among all concepts for those that lack the right one.

const MAX_FOUND = 30;
const SURE = 0.95; // the other candidates of a row are folded if the first is as probable
const KEYS = [
  ["j or ↓, k or ↑", "next or previous row"],
  ["1 to 9", "choose a candidate; again: undo"],
  ["m", "show more candidates"],
  ["Enter", "choose the first candidate if the row is undecided, and go to the next row"],
  ["0 or n", "no match"],
  ["/", "search the standard"],
  ["e, b, w, r", "the concept is exactly the code, broader, narrower (w) or related"],
  ["c", "comment"],
  ["u", "undo the decision"],
  ["Esc", "back to the row"],
  ["?", "show these keys"],
];
const RELATIONS = { e: "exact", b: "broader", w: "narrower", r: "related" };
const NONE = "no_match";

// Words in lower case, without accents and the usual punctuation, and a line for each name.
const PUNCTUATION = /[\0-\t\v-/:-`{-\u00bf\u2000-\u206f\u3000-\u303f]+/g;
const folded = (text) => text.normalize("NFD").replace(/\p{M}+/gu, "").toLowerCase().replace(PUNCTUATION, " ");

async function uncompressed(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// A search among concepts, each a list of its identifier, main name and other names. It returns the concepts with a
// name that has all words of a query, or else most of their letters; those with the shortest name come first.
function searchOf(concepts) {
  const names = concepts.flatMap(([, ...own]) => own);
  const owners = new Int32Array(names.length);
  let n_names = 0;
  for (const [place, { length }] of concepts.entries()) n_names += owners.fill(place, n_names, n_names + length - 1) && length - 1;
  const text = `${folded(names.map((name) => ` ${name.replaceAll("\n", " ")}`).join("\n"))}\n`;
  const starts = new Int32Array(names.length + 1);
  for (let [name, at] = [1, 0]; name <= names.length; name += 1) starts[name] = at = text.indexOf("\n", at) + 1;
  return (query) => {
    const words = [...new Set(folded(query).split(/\s/).filter(Boolean))];
    const held = new Uint16Array(names.length);
    for (const word of words) {
      let [at, name] = [text.indexOf(` ${word}`), 0];
      while (at >= 0) {
        while (starts[name + 1] <= at) name += 1;
        held[name] += word.length;
        at = text.indexOf(` ${word}`, starts[name + 1]);
      }
    }
    const most = held.reduce((a, b) => Math.max(a, b), 0);
    const length = words.join(" ").length + 2;
    const excess = (name) => Math.abs(starts[name + 1] - starts[name] - length);
    // Names by excess, so that a common word needs no sorting of all.
    const byExcess = [];
    if (most) held.forEach((n_letters, name) => n_letters === most && (byExcess[excess(name)] ??= []).push(name));
    const found = new Map();
    for (const same of byExcess) {
      for (const name of same ?? []) if (!found.has(owners[name])) found.set(owners[name], names[name]);
      if (found.size >= MAX_FOUND) break;
    }
    return [...found].slice(0, MAX_FOUND).map(([place, name]) => ({ id: concepts[place][0], name: concepts[place][1], matched: name }));
  };
}

const keyed = (key, text) => [element("kbd", { textContent: key }), ` ${text}`];

function dialogOf(title, ...parts) {
  const dialog = element("dialog", { ariaLabel: title });
  const close = element("button", { type: "button", textContent: "Close" });
  close.addEventListener("click", () => dialog.close());
  dialog.append(element("h3", { textContent: title }), ...parts, close);
  document.body.append(dialog);
  return dialog;
}

// Asks for a concept; `choose` gets the one that is chosen.
function searchDialog(packed, leftOut, links) {
  const input = element("input", { type: "search", ariaLabel: "Words of a name, in any order" });
  const status = element("output");
  const list = element("ol");
  const subject = element("p");
  const dialog = dialogOf("Search the standard", subject, input, status, list);
  let [search, choose] = [null, null];

  function show() {
    if (!search) return;
    const found = search(input.value);
    status.textContent = [found.length === MAX_FOUND ? `The first ${MAX_FOUND} concepts.` : found.length ? `${found.length} found.` : "Nothing found.", leftOut].join(" ");
    list.replaceChildren(...found.map((concept) => {
      const button = element("button", { type: "button" });
      button.append(concept.name);
      if (concept.matched !== concept.name) button.append(element("small", { textContent: concept.matched }));
      button.addEventListener("click", () => {
        dialog.close();
        choose(concept);
      });
      const line = element("li");
      line.append(button, " ", linkOf(concept.id, links));
      return line;
    }));
  }

  input.addEventListener("input", show);
  dialog.addEventListener("keydown", (event) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) (buttons[at + step] ?? (step < 0 ? input : buttons.at(-1)))?.focus();
    else if (event.key === "Enter" && event.target === input) buttons[0]?.click();
    else return;
    event.preventDefault();
  });
  return async (query, chosen) => {
    choose = chosen;
    subject.textContent = input.value = query;
    list.replaceChildren();
    status.textContent = "Reading the names…";
    dialog.showModal();
    input.select();
    search ??= searchOf(await uncompressed(packed.textContent));
    show();
  };
}

// Returns the cells of rows with their candidates; null if a table has none.
//
// settings: those of `decisionsOn`; links: addresses of identifiers; nameOf, of a row; entryOf, the decision on a row;
// decide(row, fields); turn(step), shows the next or previous part of the rows and returns whether there is one.
function candidatesOn(table, { settings, links, nameOf, entryOf, decide, turn }) {
  const place = (kind) => document.getElementById(table.dataset.settings.replace("settings", kind));
  if (!place("candidates")) return null;
  const packed = JSON.parse(place("candidates").textContent);
  const columns = Object.fromEntries(Object.entries(packed).map(([name, column]) => [name, unpacked(column)]));
  const starts = new Map();
  for (const [at, row] of columns.place.entries()) if (!starts.has(row)) starts.set(row, at);
  const search = searchDialog(place("concepts"), settings.concepts_left_out, links);
  const keys = element("dl");
  for (const [key, means] of KEYS) {
    const line = element("div");
    line.append(element("dt", { textContent: key }), element("dd", { textContent: means }));
    keys.append(line);
  }
  const help = dialogOf("Keys", keys);
  const unfolded = new Set();
  const isFolded = (row, [first, second]) => Boolean(second) && first.probability >= SURE && !unfolded.has(row);

  function candidatesOf(row) {
    const found = [];
    for (let at = starts.get(row); columns.place[at] === row; at += 1) {
      found.push(Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[at]])));
    }
    return found;
  }

  function choose(row, { id, name }) {
    const { decision, object_id } = entryOf(row);
    if (decision !== NONE && object_id === id) return undo(row);
    decide(row, { decision: decision && decision !== NONE ? decision : "exact", object_id: id, object_label: name });
  }
  const undo = (row) => decide(row, { decision: "", comment: "", object_id: "", object_label: "" });
  const reject = (row) => (entryOf(row).decision === NONE ? undo(row) : decide(row, { decision: NONE, object_id: "", object_label: "" }));
  const ask = (row) => {
    search(nameOf(row), (concept) => {
      const { object_id } = entryOf(row);
      if (object_id !== concept.id) choose(row, concept);
      lineOf(row)?.focus();
    });
  };
  const lineOf = (row) => table.querySelector(`td.decision[data-row="${row}"]`)?.parentElement;

  function button(content, act) {
    const made = element("button", { type: "button" });
    made.append(...content);
    made.addEventListener("click", act);
    return made;
  }

  function lineOfCandidate(row, at, candidate) {
    const line = element("li");
    const { id, name, difference, probability } = candidate;
    const [matched, local] = [candidate.matched_name ?? name, candidate.local_name ?? nameOf(row)];
    const facts = element("small");
    facts.append(linkOf(id, links));
    if (probability != null) facts.append(` ${probability.toFixed(3)}`);
    if (difference) facts.append(` · ${difference.replaceAll("_", " ")}`);
    const [start, mark, end] = marked(matched, local);
    const isAlike = mark && mark.textContent.length <= matched.length / 2; // else the mark says nothing
    const shown = isAlike ? [start, mark, end] : [matched];
    if (matched !== local && matched !== name) facts.append(" · ", ...shown);
    const chosen = button([...(at ? keyed(at, "") : []), ...(matched === name ? shown : [name])], () => choose(row, candidate));
    chosen.dataset.id = id;
    line.append(chosen, facts);
    return line;
  }

  function cell(row) {
    const candidates = candidatesOf(row);
    const list = element("ol");
    list.append(...candidates.map((candidate, at) => lineOfCandidate(row, at + 1, candidate)));
    const more = button(keyed("m", `${candidates.length - 1} more`), () => {
      unfold(row);
      list.querySelectorAll("button")[1].focus();
    });
    more.className = "more";
    const relation = element("select", { ariaLabel: `Relation of the concept to ${nameOf(row)}` });
    relation.append(...Object.values(RELATIONS).map((name) => new Option(name, name)));
    relation.addEventListener("change", () => decide(row, { decision: relation.value }));
    const comment = element("input", { type: "text", placeholder: "comment", ariaLabel: `Comment on ${nameOf(row)}`, maxLength: 1000 });
    comment.addEventListener("change", () => decide(row, { comment: comment.value.trim() }));
    const none = button(keyed(0, "no match"), () => reject(row));
    none.className = "none";
    const actions = element("p");
    actions.append(more, none, button(keyed("/", "search"), () => ask(row)), labelled("The concept is", relation), comment);
    const made = element("td");
    made.append(list, actions);
    return made;
  }

  function unfold(row) {
    unfolded.add(row);
    fill(lineOf(row).querySelector("td.decision"), row);
  }

  // Shows the decision on a row in its cell.
  function fill(place, row) {
    const { decision, comment, object_id, object_label } = entryOf(row);
    const [list, actions] = place.children;
    list.querySelector("li.other")?.remove();
    const lines = [...list.children];
    const isKnown = lines.some((line) => line.firstChild.dataset.id === object_id);
    const isChosen = Boolean(decision) && decision !== NONE;
    if (isChosen && !isKnown) {
      const line = lineOfCandidate(row, 0, { id: object_id, name: object_label });
      line.className = "other";
      list.append(line);
    }
    const folds = isFolded(row, candidatesOf(row));
    for (const [at, line] of [...list.children].entries()) {
      const isThis = isChosen && line.firstChild.dataset.id === object_id;
      line.firstChild.ariaPressed = String(isThis);
      line.hidden = folds && at > 0 && !isThis;
    }
    actions.querySelector(".more").hidden = !folds;
    actions.querySelector(".none").ariaPressed = String(decision === NONE);
    const [label, note] = [actions.querySelector("label"), actions.querySelector("input")];
    label.hidden = !isChosen;
    label.control.value = isChosen ? decision : "exact";
    [note.value, note.hidden] = [comment, !decision];
  }

  // Moves to the next or previous row, also of the next or previous part.
  function move(line, step) {
    const rows = [...table.tBodies[0].rows];
    const next = line ? rows[rows.indexOf(line) + step] : rows.find((row) => row.classList.contains("current")) ?? rows[0];
    const target = next ?? (turn(step) ? table.tBodies[0].rows[step > 0 ? 0 : table.tBodies[0].rows.length - 1] : line);
    target?.focus();
  }

  table.addEventListener("focusin", (event) => {
    const line = event.target.closest("tbody tr");
    table.querySelector("tr.current")?.classList.remove("current");
    line?.classList.add("current");
  });
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
    const line = target.closest("tr:has(> td.decision)");
    const isTyping = target.matches("input, select, textarea");
    if (isTyping) {
      if (!line || !(key === "Escape" || (key === "Enter" && target.type === "text"))) return;
      line.focus();
    } else if (key === "?") {
      help.showModal();
    } else if (key === "j" || key === "k") {
      move(line, key === "j" ? 1 : -1);
    } else if (!line || line.parentElement.parentElement !== table) {
      return;
    } else if (!act(line, key, target)) {
      return;
    }
    event.preventDefault();
  });

  // Does what a key in a row means; returns whether it means anything.
  function act(line, key, target) {
    const row = Number(line.querySelector("td.decision").dataset.row);
    const candidates = candidatesOf(row);
    const { decision } = entryOf(row);
    const isChosen = decision && decision !== NONE;
    if (key === "ArrowDown" || key === "ArrowUp") move(line, key === "ArrowDown" ? 1 : -1);
    else if (key === "0" || key === "n") reject(row);
    else if (key === "m" || (key > 1 && isFolded(row, candidates))) unfold(row);
    else if (/^[1-9]$/.test(key) && candidates[key - 1]) choose(row, candidates[key - 1]);
    else if (key === "/") ask(row);
    else if (key === "u") undo(row);
    else if (key in RELATIONS && isChosen) decide(row, { decision: RELATIONS[key] });
    else if (key === "c" && decision) line.querySelector("td.decision input").focus();
    else if (key === "Enter" && target === line) {
      if (!decision && candidates.length) choose(row, candidates[0]);
      move(line, 1);
    } else if (key === "Escape") line.focus();
    else return false;
    return true;
  }

  const hint = button(keyed("?", "keys"), () => help.showModal());
  return { cell, fill, hint };
}
