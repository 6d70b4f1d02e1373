const find = document.getElementById('find'), told = document.getElementById('hits');
const items = [...document.querySelectorAll('.list li')];
const texts = JSON.parse(document.getElementById('data').textContent);
const first = items.map(item => item.querySelector('.words').textContent);
let folded = null;
// The texts in the form `plain`, computed when they are needed.
const plainTexts = [];
function wordsIn(text, wanted) {
  const places = [];
  for (let at = text.indexOf(wanted); wanted && at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    if (!at || text[at - 1] === ' ') places.push(at);
  }
  return places;
}
// Returns the start and length of the words that have a given part of the text's `plain` form.
function wordsAt(text, from, length) {
  let said = 0, start = -1;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const form = plain(word);
    if (!form) continue;
    said += (said && 1) + form.length;
    if (start < 0 && said > from) start = index;
    if (said >= from + length) return [start, index + word.length - start];
  }
}
function excerpt(place, text, at, length) {
  const mark = document.createElement('mark');
  mark.className = 'hit';
  mark.textContent = text.slice(at, at + length);
  // Cuts the excerpt between words.
  const start = Math.max(0, at - 60), end = at + length + 90, between = text.lastIndexOf(' ', end);
  const from = start && start + 1 + text.slice(start, at).indexOf(' '), to = end >= text.length ? text.length : between < at + length ? end : between;
  place.replaceChildren((from ? '… ' : '') + text.slice(from, at), mark,
    text.slice(at + length, to) + (to < text.length ? ' …' : ''));
}
function search() {
  const query = find.value.trim().replace(/\s+/g, ' '), wanted = fold(query), said = plain(query);
  folded ??= texts.map(fold);
  let count = 0, shown = 0;
  items.forEach((item, i) => {
    const place = item.querySelector('.words'), link = item.querySelector('a');
    const titled = wanted && fold(link.textContent).includes(wanted);
    const exact = wanted ? folded[i].split(wanted).length - 1 : 0;
    const alike = exact || !said ? [] : wordsIn(plainTexts[i] ??= plain(texts[i]), said), found = exact + alike.length;
    count += found;
    item.hidden = Boolean(wanted) && !found && !titled;
    if (!item.hidden) shown++;
    link.href = link.dataset.href + (found ? '#q=' + encodeURIComponent(query) : '');
    // If folding changes the text's length, the excerpt is its beginning.
    const there = alike.length ? wordsAt(texts[i], alike[0], said.length) : null;
    if (there) excerpt(place, texts[i], ...there);
    else if (exact && folded[i].length === texts[i].length) {
      excerpt(place, texts[i], folded[i].indexOf(wanted), wanted.length);
    } else place.textContent = first[i];
  });
  told.textContent = !wanted ? '' : shown
    ? count + (count === 1 ? ' hit' : ' hits') + ' in ' + shown + ' of ' + items.length : 'no hits';
  for (const list of document.querySelectorAll('.list')) {
    const none = !list.querySelector('li:not([hidden])');
    list.hidden = none;
    if (list.previousElementSibling?.matches('h2')) list.previousElementSibling.hidden = none;
  }
}
find.addEventListener('input', search);
find.form.addEventListener('submit', event => event.preventDefault());
addEventListener('keydown', event => {
  if (event.key === '/' && event.target !== find) { event.preventDefault(); find.focus(); }
  if (event.key === 'Escape' && event.target === find) { find.value = ''; search(); }
});
