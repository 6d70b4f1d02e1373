
// Corrections are stored as a text per segment; times are derived from the words as first shown.
const known = data.recording ?? null;
const bySegment = new Map(), state = {
  edits: new Map(), details: { ...(data.details ?? {}) }, notes: data.notes ?? [], marks: null,
  quotations: data.quotations ?? [], speakers: { ...(data.speakers ?? {}) }, name: '', saved: 0
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
// A segment as first shown.
function original(line) {
  const id = Number(line.dataset.n);
  if (!bySegment.has(id)) {
    const elements = [...line.querySelectorAll('.w')];
    bySegment.set(id, {
      id, line, start: Number(line.dataset.t), end: Number(line.dataset.e),
      words: elements.map((word, i) => ({
        text: word.textContent, t: Number(word.dataset.t), c: Number(word.dataset.c),
        e: Number(elements[i + 1]?.dataset.t ?? line.dataset.e), name: word.className
      }))
    });
  }
  return bySegment.get(id);
}
const lineOf = id => bySegment.get(id)?.line ?? main.querySelector(`.s[data-n="${Number(id)}"]`);
const was = segment => segment.words.map(word => word.text).join(' ');
const textOf = segment => state.edits.get(segment.id)?.text ?? was(segment);

// The shortest edit path from one list of words to the other, as pairs of indices.
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
  const found = [];
  for (let r = old.length, c = now.length; r && c;) {
    const here = costs[r * width + c], same = old[r - 1] === now[c - 1];
    if (here === costs[(r - 1) * width + c - 1] + (same ? 0 : 1)) {
      r--; c--;
      if (same) found.unshift([r, c]);
    } else if (here === costs[(r - 1) * width + c] + 1) r--; else c--;
  }
  return found;
}
// The words of a text with times: unchanged words keep theirs, replacements share those of the old words by letters.
function timed(segment, text, confirmed = []) {
  const now = normal(text).split(' ').filter(Boolean), old = segment.words, words = [];
  const same = pairs(old.map(word => keyOf(word.text)), now.map(keyOf));
  let r = 0, c = 0;
  for (const [row, column] of [...same, [old.length, now.length]]) {
    const fresh = now.slice(c, column), gone = old.slice(r, row);
    const from = gone.length ? gone[0].t : words.length ? words[words.length - 1].e : segment.start;
    const to = gone.length ? gone[gone.length - 1].e : old[row]?.t ?? segment.end;
    const letters = fresh.reduce((sum, word) => sum + word.length, 0);
    let before = 0;
    fresh.forEach((word, i) => {
      const shared = fresh.length === gone.length ? gone[i]
        : { t: from + (to - from) * before / letters, e: from + (to - from) * (before + word.length) / letters };
      words.push({ text: word, t: Math.round(shared.t), e: Math.round(shared.e), c: 100, isNew: true });
      before += word.length;
    });
    if (row < old.length) words.push({ ...old[row], text: now[column], isNew: old[row].text !== now[column] });
    [r, c] = [row + 1, column + 1];
  }
  words.forEach((word, i) => { if (word.isNew || confirmed.includes(i)) { word.c = 100; word.isSure = true; } });
  return words;
}
const shadeOf = c => c >= 75 ? '' : c >= 50 ? ' c2' : c >= 25 ? ' c1' : ' c0';
function render(id) {
  const line = lineOf(id), segment = original(line), edit = state.edits.get(id), place = line.querySelector('.x');
  const shown = edit ? timed(segment, edit.text, edit.confirmed) : segment.words;
  if (shown.length) unfold(line);
  const others = [...place.children].filter(child => child.matches('.mark, .gap, .note, .who, .both'));
  const items = shown.map(word => {
    const element = make('span', { class: 'w' + shadeOf(word.c), 'data-t': word.t, 'data-c': word.c }, word.text);
    if (word.isNew) element.classList.add('new');
    if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(word.text)) element.classList.add('i');
    return element;
  });
  if (!items.length && !others.length) items.push(make('span', { class: 'none' }, '[no words]'));
  const all = [...items, ...others].sort((a, b) => (a.dataset.t ?? 0) - (b.dataset.t ?? 0));
  place.replaceChildren(...all.flatMap((element, i) => i ? [' ', element] : [element]));
  line.classList.toggle('edited', Boolean(edit));
  [lines, times, shownWord] = [null, null, null];
  return shown;
}

