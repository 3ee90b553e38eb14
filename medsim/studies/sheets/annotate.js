"use strict";
// The sheet, its answers, their storage in the browser, and the exported file.

const sheet = JSON.parse(document.getElementById("sheet").textContent);
const { graded, noun } = sheet.scale;
const NONE = -1;
const answers = new Int8Array(sheet.entries.length).fill(NONE); // places in the scale's answers

// A text in the language of the page. Its key in the sheet's texts is English, with {0} for the first value.
const word = (text) => sheet.texts[text] ?? text;
const t = (parts, ...values) => word(parts.reduce((text, part, at) => `${text}{${at - 1}}${part}`))
  .replace(/\{(\d)\}/g, (_, at) => values[at]);

const utf8 = (text) => new TextEncoder().encode(text);

function crc32(bytes) {
  let rest = -1;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (0xedb88320 & -(rest & 1));
  }
  return (~rest >>> 0).toString(16).padStart(8, "0");
}

// Storage. An answer is one character. A page reads the stored answers again before it adds its own
// changes, so another tab of the same page loses nothing. The key has the entries' checksum, so
// answers to another sheet are never used for this one.

const key = `medsim ${sheet.study} ${sheet.annotator} ${crc32(utf8(JSON.stringify(sheet.entries)))}`;
const unsaved = new Set(); // places answered but not saved yet
const notes = { comments: {}, seconds: {} }; // texts of comments, and times to answer, by place
const unnoted = { comments: new Set(), seconds: new Set() }; // places whose note is not saved yet

function keptAnswers() {
  const text = localStorage.getItem(key);
  if (text?.length !== answers.length) return null;
  const value = (character) => sheet.scale.answers[character] === undefined ? NONE : Number(character);
  return Int8Array.from(text, value);
}

// Whether the browser can store the answers.
function keep() {
  try {
    const stored = keptAnswers() ?? answers.slice();
    for (const place of unsaved) stored[place] = answers[place];
    answers.set(stored);
    localStorage.setItem(key, Array.from(stored, (value) => value === NONE ? "-" : value).join(""));
    unsaved.clear();
    if (sheet.scale.commented) keepNotes("comments");
    try {
      keepNotes("seconds");
    } catch {
      // Answers matter more than times.
    }
    return true;
  } catch {
    return false;
  }
}

function keepNotes(kind) {
  const stored = JSON.parse(localStorage.getItem(`${key} ${kind}`) ?? "{}");
  for (const place of unnoted[kind]) stored[place] = notes[kind][place];
  notes[kind] = stored;
  if (unnoted[kind].size) localStorage.setItem(`${key} ${kind}`, JSON.stringify(stored));
  unnoted[kind].clear();
}

function note(kind, place, value) {
  notes[kind][place] = value;
  unnoted[kind].add(place);
}

function set(place, value) {
  answers[place] = value;
  unsaved.add(place);
}

function recall(name) {
  try {
    return localStorage.getItem(`${key} ${name}`);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(`${key} ${name}`, value);
  } catch {
    // Only a failure to store answers matters, and keep() reports it.
  }
}

// The exported file.

const words = (value) => graded ? value : sheet.scale.answers[value];
const lines = (records) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const answered = () => answers.reduce((total, value) => total + (value !== NONE), 0);

function fileName() {
  const name = sheet.annotator.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 60);
  return `${sheet.study}-${name}.jsonl`;
}

// An answer, the seconds that it took, a comment, or all of them; empty if there is neither answer nor comment.
function given(place) {
  const text = notes.comments[place]?.trim();
  const timed = notes.seconds[place] ? { seconds: notes.seconds[place] } : {};
  return {
    ...(answers[place] === NONE ? {} : { answer: words(answers[place]), ...timed }),
    ...(text ? { comment: text } : {}),
  };
}

function fileText() {
  const header = {
    medsim: "answers", format: sheet.format, study: sheet.study, annotator: sheet.annotator,
    scale: sheet.scale.name, entries: answers.length,
  };
  const records = sheet.entries.map(([entry], place) => ({ entry, ...given(place) }))
    .filter((record) => Object.keys(record).length > 1);
  const body = lines([header, ...records]);
  return body + lines([{ medsim: "end", answers: records.length, checksum: crc32(utf8(body)) }]);
}

class Refused extends Error {}

function refuse(wrong, message) {
  if (wrong) throw new Refused(message);
}

function parsed(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

// The answers and comments of an exported file by position; throws Refused with a message for the annotator.
function readFile(bytes) {
  const foreign = t`This is not a file of answers that was exported from a page like this one.`;
  const text = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n"); // as mail may change them
  const [first, ...rest] = text.split("\n");
  const header = parsed(first);
  refuse(header.medsim !== "answers", foreign);
  refuse(header.format !== sheet.format, t`The file was exported by another version of this page.`);
  refuse(header.study !== sheet.study, t`The file belongs to another study.`);
  refuse(header.annotator !== sheet.annotator,
    t`The file has the answers of “${header.annotator}”; this page is for “${sheet.annotator}”.`);
  refuse(header.scale !== sheet.scale.name || header.entries !== answers.length,
    t`The file belongs to another sheet of this study.`);
  const last = rest.pop();
  const end = parsed(rest.pop());
  refuse(last !== "" || end.medsim !== "end",
    t`The file is not whole: its end is missing. Please export it again.`);
  const body = [first, ...rest, ""].join("\n");
  refuse(end.checksum !== crc32(utf8(body)) || end.answers !== rest.length,
    t`The file was changed after it was exported. Please export it again.`);
  return placed(rest.map(parsed));
}

function placed(records) {
  const places = new Map(sheet.entries.map(([entry], place) => [entry, place]));
  const values = new Map(sheet.scale.answers.map((_, value) => [words(value), value]));
  const imported = new Map();
  const texts = new Map();
  const times = new Map();
  for (const { entry, answer, seconds, comment: text = "" } of records) {
    const place = places.get(entry);
    const isComment = answer === undefined && text !== "";
    refuse(place === undefined || !(values.has(answer) || isComment) || typeof text !== "string",
      t`The file has a ${word(noun)} or an answer that this page does not know.`);
    refuse(imported.has(place) || texts.has(place), t`The file answers a ${word(noun)} twice.`);
    if (!isComment) imported.set(place, values.get(answer));
    if (text) texts.set(place, text);
    if (seconds > 0) times.set(place, Number(seconds));
  }
  return [imported, texts, times];
}
