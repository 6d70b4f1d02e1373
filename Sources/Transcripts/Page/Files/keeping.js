
// Stores corrections: immediately in this browser, under the digest of the sound, and beside the page when the user saves.
const shelf = known && 'fieldscribe:' + known.sound, server = data.server ?? null;
let isUnsaved = false, waiting = 0, changes = 0, seen = server?.reading;
// Corrections have the server's time, because the page shows the later one if two people correct a line.
const ahead = server ? server.now - Date.now() / 1000 : 0, serverTime = () => Date.now() / 1000 + ahead;
const notSaved = 'Kept in this browser only; not saved' + (server ? '' : ' beside the page') + ' yet';
// A message disappears at the user's next action, but stays for at least four seconds.
const kept = byId('kept');
let toldAt = 0, going = 0;
function tellKept(text, isKnown) {
  byId('save').classList.toggle('due', isUnsaved);
  if (isKnown && kept.textContent === text) return;
  kept.textContent = text;
  kept.classList.remove('past');
  toldAt = Date.now();
  clearTimeout(going);
}
for (const name of ['pointerdown', 'keydown', 'wheel', 'touchmove']) addEventListener(name, () => {
  clearTimeout(going);
  going = setTimeout(() => kept.classList.add('past'), toldAt + 4000 - Date.now());
}, { capture: true, passive: true });
function document_() {
  const isLater = state.turns || [...state.edits.values()].some(edit => edit.breaks || edit.joined);
  return {
    // Version 2 adds split and joined lines, and turns. Older programs read only version 1.
    format: 'fieldscribe-corrections', version: isLater ? 2 : 1,
    recording: { id: known.id, sound: known.sound, ...(known.pass ? { pass: known.pass } : {}) },
    editor: { name: state.name, saved: state.saved },
    details: state.details,
    segments: [...state.edits].sort((a, b) => a[0] - b[0]).map(([id, edit]) => ({ id, ...edit })),
    ...(Object.values(state.speakers).some(Boolean) ? { speakers: state.speakers } : {}),
    ...(state.turns ? { turns: allTurns() } : {}),
    notes: state.notes, ...(state.marks ? { marks: state.marks } : {}), quotations: state.quotations
  };
}
// Returns the turns, and the parts of `data.alongside` that overlap them, which this page cannot change. Omits overlapping
// speakers who have no words left.
function allTurns() {
  const all = labels();
  const more = (data.alongside ?? []).flatMap(([from, to, speaker]) => state.turns.map(turn => ({
    start: Math.max(turn.start, from / 1000), end: Math.min(turn.end, to / 1000), speaker: String.fromCharCode(65 + speaker), during: turn.speaker
  })).filter(one => one.start < one.end && one.speaker !== one.during && all.includes(one.speaker))).map(({ start, end, speaker }) => ({ start, end, speaker }));
  return [...state.turns, ...more];
}
function changed() {
  isUnsaved = true;
  changes++;
  state.saved = serverTime();
  keepDraft();
}
function keepDraft() {
  clearTimeout(waiting);
  waiting = 0;
  if (!known || !isUnsaved && !open) return;
  const draft = { ...document_(), isUnsaved, lines: order.length };
  if (open && normal(field.value) !== open.text) draft.open = { id: open.id, from: open.from, was: open.text, text: field.value };
  try {
    localStorage.setItem(shelf, JSON.stringify(withUndo(draft)));
    tellKept(isUnsaved ? notSaved : '', true);
  } catch { tellKept('This browser cannot store more: save now'); }
}
// Returns a draft with the undo and redo steps; if they are too large, only the latest.
function withUndo(draft) {
  const latest = steps => {
    let room = 300000;
    return steps.slice(steps.findLastIndex(one => (room -= JSON.stringify(one).length) < 0) + 1);
  };
  return { ...draft, past: latest(past), future: latest(future) };
}
const keepSoon = () => { waiting ||= setTimeout(keepDraft, 400); };
for (const name of ['visibilitychange', 'pagehide']) addEventListener(name, () => { if (waiting) keepDraft(); });
addEventListener('beforeunload', event => {
  if (waiting) keepDraft();
  if (known && (isUnsaved || open)) event.preventDefault();
});