// One undo step: each segment before and after it.
function step(changes) {
  changes = changes.filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
  if (!changes.length) return;
  past.push(changes);
  future.length = 0;
  take(changes, 'after');
}
function take(changes, side) {
  for (const change of changes) {
    if (change[side]) state.edits.set(change.id, change[side]); else state.edits.delete(change.id);
    render(change.id);
  }
  tellWork();
  changed();
}
const undo = () => { const changes = past.pop(); if (changes) { future.push(changes); take(changes, 'before'); } };
const redo = () => { const changes = future.pop(); if (changes) { past.push(changes); take(changes, 'after'); } };
function edited(id, text, confirmed) {
  const segment = original(lineOf(id)), before = state.edits.get(id) ?? null;
  text = normal(text);
  if (!confirmed) {
    // Confirmed words stay confirmed at their new places.
    const kept = before?.confirmed ?? [], same = kept.length ? pairs(before.text.split(' ').map(keyOf), text.split(' ').map(keyOf)) : [];
    confirmed = same.filter(([old]) => kept.includes(old)).map(([, now]) => now);
  }
  const after = text === was(segment) && !confirmed.length ? null : { was: was(segment), text, confirmed };
  return { id, before, after };
}

// The open segment.
let open = null, isLooping = false;
const field = make('textarea', { id: 'field', 'aria-label': 'Text of this segment', rows: '2', spellcheck: 'true' });
function edit(line, selected) {
  if (!known || !line?.dataset.n) return;
  if (open) commit();
  unfold(line);
  knowsEditing();
  open = original(line);
  line.classList.add('open');
  field.value = textOf(open);
  line.append(field);
  field.style.height = 'auto';
  field.style.height = field.scrollHeight + 'px';
  field.focus({ preventScroll: true });
  if (selected !== undefined) {
    const words = field.value.split(' '), from = words.slice(0, selected).join(' ').length + (selected ? 1 : 0);
    field.setSelectionRange(from, from + (words[selected] ?? '').length);
  }
  bring(line);
}
function close() {
  open?.line.classList.remove('open');
  open = null;
  isLooping = false;
  field.remove();
  keepDraft();
}
function commit() {
  if (!open) return;
  const { id } = open, text = field.value, before = state.edits.get(id);
  const stays = normal(text) === normal(before?.text ?? was(open));
  close();
  if (!stays) step([edited(id, text)]);
}
field.addEventListener('input', () => keepSoon());
// Until the first line is opened, the page says how.
const hintKey = 'fieldscribe-hint', hintText = 'To correct a line, press Edit or double-click it';
function knowsEditing() {
  if (byId('kept').textContent === hintText) tellKept('');
  try { localStorage.setItem(hintKey, 'known'); } catch { /* It is said again. */ }
}
function hint() {
  try { if (localStorage.getItem(hintKey)) return; } catch { /* It is said each time. */ }
  tellKept(hintText);
}
// After the button Edit, each click opens a line, until the button is pressed again.
let isEditing = false;
function setEditing(value) {
  isEditing = value;
  byId('edit').textContent = value ? 'Done' : 'Edit';
  main.classList.toggle('editing', value);
}
byId('edit').addEventListener('click', () => {
  if (isEditing) {
    commit();
    return setEditing(false);
  }
  setEditing(true);
  audio.pause();
  // The current line, or the first on the screen if that is elsewhere.
  const top = byId('bar').getBoundingClientRect().bottom;
  const isSeen = line => {
    const box = line?.getBoundingClientRect();
    return line?.dataset.n && line.checkVisibility?.() !== false && box.bottom > top && box.top < innerHeight;
  };
  const here = segments[Math.max(0, segment)];
  edit(isSeen(here) ? here : segments.find(isSeen) ?? here);
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
  edit(line, word ? [...line.querySelectorAll('.w')].indexOf(word) : undefined);
});

