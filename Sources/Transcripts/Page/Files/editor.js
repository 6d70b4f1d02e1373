
// A correction is stored as the new text of a segment. Times are derived from the words that the page first showed.
const identity = data.recording ?? null;
const originals = new Map(), state = {
  edits: new Map(), details: { ...(data.details ?? {}) }, notes: data.notes ?? [], marks: null,
  quotations: data.quotations ?? [], speakers: { ...(data.speakers ?? {}) }, turns: null, name: '', saved: 0
};
const past = [], future = [];
const normal = text => text.replace(/[\s\u2028\u2029]+/g, ' ').trim();
const keyOf = text => text.toLowerCase().replace(/[’ʼ]/g, "'").replace(/[^\p{L}\p{N}']/gu, '').replace(/^'+|'+$/g, '') || text;
const make = (tag, attributes, ...content) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...content);
  return element;
};
// The lines that show each segment, in order. A line can show parts of several segments.
const linesOfSegment = new Map();
for (const line of segments) if (line.dataset.n) {
  const id = Number(line.dataset.n);
  if (linesOfSegment.has(id)) linesOfSegment.get(id).push(line); else linesOfSegment.set(id, [line]);
}
const segmentIds = [...linesOfSegment.keys()], indexOfId = new Map(segmentIds.map((id, i) => [id, i]));
// Returns a segment as the page first showed it.
function original(id) {
  if (!originals.has(id)) {
    const shownLines = linesOfSegment.get(id), elements = shownLines.flatMap(wordsOf), end = Number(shownLines[shownLines.length - 1].dataset.e);
    originals.set(id, {
      id, start: Number(shownLines[0].dataset.t), end, held: shownLines[0].querySelector('.held')?.textContent ?? '',
      words: elements.map((word, i) => ({
        text: word.textContent, t: startOf(word), c: Number(word.dataset.c),
        e: elements[i + 1] ? startOf(elements[i + 1]) : end, p: word.closest('.s').dataset.p
      }))
    });
  }
  return originals.get(id);
}
const lineOf = id => linesOfSegment.get(id)?.[0] ?? null;
const originalText = segment => segment.words.map(word => word.text).join(' ');
const textOf = segment => state.edits.get(segment.id)?.text ?? originalText(segment);
const split = text => normal(text).split(' ').filter(Boolean);
const textsNow = id => state.edits.has(id) ? split(state.edits.get(id).text) : original(id).words.map(word => word.text);
const wordsNow = id => {
  const edit = state.edits.get(id);
  return edit ? withTimes(original(id), edit.text, edit.confirmed) : original(id).words;
};
// Returns the pieces of segments that a line shows: each segment's id, and which range of its words the line contains.
const pieces = new WeakMap();
function piecesOf(line) {
  if (!pieces.has(line)) {
    const from = Number(line.dataset.k ?? 0);
    original(Number(line.dataset.n));
    pieces.set(line, [{ id: Number(line.dataset.n), from, to: from + wordsOf(line).length }]);
  }
  return pieces.get(line);
}
const textOfLine = line => piecesOf(line).flatMap(({ id, from, to }) => textsNow(id).slice(from, to)).join(' ');
// Returns the id of a word's segment and the word's index in that segment.
function positionOf(word) {
  const line = word.closest('.s');
  let at = wordsOf(line).indexOf(word);
  for (const { id, from, to } of piecesOf(line)) {
    if (at < to - from) return { id, at: from + at };
    at -= to - from;
  }
}
const lineAt = (id, at) => linesOfSegment.get(id).find(line => piecesOf(line).some(piece => piece.id === id && piece.from <= at && at < piece.to))
  ?? lineOf(id);

