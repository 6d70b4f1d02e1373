const byId = id => document.getElementById(id);
const audio = byId('audio'), seekBar = byId('seek'), find = byId('find'), main = byId('text');
const data = JSON.parse(byId('data').textContent);
let segments, segmentStarts, lines = null, times = null, shownWord = null, shownSegment = null;
// Updates the list of lines. There are many words, so they are collected only when they are needed.
function refresh() {
  segments = [...main.querySelectorAll('.s')];
  segmentStarts = Float64Array.from(segments, startOf);
  [lines, times, shownWord, shownSegment] = [null, null, null, null];
}
const startOf = element => Number(element.getAttribute('data-t'));
const wordsOf = line => [...line.querySelectorAll('.w')];
const starts = () => times ??= Float64Array.from(main.querySelectorAll('.w'), startOf);
refresh();
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

// Returns the index of the last entry at or before a time, in milliseconds; -1 if there is none.
const indexAt = (times, time) => {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
};
const clock = ms => {
  const s = Math.max(0, Math.floor(ms / 1000)), pad = n => String(n).padStart(2, '0');
  const minutes = pad(Math.floor(s / 60) % 60) + ':' + pad(s % 60);
  return s < 3600 ? minutes.replace(/^0/, '') : Math.floor(s / 3600) + ':' + minutes;
};

// Returns the last word that starts at or before a time; null if there is none.
function wordAt(time) {
  for (let at = indexAt(segmentStarts, time); at >= 0; at--) {
    const startedWords = wordsOf(segments[at]).filter(word => startOf(word) <= time);
    if (startedWords.length) return startedWords[startedWords.length - 1];
  }
  return null;
}

// Playback.
let pending = null, segment = -1, lastScrolledAt = 0, stopAt = null;
const now = () => pending ?? audio.currentTime * 1000;
const seek = ms => {
  const time = Math.min(Math.max(0, ms), data.duration);
  // The player cannot seek until it has loaded the file's header.
  if (audio.readyState > 0) audio.currentTime = time / 1000; else pending = time;
  [lastScrolledAt, stopAt] = [0, null];
  show(time);
};
const play = () => audio.play().catch(() => {});
const toggle = () => audio.paused ? play() : audio.pause();
audio.addEventListener('loadedmetadata', () => {
  if (pending !== null) audio.currentTime = pending / 1000;
  pending = null;
});
audio.addEventListener('error', () => { byId('trouble').hidden = false; byId('play').disabled = true; });
// The audio may have failed before this script runs.
if (audio.error) audio.dispatchEvent(new Event('error'));
const follow = () => {
  show(now());
  if (stopAt !== null && now() >= stopAt) audio.pause();
  if (!audio.paused) requestAnimationFrame(follow);
};
for (const name of ['play', 'pause', 'ended']) audio.addEventListener(name, () => {
  document.body.classList.toggle('playing', !audio.paused);
  byId('play').setAttribute('aria-label', audio.paused ? 'Play' : 'Pause');
  if (name !== 'play') stopAt = null;
  if (name === 'play') follow(); else show(now());
});
audio.addEventListener('seeked', () => show(now()));
audio.addEventListener('timeupdate', () => show(now()));