// Uncertain words, worst first. A word that is uncertain in many places comes early, once.
let uncertain = [], current = null;
function findUncertain() {
  uncertain = [];
  // These classes mark a confidence below 50 %.
  for (const word of main.querySelectorAll('.c0, .c1')) if (/[\p{L}\p{N}]/u.test(word.textContent)) uncertain.push(word);
  const kinds = new Map();
  const places = uncertain.map((word, i) => {
    const place = { word, i, score: 100 - word.dataset.c };
    const key = word.textContent.toLowerCase().replace(/[^\p{L}\p{N}']/gu, '');
    if (key.length > 3) {
      if (!kinds.has(key)) kinds.set(key, []);
      kinds.get(key).push(place);
    }
    return place;
  });
  for (const kind of kinds.values()) {
    const sum = kind.reduce((sum, place) => sum + place.score, 0);
    kind.reduce((worst, place) => place.score > worst.score ? place : worst).score = sum;
  }
  uncertain = places.sort((a, b) => b.score - a.score || a.i - b.i).map(place => place.word);
}
// Skipped words; they come again when all others are done.
const passed = new Set();
const placeOf = word => word.closest('.s').dataset.n + ' ' + word.dataset.t;
function nextUncertain() {
  current?.classList.remove('asked');
  findUncertain();
  if (uncertain.includes(current)) passed.add(placeOf(current));
  if (uncertain.every(word => passed.has(placeOf(word)))) passed.clear();
  current = uncertain.find(word => !passed.has(placeOf(word))) ?? null;
  tellWork();
  if (!current) return;
  current.classList.add('asked');
  looking = Date.now();
  bring(current);
  seek(Math.max(0, Number(current.dataset.t) - 1000));
}
const indexIn = word => [...word.closest('.s').querySelectorAll('.w')].indexOf(word);
function confirm_() {
  const word = current?.isConnected ? current : wordAt(now() + 1);
  const line = word?.closest('.s');
  if (!line?.dataset.n) return;
  const segment = original(line), before = state.edits.get(segment.id);
  const at = indexIn(word);
  step([edited(segment.id, textOf(segment), [...new Set([...(before?.confirmed ?? []), at])].sort((a, b) => a - b))]);
  if (current) nextUncertain();
}

const offerReplace = () => { byId('replace').hidden = !find.value.trim(); };
find.addEventListener('input', offerReplace);
// The search clears its field first.
find.addEventListener('keydown', event => { if (event.key === 'Escape') offerReplace(); });
byId('replace').addEventListener('keydown', event => {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  byId('instead').value = '';
  find.focus();
  byId('replace').hidden = true;
});

// Search and replace: whole words, ignoring case; punctuation at the end of the last one stays.
function replaceAll(wanted, put) {
  const asked = normal(wanted).split(' ').map(keyOf).filter(Boolean), instead = normal(put);
  if (!asked.length) return 0;
  const changes = [];
  let count = 0;
  for (const line of segments) {
    if (!line.dataset.n) continue;
    const shown = line.querySelectorAll('.w');
    const texts = [...shown].map(word => word.textContent), keys = texts.map(keyOf);
    let found = false;
    for (let i = 0; i + asked.length <= texts.length; i++) {
      if (!asked.every((key, j) => keys[i + j] === key)) continue;
      const tail = texts[i + asked.length - 1].match(/[^\p{L}\p{N}]*$/u)[0];
      texts.splice(i, asked.length, ...(instead ? [instead + tail] : []));
      keys.splice(i, asked.length, ...(instead ? [''] : []));
      found = true;
      count++;
    }
    if (found) changes.push(edited(original(line).id, texts.join(' ')));
  }
  step(changes);
  return count;
}