// Returns the speaker at a time, according to the turns that a person has changed.
let indexedTurns = null, turnStarts;
function speakerAt(time) {
  if (indexedTurns !== state.turns) {
    indexedTurns = state.turns;
    turnStarts = Float64Array.from(indexedTurns, turn => Math.round(turn.start * 1000));
  }
  return indexedTurns[Math.max(0, indexAt(turnStarts, time))]?.speaker;
}
const speakerOf = word => state.turns ? speakerAt(word.t) : word.p;
const labels = () => [...new Set(segments.map(line => line.dataset.p).filter(Boolean))].sort();
function turnsNow() {
  if (state.turns) return state.turns;
  const turns = [];
  for (const id of segmentIds) original(id).words.forEach((word, i) => {
    const last = turns[turns.length - 1], speaker = word.p ?? 'A';
    if (i && last.speaker === speaker) last.end = word.e / 1000; else turns.push({ start: word.t / 1000, end: word.e / 1000, speaker });
  });
  return turns;
}
// Assigns a range, in seconds, to a speaker, and returns the resulting turns. With `only`, assigns just that speaker's turns in the
// range.
function reassigned(from, to, speaker, only) {
  const turns = [];
  let isAssigned = false;
  for (const turn of turnsNow()) {
    if (turn.end <= from || turn.start >= to || only && turn.speaker !== only) { turns.push(turn); continue; }
    if (turn.start < from) turns.push({ ...turn, end: from });
    turns.push({ start: Math.max(turn.start, from), end: Math.min(turn.end, to), speaker });
    if (turn.end > to) turns.push({ ...turn, start: to });
    isAssigned = true;
  }
  if (!isAssigned && !only) turns.push({ start: from, end: Math.min(to, data.duration / 1000), speaker });
  return turns.sort((a, b) => a.start - b.start);
}

