addEventListener('hashchange', arrive);
show(0);
const arrived = arrive();

// After opening, all of the text is laid out, because screen readers need it. That may move the target of the link.
function layOut() {
  main.classList.add('laid');
  if (arrived && !looked) requestAnimationFrame(() => arrived.scrollIntoView({ block: 'center' }));
}
let looked = false;
for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, () => { looked = true; }, { passive: true, once: true });
const idle = window.requestIdleCallback ?? (act => setTimeout(act, 50));
if (document.readyState === 'complete') idle(layOut); else addEventListener('load', () => idle(layOut));

// Links are useless on paper, and a browser searches all printed text for the end of each.
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