function show(ms) {
  // A seek to a word's start may end up a fraction of a millisecond before it.
  const word = wordAt(ms + 1), segmentIndex = indexAt(segmentStarts, ms + 1);
  if (word !== shownWord) {
    if (!shownWord) for (const element of main.querySelectorAll('.w.on')) element.classList.remove('on');
    shownWord?.classList.remove('on');
    shownWord = word;
    shownWord?.classList.add('on');
  }
  if (segmentIndex !== segment || (segments[segmentIndex] ?? null) !== shownSegment) {
    for (const element of main.querySelectorAll('.s.on')) element.classList.remove('on');
    shownSegment = segments[segment = segmentIndex] ?? null;
    shownSegment?.classList.add('on');
    if (!audio.paused && Date.now() - lastScrolledAt > 4000) bringIntoView(segments[segment]);
  }
  const text = clock(ms);
  if (byId('time').textContent !== text) {
    byId('time').textContent = text;
    seekBar.value = ms;
    seekBar.setAttribute('aria-valuetext', text + ' of ' + clock(data.duration));
  }
  // A zoomed waveform follows the playback unless the user has just scrolled.
  if ((ms < view[0] || ms > view[1]) && (audio.paused || Date.now() - lastScrolledAt > 4000)) setView(ms - (view[1] - view[0]) / 10, view[1] - view[0]);
  draw(ms);
}
function bringIntoView(element) {
  if (!element) return;
  element = element.closest('.quiet:not([open])') ?? element;
  const box = element.getBoundingClientRect(), top = byId('bar').getBoundingClientRect().bottom + 8, status = byId('status');
  const bottom = status.matches(':empty, .past') ? innerHeight - 24 : status.getBoundingClientRect().top;
  if (box.top >= top && box.bottom <= bottom) return;
  element.scrollIntoView({ block: 'center', behavior: reducedMotion.matches ? 'auto' : 'smooth' });
}
for (const name of ['wheel', 'touchmove']) {
  addEventListener(name, () => { lastScrolledAt = Date.now(); }, { passive: true });
}

// Unfolds the group that contains a line. A group consists of consecutive lines without speech.
function unfold(line) {
  const group = line.closest('.quiet');
  group?.replaceWith(...group.querySelectorAll('.s'));
}