// Aligns two lists of words by the shortest edit script. Returns the index pairs of equal words.
function pairs(old, now) {
  const width = now.length + 1, costs = new Uint32Array((old.length + 1) * width);
  for (let i = 0; i < width; i++) costs[i] = i;
  for (let r = 0; r < old.length; r++) {
    costs[(r + 1) * width] = r + 1;
    for (let c = 0; c < now.length; c++) {
      costs[(r + 1) * width + c + 1] = Math.min(costs[r * width + c] + (old[r] === now[c] ? 0 : 1),
        costs[r * width + c + 1] + 1, costs[(r + 1) * width + c] + 1);
    }
  }
  const samePairs = [];
  for (let r = old.length, c = now.length; r && c;) {
    const cost = costs[r * width + c], isSame = old[r - 1] === now[c - 1];
    if (cost === costs[(r - 1) * width + c - 1] + (isSame ? 0 : 1)) {
      r--; c--;
      if (isSame) samePairs.unshift([r, c]);
    } else if (cost === costs[(r - 1) * width + c] + 1) r--; else c--;
  }
  return samePairs;
}
// Returns the words of a text with times. Unchanged words keep their times; new words share the time of the words that they
// replace, in proportion to their letters.
function withTimes(segment, text, confirmed = []) {
  const now = split(text), old = segment.words, words = [];
  const samePairs = pairs(old.map(word => keyOf(word.text)), now.map(keyOf));
  let r = 0, c = 0;
  for (const [row, column] of [...samePairs, [old.length, now.length]]) {
    const newWords = now.slice(c, column), oldWords = old.slice(r, row);
    const from = oldWords.length ? oldWords[0].t : words.length ? words[words.length - 1].e : segment.start;
    const to = oldWords.length ? oldWords[oldWords.length - 1].e : old[row]?.t ?? segment.end;
    const letters = newWords.reduce((sum, word) => sum + word.length, 0);
    let before = 0;
    newWords.forEach((word, i) => {
      const range = newWords.length === oldWords.length ? oldWords[i]
        : { t: from + (to - from) * before / letters, e: from + (to - from) * (before + word.length) / letters };
      words.push({ text: word, t: Math.round(range.t), e: Math.round(range.e), c: 100, p: (oldWords[0] ?? words[words.length - 1] ?? old[row])?.p, isNew: true });
      before += word.length;
    });
    if (row < old.length) words.push({ ...old[row], text: now[column], isNew: old[row].text !== now[column] });
    [r, c] = [row + 1, column + 1];
  }
  words.forEach((word, i) => { if (word.isNew || confirmed.includes(i)) { word.c = 100; word.isSure = true; } });
  return words;
}
const shadeOf = c => c >= 75 ? '' : c >= 50 ? ' c2' : c >= 25 ? ' c1' : ' c0';
// Returns the ids of all segments that share a line with this one, now or before the change.
function segmentsSharingLines(id) {
  const ids = new Set([id]);
  for (const member of ids) {
    const at = indexOfId.get(member);
    if (state.edits.get(member)?.joined && at) ids.add(segmentIds[at - 1]);
    if (state.edits.get(segmentIds[at + 1])?.joined) ids.add(segmentIds[at + 1]);
    for (const line of linesOfSegment.get(member)) for (const piece of piecesOf(line)) ids.add(piece.id);
  }
  return [...ids].sort((a, b) => indexOfId.get(a) - indexOfId.get(b));
}
// Returns the lines for these segments. A change of speaker also starts a new line.
function linesFor(ids) {
  const newLines = [];
  for (const id of ids) {
    const segment = original(id), edit = state.edits.get(id), words = wordsNow(id), breaks = new Set(edit?.breaks);
    const isJoined = edit?.joined && newLines.length;
    let last = newLines[newLines.length - 1];
    if (!words.length) {
      if (isJoined) last.pieces.push({ id, from: 0, to: 0 });
      else newLines.push({ pieces: [{ id, from: 0, to: 0 }], words: [], start: segment.start });
    }
    words.forEach((word, i) => {
      const speaker = speakerOf(word);
      if (i ? breaks.has(i) || last.speaker !== speaker : !isJoined || last.words.length && last.speaker !== speaker) {
        if (i) last.end = word.t;
        newLines.push({ pieces: [{ id, from: i, to: i }], words: [], start: i ? word.t : segment.start });
        last = newLines[newLines.length - 1];
      } else if (!i) last.pieces.push({ id, from: 0, to: 0 });
      last.speaker = speaker;
      last.words.push(word);
      last.pieces[last.pieces.length - 1].to = i + 1;
    });
    newLines[newLines.length - 1].end = segment.end;
  }
  return newLines;
}
function render(id) {
  const ids = segmentsSharingLines(id), newLines = linesFor(ids);
  const old = [...new Set(ids.flatMap(member => linesOfSegment.get(member)))];
  if (old.length !== newLines.length || newLines.some(newLine => newLine.words.length)) old.forEach(unfold);
  const insertions = old.flatMap(line => [...line.querySelectorAll('.mark, .gap, .note, .both')]);
  for (const member of ids) linesOfSegment.set(member, []);
  newLines.forEach((newLine, i) => {
    let line = old[i];
    if (!line) {
      line = old[0].cloneNode(false);
      line.classList.remove('on', 'open');
      line.append(make('a', { class: 't' }), make('span', { class: 'x', dir: 'auto' }));
      let before = old[i - 1];
      while (before.nextElementSibling?.matches('.s:not([data-n])') && startOf(before.nextElementSibling) <= newLine.start) {
        before = before.nextElementSibling;
      }
      before.after(line);
      old.push(line);
    }
    pieces.set(line, newLine.pieces);
    for (const piece of newLine.pieces) if (!linesOfSegment.get(piece.id).includes(line)) linesOfSegment.get(piece.id).push(line);
    const { id: first, from } = newLine.pieces[0], values = { t: newLine.start, n: first, k: from || null, e: newLine.end, p: newLine.speaker ?? null };
    for (const [name, value] of Object.entries(values)) if (value === null) delete line.dataset[name]; else line.dataset[name] = value;
    const link = line.querySelector('.t'), content = line.querySelector('.x');
    link.setAttribute('href', '#t=' + newLine.start / 1000);
    link.dataset.t = newLine.start;
    link.textContent = clock(newLine.start);
    const items = newLine.words.map(word => {
      const element = make('span', { class: 'w' + shadeOf(word.c), 'data-t': word.t, 'data-c': word.c }, word.text);
      if (word.isNew) element.classList.add('new');
      if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(word.text)) element.classList.add('i');
      return element;
    });
    const ownInsertions = insertions.filter(insertion => (!i || startOf(insertion) >= newLine.start - 1) && (i === newLines.length - 1 || startOf(insertion) < newLines[i + 1].start - 1));
    // Shows the held-back text until a person edits the line.
    const held = newLine.pieces.length === 1 && !state.edits.has(first) && original(first).held;
    if (!items.length && held) {
      items.push(...[['unclear', '[unclear]'], ['held', held]].map(([kind, text]) => make('span', { class: kind, 'data-t': newLine.start }, text)));
    } else if (!items.length && !ownInsertions.length) items.push(make('span', { class: 'none' }, '[no words]'));
    const all = [...items, ...ownInsertions].sort((a, b) => (a.dataset.t ?? 0) - (b.dataset.t ?? 0));
    content.replaceChildren(...all.flatMap((element, j) => j ? [' ', element] : [element]));
    line.classList.toggle('edited', newLine.pieces.some(piece => state.edits.has(piece.id)));
  });
  for (const line of old.slice(newLines.length)) line.remove();
  [lines, times, shownWord] = [null, null, null];
  isArranged = false;
}
// Updates the list of lines and the speakers' names after lines were rendered.
let isArranged = true;
function arrange() {
  if (isArranged) return;
  isArranged = true;
  refresh();
  showNames();
  showQuotations();
  if (find.value.trim()) {
    search(hits[hit] && startOf(hits[hit][0]), true);
    preview();
  }
}
function showNames() {
  const hasOneSpeaker = labels().length < 2;
  let previous = null;
  for (const line of segments) {
    const label = line.dataset.p, content = line.querySelector('.x'), oldChip = content.querySelector('.who');
    const isWanted = !hasOneSpeaker && label && label !== previous && line.querySelector('.w');
    if (label) previous = label;
    if (oldChip && (!isWanted || oldChip.dataset.who !== label)) {
      if (oldChip.nextSibling?.nodeType === Node.TEXT_NODE) oldChip.nextSibling.remove();
      oldChip.remove();
    }
    if (isWanted && content.querySelector('.who')?.dataset.who !== label) content.prepend(nameChip(label, startOf(wordsOf(line)[0]) - 1), ' ');
  }
}
// Returns a chip with a speaker's name.
function nameChip(label, time) {
  const element = make('span', { class: 'who p' + (label.charCodeAt(0) - 65) % 12, 'data-who': label, dir: 'auto' });
  if (time !== undefined) element.dataset.t = Math.max(0, time);
  return showName(element);
}
function showName(element) {
  element.textContent = state.speakers[element.dataset.who] || element.dataset.who;
  if (element.matches('.who')) element.classList.toggle('named', Boolean(state.speakers[element.dataset.who]));
  return element;
}
// Renders the segments whose speakers have changed.
function renderTurns() {
  for (const id of segmentIds) {
    const now = linesFor([id]).map(line => line.pieces[0].from + (line.speaker ?? '')).join();
    const shown = linesOfSegment.get(id).map(line => piecesOf(line).find(piece => piece.id === id).from + (line.dataset.p ?? '')).join();
    if (now !== shown) render(id);
  }
}

