addEventListener('hashchange', followLink);
show(0);
const linkTarget = followLink();

// Lays out the whole transcript after the page has opened, because screen readers need it. This may move the link's target.
function layOut() {
  main.classList.add('laid');
  if (linkTarget && !hasScrolled) requestAnimationFrame(() => linkTarget.scrollIntoView({ block: 'center' }));
}
let hasScrolled = false;
for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, () => { hasScrolled = true; }, { passive: true, once: true });
const whenIdle = window.requestIdleCallback ?? (callback => setTimeout(callback, 50));
if (document.readyState === 'complete') whenIdle(layOut); else addEventListener('load', () => whenIdle(layOut));

// Removes links while printing: they are useless on paper, and browsers search all printed text for each link's target.
const hrefs = new Map();
addEventListener('beforeprint', () => {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    hrefs.set(link, link.getAttribute('href'));
    link.removeAttribute('href');
  }
});
addEventListener('afterprint', () => {
  for (const [link, href] of hrefs) link.setAttribute('href', href);
  hrefs.clear();
});
