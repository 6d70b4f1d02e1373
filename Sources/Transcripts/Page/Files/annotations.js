
// Everything except the words: the recording's details, notes, bookmarks, quotations, speakers and keys.
const ms = seconds => seconds * 1000;
const originalMarks = (data.marks ?? []).map((time, i) => ({ time: time / 1000, text: data.markTexts?.[i] ?? '' }));
const allMarks = () => state.marks ?? originalMarks;
const colours = ['yellow', 'green', 'blue', 'red'], colourOf = quotation => colours.includes(quotation.colour) ? quotation.colour : 'yellow';
const quotedWords = ({ start, end }) => segments.slice(Math.max(0, indexAt(segmentStarts, ms(start) + 1)), indexAt(segmentStarts, ms(end)) + 1)
  .flatMap(wordsOf).filter(word => startOf(word) > ms(start) - 1 && startOf(word) < ms(end) - 1);
function showQuotations() {
  for (const word of main.querySelectorAll('.quoted')) word.classList.remove('quoted', ...colours);
  for (const quotation of state.quotations) for (const word of quotedWords(quotation)) word.classList.add('quoted', colourOf(quotation));
}
let hadNotes = false, hadMarks = false;
function showAnnotations() {
  for (const element of main.querySelectorAll('.note')) element.remove();
  hadMarks ||= Boolean(state.marks);
  if (hadMarks) for (const element of main.querySelectorAll('.mark')) {
    const line = element.closest('.s');
    if (line.dataset.n) element.remove(); else line.remove();
  }
  const insert = ({ time, text }, kind, sign, name = kind) => {
    const lines = segments.filter(line => line.dataset.n);
    const line = lines[Math.max(0, indexAt(lines.map(startOf), ms(time)))];
    if (!line) return;
    unfold(line);
    const content = line.querySelector('.x');
    const element = make('span', { class: kind, 'data-t': Math.round(ms(time)), dir: 'auto' }, sign + ' ' + (text || name));
    const after = [...content.children].find(child => Number(child.dataset.t) > ms(time));
    content.insertBefore(element, after ?? null);
    content.insertBefore(document.createTextNode(' '), after ?? element);
  };
  if (hadMarks) for (const mark of allMarks()) insert(mark, 'mark', '⚑', 'bookmark');
  for (const note of state.notes) insert(note, 'note', '✎');
  data.marks = allMarks().map(mark => ms(mark.time)).sort((a, b) => a - b);
  data.markTexts = allMarks().sort((a, b) => a.time - b.time).map(mark => mark.text);
  if (hadMarks || state.notes.length || hadNotes) refresh();
  hadNotes = Boolean(state.notes.length);
  showQuotations();
  for (const name of ['title', 'people', 'place', 'note', 'consent']) byId('about-' + name).value = state.details[name] ?? '';
  byId('about-name').value = state.name;
  headline.textContent = state.details.title || heading;
  showDetails();
  showPeople();
  listAnnotations();
  drawn = '';
  show(now());
}
const headline = document.querySelector('h1'), heading = headline.textContent;
const detailNames = [['people', 'People'], ['place', 'Place'], ['note', 'Note'], ['consent', 'Consent']];
// A click on the heading edits the title.
headline.addEventListener('click', () => {
  if (!identity || headline.querySelector('input') || !getSelection().isCollapsed) return;
  const before = state.details.title ?? '';
  const field = make('input', { id: 'title', 'aria-label': 'Title', dir: 'auto', value: before, placeholder: heading });
  let isDone = false;
  const finish = mustSave => {
    if (isDone) return;
    isDone = true;
    if (mustSave && normal(field.value) !== before) step([], { details: { ...state.details, title: normal(field.value) } });
    showAnnotations();
  };
  field.addEventListener('blur', () => finish(true));
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    finish(event.key === 'Enter');
  });
  headline.replaceChildren(field);
  field.focus();
  field.select();
});
// Shows the recording's details above the transcript.
function showDetails() {
  for (const [name, title] of detailNames) {
    const text = normal(state.details[name] ?? ''), facts = document.querySelector('.facts');
    let fact = [...facts.children].find(candidate => candidate.querySelector('dt').textContent === title);
    if (!fact && text) facts.append(fact = make('div', {}, make('dt', {}, title), make('dd', { dir: 'auto' })));
    if (!fact) continue;
    fact.hidden = !text;
    fact.querySelector('dd').textContent = text;
  }
}
function listAnnotations() {
  const row = (time, ...parts) => make('li', {}, make('a', { href: '#t=' + time, 'data-t': Math.round(ms(time)) }, clock(ms(time))), ' ', ...parts);
  const button = (text, label, action) => {
    const element = make('button', { type: 'button', 'aria-label': label }, text);
    element.addEventListener('click', action);
    return element;
  };
  const textRows = (items, name, set) => items.map((item, i) => {
    const field = make('input', { value: item.text, 'aria-label': name + ' at ' + clock(ms(item.time)) });
    field.addEventListener('change', () => {
      set(items.map((other, j) => i === j ? { ...item, text: field.value } : other));
    });
    return row(item.time, field, button('✕', 'Remove this ' + name, () => set(items.filter((_, j) => i !== j))));
  });
  byId('marks').replaceChildren(...textRows(allMarks(), 'bookmark', setMarks));
  byId('notes').replaceChildren(...textRows(state.notes, 'note', setNotes));
  byId('quotations').replaceChildren(...state.quotations.map((quotation, i) =>
    row(quotation.start, make('q', { class: colourOf(quotation), dir: 'auto' }, quotation.text),
      ' ' + quotation.word + ' ', button('Copy', 'Copy this quotation', () => copyQuotation(quotation)),
      button('✕', 'Remove this quotation', () => setQuotations(state.quotations.filter((_, j) => i !== j))))));
  byId('quotations-csv').disabled = !state.quotations.length;
}
// Updates the speakers' names everywhere, and adds new speakers.
function showPeople() {
  const all = labels(), isSeveral = all.length > 1;
  if (isSeveral && !byId('speaker')) {
    const choice = make('select', { id: 'speaker' }, make('option', { value: '' }, 'everybody'));
    byId('help-button').before(make('label', {}, 'Speaker ', choice), ' ');
    choice.addEventListener('change', filterSpeaker);
  }
  const choice = byId('speaker');
  if (choice) {
    const chosenLabel = choice.value, shownLabels = [...choice.options].map(option => option.value).filter(Boolean);
    if (shownLabels.join() !== (isSeveral ? all : []).join()) {
      const options = (isSeveral ? all : []).map(label => make('option', { value: label, 'data-who': label }));
      choice.replaceChildren(choice.options[0], ...options);
      choice.value = all.includes(chosenLabel) ? chosenLabel : '';
    }
    choice.closest('label').hidden = !isSeveral;
  }
  if (identity) for (const label of isSeveral ? all : []) if (!personField(label)) {
    const field = make('input', { class: 'person', 'data-person': label, dir: 'auto' });
    field.addEventListener('change', renameSpeaker);
    byId('about-place').closest('label').before(make('label', {}, 'Speaker ' + label + ' ', field));
  }
  for (const field of document.querySelectorAll('.person')) {
    field.value = state.speakers[field.dataset.person] ?? '';
    field.closest('label').hidden = !all.includes(field.dataset.person);
  }
  if (state.turns || hadTurns) showWhoSpoke(all);
  hadTurns = Boolean(state.turns);
  for (const element of document.querySelectorAll('[data-who]')) showName(element);
  refilter();
}
let hadTurns = false, speakersFact = document.querySelector('.facts .who')?.closest('div') ?? null;
const originalSpeakers = speakersFact?.querySelector('dd').cloneNode(true);
// Shows each person's speaking time.
function showWhoSpoke(all) {
  if (!speakersFact) {
    speakersFact = make('div', {}, make('dt', {}, 'Who spoke'), make('dd', { dir: 'auto' }));
    document.querySelector('.facts').append(speakersFact);
  }
  speakersFact.hidden = all.length < 2;
  const parts = all.flatMap(label => {
    const length = state.turns?.reduce((sum, turn) => sum + (turn.speaker === label ? turn.end - turn.start : 0), 0);
    return [', ', nameChip(label), '\u00a0' + clock(ms(length ?? 0))];
  });
  speakersFact.querySelector('dd').replaceChildren(...(state.turns ? parts.slice(1) : originalSpeakers?.cloneNode(true).childNodes ?? []));
  makeButtons();
}
const personField = label => document.querySelector(`.person[data-person="${label}"]`);
function renameSpeaker(event) {
  const field = event.target;
  step([], { speakers: { ...state.speakers, [field.dataset.person]: normal(field.value) } });
}
for (const field of document.querySelectorAll('.person')) field.addEventListener('change', renameSpeaker);
// The menu for a speaker, the selection, or downloads.
const menu = make('div', { id: 'menu', role: 'menu', hidden: '' });
// `applyName` applies the name in the menu's field; null if the menu has no field.
let chip = null, applyName = null;
document.body.append(menu);
function closeMenu() {
  applyName = null;
  const hadFocus = menu.contains(document.activeElement);
  menu.hidden = true;
  menu.replaceChildren();
  if (hadFocus) chip?.focus?.();
}
function showMenu(element, name, ...items) {
  [chip, applyName] = [element, null];
  menu.setAttribute('aria-label', name);
  menu.replaceChildren(...items);
  menu.hidden = false;
  const box = chip.getBoundingClientRect(), maxLeft = document.documentElement.clientWidth - menu.offsetWidth - 8;
  const isBelow = box.bottom + menu.offsetHeight + 8 < innerHeight || box.top < menu.offsetHeight + 8;
  menu.style.left = scrollX + Math.max(8, Math.min(box.left, maxLeft)) + 'px';
  menu.style.top = scrollY + (isBelow ? box.bottom + 4 : box.top - menu.offsetHeight - 4) + 'px';
  if (chip instanceof Element) menu.querySelector('button:not([hidden])')?.focus({ preventScroll: true });
}
const menuItem = (content, action) => {
  const element = make('button', { type: 'button', role: 'menuitem' }, content);
  element.addEventListener('click', action);
  return element;
};
// Opens a menu that assigns a line, the selection, the rest of the recording, or all of a speaker's lines to another speaker.
// `line` is undefined for a speaker without recognized words.
function openAssignMenu(element, line, scope, label = line.dataset.p ?? 'A') {
  if (open) commit();
  const all = labels(), name = state.speakers[label] || label, chosen = selected(), isSeveral = all.length > 1;
  const scopes = chosen ? [['selection', 'The selection', chosen.start, chosen.end]] : [];
  if (line) {
    const from = startOf(line) / 1000, to = Number(line.dataset.e) / 1000;
    scopes.push(['line', 'This line', from, to], ...(isSeveral ? [['own', 'Everything ' + name + ' says from here on', from, Infinity, label]] : []),
      ['rest', 'Everything from here on', from, Infinity]);
  }
  if (isSeveral || !line) scopes.push(['all', 'Everything ' + name + ' says', 0, Infinity, label]);
  const what = make('select', { 'aria-label': 'What to assign' }, ...scopes.map(([value, text]) => make('option', { value }, text)));
  what.value = scope ?? scopes[0][0];
  const assign = other => {
    const [value, , start, end, only] = scopes.find(([value]) => value === what.value), speakers = { ...state.speakers };
    closeMenu();
    if (value === 'all') {
      // The remaining speaker keeps its name or, if it has none, gets the merged speaker's.
      if (!speakers[other] && speakers[label]) speakers[other] = speakers[label];
      if (other !== label) delete speakers[label];
    }
    step([], { turns: reassigned(start, end, other, only), speakers });
    getSelection().removeAllRanges();
  };
  const allLabels = all.length ? all : ['A'];
  const newLabel = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].find(letter => !allLabels.includes(letter) && !state.speakers[letter] && !document.querySelector(`.who[data-who="${letter}"]`));
  const items = [...allLabels, ...(newLabel ? [''] : [])].map(letter => menuItem(letter ? nameChip(letter) : 'A new speaker', () => assign(letter || newLabel)));
  // Hides choices without an effect: the same speaker, or a new speaker for all lines, which would only change the label.
  const hideUselessItems = () => items.forEach((item, i) => {
    item.hidden = allLabels[i] ? allLabels[i] === label && !['selection', 'rest'].includes(what.value) : what.value === 'all';
  });
  what.addEventListener('change', hideUselessItems);
  hideUselessItems();
  showMenu(element, 'Assign to', make('label', {}, what, ' to'), ...items);
}
function assignHere() {
  const range = getSelection().isCollapsed ? null : getSelection().getRangeAt(0);
  const candidate = (range && segments.find(line => line.dataset.n && range.intersectsNode(line))) ?? open?.line ?? current?.closest('.s') ?? segments[Math.max(0, segment)];
  const line = candidate?.dataset.n ? candidate : segments.find(line => line.dataset.n);
  if (!line) return;
  bringIntoView(line);
  openAssignMenu(line.querySelector('.t'), line);
}
function openMenu(element) {
  chip = element;
  const label = chip.dataset.who, name = chip.textContent, choice = byId('speaker'), item = menuItem;
  const choose = value => {
    choice.value = value;
    choice.dispatchEvent(new Event('change'));
    closeMenu();
  };
  const first = chip.dataset.t ? chip : main.querySelector(`.who[data-who="${label}"]`);
  const items = [item('Play', () => { closeMenu(); seek(first ? startOf(first) : Number(element.dataset.from)); play(); })];
  if (identity) items.push(item('Rename', () => {
    const own = personField(label);
    const field = make('input', { 'aria-label': 'Name of speaker ' + label, dir: 'auto', value: own.value, placeholder: own.placeholder || label });
    applyName = () => {
      own.value = field.value;
      own.dispatchEvent(new Event('change'));
      closeMenu();
    };
    field.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== 'Tab') return;
      if (event.key === 'Enter') event.preventDefault();
      applyName();
    });
    menu.replaceChildren(field);
    field.select();
    field.focus();
  }), ...(element.dataset.t ? [item('Assign to …', () => openAssignMenu(element, element.closest('.s')))] : []),
  item('Merge with …', () => openAssignMenu(element, first?.closest('.s'), 'all', label)));
  if (first) items.push(choice.value === label ? item('Show everybody', () => choose('')) : item('Show only ' + name, () => choose(label)));
  showMenu(element, name, ...items);
}
menu.addEventListener('keydown', event => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key], items = [...menu.querySelectorAll('button:not([hidden])')];
  if (event.key === 'Escape') closeMenu();
  else if (by && items.length) items[(items.indexOf(document.activeElement) + by + items.length) % items.length].focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