// Applies changes and stores them as one undo step: each changed segment and each changed part of the state, before and after.
// For a list, stores only the elements that differ.
function step(changes, parts = {}) {
  changes = changes.filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
  const differences = Object.entries(parts).filter(([name, value]) => JSON.stringify(state[name]) !== JSON.stringify(value))
    .map(([name, after]) => difference(name, state[name], after));
  if (!changes.length && !differences.length) return;
  past.push({ changes, parts: differences });
  if (past.length > 500) past.shift();
  future.length = 0;
  applyStep(past[past.length - 1], 'after');
}
function difference(name, before, after) {
  if (!Array.isArray(before) || !Array.isArray(after)) return { name, before, after };
  const isSame = (i, j) => JSON.stringify(before[i]) === JSON.stringify(after[j]), shorter = Math.min(before.length, after.length);
  // The numbers of equal elements at the start and at the end.
  let from = 0, back = 0;
  while (from < shorter && isSame(from, from)) from++;
  while (back < shorter - from && isSame(before.length - 1 - back, after.length - 1 - back)) back++;
  return { name, from, back, before: before.slice(from, before.length - back), after: after.slice(from, after.length - back) };
}
function applyStep({ changes, parts }, side) {
  for (const { name, from, back, [side]: value } of parts) {
    const list = state[name];
    state[name] = from === undefined ? value : [...list.slice(0, from), ...value, ...list.slice(list.length - back)];
  }
  for (const change of changes) if (change[side]) state.edits.set(change.id, change[side]); else state.edits.delete(change.id);
  for (const change of changes) render(change.id);
  if (parts.some(part => part.name === 'turns')) renderTurns();
  arrange();
  if (parts.length) showAnnotations(); else refilter();
  showRemaining();
  changed();
}
function moveStep(from, to, side) {
  if (open) commit();
  const last = from.pop();
  if (!last) return;
  to.push(last);
  applyStep(last, side);
}
const undo = () => moveStep(past, future, 'before'), redo = () => moveStep(future, past, 'after');
// Returns a segment's edit as a draft that can be modified.
const draftOf = id => {
  const { confirmed = [], breaks = [], joined = false } = state.edits.get(id) ?? {};
  return { words: textsNow(id), confirmed, breaks, joined };
};
// Converts a position between the old words to the corresponding position between the new words.
function mappedPosition(samePairs, at, oldLength, newLength) {
  let [row, column] = [-1, -1], [endRow, endColumn] = [oldLength, newLength];
  for (const [r, c] of samePairs) if (r < at) [row, column] = [r, c]; else { [endRow, endColumn] = [r, c]; break; }
  const oldCount = endRow - row - 1, newCount = endColumn - column - 1;
  return column + 1 + (oldCount ? Math.round((at - row - 1) / oldCount * newCount) : newCount);
}
// Replaces words in a draft. Breaks and confirmations move with their words.
function replaceWords(draft, from, to, newWords, isRight) {
  const oldWords = draft.words.slice(from, to), added = newWords.length - oldWords.length;
  const samePairs = pairs(oldWords.map(keyOf), newWords.map(keyOf)), newIndices = new Map(samePairs);
  draft.words = [...draft.words.slice(0, from), ...newWords, ...draft.words.slice(to)];
  draft.breaks = [...new Set(draft.breaks.map(at => at <= from ? at : at >= to ? at + added : from + mappedPosition(samePairs, at - from, oldWords.length, newWords.length)))]
    .filter(at => at > 0 && at < draft.words.length);
  draft.confirmed = draft.confirmed.map(at => at < from ? at : at >= to ? at + added : newIndices.has(at - from) ? from + newIndices.get(at - from) : -1)
    .filter(at => at >= 0);
  if (isRight) draft.confirmed = [...new Set([...draft.confirmed, ...newWords.keys()].map((at, i) => i < draft.confirmed.length ? at : from + at))];
  draft.confirmed.sort((a, b) => a - b);
}
function change(id, { words, confirmed, breaks, joined }) {
  const before = state.edits.get(id) ?? null, text = words.join(' '), old = originalText(original(id));
  const isSame = text === old && !confirmed.length && !breaks.length && !joined;
  return { id, before, after: isSame ? null : {
    was: old, text, confirmed, ...(breaks.length ? { breaks: [...breaks].sort((a, b) => a - b) } : {}), ...(joined ? { joined: true } : {})
  } };
}
// Returns the change that replaces a segment's text or confirms words in it.
function textChange(id, text, confirmed) {
  const draft = draftOf(id);
  replaceWords(draft, 0, draft.words.length, split(text));
  if (confirmed) draft.confirmed = confirmed;
  return change(id, draft);
}
// Returns drafts of a line's segments with the line's new text. All words in a corrected line count as right.
function lineDrafts(line, text, isChecked) {
  const parts = piecesOf(line), now = split(text), drafts = new Map();
  const old = split(textOfLine(line)), isRight = isChecked || old.join(' ') !== now.join(' ');
  const samePairs = pairs(old.map(keyOf), now.map(keyOf));
  let [oldEnd, start] = [0, 0];
  parts.forEach(({ id, from, to }, i) => {
    oldEnd += to - from;
    const end = i === parts.length - 1 ? now.length : mappedPosition(samePairs, oldEnd, old.length, now.length);
    const draft = draftOf(id);
    replaceWords(draft, from, to, now.slice(start, end), isRight);
    // If the user restored the recognized words, nothing counts as confirmed.
    if (isRight && !isChecked && draft.words.join(' ') === originalText(original(id))) draft.confirmed = [];
    drafts.set(id, draft);
    draft.piece = [from, from + end - start];
    start = end;
  });
  return drafts;
}
const changesOf = drafts => [...drafts].map(([id, draft]) => change(id, draft));