// Checks every part of corrections from storage or a file, because they are untrusted.
const isText = value => typeof value === 'string' && value.length <= 65536;
const isTime = value => typeof value === 'number' && isFinite(value) && value >= 0;
function read(text) {
  const told = JSON.parse(text);
  if (told?.format !== 'fieldscribe-corrections' || ![1, 2].includes(told.version)) throw new Error('This is not a corrections file.');
  if (told.recording?.sound !== known.sound) throw new Error('These corrections belong to another recording.');
  const list = (value, isGood) => {
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > 100000 || !value.every(isGood)) throw new Error('This file is damaged.');
    return value;
  };
  const place = one => isTime(one?.time) && isText(one.text);
  const quotation = one => isTime(one?.start) && isTime(one.end) && [one.text, one.word, one.colour].every(isText);
  const turn = one => isTime(one?.start) && isTime(one.end) && /^[A-Z]$/.test(one.speaker);
  const numbers = value => value === undefined || Array.isArray(value) && value.every(Number.isInteger);
  const change = one => isText(one?.was) && isText(one.text) && numbers(one.confirmed) && numbers(one.breaks);
  const step = one => Array.isArray(one?.changes) && one.changes.every(({ id, before, after }) =>
    placeOfId.has(id) && [before, after].every(edit => edit === null || change(edit) && edit.was === was(original(id))))
    && Array.isArray(one.parts) && one.parts.every(({ name, from, back, before, after }) => {
      const isItem = { notes: place, marks: place, quotations: quotation, turns: turn }[name];
      const isGood = value => isItem ? value === null || Array.isArray(value) && value.every(isItem)
        : ['details', 'speakers'].includes(name) && Object.values(value ?? 0).every(isText);
      return numbers([from ?? 0, back ?? 0]) && isGood(before) && isGood(after);
    });
  const steps = value => Array.isArray(value) && value.every(step) ? value : [];
  const details = {};
  for (const name of ['title', 'people', 'place', 'note', 'consent']) {
    if (isText(told.details?.[name])) details[name] = told.details[name];
  }
  const speakers = {};
  for (const [label, name] of Object.entries(told.speakers ?? {})) {
    if (/^[A-Z]$/.test(label) && isText(name)) speakers[label] = normal(name);
  }
  return {
    edits: list(told.segments, one => Number.isInteger(one?.id) && change(one)),
    turns: told.turns === undefined ? null : alone(list(told.turns, turn)), past: steps(told.past), future: steps(told.future),
    details, speakers, notes: list(told.notes, place).map(({ time, text }) => ({ time, text })),
    marks: told.marks === undefined ? null : list(told.marks, place).map(({ time, text }) => ({ time, text })),
    quotations: list(told.quotations, quotation)
      .map(({ start, end, text, word, colour }) => ({ start, end, text, word, colour })),
    name: isText(told.editor?.name) ? told.editor.name : '', saved: isTime(told.editor?.saved) ? told.editor.saved : 0,
    pass: told.recording.pass, isUnsaved: told.isUnsaved === true, lines: told.lines, open: isText(told.open?.text) && isText(told.open?.was) ? told.open : null
  };
}
// Returns the turns without those that overlap an earlier one.
function alone(turns) {
  let end = 0;
  return turns.map(({ start, end, speaker }) => ({ start, end, speaker })).sort((a, b) => a.start - b.start || b.end - a.end)
    .filter(turn => turn.start >= end - 1e-4 && (end = turn.end) > turn.start);
}
// Whether this text already has corrections that were made to an earlier version of it.
function isTaken(told) {
  if (server || told.isUnsaved || !told.edits.length || told.pass === undefined || !(told.pass < known.pass)) return false;
  const whole = ' ' + order.map(id => was(original(id))).join(' ') + ' ';
  return told.edits.every(edit => whole.includes(' ' + normal(edit.text) + ' ') || !normal(edit.text));
}
// Replaces the corrections with those from a draft or file. If these belong to another text, keeps only those that fit.
function adopt(told) {
  if (open) close();
  if (isTaken(told)) {
    try { localStorage.removeItem(shelf); } catch { /* Without storage, there is no draft. */ }
    return tellKept('The recorder has taken the corrections: this text has them');
  }
  const ids = [...state.edits.keys()];
  state.edits.clear();
  let strange = 0;
  for (const { id, was: before, text, confirmed, breaks, joined } of told.edits) {
    const segment = placeOfId.has(id) ? original(id) : null;
    if (segment && was(segment) === before) {
      const inner = (breaks ?? []).filter(at => at > 0 && at < split(text).length).sort((a, b) => a - b);
      state.edits.set(id, { was: before, text: normal(text), confirmed: confirmed ?? [], ...(inner.length ? { breaks: inner } : {}),
        ...(joined === true && placeOfId.get(id) ? { joined } : {}) });
    } else if (server && told.isUnsaved && told.lines === order.length && segment && was(segment) !== normal(text)) {
      // Somebody else saved this line in the meantime; the unsaved change here takes precedence.
      state.edits.set(id, { was: was(segment), text: normal(text), confirmed: [] });
    } else if (!segment || was(segment) !== normal(text)) strange++;
  }
  const { details, speakers, turns, notes, marks, quotations } = told, hadTurns = state.turns;
  Object.assign(state, { details, speakers, turns, notes, marks, quotations });
  for (const id of new Set([...ids, ...state.edits.keys()])) render(id);
  if (hadTurns || turns) renderTurns();
  arrange();
  if (told.name) state.name = told.name;
  state.saved = told.saved;
  past.splice(0, past.length, ...(strange ? [] : told.past));
  future.splice(0, future.length, ...(strange ? [] : told.future));
  // The server's archive does not have corrections from a file yet.
  isUnsaved = told.isUnsaved || Boolean(server && !told.open);
  showPlaces();
  tellWork();
  tellKept(strange ? strange + ' corrections were made to another text and are not shown' : '');
}
// The name contains the recorder and the recording, because browsers put all downloads into one folder.
const fileName = known && ['corrections', (data.recorder ?? '').replace(/[^\p{L}\p{N}._-]+/gu, '-'), known.id].filter(Boolean).join(' ') + '.html';
// Includes the name from earlier versions, and the names that browsers give to repeated downloads.
const fileNames = known ? [fileName, 'corrections.html', ...[1, 2].flatMap(i => [' (' + i + ')', '(' + i + ')']).map(tail => fileName.replace('.html', tail + '.html'))] : [];
// The folder that the user chose for this recording. After a restart, browsers ask again for permission to write to it.
let savedIn = null;
function folders(mode, act) {
  return new Promise((done, fail) => {
    const request = indexedDB.open('fieldscribe', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('folders');
    request.onerror = () => fail(request.error);
    request.onsuccess = () => {
      try {
        const answer = act(request.result.transaction('folders', mode).objectStore('folders'));
        answer.onsuccess = () => done(answer.result);
        answer.onerror = () => fail(answer.error);
      } catch (error) { fail(error); }
      request.result.close();
    };
  });
}
async function chosenFolder() {
  try { savedIn ??= await folders('readonly', store => store.get(known.sound)) ?? null; } catch { /* The user chooses a folder instead. */ }
  if (!savedIn) return null;
  try {
    const asked = { mode: 'readwrite' };
    const answer = await savedIn.queryPermission?.(asked) ?? 'granted';
    if (answer === 'granted' || await savedIn.requestPermission(asked) === 'granted') return await isHere(savedIn) ? savedIn : null;
  } catch { /* The folder is gone. */ }
  return null;
}
const isHere = async folder => (await (await (await folder.getFileHandle('index.html')).getFile()).text()).includes(known.sound);
function page() {
  const json = JSON.stringify(document_()).replace(/[<>&\u2028\u2029]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  const plain = text => text.replace(/[&<>]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
  const list = [...state.edits].filter(([, edit]) => edit.text !== edit.was)
    .map(([, edit]) => `<li><del>${plain(edit.was)}</del> <ins>${plain(edit.text)}</ins></li>`).join('\n');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${data.bridge.digest}'">
<title>Corrections</title></head><body>
<h1>Corrections</h1>
<p>Keep this file beside the index.html of its recording, which shows the corrections; fieldscribe import adds them to the recorder.</p>
<ol>${list}</ol>
<${"script"} type="application/json" id="corrections">${json}</${"script"}>
<${"script"}>${data.bridge.text}</${"script"}>
</body></html>
`;
}
function download(name, type, text) {
  const link = make('a', { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
// Sends the corrections to the server, which adds them to the archive and says whether others have saved theirs.
async function send() {
  if (!isUnsaved) return tellKept('There is nothing to save');
  if (!state.name) {
    byId('work').open = true;
    byId('about-name').focus();
    return tellKept('Enter your name under “Corrected by” first; then save again');
  }
  const sent = changes, text = JSON.stringify(document_());
  tellKept('Saving …');
  let answer;
  try {
    const response = await fetch(server.save + '?reading=' + server.reading + '&seen=' + seen,
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
    answer = await response.json();
    if (!response.ok) return tellKept('Not saved, but kept in this browser: ' + answer.told);
  } catch { return tellKept('Not saved, but kept in this browser: the server does not answer'); }
  // This page does not have the others' corrections.
  if (!answer.others) seen = answer.reading;
  if (sent === changes && !open) {
    isUnsaved = false;
    try { localStorage.removeItem(shelf); } catch { /* Without storage, there is no draft. */ }
  }
  if (!answer.others) return tellKept(isUnsaved ? notSaved : answer.told);
  // Reloading the page shows the others' corrections.
  if (isUnsaved || open) return tellKept(answer.told + ' Load the page again to see it.');
  try { sessionStorage.setItem(shelf, answer.told); } catch { /* The page does not show the message. */ }
  if (now() > 0) history.replaceState(null, '', '#t=' + now() / 1000);
  location.reload();
}
const notTaken = 'the recorder takes it when the stick is plugged in';
async function save() {
  if (open) commit();
  if (server) return send();
  state.saved = Date.now() / 1000;
  let told = '';
  try {
    if (window.showDirectoryPicker) {
      let folder = await chosenFolder();
      if (!folder) {
        folder = await showDirectoryPicker({ mode: 'readwrite', id: 'fieldscribe' });
        if (!await isHere(folder)) throw new Error('That is another recording’s folder.');
        savedIn = folder;
        try { await folders('readwrite', store => store.put(folder, known.sound)); } catch { /* The user chooses it again the next time. */ }
      }
      for (const [name, text] of [[fileName, page()], ['corrections.json', JSON.stringify(document_()) + '\n']]) {
        const writer = await (await folder.getFileHandle(name, { create: true })).createWritable();
        await writer.write(text);
        await writer.close();
      }
      told = 'Saved beside this page' + (folder.name ? ', in ' + folder.name : '') + ': ' + notTaken;
    } else {
      download(fileName, 'text/html', page());
      told = 'Saved as ' + fileName + ' among the downloads: move it beside this page, into the same folder, and it is shown';
    }
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (error.name !== 'NotFoundError' && error.name !== 'SecurityError' && error.name !== 'NotAllowedError') {
      return tellKept(error.message);
    }
    download(fileName, 'text/html', page());
    told = 'Saved as ' + fileName + ' among the downloads: move it beside this page, into the same folder, and it is shown';
  }
  isUnsaved = false;
  try { localStorage.setItem(shelf, JSON.stringify(withUndo({ ...document_(), isUnsaved }))); } catch { /* The file has the corrections. */ }
  tellKept(told);
}
// Shows corrections from a file. If this browser has a different draft, the user chooses one of them.
function offer(told) {
  const mine = JSON.stringify(document_()), draft = { ...state, edits: new Map(state.edits) };
  if (!isUnsaved && (told.saved >= state.saved || !draft.edits.size)) return adopt(told);
  if (Math.abs(told.saved - state.saved) < 1e-3 || mine === JSON.stringify(told)) return;
  const bar = byId('choice');
  byId('choice-text').textContent = 'The file beside this page, saved ' + new Date(told.saved * 1000).toLocaleString()
    + (told.name ? ' by ' + told.name : '') + ', differs from what this browser has kept.';
  byId('choice-file').onclick = () => { bar.hidden = true; adopt(told); if (!server) isUnsaved = false; };
  byId('choice-mine').onclick = () => { bar.hidden = true; };
  bar.hidden = false;
}
// Reads the corrections beside the page. Several files are versions of the same corrections, so the latest counts.
function loadBeside() {
  let latest = -1;
  for (const name of fileNames) {
    const frame = make('iframe', { sandbox: 'allow-scripts', hidden: '', title: 'corrections' });
    const done = () => { frame.remove(); removeEventListener('message', hear); };
    const hear = event => {
      if (event.source !== frame.contentWindow || typeof event.data !== 'string' || event.data.length > 32e6) return;
      done();
      try {
        const told = read(event.data);
        if (told.saved > latest) { latest = told.saved; offer(told); }
      } catch (error) { tellKept(name + ': ' + error.message); }
    };
    addEventListener('message', hear);
    frame.src = './' + encodeURIComponent(name);
    document.body.append(frame);
    setTimeout(done, 2000);
  }
}
async function loadFile(file) {
  try {
    let text = await file.text();
    if (/^\s*</.test(text)) {
      text = new DOMParser().parseFromString(text, 'text/html').getElementById('corrections')?.textContent ?? '';
    }
    offer(read(text));
  } catch (error) { tellKept(file.name + ': ' + (error instanceof SyntaxError ? 'This is not a corrections file.' : error.message)); }
}
