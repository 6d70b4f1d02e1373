
// Stores each change immediately in this browser, under the sound's digest. When the user saves, stores the corrections beside the page
// or on the server.
const storageKey = identity && 'fieldscribe:' + identity.sound, server = data.server ?? null;
let isUnsaved = false, draftTimer = 0, changeCount = 0, seenTranscript = server?.reading;
// Corrections have the server's time: if two people correct the same line, the later correction counts.
const clockOffset = server ? server.now - Date.now() / 1000 : 0, serverTime = () => Date.now() / 1000 + clockOffset;
const notSaved = 'Kept in this browser only; not saved' + (server ? '' : ' beside the page') + ' yet';
// A message disappears at the user's next action, but stays for at least four seconds.
const statusLine = byId('status');
let statusShownAt = 0, hideTimer = 0;
function showStatus(text, isKnown) {
  byId('save').classList.toggle('due', isUnsaved);
  if (isKnown && statusLine.textContent === text) return;
  statusLine.textContent = text;
  statusLine.classList.remove('past');
  statusShownAt = Date.now();
  clearTimeout(hideTimer);
}
for (const name of ['pointerdown', 'keydown', 'wheel', 'touchmove']) addEventListener(name, () => {
  clearTimeout(hideTimer);
  hideTimer = setTimeout(() => statusLine.classList.add('past'), statusShownAt + 4000 - Date.now());
}, { capture: true, passive: true });
function correctionsDocument() {
  const needsVersion2 = state.turns || [...state.edits.values()].some(edit => edit.breaks || edit.joined);
  return {
    // Version 2 adds split and joined lines, and turns. Older programs read only version 1.
    format: 'fieldscribe-corrections', version: needsVersion2 ? 2 : 1,
    recording: { id: identity.id, sound: identity.sound, ...(identity.pass ? { pass: identity.pass } : {}) },
    editor: { name: state.name, saved: state.saved },
    details: state.details,
    segments: [...state.edits].sort((a, b) => a[0] - b[0]).map(([id, edit]) => ({ id, ...edit })),
    ...(Object.values(state.speakers).some(Boolean) ? { speakers: state.speakers } : {}),
    ...(state.turns ? { turns: allTurns() } : {}),
    notes: state.notes, ...(state.marks ? { marks: state.marks } : {}), quotations: state.quotations
  };
}
// Returns the turns and, from `data.alongside`, the simultaneous turns within them, which this page cannot change. Omits simultaneous
// speakers who have no words left.
function allTurns() {
  const all = labels();
  const more = (data.alongside ?? []).flatMap(([from, to, speaker]) => state.turns.map(turn => ({
    start: Math.max(turn.start, from / 1000), end: Math.min(turn.end, to / 1000), speaker: String.fromCharCode(65 + speaker), during: turn.speaker
  })).filter(turn => turn.start < turn.end && turn.speaker !== turn.during && all.includes(turn.speaker))).map(({ start, end, speaker }) => ({ start, end, speaker }));
  return [...state.turns, ...more];
}
function changed() {
  isUnsaved = true;
  changeCount++;
  state.saved = serverTime();
  storeDraft();
}
function storeDraft() {
  clearTimeout(draftTimer);
  draftTimer = 0;
  if (!identity || !isUnsaved && !open) return;
  const draft = { ...correctionsDocument(), isUnsaved, lines: segmentIds.length };
  if (open && normal(field.value) !== open.text) draft.open = { id: open.id, from: open.from, was: open.text, text: field.value };
  try {
    localStorage.setItem(storageKey, JSON.stringify(withUndo(draft)));
    showStatus(isUnsaved ? notSaved : '', true);
  } catch { showStatus('This browser cannot store more: save now'); }
}
// Returns a draft with the undo and redo steps, or only the latest of them if they are too large.
function withUndo(draft) {
  const latest = steps => {
    let remaining = 300000;
    return steps.slice(steps.findLastIndex(step => (remaining -= JSON.stringify(step).length) < 0) + 1);
  };
  return { ...draft, past: latest(past), future: latest(future) };
}
const storeSoon = () => { draftTimer ||= setTimeout(storeDraft, 400); };
for (const name of ['visibilitychange', 'pagehide']) addEventListener(name, () => { if (draftTimer) storeDraft(); });
addEventListener('beforeunload', event => {
  if (draftTimer) storeDraft();
  if (identity && (isUnsaved || open)) event.preventDefault();
});

