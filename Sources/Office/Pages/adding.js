'use strict';
// Sends the files that a user drops or chooses: each copy, and each single file, as a separate tar archive.
const byId = id => document.getElementById(id);
const isCorrections = name => /^corrections.*\.(json|html)$/.test(name), isSealed = name => name.endsWith('.fieldscribe.age');
const parentFolder = path => path.slice(0, Math.max(0, path.lastIndexOf('/'))), lastComponent = path => path.slice(path.lastIndexOf('/') + 1);
function addMessage(text, isRefused) {
  const item = byId('added').appendChild(document.createElement('li'));
  item.dir = 'auto';
  return setMessage(item, text, isRefused);
}
function setMessage(item, text, isRefused) {
  item.textContent = text;
  item.classList.toggle('refused', Boolean(isRefused));
  return item;
}
// Returns a dropped file, or the files in a dropped folder, with their paths. Browsers list a folder in several batches.
async function filesOf(entry, path) {
  if (entry instanceof File) return [{ path, file: entry }];
  if (entry.name.startsWith('.')) return [];
  if (entry.isFile) return [{ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) }];
  const reader = entry.createReader(), all = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return all;
    for (const entry of batch) all.push(...await filesOf(entry, path + '/' + entry.name));
  }
}
// Groups files into uploads: copies and single files. In a folder, ignores all files except copies and corrections, like
// the command gather.
async function uploadsOf(files) {
  const folders = new Map(), uploads = [];
  for (const { path, file } of files) folders.set(parentFolder(path), [...folders.get(parentFolder(path)) ?? [], file]);
  for (const [folder, contents] of folders) {
    const find = (name, among = contents) => among?.find(file => file.name === name), list = find('SHA256SUMS');
    if (!list) {
      for (const file of contents) if (!folder || isCorrections(file.name) || isSealed(file.name)) uploads.push({ name: file.name, files: [file] });
      continue;
    }
    const listed = new Set((await list.text()).split('\n').map(row => row.slice(66)));
    const recorderFile = find('RECORDER.txt', folder ? folders.get(parentFolder(folder)) : contents);
    uploads.push({
      name: lastComponent(folder) || 'copy', recorder: lastComponent(parentFolder(folder)), copy: 'yes', files: [...contents.filter(file =>
        listed.has(file.name) || /^SHA256SUMS(\.minisig)?$/.test(file.name) || isCorrections(file.name)), ...recorderFile ? [recorderFile] : []]
    });
  }
  return uploads;
}
// Returns a tar archive. The name of a single file is in the request, because it may be too long for the archive.
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
// Sends an upload. If there is no body, asks whether the server accepts the upload.
function post(upload, size, body, progress) {
  const { name, recorder, copy } = upload;
  const fields = { name, recorder: recorder ?? '', copy: copy ?? '', bytes: size };
  if (!copy) Object.assign(fields, { recording: byId('of').value, changed: Math.floor(upload.files[0].lastModified / 1000) });
  return send('POST', fields, name, body, progress);
}
function send(method, fields, name, body, progress) {
  return new Promise(resolve => {
    const request = new XMLHttpRequest();
    request.open(method, 'add?' + new URLSearchParams(fields));
    request.setRequestHeader('Content-Type', 'application/x-tar');
    if (body) request.upload.onprogress = event => progress(Math.floor(100 * event.loaded / event.total) + ' %');
    request.onload = () => {
      let answer = { told: name + ': the server answered ' + request.status };
      try { answer = JSON.parse(request.responseText); } catch { }
      resolve({ status: request.status, lines: answer.told.split('\n'), sound: answer.sound });
    };
    request.onerror = () => resolve({ status: 0, lines: [name + ': the connection failed; add it again'] });
    request.send(body);
  });
}
const pause = () => new Promise(resolve => setTimeout(resolve, 2000));
async function add(files) {
  byId('add').open = true;
  const uploads = await uploadsOf(files);
  if (!uploads.length) addMessage('No recordings or corrections were found there; to add sound files, choose the files, not their folder', true);
  for (const upload of uploads) {
    const title = upload.recorder ? upload.recorder + '/' + upload.name : upload.name;
    const item = addMessage(title), body = tar(upload), progress = text => setMessage(item, title + ': ' + text);
    let answer;
    for (;;) {
      answer = await post(upload, body.size);
      if (answer.status === 200) answer = await post(upload, body.size, body, progress);
      if (answer.status !== 423) break;
      progress('waiting until other files are added');
      await pause();
    }
    while (answer.status === 202) {
      progress(answer.lines[0]);
      await pause();
      answer = await send('GET', { sound: answer.sound }, title);
      // The answer does not contain the name.
      if (answer.status === 404) answer.lines = [title + ': ' + answer.lines[0]];
    }
    const isRefused = answer.status !== 200;
    setMessage(item, answer.lines[0], isRefused);
    for (const text of answer.lines.slice(1)) addMessage(text, isRefused);
    if (!isRefused) byId('again').hidden = false;
  }
}
let queue = Promise.resolve();
const enqueue = readFiles => queue = queue.then(async () => {
  try { await add(await readFiles()); } catch (error) { addMessage('The files cannot be read: ' + error.message, true); }
});
for (const input of [byId('files'), byId('folder')]) input.addEventListener('change', () => {
  const files = [...input.files].map(file => ({ path: file.webkitRelativePath || file.name, file }));
  input.value = '';
  enqueue(() => files.filter(({ path }) => !/(^|\/)\./.test(path)));
});
const hasFiles = event => [...event.dataTransfer?.types ?? []].includes('Files');
addEventListener('dragover', event => { if (hasFiles(event)) event.preventDefault(); });
addEventListener('drop', event => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  // Reads the items now, because browsers clear them after this event.
  const entries = [...event.dataTransfer.items].map(item => {
    const entry = item.webkitGetAsEntry();
    return entry?.isDirectory ? entry : item.getAsFile();
  }).filter(Boolean);
  enqueue(async () => (await Promise.all(entries.map(entry => filesOf(entry, entry.name)))).flat());
});
byId('add').hidden = false;