// The waveform. `view` is the visible part of the recording: its start and end in milliseconds.
const canvas = byId('wave'), peaks = (data.peaks.match(/../g) ?? []).map(hex => parseInt(hex, 16)), total = Math.max(1, data.duration);
let drawn = '', width = 0, height = 0, view = [0, total];
const x = time => width * (time - view[0]) / (view[1] - view[0]);
const timeAt = x => view[0] + (view[1] - view[0]) * x / Math.max(1, width);
function setView(from, length) {
  from = Math.round(Math.min(Math.max(0, from), total - length));
  view = [from, from + length];
  [seekBar.min, seekBar.max, seekBar.value] = [...view, now()];
  draw(now());
}
// Zooms. The time at the x coordinate `at` stays there, or moves to `to`.
function zoom(by, at, to = at) {
  // The width shows at least 60 peaks and 2 seconds.
  const time = timeAt(at), minLength = Math.min(total, Math.max(2000, 60 * total / Math.max(60, peaks.length)));
  const length = Math.round(Math.min(total, Math.max(minLength, (view[1] - view[0]) * by)));
  lastScrolledAt = Date.now();
  setView(time - length * to / Math.max(1, width), length);
}
const zoomHere = by => zoom(by, x(now()), width / 2);
// The speakers' colours, which are the same in light and dark mode.
const tints = {};
function tint(label) {
  if (!tints[label]) {
    const probe = document.createElement('i');
    probe.className = 'p' + (label.charCodeAt(0) - 65) % 12;
    main.append(probe);
    tints[label] = getComputedStyle(probe).getPropertyValue('--who').trim();
    probe.remove();
  }
  return tints[label];
}
function speakingAt(time) {
  const line = segments[indexAt(segmentStarts, time)];
  return line?.dataset.p && time < Number(line.dataset.e) ? line.dataset.p : null;
}
function draw(ms) {
  const scale = devicePixelRatio || 1, played = Math.round(x(ms)), length = view[1] - view[0];
  const key = [played, width, height, scale, dark.matches, view].join();
  if (key === drawn || !width) return;
  drawn = key;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
  const colour = name => style.getPropertyValue(name).trim();
  pen.scale(scale, scale);
  const isTinted = segments.some(line => line.dataset.p);
  for (const [start, end] of data.gaps) {
    pen.fillStyle = colour('--warn-paper');
    pen.fillRect(x(start), 0, Math.max(2, x(end) - x(start)), height);
    pen.fillStyle = colour('--warn');
    pen.fillRect(x(start), height - 2, Math.max(2, x(end) - x(start)), 2);
  }
  const step = 3, top = peaks.length ? Math.max(24, ...peaks) : 1, count = Math.floor(width / step), peakAt = x => timeAt(x) / total * peaks.length;
  for (let bar = 0; bar < count; bar++) {
    let peak = 0;
    const from = Math.floor(peakAt(bar * step)), to = Math.ceil(peakAt((bar + 1) * step));
    for (let i = from; i < to; i++) if (peaks[i] > peak) peak = peaks[i];
    const tall = Math.max(2, Math.sqrt(peak / top) * (height - 8)), speaker = isTinted && speakingAt(timeAt((bar + .5) * step));
    const rest = [bar * step, (height - tall) / 2, step - 1, tall];
    pen.fillStyle = speaker ? tint(speaker) : colour(bar * step < played && !isTinted ? '--accent' : '--wave');
    pen.fillRect(...rest);
    // A tint of the text colour makes pale colours visible on a pale background, and dark colours on a dark one.
    if (speaker) {
      pen.globalAlpha = .3;
      pen.fillStyle = colour('--ink');
      pen.fillRect(...rest);
      pen.globalAlpha = 1;
    }
  }
  pen.fillStyle = colour('--mark');
  for (const mark of data.marks) {
    pen.fillRect(x(mark) - 1, 0, 2, height);
    pen.beginPath();
    pen.arc(x(mark), 4, 4, 0, 7);
    pen.fill();
  }
  pen.fillStyle = colour('--ink');
  pen.fillRect(Math.min(played, width - 2), 0, 2, height);
  // Shows which part of the recording is in view.
  if (length < total) pen.fillRect(width * view[0] / total, 0, Math.max(4, width * length / total), 2);
  pen.fillStyle = colour('--accent');
  if (isTinted) pen.fillRect(0, height - 2, Math.max(0, played), 2);
}
const dark = matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', () => draw(now()));
// Gets the canvas's size after the layout; reading it earlier would force the browser to lay out the whole transcript.
new ResizeObserver(() => {
  [width, height] = [canvas.clientWidth, canvas.clientHeight];
  draw(now());
}).observe(canvas);
// Two fingers zoom; one finger seeks, and the text follows.
const wave = canvas.parentElement, fingers = new Map(), hoverLabel = byId('under'), xOn = event => event.clientX - wave.getBoundingClientRect().left;
seekBar.addEventListener('input', () => {
  if (fingers.size > 1) return;
  seek(Number(seekBar.value));
  bringIntoView(segments[segment]);
});
wave.addEventListener('wheel', event => {
  const size = [1, 30, 300][event.deltaMode], isAcross = Math.abs(event.deltaX) > Math.abs(event.deltaY), length = view[1] - view[0];
  if (length === total && (isAcross || event.deltaY > 0)) return;
  event.preventDefault();
  lastScrolledAt = Date.now();
  if (isAcross) setView(view[0] + event.deltaX * size * length / width, length);
  else zoom(Math.exp(event.deltaY * size * (event.ctrlKey ? .01 : .002)), xOn(event));
}, { passive: false });
wave.addEventListener('dblclick', () => setView(0, total));
wave.addEventListener('pointerdown', event => { if (event.pointerType === 'touch') fingers.set(event.pointerId, xOn(event)); });
for (const name of ['pointerup', 'pointercancel']) addEventListener(name, event => { fingers.delete(event.pointerId); });
wave.addEventListener('pointermove', event => {
  const at = xOn(event), time = timeAt(at), speaker = speakingAt(time);
  if (fingers.has(event.pointerId)) {
    const spread = () => { const [a, b] = fingers.values(); return [Math.max(20, Math.abs(a - b)), (a + b) / 2]; }, before = spread();
    fingers.set(event.pointerId, at);
    if (fingers.size === 2) zoom(before[0] / spread()[0], before[1], spread()[1]);
  }
  hoverLabel.hidden = time < 0 || time > total || fingers.size > 1;
  hoverLabel.textContent = clock(time) + (speaker ? ' ' + nameNow(speaker) : '');
  hoverLabel.style.left = Math.min(Math.max(0, at - hoverLabel.offsetWidth / 2), Math.max(0, width - hoverLabel.offsetWidth)) + 'px';
});
wave.addEventListener('pointerleave', () => { hoverLabel.hidden = true; });