// Corrections from storage or a file are untrusted, so every part of them is validated.
const isText = value => typeof value === 'string' && value.length <= 65536;
const isTime = value => typeof value === 'number' && isFinite(value) && value >= 0;
function parseCorrections(text) {
  const json = JSON.parse(text);
  if (json?.format !== 'fieldscribe-corrections' || ![1, 2].includes(json.version)) throw new Error('This is not a corrections file.');
  if (json.recording?.sound !== identity.sound) throw new Error('These corrections belong to another recording.');
  const list = (value, isValid) => {
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > 100000 || !value.every(isValid)) throw new Error('This file is damaged.');
    return value;
  };
  const isMark = value => isTime(value?.time) && isText(value.text);
  const isQuotation = value => isTime(value?.start) && isTime(value.end) && [value.text, value.word, value.colour].every(isText);
  const isTurn = value => isTime(value?.start) && isTime(value.end) && /^[A-Z]$/.test(value.speaker);
  const areIntegers = value => value === undefined || Array.isArray(value) && value.every(Number.isInteger);
  const isEdit = value => isText(value?.was) && isText(value.text) && areIntegers(value.confirmed) && areIntegers(value.breaks);
  const isStep = value => Array.isArray(value?.changes) && value.changes.every(({ id, before, after }) =>
    indexOfId.has(id) && [before, after].every(edit => edit === null || isEdit(edit) && edit.was === originalText(original(id))))
    && Array.isArray(value.parts) && value.parts.every(({ name, from, back, before, after }) => {
      const isItem = { notes: isMark, marks: isMark, quotations: isQuotation, turns: isTurn }[name];
      const isValid = value => isItem ? value === null || Array.isArray(value) && value.every(isItem)
        : ['details', 'speakers'].includes(name) && Object.values(value ?? 0).every(isText);
      return areIntegers([from ?? 0, back ?? 0]) && isValid(before) && isValid(after);
    });
  const steps = value => Array.isArray(value) && value.every(isStep) ? value : [];
  const details = {};
  for (const name of ['title', 'people', 'place', 'note', 'consent']) {
    if (isText(json.details?.[name])) details[name] = json.details[name];
  }
  const speakers = {};
  for (const [label, name] of Object.entries(json.speakers ?? {})) {
    if (/^[A-Z]$/.test(label) && isText(name)) speakers[label] = normal(name);
  }
  return {
    edits: list(json.segments, value => Number.isInteger(value?.id) && isEdit(value)),
    turns: json.turns === undefined ? null : withoutOverlaps(list(json.turns, isTurn)), past: steps(json.past), future: steps(json.future),
    details, speakers, notes: list(json.notes, isMark).map(({ time, text }) => ({ time, text })),
    marks: json.marks === undefined ? null : list(json.marks, isMark).map(({ time, text }) => ({ time, text })),
    quotations: list(json.quotations, isQuotation)
      .map(({ start, end, text, word, colour }) => ({ start, end, text, word, colour })),
    name: isText(json.editor?.name) ? json.editor.name : '', saved: isTime(json.editor?.saved) ? json.editor.saved : 0,
    pass: json.recording.pass, isUnsaved: json.isUnsaved === true, lines: json.lines, open: isText(json.open?.text) && isText(json.open?.was) ? json.open : null
  };
}
// Returns the turns without those that overlap an earlier one.
function withoutOverlaps(turns) {
  let end = 0;
  return turns.map(({ start, end, speaker }) => ({ start, end, speaker })).sort((a, b) => a.start - b.start || b.end - a.end)
    .filter(turn => turn.start >= end - 1e-4 && (end = turn.end) > turn.start);
}
// Whether this transcript already contains corrections that were made to an earlier version of it.
function isImported(corrections) {
  if (server || corrections.isUnsaved || !corrections.edits.length || corrections.pass === undefined || !(corrections.pass < identity.pass)) return false;
  const whole = ' ' + segmentIds.map(id => originalText(original(id))).join(' ') + ' ';
  return corrections.edits.every(edit => whole.includes(' ' + normal(edit.text) + ' ') || !normal(edit.text));
}
// Replaces the corrections with those from a draft or file. Keeps only those that match this transcript.
function adopt(corrections) {
  if (open) close();
  if (isImported(corrections)) {
    try { localStorage.removeItem(storageKey); } catch { /* Without storage, there is no draft. */ }
    return showStatus('The recorder has imported the corrections: this transcript contains them');
  }
  const oldIds = [...state.edits.keys()];
  state.edits.clear();
  let mismatches = 0;
  for (const { id, was: before, text, confirmed, breaks, joined } of corrections.edits) {
    const segment = indexOfId.has(id) ? original(id) : null;
    if (segment && originalText(segment) === before) {
      const inner = (breaks ?? []).filter(at => at > 0 && at < split(text).length).sort((a, b) => a - b);
      state.edits.set(id, { was: before, text: normal(text), confirmed: confirmed ?? [], ...(inner.length ? { breaks: inner } : {}),
        ...(joined === true && indexOfId.get(id) ? { joined } : {}) });
    } else if (server && corrections.isUnsaved && corrections.lines === segmentIds.length && segment && originalText(segment) !== normal(text)) {
      // Somebody else has saved this line in the meantime; the unsaved change here takes precedence.
      state.edits.set(id, { was: originalText(segment), text: normal(text), confirmed: [] });
    } else if (!segment || originalText(segment) !== normal(text)) mismatches++;
  }
  const { details, speakers, turns, notes, marks, quotations } = corrections, hadTurns = state.turns;
  Object.assign(state, { details, speakers, turns, notes, marks, quotations });
  for (const id of new Set([...oldIds, ...state.edits.keys()])) render(id);
  if (hadTurns || turns) renderTurns();
  arrange();
  if (corrections.name) state.name = corrections.name;
  state.saved = corrections.saved;
  past.splice(0, past.length, ...(mismatches ? [] : corrections.past));
  future.splice(0, future.length, ...(mismatches ? [] : corrections.future));
  // Corrections from a file are not in the server's archive yet.
  isUnsaved = corrections.isUnsaved || Boolean(server && !corrections.open);
  showAnnotations();
  showRemaining();
  showStatus(!mismatches ? '' : (mismatches === 1 ? 'One correction was made to another version of this transcript and is'
    : mismatches + ' corrections were made to another version of this transcript and are') + ' not shown');
}
// The file name contains the recorder and the recording's number, because browsers put all downloads into one folder.
const fileName = identity && ['corrections', (data.recorder ?? '').replace(/[^\p{L}\p{N}._-]+/gu, '-'), identity.id].filter(Boolean).join(' ') + '.html';
// Includes the file name that earlier versions used, and the names that browsers give to repeated downloads.
const fileNames = identity ? [fileName, 'corrections.html', ...[1, 2].flatMap(i => [' (' + i + ')', '(' + i + ')']).map(tail => fileName.replace('.html', tail + '.html'))] : [];
// The folder that the user chose for this recording. After a restart, browsers ask again for write permission.
let savedFolder = null;
function withFolderStore(mode, action) {
  return new Promise((done, fail) => {
    const request = indexedDB.open('fieldscribe', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('folders');
    request.onerror = () => fail(request.error);
    request.onsuccess = () => {
      try {
        const answer = action(request.result.transaction('folders', mode).objectStore('folders'));
        answer.onsuccess = () => done(answer.result);
        answer.onerror = () => fail(answer.error);
      } catch (error) { fail(error); }
      request.result.close();
    };
  });
}
async function chosenFolder() {
  try { savedFolder ??= await withFolderStore('readonly', store => store.get(identity.sound)) ?? null; } catch { /* The user chooses a folder instead. */ }
  if (!savedFolder) return null;
  try {
    const options = { mode: 'readwrite' };
    const answer = await savedFolder.queryPermission?.(options) ?? 'granted';
    if (answer === 'granted' || await savedFolder.requestPermission(options) === 'granted') return await isRecordingFolder(savedFolder) ? savedFolder : null;
  } catch { /* The folder is gone. */ }
  return null;
}
const isRecordingFolder = async folder => (await (await (await folder.getFileHandle('index.html')).getFile()).text()).includes(identity.sound);
function correctionsPage() {
  const json = JSON.stringify(correctionsDocument()).replace(/[<>&\u2028\u2029]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  const plain = text => text.replace(/[&<>]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
  const list = [...state.edits].filter(([, edit]) => edit.text !== edit.was)
    .map(([, edit]) => `<li><del>${plain(edit.was)}</del> <ins>${plain(edit.text)}</ins></li>`).join('\n');
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${data.bridge.digest}'">
<title>Corrections</title></head><body>
<h1>Corrections</h1>
<p>Keep this file in its recording’s folder: index.html there shows the corrections, and fieldscribe import adds them to the recorder.</p>
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
// Sends the corrections to the server, which adds them to the archive and reports whether others have saved theirs.
async function send() {
  if (!isUnsaved) return showStatus('There is nothing to save');
  if (!state.name) {
    byId('work').open = true;
    byId('about-name').focus();
    return showStatus('Enter your name under “Corrected by” first; then save again');
  }
  const sentCount = changeCount, text = JSON.stringify(correctionsDocument());
  showStatus('Saving …');
  let answer;
  try {
    const response = await fetch(server.save + '?reading=' + server.reading + '&seen=' + seenTranscript,
      { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text });
    answer = await response.json();
    if (!response.ok) return showStatus('Not saved, but kept in this browser: ' + answer.told);
  } catch { return showStatus('Not saved, but kept in this browser: the server does not answer'); }
  // If others have saved corrections, this page does not have them, so `seenTranscript` does not change.
  if (!answer.others) seenTranscript = answer.reading;
  if (sentCount === changeCount && !open) {
    isUnsaved = false;
    try { localStorage.removeItem(storageKey); } catch { /* Without storage, there is no draft. */ }
  }
  if (!answer.others) return showStatus(isUnsaved ? notSaved : answer.told);
  // Reloading the page shows the others' corrections.
  if (isUnsaved || open) return showStatus(answer.told + ' Reload the page to see it.');
  try { sessionStorage.setItem(storageKey, answer.told); } catch { /* The page does not show the message. */ }
  if (now() > 0) history.replaceState(null, '', '#t=' + now() / 1000);
  location.reload();
}
const importHint = 'The recorder imports the corrections when you plug in the stick';
async function save() {
  if (open) commit();
  if (server) return send();
  state.saved = Date.now() / 1000;
  let message = '';
  try {
    if (window.showDirectoryPicker) {
      let folder = await chosenFolder();
      if (!folder) {
        folder = await showDirectoryPicker({ mode: 'readwrite', id: 'fieldscribe' });
        if (!await isRecordingFolder(folder)) throw new Error('That is another recording’s folder.');
        savedFolder = folder;
        try { await withFolderStore('readwrite', store => store.put(folder, identity.sound)); } catch { /* The user chooses it again the next time. */ }
      }
      for (const [name, text] of [[fileName, correctionsPage()], ['corrections.json', JSON.stringify(correctionsDocument()) + '\n']]) {
        const writer = await (await folder.getFileHandle(name, { create: true })).createWritable();
        await writer.write(text);
        await writer.close();
      }
      message = 'Saved beside this page' + (folder.name ? ', in ' + folder.name : '') + '. ' + importHint;
    } else {
      download(fileName, 'text/html', correctionsPage());
      message = 'Saved as ' + fileName + ' in your downloads. Move it into this page’s folder, and the page shows the corrections';
    }
  } catch (error) {
    if (error.name === 'AbortError') return;
    if (error.name !== 'NotFoundError' && error.name !== 'SecurityError' && error.name !== 'NotAllowedError') {
      return showStatus(error.message);
    }
    download(fileName, 'text/html', correctionsPage());
    message = 'Saved as ' + fileName + ' in your downloads. Move it into this page’s folder, and the page shows the corrections';
  }
  isUnsaved = false;
  try { localStorage.setItem(storageKey, JSON.stringify(withUndo({ ...correctionsDocument(), isUnsaved }))); } catch { /* The file has the corrections. */ }
  showStatus(message);
}
// Returns parsed corrections as text, without who saved them and when.
const contentOf = ({ edits, turns, details, speakers, notes, marks, quotations }) =>
  JSON.stringify([edits, turns, details, speakers, notes, marks, quotations]);
// Shows corrections from a file. If this browser has a different draft, the user chooses between them.
function offer(corrections) {
  if (!isUnsaved && (corrections.saved >= state.saved || !state.edits.size)) return adopt(corrections);
  if (Math.abs(corrections.saved - state.saved) < 1e-3) return;
  try {
    if (contentOf(parseCorrections(JSON.stringify(correctionsDocument()))) === contentOf(corrections)) return;
  } catch { /* The draft is invalid, so it differs from the file. */ }
  const bar = byId('choice');
  byId('choice-text').textContent = 'The corrections file, saved ' + new Date(corrections.saved * 1000).toLocaleString()
    + (corrections.name ? ' by ' + corrections.name : '') + ', differs from the corrections kept in this browser.';
  byId('choice-file').onclick = () => { bar.hidden = true; adopt(corrections); if (!server) isUnsaved = false; };
  byId('choice-mine').onclick = () => { bar.hidden = true; };
  bar.hidden = false;
}
// Loads the corrections beside the page. Several files are versions of the same corrections, so the latest counts.
function loadBeside() {
  let latest = -1;
  for (const name of fileNames) {
    const frame = make('iframe', { sandbox: 'allow-scripts', hidden: '', title: 'corrections' });
    const done = () => { frame.remove(); removeEventListener('message', receive); };
    const receive = event => {
      if (event.source !== frame.contentWindow || typeof event.data !== 'string' || event.data.length > 32e6) return;
      done();
      try {
        const corrections = parseCorrections(event.data);
        if (corrections.saved > latest) { latest = corrections.saved; offer(corrections); }
      } catch (error) { showStatus(name + ': ' + error.message); }
    };
    addEventListener('message', receive);
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
    offer(parseCorrections(text));
  } catch (error) { showStatus(file.name + ': ' + (error instanceof SyntaxError ? 'This is not a corrections file.' : error.message)); }
}
