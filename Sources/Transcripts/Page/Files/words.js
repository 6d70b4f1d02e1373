'use strict';
// The forms in which searches compare words. `fold` ignores case and accents. `plain`, the form in which word errors are
// counted, omits punctuation and fillers, and spells out abbreviations and small numbers: "mister thornton" finds "Mr. Thornton".
const fold = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const spoken = new Map([['mr', 'mister'], ['mrs', 'missus'], ['dr', 'doctor'], ['st', 'saint'], ['ok', 'okay'],
  ...['uh', 'um', 'hmm', 'mm'].map(filler => [filler, '']), ...'zero,one,two,three,four,five,six,seven,eight,nine,ten'.split(',').map((name, i) => [String(i), name])]);
const plain = text => fold(text).replace(/[’‘ʼ]/g, "'").split(/[^\p{L}\p{N}']+/u).map(word => word.replace(/^'+|'+$/g, ''))
  .map(word => spoken.get(word) ?? word).filter(Boolean).join(' ');