addEventListener('pointerdown', event => { if (!menu.contains(event.target) && !applyName) closeMenu(); });
// Applies the name on `click`, not on `pointerdown`, because renaming may move the element under the pointer.
addEventListener('click', event => { if (!menu.contains(event.target)) applyName?.(); }, true);
// After a click, the focus returns to the transcript, so that its keys work; after a key press, it stays.
menu.addEventListener('click', event => { if (event.detail > 0 && menu.hidden) chip?.blur?.(); });
addEventListener('click', event => {
  const who = event.target.closest('.who');
  if (who?.isConnected && !menu.contains(who) && getSelection().isCollapsed) openMenu(who);
});
// Only names above the transcript can get the focus; there are too many in the transcript.
function makeButtons() { for (const who of document.querySelectorAll('.facts .who:not([role])')) {
  for (const [name, value] of [['role', 'button'], ['tabindex', '0'], ['aria-haspopup', 'menu']]) who.setAttribute(name, value);
  who.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    openMenu(who);
  });
} }
makeButtons();
// The panel with notes and quotations.
const work = byId('work');
byId('notes-button').addEventListener('click', () => {
  work.open = !work.open;
  if (work.open) work.querySelector('summary').focus({ preventScroll: true });
});
work.addEventListener('toggle', () => byId('notes-button').setAttribute('aria-expanded', work.open));
work.addEventListener('keydown', event => {
  if (event.key !== 'Escape') return;
  work.open = false;
  byId('notes-button').focus();
  event.preventDefault();
});
const byTime = list => [...list].sort((a, b) => (a.time ?? a.start) - (b.time ?? b.start));
const setMarks = list => step([], { marks: byTime(list) });
const setNotes = list => step([], { notes: byTime(list) });
const setQuotations = list => step([], { quotations: byTime(list) });
const secondsNow = () => Math.round(now()) / 1000;
byId('add-mark').addEventListener('click', () => setMarks([...allMarks(), { time: secondsNow(), text: '' }]));
byId('add-note').addEventListener('click', () => {
  setNotes([...state.notes, { time: secondsNow(), text: '' }]);
  byId('work').open = true;
  byId('notes').querySelectorAll('input')[state.notes.findIndex(note => note.time === secondsNow())]?.focus();
});
for (const name of ['title', 'people', 'place', 'note', 'consent']) byId('about-' + name).addEventListener('change', event => {
  step([], { details: { ...state.details, [name]: event.target.value } });
});
byId('about-name').addEventListener('change', event => {
  state.name = normal(event.target.value);
  if (server) try { localStorage.setItem('fieldscribe-name', state.name); } catch { /* The user enters it again the next time. */ }
  changed();
});

