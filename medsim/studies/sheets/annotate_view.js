"use strict";
// The screens: instructions, one pair at a time, and the unanswered pairs at the end of a page.

const byId = (name) => document.getElementById(name);
const shown = (number) => number.toLocaleString(sheet.language);
const counted = (number, singular, plural = `${singular}s`) => `${shown(number)} ${word(number === 1 ? singular : plural)}`;
const valueOf = (name) => sheet.scale.answers.indexOf(name);
const labels = new Map(sheet.scale.choices.map(([name, label]) => [name, label.toLowerCase()]));
const nameOf = (value) => labels.get(sheet.scale.answers[value]);
const Noun = word(noun)[0].toUpperCase() + word(noun).slice(1);
const ROW = 10; // ratings in a row, equal or of two in turn, that are worth a warning
const LISTED = 60; // pairs that are listed as left out
const TOO_SOON = 250; // milliseconds in which nobody reads a pair
const LONG = 60; // characters of a term from which both are set smaller

const size = sheet.page_size || answers.length;
const nPages = Math.ceil(answers.length / size);
const pageOf = (place) => Math.floor(place / size);
const endOf = (page) => Math.min((page + 1) * size, answers.length);
const slider = byId("slider");
let at = 0; // the place of the pair that is shown, or was last
let shownAt = 0; // when that pair appeared
let timedFrom = 0; // from when the time on that pair is not counted yet
let screen = "start";
let isKept = true;
let isExported = true; // whether a file has all that the browser does not keep

function missing(begin = 0, end = answers.length) {
  const places = [];
  for (let place = begin; place < end; place += 1) if (answers[place] === NONE) places.push(place);
  return places;
}

// A live region is read aloud only when its text changes.
function say(name, text) {
  if (byId(name).textContent !== text) byId(name).textContent = text;
}

// The texts of an entry. In a sentence, the target is between two marks.

const SIDES = ["left", "right"];

function cut(text) {
  const [begin, end] = sheet.scale.marks ?? [];
  const place = begin ? text.indexOf(begin) : -1;
  if (place < 0) return [text];
  const last = text.indexOf(end, place);
  return [text.slice(0, place), text.slice(place + 1, last), text.slice(last + 1)];
}

function marked(text) {
  return cut(text).map((part, place) => place === 1 ? element("mark", part) : part);
}

function spoken(text) {
  const [before, target, after] = cut(text);
  return target === undefined ? text : `${before}“${target}”${after}`;
}

// Screens.

function show(name, warning = "") {
  const isNew = byId(name).hidden;
  screen = name;
  for (const id of ["start", "pair", "rest"]) byId(id).hidden = id !== name;
  byId("moves").hidden = byId("instruct").hidden = name === "start";
  refresh();
  say("warning", warning);
  if (isNew) {
    byId(`${name}-heading`).focus();
    scrollTo(0, 0);
  }
}

function refresh() {
  const n = answered();
  say("count", t`${shown(n)} of ${shown(answers.length)} answered`);
  say("part", nPages > 1 ? t`Page ${pageOf(at) + 1} of ${nPages}` : "");
  byId("bar").value = n;
  say("begin", recall("at") === null && n === 0 ? t`Begin` : t`Continue`);
  say("kept", isKept ? t`saved` : t`not saved`);
  say("unkept", isKept ? "" : t`This browser does not keep your answers. Export often: what is not exported is lost when the page is closed.`);
  say("forward-name", answers[at] === NONE ? t`Skip` : t`Forward`);
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.setAttribute("aria-pressed", answers[at] === valueOf(button.dataset.answer));
  }
}

function showPair(place, message = "", warning = "") {
  const isOther = place !== at || screen !== "pair";
  if (screen === "pair") spend();
  at = place;
  remember("at", at);
  const [, ...texts] = sheet.entries[at];
  const heading = t`${Noun} ${shown(at + 1)} of ${shown(answers.length)}`;
  say("pair-heading", heading);
  texts.forEach((text, side) => byId(SIDES[side]).replaceChildren(...marked(text)));
  byId("terms").classList.toggle("long", Math.max(...texts.map((text) => text.length)) > LONG);
  setSlider(answers[at]);
  if (isOther || document.activeElement !== byId("comment")) byId("comment").value = notes.comments[at] ?? "";
  say("message", message);
  show("pair", warning);
  if (!isOther) return;
  shownAt = timedFrom = performance.now();
  const given = answers[at] === NONE ? "" : ` ${t`Your answer: ${nameOf(answers[at])}.`}`;
  say("spoken", `${heading}: ${texts.map(spoken).join("; ")}.${given}`);
  scrollTo(0, 0);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
    byId("terms").animate([{ opacity: 0 }, { opacity: 1 }], 140);
  }
}

