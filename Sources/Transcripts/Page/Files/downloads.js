
// Exports the transcript on the screen to other formats, without a network. The files look like the recorder's exports.
const shownFacts = () => [...document.querySelectorAll('.facts > div')].map(fact =>
  [fact.querySelector('dt').textContent, normal(fact.querySelector('dd').textContent)]);
const nameNow = label => normal(state.speakers[label] || label);
// Returns a gap, bookmark or note as text: `[gap 2.3 s: overrun]`; empty for a bookmark or note without text.
function insertionText(element) {
  const text = normal(element.textContent), time = clock(startOf(element));
  if (element.matches('.gap')) return '[' + text + ']';
  const content = text.slice(2), name = element.matches('.mark') ? 'bookmark' : 'note';
  return content && content !== name ? '[' + name + ' ' + time + ': ' + content + ']' : '';
}
// Returns the lines, each with its words, the words' times, and the gaps, bookmarks and notes between them.
function spokenLines() {
  const all = [], isSeveral = labels().length > 1;
  for (const line of segments) {
    const spoken = { t: startOf(line), e: Number(line.dataset.e ?? line.dataset.t), speaker: isSeveral ? line.dataset.p ?? null : null, parts: [] };
    let isOverlap = false, before = '';
    for (const element of line.querySelector('.x').children) {
      if (element.matches('.w')) {
        spoken.parts.push({ t: startOf(element), text: before + normal(element.textContent) });
        before = '';
      } else if (element.matches('.unclear')) {
        spoken.parts.push({ t: startOf(element), text: element.textContent });
      } else if (element.matches('.both')) {
        const last = spoken.parts.findLast(part => part.text);
        if (!isOverlap) before = '//'; else if (last) last.text += '//';
        isOverlap = !isOverlap;
      } else if (element.matches('.gap, .mark, .note')) {
        const note = insertionText(element);
        // A note at the start of a word goes before that word.
        const last = spoken.parts.length - 1, at = last >= 0 && spoken.parts[last].text && spoken.parts[last].t >= startOf(element) ? last : last + 1;
        if (note) spoken.parts.splice(at, 0, { t: startOf(element), note });
      }
    }
    spoken.isSplit = line.dataset.n && piecesOf(line)[0].from > 0 && state.edits.get(piecesOf(line)[0].id)?.breaks?.includes(piecesOf(line)[0].from);
    if (spoken.parts.length) all.push(spoken);
  }
  return all;
}
// Returns a document's paragraphs: the title, the facts, and a paragraph per turn. Consecutive lines by one speaker are a turn
// unless a person split them.
function paragraphs(isByLine) {
  const shown = new Map(shownFacts()), all = [{ kind: 'Title', text: normal(headline.textContent) }];
  const facts = [shown.get('Recorded'), shown.get('Length'), shown.has('Recorder') && 'recorder ' + shown.get('Recorder')].filter(Boolean);
  if (facts.length) all.push({ kind: 'Fact', text: facts.join(', ') });
  if (labels().length > 1 && shown.has('Who spoke')) {
    // The speaking times show that this paragraph is not part of what was said.
    const people = [...speakersFact.querySelectorAll('.who')].map(who => nameNow(who.dataset.who) + ' (' + normal(who.nextSibling.textContent).replace(/,$/, '') + ')');
    all.push({ kind: 'Fact', text: 'Speakers: ' + people.join(', ') });
  }
  for (const [name, title] of detailNames) {
    const text = normal(state.details[name] ?? '');
    if (text) all.push({ kind: 'Fact', text: title + ': ' + text });
  }
  let turn = null;
  for (const line of spokenLines()) {
    if (isByLine || line.speaker === null || line.isSplit || turn?.speaker !== line.speaker) turn = null;
    for (const part of line.parts) {
      if (part.note) { turn = null; all.push({ kind: 'Note', text: part.note }); continue; }
      if (!turn) all.push(turn = { kind: 'Turn', speaker: line.speaker, t: part.t, text: '' });
      turn.text += (turn.text ? ' ' : '') + part.text;
    }
  }
  return all;
}
function timedText() {
  let last = null;
  return paragraphs(true).map(part => {
    if (part.kind !== 'Turn') return part.text + '\n';
    const isNew = part.speaker !== null && part.speaker !== last;
    last = part.speaker;
    return (isNew ? '\n' : '') + clock(part.t) + '  ' + (isNew ? nameNow(part.speaker) + ': ' : '') + part.text + '\n';
  }).join('');
}
function markdown() {
  const plain = text => text.replace(/[\\`*_[\]<>#|~&]/g, '\\$&');
  return paragraphs().map(part => ({
    Title: () => '# ' + plain(part.text), Fact: () => plain(part.text), Note: () => '*' + plain(part.text) + '*',
    Turn: () => clock(part.t) + ' ' + (part.speaker === null ? '' : '**' + plain(nameNow(part.speaker)) + ':** ') + plain(part.text)
  })[part.kind]() + '\n').join('\n');
}
// Each cue has at most two lines of about 42 characters and lasts at most about seven seconds. U+2060 (word joiner) breaks up
// text that players would interpret as markup.
function subtitles() {
  const cues = [];
  let last = null;
  for (const line of spokenLines()) {
    let words = [], start = 0;
    const close = end => {
      if (!words.length) return;
      const text = words.join(' '), middle = text.length / 2;
      let at = -1;
      if (text.length > 42) for (let i = 0; i < text.length; i++) if (text[i] === ' ' && Math.abs(i - middle) < Math.abs(at - middle)) at = i;
      cues.push({ start, end, text: at < 0 ? text : text.slice(0, at) + '\n' + text.slice(at + 1) });
      words = [];
    };
    for (const part of line.parts) {
      if (part.note) { close(part.t); cues.push({ start: part.t, end: part.t + 2000, text: part.note, isNote: true }); continue; }
      if (words.length && (words.join(' ').length + part.text.length > 78 || part.t - start > 7000)) close(part.t);
      if (!words.length) {
        start = part.t;
        if (line.speaker !== null && line.speaker !== last) words.push(nameNow(line.speaker) + ':');
        last = line.speaker;
      }
      words.push(part.text);
    }
    close(line.e);
  }
  const code = time => {
    const ms = Math.max(0, Math.round(time)), hours = Math.floor(ms / 3600000);
    return String(hours).padStart(2, '0') + new Date(ms % 3600000).toISOString().slice(13, 23).replace('.', ',');
  };
  // A note goes above the next cue, or has its own cue if the next one starts a second or more later.
  const shown = cues.filter((cue, i) => {
    const next = cues[i + 1];
    if (!cue.isNote || !next || next.start >= cue.start + 1000) return true;
    next.text = cue.text + '\n' + next.text;
  });
  shown.forEach((cue, i) => { if (shown[i + 1]) cue.end = Math.max(cue.start + 1, Math.min(cue.end, shown[i + 1].start)); });
  return shown.map((cue, i) => (i + 1) + '\n' + code(cue.start) + ' --> ' + code(cue.end) + '\n'
    + cue.text.replace(/[<{\\]/g, '$&\u2060').replace(/-->/g, '--\u2060>') + '\n\n').join('');
}
// The table for CRC-32.
const sums = Uint32Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? n >>> 1 ^ 0xedb88320 : n >>> 1; return n; });
// Returns a ZIP archive with uncompressed entries dated 1980-01-01.
function zip(entries) {
  const number = (value, count) => Array.from({ length: count }, (_, i) => value >>> 8 * i & 255), encoder = new TextEncoder();
  const parts = [], list = [];
  let offset = 0;
  const add = (...more) => { for (const part of more) { const bytes = Uint8Array.from(part); parts.push(bytes); offset += bytes.length; } };
  for (const [name, text] of entries) {
    const bytes = encoder.encode(text), path = encoder.encode(name);
    let sum = 0xffffffff;
    for (const byte of bytes) sum = sums[(sum ^ byte) & 255] ^ sum >>> 8;
    sum = (sum ^ 0xffffffff) >>> 0;
    const common = [...number(20, 2), ...number(0, 6), ...number(0x21, 2), ...number(sum, 4), ...number(bytes.length, 4), ...number(bytes.length, 4),
      ...number(path.length, 2), ...number(0, 2)];
    list.push([0x50, 0x4b, 1, 2, ...number(20, 2), ...common, ...number(0, 10), ...number(offset, 4), ...path]);
    add([0x50, 0x4b, 3, 4, ...common], path, bytes);
  }
  const start = offset;
  add(...list);
  add([0x50, 0x4b, 5, 6, ...number(0, 4), ...number(list.length, 2), ...number(list.length, 2), ...number(offset - start, 4), ...number(start, 4), 0, 0]);
  return new Blob(parts);
}
const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const escaped = text => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g, '\ufffd')
  .replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
function wordFile() {
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main', pack = 'http://schemas.openxmlformats.org/package/2006';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships', types = 'application/vnd.openxmlformats';
  const links = list => xml + `<Relationships xmlns="${pack}/relationships">` + list.map(([type, target], i) =>
    `<Relationship Id="rId${i + 1}" Type="${type}" Target="${target}"/>`).join('') + '</Relationships>\n';
  const run = (text, style) => '<w:r>' + (style ? `<w:rPr><w:rStyle w:val="${style}"/></w:rPr>` : '') + `<w:t xml:space="preserve">${escaped(text)}</w:t></w:r>`;
  const body = paragraphs().map(part => `<w:p><w:pPr><w:pStyle w:val="${part.kind === 'Fact' ? 'Normal' : part.kind}"/></w:pPr>`
    + (part.kind !== 'Turn' ? run(part.text) : run(clock(part.t), 'Time') + run(' ')
      + (part.speaker === null ? '' : run(nameNow(part.speaker) + ':', 'Speaker') + run(' ')) + run(part.text)) + '</w:p>\n').join('');
  const style = (type, name, properties, isDefault) => `<w:style w:type="${type}"${isDefault ? ' w:default="1"' : name === 'Title' ? '' : ' w:customStyle="1"'} w:styleId="${name}">`
    + `<w:name w:val="${name}"/>` + (isDefault ? '' : `<w:basedOn w:val="${type === 'paragraph' ? 'Normal' : 'DefaultParagraphFont'}"/>`)
    + '<w:qFormat/>' + properties + '</w:style>';
  const styles = xml + `<w:styles xmlns:w="${word}"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/>`
    + '<w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
    + style('paragraph', 'Normal', '<w:pPr><w:spacing w:after="113"/></w:pPr>', true)
    + '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/><w:uiPriority w:val="1"/><w:semiHidden/></w:style>'
    + style('paragraph', 'Title', '<w:rPr><w:b/><w:bCs/><w:sz w:val="32"/><w:szCs w:val="32"/></w:rPr>')
    + style('paragraph', 'Turn', '<w:pPr><w:widowControl/></w:pPr>') + style('paragraph', 'Note', '<w:rPr><w:i/><w:iCs/></w:rPr>')
    + style('character', 'Speaker', '<w:rPr><w:b/><w:bCs/></w:rPr>')
    + style('character', 'Time', '<w:rPr><w:color w:val="666666"/><w:sz w:val="18"/><w:szCs w:val="18"/></w:rPr>') + '</w:styles>\n';
  const documentParts = [['/word/document.xml', 'officedocument.wordprocessingml.document.main'], ['/word/styles.xml', 'officedocument.wordprocessingml.styles'],
    ['/word/settings.xml', 'officedocument.wordprocessingml.settings'], ['/docProps/core.xml', 'package.core-properties']];
  return zip([
    ['[Content_Types].xml', xml + `<Types xmlns="${pack}/content-types"><Default Extension="rels" ContentType="${types}-package.relationships+xml"/>`
      + '<Default Extension="xml" ContentType="application/xml"/>'
      + documentParts.map(([name, type]) => `<Override PartName="${name}" ContentType="${types}-${type}+xml"/>`).join('') + '</Types>\n'],
    ['_rels/.rels', links([[office + '/officeDocument', 'word/document.xml'], [pack + '/relationships/metadata/core-properties', 'docProps/core.xml']])],
    // A4 with margins of 2 cm, in twentieths of a point.
    ['word/document.xml', xml + `<w:document xmlns:w="${word}"><w:body>\n${body}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" w:right="1134"`
      + ' w:bottom="1134" w:left="1134" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr></w:body></w:document>\n'],
    ['word/_rels/document.xml.rels', links([[office + '/styles', 'styles.xml'], [office + '/settings', 'settings.xml']])],
    ['word/styles.xml', styles],
    ['word/settings.xml', xml + `<w:settings xmlns:w="${word}"><w:compat><w:compatSetting w:name="compatibilityMode"`
      + ' w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>\n'],
    ['docProps/core.xml', xml + `<cp:coreProperties xmlns:cp="${pack}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">`
      + `<dc:title>${escaped(normal(headline.textContent))}</dc:title></cp:coreProperties>\n`]
  ]);
}
function documentFile() {
  const space = 'urn:oasis:names:tc:opendocument:xmlns', type = 'application/vnd.oasis.opendocument.text';
  const spaces = ['office', 'style', 'text'].map(name => `xmlns:${name}="${space}:${name}:1.0"`).join(' ')
    + ` xmlns:fo="${space}:xsl-fo-compatible:1.0" office:version="1.2"`;
  const style = (name, properties) => `<style:style style:name="${name}" style:family="paragraph" style:parent-style-name="Standard">${properties}</style:style>`;
  const span = (name, text) => `<text:span text:style-name="${name}">${escaped(text)}</text:span> `;
  const body = paragraphs().map(part => `<text:p text:style-name="${part.kind === 'Fact' ? 'Standard' : part.kind}">`
    + (part.kind !== 'Turn' ? '' : span('Time', clock(part.t)) + (part.speaker === null ? '' : span('Speaker', nameNow(part.speaker) + ':')))
    + escaped(part.text) + '</text:p>\n').join('');
  return zip([
    ['mimetype', type],
    ['content.xml', xml + `<office:document-content ${spaces}><office:body><office:text>\n${body}</office:text></office:body></office:document-content>\n`],
    ['styles.xml', xml + `<office:document-styles ${spaces}><office:styles><style:default-style style:family="paragraph">`
      + '<style:text-properties fo:font-size="11pt"/></style:default-style><style:style style:name="Standard" style:family="paragraph">'
      + '<style:paragraph-properties fo:margin-bottom="0.2cm"/></style:style>'
      + style('Title', '<style:text-properties fo:font-size="16pt" fo:font-weight="bold"/>')
      + style('Turn', '<style:paragraph-properties fo:orphans="2" fo:widows="2"/>') + style('Note', '<style:text-properties fo:font-style="italic"/>')
      + '<style:style style:name="Speaker" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
      + '<style:style style:name="Time" style:family="text"><style:text-properties fo:color="#666666" fo:font-size="9pt"/></style:style>'
      + '</office:styles></office:document-styles>\n'],
    ['meta.xml', xml + `<office:document-meta xmlns:office="${space}:office:1.0" xmlns:meta="${space}:meta:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"`
      + ` office:version="1.2"><office:meta><meta:generator>Fieldscribe</meta:generator><dc:title>${escaped(normal(headline.textContent))}</dc:title>`
      + '</office:meta></office:document-meta>\n'],
    ['META-INF/manifest.xml', xml + `<manifest:manifest xmlns:manifest="${space}:manifest:1.0" manifest:version="1.2">`
      + [['/', type], ['content.xml', 'text/xml'], ['styles.xml', 'text/xml'], ['meta.xml', 'text/xml']].map(([path, kind]) =>
        `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${kind}"/>`).join('') + '</manifest:manifest>\n']
  ]);
}
const writers = {
  docx: ['Word (.docx)', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', wordFile],
  odt: ['OpenDocument (.odt)', 'application/vnd.oasis.opendocument.text', documentFile],
  txt: ['Text with times (.txt)', 'text/plain', timedText], md: ['Markdown (.md)', 'text/markdown', markdown],
  srt: ['Subtitles (.srt)', 'application/x-subrip', subtitles]
};
byId('download').addEventListener('click', () => {
  if (open) commit();
  showMenu(byId('download'), 'Download as', ...Object.entries(writers).map(([ending, [title, type, write]]) => menuItem(title, () => {
    closeMenu();
    const name = normal(headline.textContent).replace(/[\\/:*?"<>|]+/g, ' ').trim().slice(0, 100) || 'transcript';
    download(name + '.' + ending, type, write());
    showStatus('Downloaded as ' + name + '.' + ending);
  })));
});