// Returns the held-back text of an unclear line; empty for other lines.
const heldText = line => line.querySelector('.w') ? '' : line.querySelector('.held')?.textContent ?? '';

// The line that is open for editing.
let open = null, isLooping = false, hasMovedCursor = false;
const field = make('textarea', { id: 'field', 'aria-label': 'Text of this line', rows: '2', spellcheck: 'true' });
function edit(line, selectedWord) {
  if (!identity || !line?.dataset.n) return;
  if (open) commit();
  unfold(line);
  hideHint();
  const [{ id, from }] = piecesOf(line);
  open = { id, from, line, start: startOf(line), end: Number(line.dataset.e), text: textOfLine(line) };
  hasMovedCursor = false;
  line.classList.add('open');
  field.value = open.text;
  field.placeholder = heldText(line);
  line.append(field);
  field.style.height = 'auto';
  field.style.height = field.scrollHeight + field.offsetHeight - field.clientHeight + 'px';
  field.focus({ preventScroll: true });
  if (selectedWord !== undefined) {
    const words = field.value.split(' '), from = words.slice(0, selectedWord).join(' ').length + (selectedWord ? 1 : 0);
    field.setSelectionRange(from, from + (words[selectedWord] ?? '').length);
  }
  bringIntoView(line);
}
function close() {
  open?.line.classList.remove('open');
  open = null;
  isLooping = false;
  field.remove();
  storeDraft();
}
function commit() {
  if (!open) return;
  const { line, text } = open, now = field.value;
  close();
  if (normal(now) !== text) step(changesOf(lineDrafts(line, now)));
}
// Splits the open line at the cursor and opens the second part.
function splitLine() {
  const { line } = open, caret = field.selectionStart;
  const before = split(field.value.slice(0, caret)), drafts = lineDrafts(line, [...before, ...split(field.value.slice(caret))].join(' '));
  let at = before.length, position;
  for (const [id, draft] of drafts) {
    const [from, to] = draft.piece;
    if (at >= to - from) { at -= to - from; continue; }
    if (at) draft.breaks = [...draft.breaks, from + at]; else draft.joined = false;
    position = [id, from + at];
    break;
  }
  close();
  step(changesOf(drafts));
  edit(lineAt(...position));
  field.setSelectionRange(0, 0);
}
// Joins the open line to the previous line and gives it that line's speaker.
function joinLines() {
  const { line, id, from } = open, at = segments.indexOf(line);
  const previous = segments.slice(0, at).reverse().find(candidate => candidate.dataset.n);
  if (!previous) return;
  const drafts = lineDrafts(line, field.value), draft = drafts.get(id), caret = textOfLine(previous).length;
  if (from) draft.breaks = draft.breaks.filter(index => index !== from); else draft.joined = true;
  const { p: speaker } = previous.dataset, isOtherSpeaker = speaker && line.dataset.p && speaker !== line.dataset.p;
  const turns = isOtherSpeaker ? { turns: reassigned(startOf(line) / 1000, Number(line.dataset.e) / 1000, speaker) } : {};
  close();
  step(changesOf(drafts), turns);
  edit(lineAt(id, from));
  field.setSelectionRange(caret + (caret ? 1 : 0), caret + (caret ? 1 : 0));
}
// Enter splits a line only if the user has just moved the cursor into it; after typing, Enter finishes the line.
const isCursorInside = () => hasMovedCursor && field.selectionStart === field.selectionEnd
  && normal(field.value.slice(0, field.selectionStart)) && normal(field.value.slice(field.selectionStart));
