addEventListener('hashchange', arrive);
show(0);
const arrived = arrive();

// Behind the opened page all of the text is laid out: a screen reader has no other. What somebody came for may move by that.
function layOut() {
  main.classList.add('laid');
  if (arrived && !looked) requestAnimationFrame(() => arrived.scrollIntoView({ block: 'center' }));
}
let looked = false;
for (const name of ['wheel', 'touchmove', 'keydown']) addEventListener(name, () => { looked = true; }, { passive: true, once: true });
const idle = window.requestIdleCallback ?? (act => setTimeout(act, 50));
if (document.readyState === 'complete') idle(layOut); else addEventListener('load', () => idle(layOut));

// On paper nobody follows a link, and a browser looks for the end of each in all that it prints.
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
