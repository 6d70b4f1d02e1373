'use strict';
const find = document.getElementById('find'), told = document.getElementById('hits');
const items = [...document.querySelectorAll('.list li')];
const texts = JSON.parse(document.getElementById('data').textContent);
const fold = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const first = items.map(item => item.querySelector('.words').textContent);
let folded = null;
function excerpt(place, text, at, length) {
  const mark = document.createElement('mark');
  mark.className = 'hit';
  mark.textContent = text.slice(at, at + length);
  const from = Math.max(0, at - 60), to = Math.min(text.length, at + length + 90);
  place.replaceChildren((from ? '… ' : '') + text.slice(from, at), mark,
    text.slice(at + length, to) + (to < text.length ? ' …' : ''));
}
function search() {
  const query = find.value.trim().replace(/\s+/g, ' '), wanted = fold(query);
  folded ??= texts.map(fold);
  let count = 0, shown = 0;
  items.forEach((item, i) => {
    const place = item.querySelector('.words'), link = item.querySelector('a');
    const titled = wanted && fold(link.textContent).includes(wanted);
    const found = wanted ? folded[i].split(wanted).length - 1 : 0;
    count += found;
    item.hidden = Boolean(wanted) && !found && !titled;
    if (!item.hidden) shown++;
    link.href = link.dataset.href + (found ? '#q=' + encodeURIComponent(query) : '');
    // Folding may change a text's length; then the excerpt is its beginning.
    if (found && folded[i].length === texts[i].length) {
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
