'use strict';
// Forms of words for searches, which ignore case and accents; and as word errors are counted, without punctuation and
// fillers, with abbreviations and small numbers spelled out: "mister thornton" finds "Mr. Thornton".
const fold = text => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const spoken = new Map([['mr', 'mister'], ['mrs', 'missus'], ['dr', 'doctor'], ['st', 'saint'], ['ok', 'okay'],
  ...['uh', 'um', 'hmm', 'mm'].map(filler => [filler, '']), ...'zero,one,two,three,four,five,six,seven,eight,nine,ten'.split(',').map((name, i) => [String(i), name])]);
const plain = text => fold(text).replace(/[’‘ʼ]/g, "'").split(/[^\p{L}\p{N}']+/u).map(word => word.replace(/^'+|'+$/g, ''))
  .map(word => spoken.get(word) ?? word).filter(Boolean).join(' ');