// A click on a word, a time, a bookmark or a word to review plays from there.
for (const area of [main, document.querySelector('footer')]) area.addEventListener('click', event => {
  const target = event.target.closest('[data-t]:not(.s, .who)');
  if (!target || !getSelection().isCollapsed) return;
  if (target.matches('a')) event.preventDefault();
  seek(Number(target.dataset.t));
  play();
});
main.addEventListener('pointerover', event => {
  const target = event.target.closest('.w');
  if (target && !target.title) target.title = clock(target.dataset.t) + ', ' + target.dataset.c + ' % confidence';
});
byId('play').addEventListener('click', toggle);
// After a choice, the focus returns to the transcript, so that its keys work.
byId('speed').addEventListener('change', event => {
  audio.playbackRate = Number(event.target.value);
  event.target.blur();
});
byId('shade').addEventListener('change', event => {
  main.classList.toggle('shaded', event.target.checked);
  event.target.blur();
});
// Shows only the lines of the chosen speaker.
function refilter() {
  const label = byId('speaker')?.value;
  for (const line of segments) line.hidden = Boolean(label) && line.dataset.p !== label;
  for (const group of main.querySelectorAll('.quiet')) group.hidden = Boolean(label);
}
function filterSpeaker(event) {
  refilter();
  event.target.blur();
}
byId('speaker')?.addEventListener('change', filterSpeaker);
byId('help-button').addEventListener('click', () => byId('help').showModal());
// The menu is a second row on wide screens. On others, it covers the text, so most buttons close it.
const bar = byId('bar'), wide = matchMedia('(min-width: 62.5rem)');
function setMenu(isOpen) {
  bar.classList.toggle('more', isOpen);
  byId('menu-button').setAttribute('aria-expanded', isOpen);
}
byId('menu-button').addEventListener('click', () => setMenu(!bar.matches('.more')));
bar.addEventListener('click', event => {
  if (!wide.matches && event.target.closest('#tools button:not(#download), #edit, #notes-button, #save')) setMenu(false);
}, true);
bar.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.defaultPrevented || !bar.matches('.more')) return;
  setMenu(false);
  byId('menu-button').focus();
});
function focusSearch() {
  if (!find.offsetParent) setMenu(true);
  find.focus();
}
// After a click, the focus returns to the transcript; after a key press, it stays on the button.
bar.addEventListener('click', event => { if (event.detail > 0) event.target.closest('button')?.blur(); });
// Plays a word from the list of words to review.
document.querySelector('footer').addEventListener('click', event => {
  const word = event.target.closest('.hear');
  if (!word) return;
  seek(Number(word.dataset.from) - 250);
  play();
  stopAt = Number(word.dataset.to) + 250;
});

