addEventListener('hashchange', arrive);
show(0);
arrive();
