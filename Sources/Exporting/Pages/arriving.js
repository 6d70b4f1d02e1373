addEventListener('hashchange', arrive);
show(0);
arrive();

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
