'use strict';
// The normalized forms that searches compare. `fold` ignores case and accents. `plain` also omits punctuation and fillers, and spells out
// abbreviations and small numbers, so that "mister thornton" finds "Mr. Thornton".
const fold = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const spoken = new Map([['mr', 'mister'], ['mrs', 'missus'], ['dr', 'doctor'], ['st', 'saint'], ['ok', 'okay'],
  ...['uh', 'um', 'hmm', 'mm'].map(filler => [filler, '']), ...'zero,one,two,three,four,five,six,seven,eight,nine,ten'.split(',').map((name, i) => [String(i), name])]);
const plain = text => fold(text).replace(/[’‘ʼ]/g, "'").split(/[^\p{L}\p{N}']+/u).map(word => word.replace(/^'+|'+$/g, ''))
  .map(word => spoken.get(word) ?? word).filter(Boolean).join(' ');