field.addEventListener('pointerup', () => { hasMovedCursor = true; });
field.addEventListener('input', () => { hasMovedCursor = false; storeSoon(); });
// Explains how to correct a line, until the user opens one for the first time.
const hintKey = 'fieldscribe-hint', hintText = 'To correct a line, press Edit ' + (matchMedia('(max-width: 40rem)').matches ? 'in the menu' : 'or double-click it');
function hideHint() {
  if (statusLine.textContent === hintText) showStatus('');
  try { localStorage.setItem(hintKey, 'known'); } catch { /* The page shows the hint again. */ }
}
function hint() {
  if (!segmentIds.length) return;
  try { if (localStorage.getItem(hintKey)) return; } catch { /* The page always shows the hint. */ }
  showStatus(hintText);
}
// In editing mode, each click opens a line.
let isEditing = false;
function setEditing(value) {
  isEditing = value;
  byId('edit').textContent = value ? 'Done' : 'Edit';
  byId('edit').classList.toggle('editing', value);
  main.classList.toggle('editing', value);
}
byId('edit').addEventListener('click', () => {
  if (isEditing) {
    commit();
    return setEditing(false);
  }
  setEditing(true);
  audio.pause();
  // Opens the current line or, if it is not on the screen, the first line on the screen.
  const top = byId('bar').getBoundingClientRect().bottom;
  const isOnScreen = line => {
    const box = line?.getBoundingClientRect();
    return line?.dataset.n && line.checkVisibility?.() !== false && box.bottom > top && box.top < innerHeight;
  };
  const here = segments[Math.max(0, segment)];
  edit(isOnScreen(here) ? here : segments.find(isOnScreen) ?? here);
});
main.addEventListener('click', event => {
  if (!isEditing || !getSelection().isCollapsed || event.target.closest('.t, .who, summary')) return;
  const line = event.target.closest('.s[data-n]');
  if (!line) return;
  event.stopPropagation();
  if (open?.line === line) return;
  const word = event.target.closest('.w');
  audio.pause();
  edit(line, word ? wordsOf(line).indexOf(word) : undefined);
}, true);
main.addEventListener('dblclick', event => {
  const line = event.target.closest('.s');
  if (!line || field.contains(event.target)) return;
  const word = event.target.closest('.w');
  getSelection().removeAllRanges();
  audio.pause();
  edit(line, word ? indexIn(word) : undefined);
});

