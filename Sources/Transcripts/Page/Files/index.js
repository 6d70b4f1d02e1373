const find = document.getElementById('find'), hitCount = document.getElementById('hits');
const items = [...document.querySelectorAll('.list li')];
const texts = JSON.parse(document.getElementById('data').textContent);
const beginnings = items.map(item => item.querySelector('.words').textContent);
// The texts in the forms `fold` and `plain`, computed when they are needed.
let foldedTexts = null;
const plainTexts = [];
// Returns the offsets at which a query occurs at the start of a word.
function wordOffsets(text, query) {
  const offsets = [];
  for (let at = text.indexOf(query); query && at >= 0; at = text.indexOf(query, at + query.length)) {
    if (!at || text[at - 1] === ' ') offsets.push(at);
  }
  return offsets;
}
// Converts a range in the text's `plain` form to the start and length of the same words in the text.
function wordRange(text, from, length) {
  let plainLength = 0, start = -1;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const form = plain(word);
    if (!form) continue;
    plainLength += (plainLength && 1) + form.length;
    if (start < 0 && plainLength > from) start = index;
    if (plainLength >= from + length) return [start, index + word.length - start];
  }
}
function showExcerpt(element, text, at, length) {
  const mark = document.createElement('mark');
  mark.className = 'hit';
  mark.textContent = text.slice(at, at + length);
  // The excerpt begins and ends between words.
  const start = Math.max(0, at - 60), end = at + length + 90, between = text.lastIndexOf(' ', end);
  const from = start && start + 1 + text.slice(start, at).indexOf(' '), to = end >= text.length ? text.length : between < at + length ? end : between;
  element.replaceChildren((from ? '… ' : '') + text.slice(from, at), mark,
    text.slice(at + length, to) + (to < text.length ? ' …' : ''));
}
function search() {
  const query = find.value.trim().replace(/\s+/g, ' '), foldedQuery = fold(query), plainQuery = plain(query);
  foldedTexts ??= texts.map(fold);
  let hitTotal = 0, shownItems = 0;
  items.forEach((item, i) => {
    const element = item.querySelector('.words'), link = item.querySelector('a');
    const isInTitle = foldedQuery && fold(link.textContent).includes(foldedQuery);
    const exactHits = foldedQuery ? foldedTexts[i].split(foldedQuery).length - 1 : 0;
    const offsets = exactHits || !plainQuery ? [] : wordOffsets(plainTexts[i] ??= plain(texts[i]), plainQuery), itemHits = exactHits + offsets.length;
    hitTotal += itemHits;
    item.hidden = Boolean(foldedQuery) && !itemHits && !isInTitle;
    if (!item.hidden) shownItems++;
    link.href = link.dataset.href + (itemHits ? '#q=' + encodeURIComponent(query) : '');
    // If folding changes the text's length, offsets do not match, so the beginning of the text is shown instead.
    const range = offsets.length ? wordRange(texts[i], offsets[0], plainQuery.length) : null;
    if (range) showExcerpt(element, texts[i], ...range);
    else if (exactHits && foldedTexts[i].length === texts[i].length) {
      showExcerpt(element, texts[i], foldedTexts[i].indexOf(foldedQuery), foldedQuery.length);
    } else element.textContent = beginnings[i];
  });
  hitCount.textContent = !foldedQuery ? '' : shownItems
    ? hitTotal + (hitTotal === 1 ? ' hit' : ' hits') + ' in ' + shownItems + ' of ' + items.length : 'no hits';
  for (const list of document.querySelectorAll('.list')) {
    const isEmpty = !list.querySelector('li:not([hidden])');
    list.hidden = isEmpty;
    if (list.previousElementSibling?.matches('h2')) list.previousElementSibling.hidden = isEmpty;
  }
}
find.addEventListener('input', search);
find.form.addEventListener('submit', event => event.preventDefault());
addEventListener('keydown', event => {
  if (event.key === '/' && event.target !== find) { event.preventDefault(); find.focus(); }
  if (event.key === 'Escape' && event.target === find) { find.value = ''; search(); }
});