// The search for words, and for phrases within a line.
let hits = [], hit = -1;
const index = () => lines ??= segments.map(segment => {
  const elements = wordsOf(segment);
  return { elements, forms: [fold, plain].map(form => {
    let text = '';
    return { ends: elements.map(element => {
      const part = form(element.textContent);
      if (part) text += (text && ' ') + part;
      return text.length;
    }), text };
  }) };
});
// Searches and goes to the first hit, or to the first one at or after a time in milliseconds. Does not scroll if `isStill`.
function search(from, isStill) {
  for (const element of hits.flat()) element.classList.remove('hit', 'at');
  hits = [];
  hit = -1;
  const queries = [fold(find.value).trim().replace(/\s+/g, ' '), plain(find.value)];
  if (queries[0]) for (const { elements, forms } of index()) {
    const ranges = [];
    forms.forEach(({ text, ends }, i) => {
      const query = queries[i];
      for (let at = text.indexOf(query); query && at >= 0; at = text.indexOf(query, at + query.length)) {
        const first = ends.findIndex(end => end > at), last = ends.findIndex(end => end >= at + query.length);
        // The form `plain` adds hits at the start of a word that `fold` did not find.
        if (i && (at && text[at - 1] !== ' ' || ranges.some(range => range[0] <= last && first <= range[1]))) continue;
        ranges.push([first, last]);
      }
    });
    for (const [first, last] of ranges.sort((a, b) => a[0] - b[0])) hits.push(elements.slice(first, last + 1));
  }
  for (const element of hits.flat()) element.classList.add('hit');
  if (hits.length) go(from ? Math.max(0, hits.findIndex(([word]) => startOf(word) >= from)) : 0, isStill); else showHitCount();
}
function go(index, isStill) {
  for (const element of hits[hit] ?? []) element.classList.remove('at');
  hit = (index + hits.length) % hits.length;
  for (const element of hits[hit]) element.classList.add('at');
  if (!isStill) {
    lastScrolledAt = Date.now();
    bringIntoView(hits[hit][0]);
  }
  showHitCount();
}
function showHitCount() {
  byId('hits').textContent = hits.length ? hit + 1 + ' of ' + hits.length : find.value.trim() ? 'no hits' : '';
  byId('previous').disabled = byId('next').disabled = !hits.length;
}
const moveHit = by => { if (hits.length) go(hit + by); };
find.addEventListener('input', () => search());
find.form.addEventListener('submit', event => event.preventDefault());
find.addEventListener('keydown', event => {
  if (event.key === 'Enter') {
    event.preventDefault();
    // If the menu covers the text, it also covers the current hit.
    if (wide.matches || !bar.matches('.more')) return moveHit(event.shiftKey ? -1 : 1);
    setMenu(false);
    find.blur();
    bringIntoView(hits[hit]?.[0]);
  }
  if (event.key === 'Escape') { find.value = ''; search(); find.blur(); event.preventDefault(); }
});
byId('previous').addEventListener('click', () => moveHit(-1));
byId('next').addEventListener('click', () => moveHit(1));

// Keys.
const nudge = (times, by) => {
  const at = indexAt(times, now() + 1) + by;
  if (times.length) seek(times[Math.min(Math.max(0, at), times.length - 1)]);
};
const keys = {
  ' ': toggle, 'k': toggle, '/': focusSearch, '?': () => byId('help').showModal(),
  'ArrowLeft': event => event.shiftKey ? nudge(starts(), -1) : seek(now() - 3000),
  'ArrowRight': event => event.shiftKey ? nudge(starts(), 1) : seek(now() + 3000),
  'ArrowUp': () => { nudge(segmentStarts, -1); bringIntoView(segments[segment]); },
  'ArrowDown': () => { nudge(segmentStarts, 1); bringIntoView(segments[segment]); },
  'Home': () => seek(0), '+': () => zoomHere(.5), '=': () => zoomHere(.5), '-': () => zoomHere(2),
  'm': () => { const mark = data.marks.find(mark => mark > now() + 1); if (mark !== undefined) seek(mark); },
  'n': () => moveHit(1), 'N': () => moveHit(-1)
};
addEventListener('keydown', event => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
  if (target.matches('input:not([type=range]):not([type=checkbox]), textarea, select')) return;
  if (event.key === ' ' && target.matches('button, a, summary, [role=button]')) return;
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action(event);
});

// Links into the recording: #t=12.5 is a time, #q=words is a search, and #t=12.5&hit=words is a hit in the line at that time.
function followLink() {
  const parameters = new URLSearchParams(location.hash.slice(1)), words = parameters.get('hit') || parameters.get('q');
  if (words) { find.value = words; search(); }
  if (parameters.get('t') && Number(parameters.get('t')) >= 0) {
    const time = Number(parameters.get('t')) * 1000, line = segments[indexAt(segmentStarts, time + 1)];
    const hitInLine = parameters.get('hit') ? hits.findIndex(([word]) => word.closest('.s') === line) : -1;
    if (hitInLine >= 0) {
      go(hitInLine);
      seek(startOf(hits[hitInLine][0]));
      return hits[hitInLine][0];
    }
    seek(time);
    bringIntoView(segments[segment]);
    return segments[segment];
  }
  // Playback will start at the hit.
  if (hits.length) seek(startOf(hits[hit][0]));
  return hits[hit]?.[0];
}
