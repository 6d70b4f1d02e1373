addEventListener('hashchange', arrive);
show(0);
const arrived = arrive();

// Lays out all of the text after the page has opened, because screen readers need it. This may move the link's target.
function layOut() {
  main.classList.add('laid');
  if (arrived && !looked) requestAnimationFrame(() => arrived.scrollIntoView({ block: 'center' }));
}
let looked = false;
for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, () => { looked = true; }, { passive: true, once: true });
const idle = window.requestIdleCallback ?? (act => setTimeout(act, 50));
if (document.readyState === 'complete') idle(layOut); else addEventListener('load', () => idle(layOut));

// Removes links while printing: they are useless on paper, and browsers search all printed text for each link's target.
const leads = new Map();
addEventListener('beforeprint', () => {
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    leads.set(link, link.getAttribute('href'));
    link.removeAttribute('href');
  }
});
addEventListener('afterprint', () => {
  for (const [link, href] of leads) link.setAttribute('href', href);
  leads.clear();
});