// Returns the selection as a quotation; null if no words are selected.
function selected() {
  const range = getSelection().rangeCount && !getSelection().isCollapsed ? getSelection().getRangeAt(0) : null;
  if (!range || !main.contains(range.commonAncestorContainer)) return null;
  const chosen = segments.filter(line => range.intersectsNode(line)).flatMap(wordsOf)
    .filter(word => range.intersectsNode(word));
  if (!chosen.length) return null;
  const last = chosen[chosen.length - 1], line = last.closest('.s'), after = wordsOf(line)[indexIn(last) + 1];
  return {
    start: startOf(chosen[0]) / 1000,
    end: Math.min(after ? startOf(after) : Infinity, Number(line.dataset.e)) / 1000,
    text: chosen.map(word => word.textContent).join(' ')
  };
}
function addQuotation() {
  const chosen = selected();
  if (!chosen) return showStatus('Select some words first.');
  setQuotations([...state.quotations, { ...chosen, word: normal(byId('word').value), colour: byId('colour').value }]);
  getSelection().removeAllRanges();
  showStatus('Kept as a quotation, under Notes');
}
// Returns a quotation with its source: "…" (Anna, 12:34, The mill, 26 Nov 2026). Omits unknown details.
function citation(quotation) {
  const people = new Set(labels().length > 1 ? quotedWords(quotation).map(word => word.closest('.s').dataset.p) : []);
  const recorded = new Map(shownFacts()).get('Recorded') ?? '', date = /clock unverified/.test(recorded) ? '' : dateIn(recorded);
  const source = [[...people].map(label => state.speakers[label] || 'Speaker ' + label).join(' and '), clock(ms(quotation.start)),
    state.details.title || (date ? '' : heading), date];
  return '"' + quotation.text + '" (' + source.filter(Boolean).join(', ') + ')';
}
function dateIn(text) {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const [, day, month, year] = text.match(/(\d+) ([A-Z][a-z]{2})[a-z]* (\d{4})/) ?? [];
  const [, y, m, d] = text.match(/(\d{4})-(\d\d)-(\d\d)/) ?? [];
  return day ? day + ' ' + month + ' ' + year : y ? Number(d) + ' ' + months[m - 1] + ' ' + y : '';
}
function copyQuotation(quotation) {
  const text = citation(quotation), done = () => showStatus('Copied with its source');
  // Pages loaded over plain HTTP have no `navigator.clipboard`.
  const copyByEvent = () => {
    addEventListener('copy', event => { event.clipboardData.setData('text/plain', text); event.preventDefault(); }, { once: true });
    if (document.execCommand('copy')) done(); else showStatus('This browser cannot copy.');
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, copyByEvent); else copyByEvent();
}
// Shows a menu for selected words.
let selectionTimer = 0;
document.addEventListener('selectionchange', () => {
  clearTimeout(selectionTimer);
  selectionTimer = setTimeout(() => {
    const chosen = open ? null : selected();
    if (chip instanceof Range && !menu.hidden) closeMenu();
    if (!chosen || !menu.hidden) return;
    const items = [['Copy with source', () => copyQuotation(chosen)], ...(identity ? [['Keep as quotation', addQuotation], ['Assign to …', assignHere]] : [])];
    showMenu(getSelection().getRangeAt(0).cloneRange(), 'Selection', ...items.map(([text, action]) => menuItem(text, () => { closeMenu(); action(); })));
  }, 300);
});
menu.addEventListener('mousedown', event => { if (chip instanceof Range) event.preventDefault(); });
byId('keep-quotation').addEventListener('click', addQuotation);
byId('quotations-csv').addEventListener('click', () => {
  // Spreadsheets treat text that begins with one of these characters as a formula.
  const cell = value => {
    const text = String(value).replace(/^'*[=+\-@\t\r＝＋－＠]/, "'$&");
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  const rows = state.quotations.map(({ start, end, word, colour, text }) => [start, end, word, colour, text]);
  download('quotations.csv', 'text/csv', [['start', 'end', 'word', 'colour', 'text'], ...rows]
    .map(row => row.map(cell).join(',') + '\r\n').join(''));
});

// Shows the number of remaining uncertain words, and enables undo and redo.
function showRemaining() {
  findUncertain();
  byId('left').textContent = uncertain.length === 1 ? '1 uncertain word' : uncertain.length + ' uncertain words';
  byId('undo').disabled = !past.length;
  byId('redo').disabled = !future.length;
}
byId('give').addEventListener('click', assignHere);
byId('right').addEventListener('click', confirmLine);
byId('undo').addEventListener('click', undo);
byId('redo').addEventListener('click', redo);
byId('uncertain').addEventListener('click', nextUncertain);
byId('save').addEventListener('click', save);
byId('load').addEventListener('change', event => { for (const file of event.target.files) loadFile(file); event.target.value = ''; });
byId('replace').addEventListener('submit', event => {
  event.preventDefault();
  const whole = wholeHits();
  replace(whole);
  search();
  showStatus(whole.length === 1 ? 'Replaced once' : 'Replaced ' + whole.length + ' times');
});
for (const name of ['dragover', 'drop']) addEventListener(name, event => {
  if (![...(event.dataTransfer?.types ?? [])].includes('Files')) return;
  event.preventDefault();
  if (name === 'drop') for (const file of event.dataTransfer.files) loadFile(file);
});

// The keyboard shortcuts, by the keys' positions on the keyboard; foot pedals use them, too. The user can change each.
const resume = () => { if (audio.paused) { seek(now() - 1500); play(); } else audio.pause(); };
const changeSpeed = by => {
  const choices = [...byId('speed').options], at = choices.findIndex(option => Number(option.value) === audio.playbackRate) + by;
  if (choices[at]) { byId('speed').value = choices[at].value; audio.playbackRate = Number(choices[at].value); }
};
const toggleLoop = () => { isLooping = !isLooping; if (isLooping && open) { seek(open.start - 200); play(); } };
const actions = {
  play: ['Tab', 'play, pause', resume], back: ['F1', '3 seconds back', () => seek(now() - 3000)],
  forward: ['F2', '3 seconds forward', () => seek(now() + 3000)], slower: ['F3', 'slower', () => changeSpeed(-1)],
  faster: ['F4', 'faster', () => changeSpeed(1)], loop: ['F8', 'repeat this line', toggleLoop]
};
const customKeys = (() => {
  try { return JSON.parse(localStorage.getItem('fieldscribe-keys')) ?? {}; } catch { return {}; }
})();
const codeOf = name => typeof customKeys[name] === 'string' ? customKeys[name] : actions[name][0];
// The name of the action whose key the user is changing.
let learning = null;
function listKeys() {
  byId('learn').replaceChildren(...Object.keys(actions).flatMap(name => {
    const button = make('button', { type: 'button' }, learning === name ? 'Press a key' : codeOf(name));
    button.setAttribute('aria-label', actions[name][1] + ': ' + button.textContent);
    button.addEventListener('click', () => { learning = name; listKeys(); });
    return [make('dt', {}, button), make('dd', {}, actions[name][1])];
  }));
}
addEventListener('keydown', event => {
  if (learning) {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.code !== 'Escape') customKeys[learning] = event.code;
    learning = null;
    try { localStorage.setItem('fieldscribe-keys', JSON.stringify(customKeys)); } catch { /* The keys last until the page is closed. */ }
    return listKeys();
  }
  if (!identity || event.isComposing) return;
  const inField = event.target === field, isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const actionName = Object.keys(actions).find(name => codeOf(name) === event.code);
  // Tab moves between controls, but plays while a line is edited; Shift+Tab leaves the line.
  if (actionName && isPlain && !event.shiftKey && (inField || event.code !== 'Tab' && !event.target.matches('input, textarea, select'))) {
    event.preventDefault();
    return actions[actionName][2]();
  }
  if (event.code === 'KeyS' && (event.ctrlKey || event.metaKey) && !event.shiftKey) { event.preventDefault(); return void save(); }
  if (inField) {
    const line = open?.line, at = segments.indexOf(line);
    if (/^(Arrow|Home|End|Page)/.test(event.key)) hasMovedCursor = true;
    if (event.key === 'Backspace' && isPlain && !field.selectionStart && !field.selectionEnd) {
      event.preventDefault();
      return joinLines();
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (isPlain && !event.shiftKey && isCursorInside()) return splitLine();
      commit();
      if (event.ctrlKey) edit(segments.slice(at + 1).find(line => line.dataset.n));
      else if (current) nextUncertain();
    }
    if (event.key === 'Escape') { close(); event.preventDefault(); }
    if (event.key === 'Tab') { event.preventDefault(); commit(); line?.querySelector('.t')?.focus(); }
    return;
  }
  if (event.target.matches('input:not([type=range]):not([type=checkbox]), textarea, select') || byId('help').open) return;
  const key = (event.ctrlKey || event.metaKey) && event.code === 'KeyZ' ? event.shiftKey ? 'redo' : 'undo'
    : (event.ctrlKey || event.metaKey) && event.code === 'KeyY' ? 'redo' : isPlain ? event.key : '';
  // Each action returns true if the browser must handle the key.
  const action = {
    undo, redo, d: nextUncertain, c: confirmWord, q: addQuotation, s: assignHere, r: confirmLine,
    Escape: () => { if (!menu.hidden) return closeMenu(); if (!isEditing) return true; setEditing(false); },
    Enter: () => {
      if (event.target.matches('button, a, summary, [role=button]')) return true;
      const word = current?.isConnected ? current : null, line = word?.closest('.s') ?? segments[Math.max(0, segment)];
      edit(line, word ? indexIn(word) : undefined);
    }
  }[key];
  if (action && !action()) event.preventDefault();
}, true);
setInterval(() => {
  if (isLooping && open && !audio.paused && now() > open.end + 200) seek(open.start - 200);
}, 20);

// Skips silence between the end of a line and the start of the next.
byId('silence').addEventListener('change', event => event.target.blur());
audio.addEventListener('timeupdate', () => {
  if (!byId('silence').checked || audio.paused) return;
  const line = segments[segment], next = segmentStarts[segment + 1] ?? data.duration;
  if (line?.dataset.e && now() > Number(line.dataset.e) + 400 && next - now() > 1000) seek(next - 200);
});

const updateScrollPadding = () => {
  document.documentElement.style.scrollPaddingTop = byId('bar').offsetHeight + 16 + 'px';
};
new ResizeObserver(updateScrollPadding).observe(byId('bar'));

if (identity) {
  for (const element of document.querySelectorAll('.correcting')) element.hidden = false;
  headline.title = 'Click to change the title';
  byId('edit').disabled = !segmentIds.length;
  headline.classList.add('own');
  hint();
  if (server) {
    state.name = server.name;
    try {
      state.name ||= localStorage.getItem('fieldscribe-name') ?? '';
      const message = sessionStorage.getItem(storageKey);
      sessionStorage.removeItem(storageKey);
      if (message) showStatus(message);
    } catch { /* The user enters the name when saving. */ }
  }
  listKeys();
  showAnnotations();
  // Waits for the first paint, because this reads every word.
  setTimeout(showRemaining, 50);
  try {
    const draft = localStorage.getItem(storageKey);
    if (draft) {
      const corrections = parseCorrections(draft);
      // Saved corrections are already in the transcript.
      if (!server || corrections.isUnsaved || corrections.open) adopt(corrections);
      if (isUnsaved) showStatus(notSaved);
      const line = corrections.open && indexOfId.has(corrections.open.id) && lineAt(corrections.open.id, corrections.open.from);
      if (line && textOfLine(line) === corrections.open.was) { edit(line); field.value = corrections.open.text; }
    }
  } catch { /* Another version wrote the draft; it stays stored. */ }
  // Loads the files beside the page once the page has loaded, because each is a separate document.
  if (server) { /* The server's transcript has all saved corrections. */ }
  else if (document.readyState === 'complete') loadBeside(); else addEventListener('load', loadBeside);
}
