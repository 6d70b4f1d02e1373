'use strict';
// Sends files that were dropped or chosen: each copy, and each other file, as a separate tar.
const byId = id => document.getElementById(id);
const isCorrections = name => /^corrections.*\.(json|html)$/.test(name), isSealed = name => name.endsWith('.fieldscribe.age');
const parent = path => path.slice(0, Math.max(0, path.lastIndexOf('/'))), last = path => path.slice(path.lastIndexOf('/') + 1);
function line(text, isRefused) {
  const item = byId('added').appendChild(document.createElement('li'));
  item.dir = 'auto';
  return say(item, text, isRefused);
}
function say(item, text, isRefused) {
  item.textContent = text;
  item.classList.toggle('refused', Boolean(isRefused));
  return item;
}
// Returns the files in a dropped entry, with their paths. Browsers list a folder in several batches.
async function filesOf(entry, path) {
  if (entry instanceof File) return [{ path, file: entry }];
  if (entry.name.startsWith('.')) return [];
  if (entry.isFile) return [{ path, file: await new Promise((done, fail) => entry.file(done, fail)) }];
  const reader = entry.createReader(), all = [];
  for (;;) {
    const batch = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!batch.length) return all;
    for (const entry of batch) all.push(...await filesOf(entry, path + '/' + entry.name));
  }
}
// Returns the copies and single files. In a dropped folder, only copies and corrections count, as when a folder is
// gathered.
async function partsOf(files) {
  const folders = new Map(), parts = [];
  for (const { path, file } of files) folders.set(parent(path), [...folders.get(parent(path)) ?? [], file]);
  for (const [folder, inside] of folders) {
    const find = (name, among = inside) => among?.find(file => file.name === name), list = find('SHA256SUMS');
    if (!list) {
      for (const file of inside) if (!folder || isCorrections(file.name) || isSealed(file.name)) parts.push({ name: file.name, files: [file] });
      continue;
    }
    const listed = new Set((await list.text()).split('\n').map(row => row.slice(66)));
    const about = find('RECORDER.txt', folder ? folders.get(parent(folder)) : inside);
    parts.push({
      name: last(folder) || 'copy', recorder: last(parent(folder)), copy: 'yes', files: [...inside.filter(file =>
        listed.has(file.name) || /^SHA256SUMS(\.minisig)?$/.test(file.name) || isCorrections(file.name)), ...about ? [about] : []]
    });
  }
  return parts;
}
// Returns a tar archive of files. The request contains the name of a single file, which can be too long for the
// archive.
function tar({ files, copy }) {
  const encoder = new TextEncoder(), blocks = [];
  for (const file of files) {
    const header = new Uint8Array(512), put = (text, offset) => header.set(encoder.encode(text).subarray(0, 100), offset);
    put('copy/' + (copy ? file.name : 'file'), 0);
    put(file.size.toString(8).padStart(11, '0'), 124);
    put('        0', 148);
    put(header.reduce((sum, byte) => sum + byte).toString(8).padStart(6, '0') + '\0 ', 148);
    blocks.push(header, file, new Uint8Array((512 - file.size % 512) % 512));
  }
  return new Blob([...blocks, new Uint8Array(1024)]);
}
// Sends a part. If there is no body, asks whether the part may be sent.
function post(part, size, body, progress) {
  const { name, recorder, copy } = part;
  const fields = { name, recorder: recorder ?? '', copy: copy ?? '', bytes: size };
  if (!copy) Object.assign(fields, { recording: byId('of').value, changed: Math.floor(part.files[0].lastModified / 1000) });
  return send('POST', fields, name, body, progress);
}
function send(method, fields, name, body, progress) {
  return new Promise(done => {
    const request = new XMLHttpRequest();
    request.open(method, 'add?' + new URLSearchParams(fields));
    request.setRequestHeader('Content-Type', 'application/x-tar');
    if (body) request.upload.onprogress = event => progress(Math.floor(100 * event.loaded / event.total) + ' %');
    request.onload = () => {
      let answer = { told: name + ': the server answered ' + request.status };
      try { answer = JSON.parse(request.responseText); } catch { }
      done({ status: request.status, lines: answer.told.split('\n'), sound: answer.sound });
    };
    request.onerror = () => done({ status: 0, lines: [name + ': the connection failed; add it again'] });
    request.send(body);
  });
}
const later = () => new Promise(done => setTimeout(done, 2000));
async function add(files) {
  byId('add').open = true;
  const parts = await partsOf(files);
  if (!parts.length) line('No copies of recordings or corrections were found there; to add sound files, choose the files, not their folder', true);
  for (const part of parts) {
    const title = part.recorder ? part.recorder + '/' + part.name : part.name;
    const item = line(title), body = tar(part), progress = text => say(item, title + ': ' + text);
    let answer;
    for (;;) {
      answer = await post(part, body.size);
      if (answer.status === 200) answer = await post(part, body.size, body, progress);
      if (answer.status !== 423) break;
      progress('waiting until other files are added');
      await later();
    }
    while (answer.status === 202) {
      progress(answer.lines[0]);
      await later();
      answer = await send('GET', { sound: answer.sound }, title);
      // The server does not know the name any more.
      if (answer.status === 404) answer.lines = [title + ': ' + answer.lines[0]];
    }
    const isRefused = answer.status !== 200;
    say(item, answer.lines[0], isRefused);
    for (const text of answer.lines.slice(1)) line(text, isRefused);
    if (!isRefused) byId('again').hidden = false;
  }
}
let queue = Promise.resolve();
const start = read => queue = queue.then(async () => {
  try { await add(await read()); } catch (error) { line('The files cannot be read: ' + error.message, true); }
});
for (const input of [byId('files'), byId('folder')]) input.addEventListener('change', () => {
  const files = [...input.files].map(file => ({ path: file.webkitRelativePath || file.name, file }));
  input.value = '';
  start(() => files.filter(({ path }) => !/(^|\/)\./.test(path)));
});
const hasFiles = event => [...event.dataTransfer?.types ?? []].includes('Files');
addEventListener('dragover', event => { if (hasFiles(event)) event.preventDefault(); });
addEventListener('drop', event => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  // Browsers clear the items after this event.
  const entries = [...event.dataTransfer.items].map(item => {
    const entry = item.webkitGetAsEntry();
    return entry?.isDirectory ? entry : item.getAsFile();
  }).filter(Boolean);
  start(async () => (await Promise.all(entries.map(entry => filesOf(entry, entry.name)))).flat());
});
byId('add').hidden = false;
