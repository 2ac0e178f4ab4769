// Functions of the manual for readers: fill in, copy, search, fold the menu, and ask the server that it came from. The manual can be
// read without them. make generate-docs puts the script into the pages; it stores only the choice of dark or light.
(() => {
'use strict';

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// make returns an element with properties, attributes (role, and names with a dash) and children.
function make(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.includes('-') || name === 'role') e.setAttribute(name, value);
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else e[name] = value;
  }
  e.append(...children);
  return e;
}

// --- values of the reader, kept in the memory of this page

// base is the path of the service.
const base = location.pathname.replace(/\/(docs|problems)(\/[^/]*)?$/, '');
const values = { server: location.origin + base, key: '', board: '', member: '' };
const inShell = text => text.replace(/["\\$`]/g, '\\$&');

// shown returns the text of a variable in an example; a key is hidden unless the line is copied.
function shown(name, original, copied) {
  const value = values[name];
  if (!value) return original;
  if (name === 'server') return inShell(value.replace(/\/+$/, ''));
  if (name !== 'key') return encodeURIComponent(value);
  return copied ? inShell(value) : '••••••••';
}

function showValues() {
  for (const v of all('pre var[data-v]')) v.textContent = shown(v.dataset.v, v.dataset.original ??= v.textContent, false);
  for (const input of all('input[data-v]')) if (input !== document.activeElement) input.value = values[input.dataset.v];
}

function valueInput(name, props) {
  return make('input', {
    value: values[name], 'data-v': name, autocomplete: 'off', spellcheck: false, ...props,
    oninput: event => { values[name] = event.target.value.trim(); showValues(); },
  });
}

const labelled = (text, input) => make('label', {}, make('span', {}, text), input);

function addStart() {
  one('#start')?.append(make('form', { id: 'fill-in', onsubmit: event => event.preventDefault() },
    labelled('Server', valueInput('server', { id: 'fill-server', type: 'url' })),
    labelled('Key', valueInput('key', { id: 'fill-key', type: 'password' })),
    make('div', { className: 'pair' },
      labelled('Board', valueInput('board', { id: 'fill-board', placeholder: 'demo' })),
      labelled('Member', valueInput('member', { id: 'fill-member', placeholder: '1' }))),
    make('div', { className: 'hint' }, 'Fills in all examples, for copying and trying. Kept in the memory of this page: gone when it is closed or loaded again.')));
}

// --- copying

// copyText returns the text of an element with the reader's values, including the key.
function copyText(pre) {
  const copy = pre.cloneNode(true);
  for (const v of all('var[data-v]', copy)) v.textContent = shown(v.dataset.v, v.dataset.original, true);
  return copy.textContent;
}

async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make('textarea', { value: text, className: 'said' }); // pages that are not secure have no clipboard
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

function addCopy(pre) {
  const button = make('button', { type: 'button', className: 'copy', 'aria-label': 'Copy' }, 'Copy');
  button.addEventListener('click', async () => {
    await toClipboard(copyText(pre));
    button.textContent = 'Copied';
    say('Copied.');
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  const box = make('div', { className: 'copyable' });
  pre.replaceWith(box);
  box.append(pre, button);
}

// say announces a text to screen readers.
const said = make('div', { id: 'said', className: 'said', role: 'status' });
const say = text => { said.textContent = text; };

// --- search

// entries returns the entries of the search from the reference of the API, which may be another page than this one.
function entries(reference, base) {
  const list = all('main article[id], main section.about', reference).map(e => {
    const route = one('.route', e), kind = e.id.startsWith('schema-') ? 'schema' : e.id.startsWith('error-') ? 'errors' : 'about';
    const title = one('h2, h3', e).firstChild.textContent + (e.id.startsWith('error-') ? one('h3', e).childNodes[1].textContent : '');
    return { href: base + '#' + e.id, title, under: route ? one('b', route).textContent + ' ' + one('code', route).textContent : kind, text: e.textContent, kind: route ? 0 : kind === 'schema' ? 6 : 1 };
  });
  for (const dt of all('#parameters dt', reference)) {
    list.push({ href: base + '#' + dt.id, title: one('code', dt).textContent, under: 'parameter', text: dt.nextElementSibling?.textContent ?? '', kind: 2 });
  }
  for (const a of all('.problems a', reference)) {
    list.push({ href: a.getAttribute('href'), title: a.textContent, under: 'problem ' + one('b', a.closest('article')).textContent, text: a.parentElement.nextElementSibling.textContent, kind: 8 });
  }
  return list;
}

// everything returns the entries of the search from all pages of the manual. Pages that cannot be fetched are left out.
async function everything() {
  const get = async (path, read) => { try { return await read(await fetch(path)); } catch { return null; } };
  const onReference = !!one('#start');
  const reference = onReference ? document : await get(base + '/docs', async res => new DOMParser().parseFromString(await res.text(), 'text/html'));
  const sections = await get(base + '/docs/search.json', res => res.json()) ?? [];
  for (const s of sections) s.href = base + s.href;
  const list = reference ? entries(reference, onReference ? '' : base + '/docs') : [];
  for (const s of sections) list.push({ ...s, kind: 3 });
  for (const e of list) e.all = [e.title, e.under, e.text].map(spaced);
  return list;
}

// spaced returns the words of a text in lower case, with a space before each word, so that a word is found by its beginning.
const spaced = text => (' ' + text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')).trimEnd().replace(/^ +/, ' ');

// synonyms are lists of words with the same meaning for readers.
const synonyms = [
  ['board', 'leaderboard', 'ranking'], ['score', 'points'], ['around', 'near', 'neighbour', 'neighbor'], ['member', 'player', 'user'],
  ['erase', 'forget', 'gdpr', 'privacy'], ['hide', 'hidden', 'ban', 'cheat'], ['window', 'period', 'season', 'reset'],
  ['week', 'weekly', 'day', 'daily', 'month', 'monthly', 'calendar window'], ['time zone', 'timezone'], ['elo', 'rating', 'skill', 'mmr'],
  ['rename', 'name', 'nickname', 'display name'],
  ['key', 'auth', 'credential', 'login'], ['token', 'jwt', 'sign in'], ['quota', 'rate limit', 'throttle', '429'], ['stream', 'sse', 'live', 'websocket', 'realtime'],
  ['metadata', 'payload', 'extra data'], ['backup', 'restore', 'disaster'], ['docker', 'container', 'compose', 'kubernetes'],
  ['webhook', 'callback', 'event'], ['tie', 'tied', 'equal'], ['reward', 'prize'], ['delete', 'remove'], ['alert', 'monitoring', 'prometheus', 'grafana'],
].map(words => words.map(spaced));
const meant = word => [word, ...synonyms.filter(s => s.includes(word.replace(/s$/, '')) || s.includes(word)).flat()];

// terms returns the words of a question; several with a common synonym count as one word.
function terms(question) {
  const list = question.split(/\s+/).map(spaced).filter(word => word.trim());
  for (let i = 0; i + 1 < list.length; i++) {
    if (meant(list[i] + list[i + 1]).length > 1) list.splice(i, 2, list[i] + list[i + 1]);
  }
  return list;
}

// awayFrom returns the distance of an entry from a word: 0 when its title begins with it, 1 when its title has it, 2 when its place has it, 3 when
// its text has it, Infinity when it does not have it.
function awayFrom(e, word) {
  const where = e.all.findIndex(s => s.includes(word));
  return where < 0 ? Infinity : where === 0 && e.all[0].startsWith(word) ? 0 : where + 1;
}

// find returns the entries that have all words, or a synonym of each; entries with the words in their titles come first. A problem
// comes after other entries with a word in the title: a reader who looks for "reset" wants to reset something.
function find(list, question) {
  const words = terms(question);
  if (!words.length) return [];
  const found = [];
  for (const e of list) {
    let rank = e.kind / 4;
    for (const word of words) rank += Math.min(awayFrom(e, word), ...meant(word).map(w => awayFrom(e, w) + 2)); // the word itself comes first
    if (rank < Infinity) found.push({ e, rank });
  }
  return found.sort((a, b) => a.rank - b.rank).slice(0, 20).map(f => f.e);
}

function addSearch() {
  let list = null, chosen = -1;
  const input = make('input', {
    id: 'search-input', enterKeyHint: 'search', placeholder: 'Search  /', autocomplete: 'off', spellcheck: false, role: 'combobox',
    'aria-label': 'Search the manual', 'aria-expanded': 'false', 'aria-controls': 'results', 'aria-autocomplete': 'list',
  });
  const results = make('ul', { id: 'results', role: 'listbox', hidden: true, 'aria-label': 'Found' });
  const options = () => all('[id]', results);
  const open = yes => {
    results.hidden = !yes;
    input.setAttribute('aria-expanded', String(yes));
  };
  const choose = n => {
    chosen = n;
    options().forEach((o, i) => o.setAttribute('aria-selected', String(i === n)));
    if (n < 0) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', 'found-' + n);
    options()[n].scrollIntoView({ block: 'nearest' });
  };
  const go = e => {
    open(false);
    input.blur();
    location.href = e.href;
  };
  const search = async () => {
    list ??= everything();
    const found = find(await list, input.value);
    results.replaceChildren(...found.map((e, i) => make('li', {
      id: 'found-' + i, role: 'option', 'aria-selected': 'false', onmousedown: event => event.preventDefault(), onclick: () => go(e),
    }, e.title, make('small', {}, e.under))));
    results.found = found;
    const asked = input.value.trim() !== '';
    if (asked && !found.length) results.append(make('li', { role: 'option', 'aria-disabled': 'true' }, 'Nothing has all of these words.'));
    open(asked);
    choose(found.length ? 0 : -1);
    if (asked) say(found.length ? found.length + ' found' : 'Nothing found');
  };
  input.addEventListener('input', search);
  input.addEventListener('focus', () => { if (input.value) search(); });
  input.addEventListener('blur', () => open(false));
  input.addEventListener('keydown', event => {
    const n = options().length;
    if (event.key === 'Escape') {
      if (results.hidden) input.blur();
      open(false);
    } else if (event.key === 'Enter' && chosen >= 0 && !results.hidden) go(results.found[chosen]);
    else if (event.key === 'ArrowDown' && n) choose((chosen + 1) % n);
    else if (event.key === 'ArrowUp' && n) choose((chosen + n - 1) % n);
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', event => {
    const typing = event.target.closest?.('input, textarea, select');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey || event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  one('#tools').append(make('div', { id: 'search', role: 'search' }, input, results));
}

// --- the menu, and the section that is being read

function addMenu() {
  const nav = one('#menu'), link = one('#menu-link');
  const button = make('button', { id: 'menu-button', type: 'button', 'aria-expanded': 'false', 'aria-controls': 'menu' }, 'Menu');
  const open = yes => {
    nav.classList.toggle('open', yes);
    button.setAttribute('aria-expanded', String(yes));
    button.textContent = yes ? 'Close' : 'Menu';
  };
  button.addEventListener('click', () => open(!nav.classList.contains('open')));
  nav.addEventListener('click', event => { if (event.target.closest('a')) open(false); });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && nav.classList.contains('open')) {
      open(false);
      button.focus();
    }
  });
  one('.close', nav).remove();
  link.replaceWith(button);

  const links = new Map(all('a[href^="#"]', nav).map(a => [a.hash.slice(1), a]));
  const seen = new Set();
  const follow = new IntersectionObserver(changes => {
    for (const c of changes) seen[c.isIntersecting ? 'add' : 'delete'](c.target);
    const first = [...seen].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)[0];
    if (!first) return;
    for (const a of links.values()) a.removeAttribute('aria-current');
    const here = links.get(first.id);
    here.setAttribute('aria-current', 'true');
    if (!nav.matches(':hover') && nav.scrollHeight > nav.clientHeight) {
      const gap = here.getBoundingClientRect().top - nav.getBoundingClientRect().top;
      if (gap < 0 || gap > nav.clientHeight - 40) nav.scrollTop += gap - nav.clientHeight / 3;
    }
  }, { rootMargin: '-64px 0px -60% 0px' });
  for (const id of links.keys()) {
    const target = document.getElementById(id);
    if (target?.matches('article, .about, #parameters, #errors, #schemas, .text h2')) follow.observe(target);
  }
}

function addTheme() {
  const root = document.documentElement, dark = matchMedia('(prefers-color-scheme: dark)');
  const stored = action => { try { return action(localStorage); } catch { return null; } };
  const isDark = () => (root.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const button = make('button', { id: 'theme', type: 'button' }, '◐');
  const show = () => {
    button.title = isDark() ? 'Light colours' : 'Dark colours';
    button.setAttribute('aria-label', button.title);
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    stored(s => s.setItem('theme', root.dataset.theme));
    show();
  });
  const before = stored(s => s.getItem('theme'));
  if (before === 'dark' || before === 'light') root.dataset.theme = before;
  dark.addEventListener('change', show);
  show();
  one('#tools').append(button);
}

// --- trying

const shownHeaders = ['Content-Type', 'ETag', 'Cache-Control', 'Location', 'Allow', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate', 'X-Request-Id'];
const mostShown = 200000;

// pretty indents JSON as text, since its numbers may be too great for JavaScript.
function pretty(text) {
  let out = '', depth = 0;
  for (const part of text.match(/"(?:[^"\\]|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []) {
    if (part === '}' || part === ']') out += '\n' + '  '.repeat(--depth);
    out += part === ':' ? ': ' : part;
    if (part === '{' || part === '[') depth++;
    if (part === '{' || part === '[' || part === ',') out += '\n' + '  '.repeat(depth);
  }
  return out;
}

// paramsOf lists the parameters of an operation: shared ones of the path, its own, then other shared ones.
function paramsOf(op) {
  const shared = all('.shared a', op).map(a => document.getElementById(a.hash.slice(1)));
  return [...shared.filter(dt => dt.dataset.in === 'path'), ...all('dl dt[data-in]', op), ...shared.filter(dt => dt.dataset.in !== 'path')].map(dt => ({
    name: one('code', dt).textContent, in: dt.dataset.in, type: one('i', dt).textContent.replace(/^\w+, /, ''), example: dt.dataset.example ?? '', shared: !!dt.id,
  }));
}

function trialForm(op) {
  const method = one('.route b', op).textContent, path = one('.route code', op).textContent;
  const pre = one('.curl', op), example = one('span', pre)?.textContent, keyed = one('.key', op), needed = keyed && !keyed.matches('.open');
  const streamed = pre.textContent.startsWith('curl -N');
  const params = paramsOf(op), more = make('details', {}, make('summary', {}, 'More parameters'));
  const form = make('form', { className: 'trial', 'aria-label': 'Try ' + method + ' ' + path });
  for (const p of params) {
    const props = { placeholder: p.type, required: p.in === 'path' };
    p.input = p.name === 'board' || p.name === 'member' && p.in === 'path' ? valueInput(p.name, { ...props, placeholder: p.example }) : make('input', { ...props, value: p.example, autocomplete: 'off', spellcheck: false });
    if (p.in === 'path') p.input.required = !p.example;
    (p.shared && p.in !== 'path' && !p.example ? more : form).append(labelled(p.name + (p.in === 'header' ? ' (header)' : ''), p.input));
  }
  if (more.children.length > 1) form.append(more);
  const body = example === undefined ? null : make('textarea', { value: pretty(example), rows: Math.min(14, pretty(example).split('\n').length + 1), spellcheck: false });
  if (body) form.append(labelled('Body', body));
  if (keyed) form.append(labelled('Key', valueInput('key', { type: 'password', required: needed })));

  const given = where => params.filter(p => p.in === where && p.input.value.trim() !== '').map(p => [p.name, p.input.value.trim()]);
  const fill = encoded => params.reduce((to, p) => p.in === 'path' ? to.replace('{' + p.name + '}', encoded(p)) : to, path);
  const query = () => { const q = new URLSearchParams(given('query')).toString(); return q && '?' + q; };
  const target = () => fill(p => encodeURIComponent(p.input.value.trim() || p.example)) + query();

  // The line for a shell follows the form.
  const showLine = () => {
    const variable = (name, original) => make('var', { 'data-v': name, 'data-original': original });
    const parts = ['curl' + (streamed ? ' -N' : '') + (method === 'GET' || method === 'POST' && body ? '' : ' -X ' + method) + ' "', variable('server', '$SERVER'), inShell(target()) + '"'];
    if (keyed && (values.key || needed)) parts.push(' \\\n  -H "Authorization: Bearer ', variable('key', '$KEY'), '"');
    for (const [name, value] of given('header')) parts.push(' \\\n  -H "' + name + ': ' + inShell(value) + '"');
    if (body) parts.push(' \\\n  -H "Content-Type: application/json" \\\n  -d \'', make('span', {}, body.value.replaceAll("'", "'\\''")), "'");
    pre.replaceChildren(...parts);
    showValues();
  };
  form.addEventListener('input', showLine);

  const send = make('button', { className: 'main' }, 'Send ' + method);
  const stop = make('button', { type: 'button', hidden: true }, 'Stop');
  const answer = make('div', { className: 'answer' });
  form.append(make('div', { className: 'row' }, send, stop, make('span', { className: 'hint' }, 'to ' + location.host)));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (method !== 'GET' && !await confirmed(method, target())) return;
    const headers = new Headers(given('header'));
    if (keyed && values.key) headers.set('Authorization', 'Bearer ' + values.key);
    if (body) headers.set('Content-Type', 'application/json');
    const abort = new AbortController();
    stop.onclick = () => abort.abort();
    send.disabled = true;
    stop.hidden = false;
    await ask(target(), { method, headers, body: body?.value, signal: abort.signal, cache: 'no-store' }, answer);
    send.disabled = false;
    stop.hidden = true;
  });
  return [form, answer];
}

// ask sends a request and shows the answer, a stream as long as it lasts.
async function ask(url, request, answer) {
  const started = performance.now(), head = make('div'), pre = make('pre', { tabIndex: 0, 'aria-label': 'Body of the answer' });
  answer.replaceChildren(head);
  let text = '';
  try {
    const res = await fetch(url, request);
    const type = res.headers.get('Content-Type') ?? '', streamed = type.startsWith('text/event-stream');
    const took = Math.round(performance.now() - started);
    head.append(make('b', { className: 's' + String(res.status)[0] }, res.status + ' ' + res.statusText), ' in ' + took + ' ms');
    say('Answered with ' + res.status + ' ' + res.statusText);
    const list = make('dl');
    for (const name of shownHeaders) if (res.headers.has(name)) list.append(make('dt', {}, name), make('dd', {}, res.headers.get(name)));
    answer.append(list, pre);
    const reader = res.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part; reader && !(part = await reader.read()).done;) {
      text += part.value;
      if (text.length > mostShown) text = streamed ? text.slice(-mostShown / 2) : text;
      if (streamed || text.length <= mostShown) pre.textContent = text;
      if (streamed) pre.scrollTop = pre.scrollHeight;
    }
    if (text.length > mostShown) pre.textContent = text.slice(0, mostShown) + '\n… ' + (text.length - mostShown) + ' characters more';
    else if (/\bjson\b/.test(type) && !type.includes('jsonl')) pre.textContent = pretty(text);
    if (!text) pre.remove();
    const problem = /"type"\s*:\s*"(\/problems\/[a-z-]+)"/.exec(text);
    if (type.startsWith('application/problem+json') && problem) head.append(' · ', make('a', { href: base + problem[1] }, 'What to do'));
  } catch (error) {
    const words = error.name === 'AbortError' ? 'Stopped.' : 'The server could not be reached: ' + error.message;
    head.append(' ', words);
    say(words);
  }
}

// confirmed asks the reader whether to send a request that changes something.
function confirmed(method, path) {
  return new Promise(resolve => {
    const close = yes => { dialog.remove(); resolve(yes); };
    const dialog = make('dialog', { id: 'confirm', 'aria-labelledby': 'confirm-what', oncancel: () => close(false) },
      make('p', { id: 'confirm-what' }, 'This may change what is on ' + location.host + ':'),
      make('p', {}, make('code', {}, method + ' ' + path)),
      make('div', { className: 'row' },
        make('button', { type: 'button', id: 'confirm-yes', className: 'main', onclick: () => close(true) }, 'Send ' + method),
        make('button', { type: 'button', id: 'confirm-no', autofocus: true, onclick: () => close(false) }, 'Cancel')));
    document.body.append(dialog);
    dialog.showModal();
  });
}

function addTrial(op) {
  const box = one('.code', op), open = make('button', { type: 'button', className: 'try', 'aria-expanded': 'false' }, 'Try it');
  let parts = null;
  open.addEventListener('click', () => {
    const yes = open.getAttribute('aria-expanded') === 'false';
    if (!parts) one('.copyable', box).after(...parts = trialForm(op));
    for (const e of parts) e.hidden = !yes;
    open.setAttribute('aria-expanded', String(yes));
    open.textContent = yes ? 'Close' : 'Try it';
    if (yes) one('input, textarea, button', parts[0])?.focus({ preventScroll: true });
  });
  one('.copyable', box).append(open);
}

function addAnchor(heading, id) {
  heading.append(make('a', { className: 'anchor', href: '#' + id, 'aria-label': 'Link to ' + heading.textContent }, '#'));
}

function addAnchors() {
  for (const e of all('main article[id], main section[id]')) {
    const heading = one('h2, h3', e);
    if (heading?.parentElement.closest('[id]') === e) addAnchor(heading, e.id);
  }
  for (const heading of all('.text :is(h2, h3)[id]')) addAnchor(heading, heading.id);
}

document.body.append(said);
addSearch();
addTheme();
addMenu();
addStart();
for (const pre of all('pre')) addCopy(pre);
for (const op of all('article.op')) addTrial(op);
addAnchors();
showValues();
})();