// Lists unclear lines and then uncertain words, the least certain first. If a word is uncertain several times, its least certain
// occurrence comes early.
let uncertain = [], current = null;
function findUncertain() {
  uncertain = [];
  // The classes `c0` and `c1` mark a confidence below 50 %.
  for (const word of main.querySelectorAll('.c0, .c1, .unclear')) if (/[\p{L}\p{N}]/u.test(word.textContent)) uncertain.push(word);
  const occurrences = new Map();
  const candidates = uncertain.map((word, i) => {
    const isUnclear = word.matches('.unclear'), candidate = { word, i, score: isUnclear ? Infinity : 100 - word.dataset.c };
    const key = word.textContent.toLowerCase().replace(/[^\p{L}\p{N}']/gu, '');
    if (key.length > 3 && !isUnclear) {
      if (!occurrences.has(key)) occurrences.set(key, []);
      occurrences.get(key).push(candidate);
    }
    return candidate;
  });
  for (const group of occurrences.values()) {
    const sum = group.reduce((sum, candidate) => sum + candidate.score, 0);
    group.reduce((worst, candidate) => candidate.score > worst.score ? candidate : worst).score = sum;
  }
  uncertain = candidates.sort((a, b) => (b.score === a.score ? 0 : b.score - a.score) || a.i - b.i).map(candidate => candidate.word);
}
// The keys of skipped words, which come up again after all others.
const skippedKeys = new Set();
const reviewKey = word => word.closest('.s').dataset.n + ' ' + word.dataset.t;
function nextUncertain() {
  current?.classList.remove('asked');
  findUncertain();
  if (uncertain.includes(current)) skippedKeys.add(reviewKey(current));
  if (uncertain.every(word => skippedKeys.has(reviewKey(word)))) skippedKeys.clear();
  current = uncertain.find(word => !skippedKeys.has(reviewKey(word))) ?? null;
  showRemaining();
  if (!current) return;
  current.classList.add('asked');
  lastScrolledAt = Date.now();
  bringIntoView(current);
  seek(Math.max(0, Number(current.dataset.t) - 1000));
}
const indexIn = word => [...word.closest('.s').querySelectorAll('.w')].indexOf(word);
function confirmWord() {
  const word = current?.isConnected ? current : wordAt(now() + 1);
  if (!word?.closest('.s').dataset.n) return;
  if (word.matches('.unclear')) return confirmLine();
  const { id, at } = positionOf(word);
  step([textChange(id, textOf(original(id)), [...new Set([...draftOf(id).confirmed, at])].sort((a, b) => a - b))]);
  if (current) nextUncertain();
}
// Confirms all words in the open line, the line of the word under review, or the current line. In an unclear line, confirms the
// held-back text.
function confirmLine() {
  const line = open?.line ?? (current?.isConnected ? current.closest('.s') : segments[Math.max(0, segment)]);
  if (!line?.dataset.n || !line.querySelector('.w, .held')) return;
  const text = (open ? field.value : textOfLine(line)) || heldText(line);
  if (open) close();
  step(changesOf(lineDrafts(line, text, true)));
  if (current) nextUncertain(); else showStatus('Line marked as right');
}

const offerReplace = () => { byId('replace').hidden = !identity || !find.value.trim(); };
find.addEventListener('input', offerReplace);
// Runs after the search's listener, which clears the field.
find.addEventListener('keydown', event => { if (event.key === 'Escape') offerReplace(); });
byId('replace').addEventListener('keydown', event => {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  byId('instead').value = '';
  find.focus();
  byId('replace').hidden = true;
});

// Replaces whole words that the search finds, but not the punctuation around them. The transcript shows a preview.
const instead = byId('instead');
const wholeHits = () => byId('replace').hidden ? [] : hits.filter(hit => hit[0].isConnected && plain(hit.map(word => word.textContent).join(' ')) === plain(find.value));
function replacementFor(hit) {
  const replacement = normal(instead.value), query = find.value.trim(), [first, last] = [hit[0], hit[hit.length - 1]].map(word => word.textContent);
  const [head] = first.match(/^[^\p{L}\p{N}]*/u), [tail] = last.match(/[^\p{L}\p{N}]*$/u);
  return replacement && (query.startsWith(head) ? '' : head) + replacement + (query.endsWith(tail) ? '' : tail);
}
function preview() {
  for (const word of main.querySelectorAll('.gone')) { word.classList.remove('gone'); delete word.dataset.instead; }
  const whole = wholeHits();
  byId('replace-all').textContent = whole.length ? 'Replace all ' + whole.length : 'Replace all';
  byId('replace-one').disabled = byId('replace-all').disabled = !whole.length;
  if (normal(instead.value) || byId('replace').contains(document.activeElement)) for (const hit of whole) {
    for (const word of hit) word.classList.add('gone');
    hit[hit.length - 1].dataset.instead = replacementFor(hit);
  }
}
function replace(list) {
  const drafts = new Map();
  // Starts at the end, because each replacement moves the words after it.
  for (const hit of [...list].reverse()) {
    let newWords = split(replacementFor(hit));
    for (const id of new Set(hit.map(word => positionOf(word).id))) {
      const indices = hit.map(positionOf).filter(position => position.id === id).map(position => position.at);
      if (!drafts.has(id)) drafts.set(id, draftOf(id));
      replaceWords(drafts.get(id), indices[0], indices[indices.length - 1] + 1, newWords);
      newWords = [];
    }
  }
  step(changesOf(drafts));
}
// Replaces the current hit, or the next one that consists of whole words, and shows the hit after it.
function replaceOne() {
  const whole = new Set(wholeHits()), target = [...hits.slice(Math.max(0, hit)), ...hits].find(candidate => whole.has(candidate));
  if (!target) return;
  const line = target[0].closest('.s'), after = wordsOf(line)[indexIn(target[target.length - 1]) + 1], from = after ? startOf(after) : Number(line.dataset.e);
  replace([target]);
  search(from);
  showStatus('Replaced once');
}
for (const [element, names] of [[find, ['input', 'keydown']], [byId('replace'), ['input', 'focusin', 'focusout', 'keydown']]]) {
  // The timer lets the other listeners run first.
  for (const name of names) element.addEventListener(name, () => setTimeout(preview));
}
byId('replace-one').addEventListener('click', replaceOne);