// The end of a page or of the sheet: unanswered pairs, and how to continue.
function showRest(page, message = "", warning = "") {
  if (screen === "pair") spend();
  at = endOf(page) - 1;
  const isAllAnswered = missing().length === 0;
  const isEnd = isAllAnswered || page === nPages - 1;
  const open = isEnd ? missing() : missing(page * size, endOf(page));
  const next = endOf(page);
  const nNext = endOf(page + 1) - next;
  if (open.length) {
    say("rest-heading", isEnd ? t`You have reached the end` : t`End of page ${page + 1} of ${nPages}`);
    say("rest-words", t`${counted(open.length, `${noun} has`, `${noun}s have`)} no answer yet.`);
  } else if (isEnd) {
    say("rest-heading", t`All answered`);
    say("rest-words", t`Thank you. Now export your answers, and send the file to whoever gave you this page.`);
  } else {
    say("rest-heading", t`Page ${page + 1} of ${nPages} done`);
    say("rest-words", t`${counted(nNext, noun)} to go on the next. Take a break if you like.`);
  }
  byId("left-out").replaceChildren(...open.slice(0, LISTED).map(listed));
  if (open.length > LISTED) byId("left-out").append(element("li", t`and ${shown(open.length - LISTED)} more`));
  byId("rest-choices").replaceChildren(...[
    open.length && button(t`Go to the first of them`, () => showPair(open[0])),
    !isEnd && button(t`Go on to page ${page + 2}`, () => showPair(missing(next, next + nNext)[0] ?? next)),
    isAllAnswered && button(t`Export`, exportFile),
    button(t`Look back`, () => showPair(at)),
  ].filter(Boolean));
  say("message", message);
  show("rest", warning);
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function button(text, act) {
  const made = element("button", text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

function listed(place) {
  const item = document.createElement("li");
  const made = button(shown(place + 1), () => showPair(place));
  made.setAttribute("aria-label", `${Noun} ${shown(place + 1)}`);
  item.append(made);
  return item;
}

// Answering.

function answer(value) {
  const isChange = answers[at] !== NONE;
  spend();
  set(at, value);
  saved();
  const message = `${Noun} ${shown(at + 1)}: ${nameOf(value)}`;
  const warning = rowWarning();
  const end = endOf(pageOf(at));
  const following = isChange && at + 1 < end ? at + 1 : undefined;
  const next = missing(at + 1, end)[0] ?? following;
  if (next === undefined) showRest(pageOf(at), message, warning);
  else showPair(next, message, warning);
}

// Counts the time on the shown pair, but not the time in which the page was hidden.
function spend(isCounted = !document.hidden) {
  const tenths = Math.round((performance.now() - timedFrom) / 100);
  if (isCounted && tenths) note("seconds", at, (Math.round((notes.seconds[at] ?? 0) * 10) + tenths) / 10);
  timedFrom = performance.now();
}

function saved() {
  isExported = false;
  isKept = keep();
}

// The warning about many equal ratings, or two alternating ones. Its number is a multiple of ten: a
// text that stays the same is read aloud only once.
function rowWarning() {
  if (!graded) return "";
  const [before, last] = [answers[at - 1], answers[at]];
  const row = rowOf((back) => back % 2 ? before : last);
  if (row < ROW || before === NONE) return "";
  const pattern = before === last ? `are all ${last}` : `take turns between ${before} and ${last}`;
  return `The last ${row - row % ROW} ratings ${pattern}. If this is intended, go on.`;
}

// The number of last ratings that are as expected.
function rowOf(expected) {
  let row = 0;
  while (row <= at && answers[at - row] === expected(row)) row += 1;
  return row;
}

function setSlider(value) {
  slider.value = value === NONE ? 3 : value;
  touched(value !== NONE);
}

// An untouched slider has no value and shows none.
function touched(isTouched) {
  slider.classList.toggle("untouched", !isTouched);
  for (const button of document.querySelectorAll(".numbers button")) {
    button.classList.toggle("shown", isTouched && button.dataset.answer === slider.value);
  }
  slider.setAttribute("aria-valuetext", isTouched ? slider.value : t`not rated yet`);
  byId("next")?.setAttribute("aria-disabled", !isTouched);
}

function confirmSlider() {
  if (slider.classList.contains("untouched")) {
    say("message", t`Choose a number, or move the slider, first.`);
  } else answer(Number(slider.value));
}

function back() {
  if (screen === "rest") showPair(at);
  else if (at > 0) showPair(at - 1);
}

function forward() {
  const isInside = screen === "rest" ? at + 1 < answers.length : at + 1 < endOf(pageOf(at));
  if (isInside) showPair(at + 1);
  else showRest(pageOf(at));
}

function goOn() {
  if (recall("at") !== null) showPair(at);
  else if (missing().length) showPair(missing()[0]);
  else showRest(nPages - 1);
}

function toUnanswered() {
  const [after] = missing(at + 1);
  const [first] = missing();
  if (first === undefined) showRest(nPages - 1);
  else showPair(after ?? first);
}

// Files.

function exportFile() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([fileText()], { type: "application/jsonl" }));
  link.download = fileName();
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  isExported = true;
  say("message", t`Exported ${counted(answered(), "answer")} to ${link.download}.`);
}

async function importFile(file) {
  try {
    const most = 120 * (answers.length + 10) + (sheet.scale.commented ? 3000 * answers.length : 0);
    refuse(file.size > most, t`The file is too large to be one of this page.`);
    const bytes = await file.arrayBuffer().catch(() => null);
    refuse(bytes === null, t`The file cannot be read.`);
    await take(...readFile(bytes));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await asked(t`This file cannot be imported`, error.message, [t`Close`]);
  }
}

async function take(imported, texts, times) {
  const differing = [...imported].filter(([place, value]) => ![NONE, value].includes(answers[place]));
  const [mine, theirs] = [t`Keep the answers on this page`, t`Take the answers of the file`];
  let choice = mine;
  if (differing.length) {
    const text = t`${counted(differing.length, `${noun} has`, `${noun}s have`)} another answer in the file than on this page. Which should stay? Answers that only one of the two has are kept either way.`;
    choice = await asked(t`The file and this page differ`, text, [mine, theirs, t`Cancel`]);
    if (![mine, theirs].includes(choice)) return;
  }
  const added = [...imported].filter(([place, value]) =>
    answers[place] === NONE || (choice === theirs && answers[place] !== value));
  for (const [place, value] of added) set(place, value);
  for (const [place, text] of texts) if (!notes.comments[place] || choice === theirs) note("comments", place, text);
  for (const [place, value] of added) if (times.has(place) && value !== NONE) note("seconds", place, times.get(place));
  saved();
  again(t`Imported ${counted(added.length, "answer")} of the ${shown(imported.size)} in the file.`);
}

async function restart() {
  const text = t`${counted(answered(), "answer")} on this page will be erased. An exported file keeps them.`;
  const [first, without] = [t`Export and start over`, t`Start over without export`];
  const choice = await asked(t`Start over?`, text, [t`Cancel`, first, without]);
  if (choice === first) exportFile();
  if (![first, without].includes(choice)) return;
  for (const place of answers.keys()) set(place, NONE);
  for (const place of Object.keys(notes.comments)) note("comments", place, "");
  for (const place of Object.keys(notes.seconds)) note("seconds", place, 0);
  saved();
  isExported = true;
  at = 0;
  remember("at", at);
  show("start");
}

function asked(heading, text, choices) {
  const dialog = byId("question");
  say("question-heading", heading);
  say("question-words", text);
  byId("question-choices").replaceChildren(
    ...choices.map((choice) => button(choice, () => dialog.close(choice))));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

// Shows the same screen again after answers changed elsewhere.
function again(message) {
  if (screen === "pair") showPair(at, message);
  else if (screen === "rest") showRest(pageOf(at), message);
  else refresh();
  say("message", message);
}

// Keys and clicks.

const KEYS = { ArrowLeft: back, Backspace: back, ArrowRight: forward, u: toUnanswered };
const ANSWER_KEYS = Object.fromEntries(sheet.scale.choices.flatMap(([name, , key], place) =>
  graded ? [[key, name]] : [[key, name], [place + 1, name]]));

function pressed(event) {
  const target = event.target;
  const isModified = event.ctrlKey || event.altKey || event.metaKey || event.isComposing;
  const isTyping = target.matches?.("input:not([type=range])");
  if (isModified || isTyping || screen === "start" || byId("question").open || !byId("keys").checked) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isSliding = target === slider && name.startsWith("Arrow");
  const isPressing = target.matches?.("button");
  let act = isSliding ? undefined : KEYS[name];
  if (screen === "pair" && !event.repeat) {
    if (name in ANSWER_KEYS) act = () => answer(valueOf(ANSWER_KEYS[name]));
    if (name === "Enter" && graded && !isPressing) act = confirmSlider;
  } else if (screen === "rest" && name === "Enter" && !isPressing) act = () => byId("rest-choices").firstChild.click();
  if (!act) return;
  event.preventDefault();
  act();
}

function listen() {
  const acts = {
    begin: goOn, back, forward, next: confirmSlider, unanswered: toUnanswered,
    instruct: () => show("start"), export: exportFile, import: () => byId("file").click(), restart,
  };
  for (const [name, act] of Object.entries(acts)) byId(name)?.addEventListener("click", act);
  for (const button of document.querySelectorAll("[data-answer]")) {
    button.addEventListener("click", ({ detail }) => {
      // The second click of a double click would answer the next pair before it is read.
      const isDouble = detail > 1 && performance.now() - shownAt < TOO_SOON;
      if (!isDouble) answer(valueOf(button.dataset.answer));
      // Focus that stays on the button would look like an answer to the next pair. Clicks by key have
      // a detail of 0 and keep the focus.
      if (detail > 0) byId(`${screen}-heading`).focus({ preventScroll: true });
    });
  }
  slider.addEventListener("input", () => touched(true));
  slider.addEventListener("click", () => touched(true));
  slider.addEventListener("pointerup", ({ pointerType }) => {
    // A tap at the current value causes no input event and no click. A mouse causes them, and its
    // button may be released here after a drag from elsewhere.
    if (pointerType !== "mouse") touched(true);
  });
  byId("comment").addEventListener("input", ({ target }) => {
    note("comments", at, target.value);
    saved();
    refresh();
  });
  byId("comment").addEventListener("keydown", ({ key: name, target }) => {
    if (name === "Enter" || name === "Escape") target.blur(); // so that keys answer again
  });
  byId("jump").addEventListener("submit", (event) => {
    event.preventDefault();
    showPair(byId("number").valueAsNumber - 1);
  });
  byId("file").addEventListener("change", ({ target }) => {
    const [file] = target.files;
    target.value = ""; // so that the same file can be chosen again
    if (file) importFile(file);
  });
  byId("keys").addEventListener("change", ({ target }) => remember("keys", target.checked));
  addEventListener("keydown", pressed);
  addEventListener("visibilitychange", () => {
    if (screen === "pair") spend(document.hidden);
  });
  addEventListener("storage", (event) => {
    if (event.key !== key || event.newValue === null) return;
    isKept = keep();
    again(t`Another tab of this page changed your answers; they are shown here too.`);
  });
  addEventListener("beforeunload", (event) => {
    if (!isKept && !isExported) event.preventDefault();
  });
}

// The answers of a scale without a slider, and their keys, in the declared order.
function addChoices() {
  const keys = sheet.scale.choices.map(([, label, key], place) => {
    const row = document.createElement("div");
    row.append(element("dt", ""), element("dd", label.toLowerCase()));
    row.firstChild.append(element("kbd", key.toUpperCase()), " ", element("kbd", `${place + 1}`));
    return row;
  });
  byId("key-list").prepend(...keys);
  byId("choices").append(...sheet.scale.choices.map(([name, label], place) => {
    const made = element("button", `${label} `);
    const hint = element("span", "");
    hint.className = "hint";
    hint.ariaHidden = true;
    hint.append(...keys[place].firstChild.cloneNode(true).childNodes);
    made.type = "button";
    made.dataset.answer = name;
    made.setAttribute("aria-keyshortcuts", hint.textContent);
    made.append(hint);
    return made;
  }));
}

// Replaces the texts of the page by those in its language.
function translate() {
  const walker = document.createTreeWalker(byId("page"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    if (text in sheet.texts) walker.currentNode.data = walker.currentNode.data.replace(text, () => word(text));
  }
  for (const element of document.querySelectorAll("#page [aria-label]")) element.ariaLabel = word(element.ariaLabel);
}

function begin() {
  translate();
  for (const element of document.querySelectorAll("[data-graded]")) {
    if (element.dataset.graded !== `${graded}`) element.remove();
  }
  if (!graded) addChoices();
  for (const element of document.querySelectorAll("[data-noun]")) {
    element.textContent = element.dataset.noun ? Noun : word(noun);
  }
  byId("commenting").hidden = !sheet.scale.commented;
  byId("right").hidden = sheet.scale.parts.length === 1;
  byId("terms").classList.toggle("alone", byId("right").hidden);
  byId("terms").classList.toggle("marked", sheet.scale.marks !== null);
  say("title", sheet.title);
  say("ask", sheet.scale.question);
  byId("instructions").replaceChildren(...sheet.instructions.map((text) => element("p", text)));
  say("notice", sheet.notice ?? "");
  byId("notice").hidden = !sheet.notice;
  byId("number").max = answers.length;
  byId("bar").max = Math.max(answers.length, 1);
  byId("keys").checked = recall("keys") !== "false";
  isKept = keep();
  listen();
  byId("page").hidden = false;
  const last = recall("at");
  at = Math.min(Math.max(0, Number(last) || 0), answers.length - 1);
  if (last === null) show("start");
  else if (answers[at] !== NONE && at + 1 === endOf(pageOf(at))) showRest(pageOf(at));
  else showPair(at);
}

begin();
