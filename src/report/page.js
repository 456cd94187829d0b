// Comfort: without it the page reads the same. Rows are sorted and searched, tables copied, figures saved; a barrier is
// highlighted in all figures, the page shows one backend or shape, charts have another scale, and two barriers stand
// beside each other. Links open the folded section that they lead to.
'use strict';
const all = (css, where = document) => [...where.querySelectorAll(css)];
const make = (tag, set = {}, ...inside) => { const e = Object.assign(document.createElement(tag), set); e.append(...inside); return e; };
const button = (words, press) => { const b = make('button', { type: 'button', textContent: words }); b.addEventListener('click', () => press(b)); return b; };
const choice = (name, words, choose) => {
  const s = make('select', {}, ...words.map(([value, shown]) => new Option(shown, value)));
  s.setAttribute('aria-label', name);
  s.addEventListener('change', () => choose(s.value));
  return make('label', {}, name + ' ', s);
};

// Tables.
const key = cell => { const t = cell.textContent.trim(), n = parseFloat(t.replace(/^[<~*]\s*/, '')); return t !== '' && !Number.isNaN(n) && /^[<~*\s\d.+-]/.test(t) ? n : t; };
const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1;
const sortable = table => [...table.tHead.rows[0].cells].forEach((head, column) => {
  const b = button('', () => {
    const up = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const rows = [...table.tBodies[0].rows].map((row, i) => ({ row, i, key: key(row.cells[column]) }));
    rows.sort((a, b) => (up ? order(a.key, b.key) : order(b.key, a.key)) || a.i - b.i);
    table.tBodies[0].append(...rows.map(r => r.row));
  });
  b.title = 'sort';
  b.append(...head.childNodes);
  head.append(b);
});
const copied = table => button('copy table', b => {
  const rows = [...table.rows].filter(r => !r.hidden && !r.classList.contains('off'));
  const area = make('textarea', { value: rows.map(r => [...r.cells].map(c => c.textContent.trim()).join('\t')).join('\n') });
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  b.textContent = `copied ${rows.length - 1} rows`;
});
for (const table of all('table')) {
  if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
  sortable(table);
  table.parentElement.after(copied(table));
}
const every = document.querySelector('.all-rows table');
if (every) {
  const search = make('input', { type: 'search', placeholder: 'words that a row must have' });
  search.setAttribute('aria-label', 'search the rows');
  every.parentElement.before(search);
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of every.tBodies[0].rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  });
}

// A name is highlighted wherever it stands; a second choice of it takes that back.
const clean = words => words.replace(/( [<?]| \(.*\))+$/, '').trim();
const lit = name => {
  const was = document.documentElement.dataset.lit === name;
  delete document.documentElement.dataset.lit;
  if (name && !was) document.documentElement.dataset.lit = name;
  for (const e of all('[data-s]')) e.classList.toggle('lit', !was && e.dataset.s === name);
  for (const row of all('main tbody tr')) row.classList.toggle('lit', !was && !!name && [...row.cells].slice(0, 4).some(c => clean(c.textContent) === clean(name)));
};
document.addEventListener('click', e => {
  const name = e.target.classList?.contains('mg-name') && e.target.closest('[data-s]');
  if (name) lit(name.dataset.s);
});

// One backend, one shape.
const column = (table, names) => table.tHead ? [...table.tHead.rows[0].cells].findIndex(c => names.includes(c.textContent.trim())) : -1;
const shown = { backend: '', shape: '' };
const filter = () => {
  const fits = name => !shown.backend || name.split(':')[0].trim() === shown.backend;
  for (const e of all('[data-s]')) if (e.dataset.s.includes(':')) e.classList.toggle('off', !fits(e.dataset.s));
  for (const table of all('main table')) {
    const what = column(table, ['barrier', 'what', 'curve']), shape = column(table, ['shape']);
    for (const row of table.tBodies[0].rows) {
      const cell = at => row.cells[at].textContent.trim();
      row.classList.toggle('off', what >= 0 && cell(what).includes(':') && !fits(cell(what)) || shape >= 0 && !!shown.shape && cell(shape) !== shown.shape);
    }
  }
  if (!shown.shape) return;
  for (const label of all('.set > label'))
    if (label.textContent.trim().split(/[ ,]+/).includes(shown.shape)) label.previousElementSibling.checked = true;
};

// Charts on another scale: the values are read back from the drawing, by the scale that it tells.
const asDrawn = new WeakMap();
const marks = 'circle,path:not(.mg-leader),line';
const keep = svg => {
  if (asDrawn.has(svg)) return asDrawn.get(svg);
  const [kind, ...n] = svg.dataset.scale.split(','), [low, high, from, to] = n.map(Number);
  const value = px => { const s = (px - from) / (to - from); return kind === 'log' ? low * Math.pow(high / low, s) : low + (high - low) * s; };
  const series = all('[data-s]', svg).filter(g => g.querySelector(marks)).map(g => ({
    name: g.dataset.s, rest: !!g.querySelector('.mg-rest'),
    points: all('circle', g).map(c => [+c.getAttribute('cx'), value(+c.getAttribute('cy'))]),
    parts: all(marks, g).map(e => [e, ['d', 'cy', 'y1', 'y2'].filter(a => e.hasAttribute(a)).map(a => [a, e.getAttribute(a)])]),
  }));
  const ticks = svg.querySelector('[data-ticks]'), title = svg.querySelector('.mg-y');
  const made = { kind, from, to, value, series, ticks, inside: ticks.innerHTML, title, words: title.textContent,
    names: all('.mg-name', svg).filter(t => t.parentElement.querySelector('.mg-leader') || !t.parentElement.querySelector('rect')).map(t => [t, +t.getAttribute('y')]),
    leaders: all('.mg-leader', svg).map(l => [l, l.getAttribute('d')]) };
  asDrawn.set(svg, made);
  return made;
};
const nice = (low, high, log) => {
  const found = [];
  if (log && high > 4 * low) for (let p = Math.floor(Math.log10(low)); Math.pow(10, p) <= high; ++p) for (const t of [1, 2, 5]) { const v = t * Math.pow(10, p); if (v >= low && v <= high) found.push(v); }
  else { const rough = (high - low) / 5, p = Math.pow(10, Math.floor(Math.log10(rough))), step = [1, 2, 5, 10].find(t => rough <= t * p) * p; for (let v = Math.ceil(low / step) * step; v <= high; v += step) found.push(v); }
  return found;
};
const redraw = (svg, mode) => {
  const d = keep(svg), place = {};
  for (const [l, was] of d.leaders) l.setAttribute('d', mode ? '' : was);
  if (!mode) {
    for (const s of d.series) for (const [e, was] of s.parts) for (const [a, v] of was) e.setAttribute(a, v);
    for (const [t, y] of d.names) t.setAttribute('y', y);
    d.ticks.innerHTML = d.inside;
    d.title.textContent = d.words;
    return;
  }
  const more = /\/s|throughput/.test(d.words), best = new Map();
  for (const s of d.series) for (const [x, v] of s.points) { const b = best.get(x); if (b === undefined || (more ? v > b : v < b)) best.set(x, v); }
  const nearest = x => { let at; for (const one of best.keys()) if (at === undefined || Math.abs(one - x) < Math.abs(at - x)) at = one; return best.get(at); };
  const turned = (x, v) => mode === 'times' ? (more ? nearest(x) / v : v / nearest(x)) : mode === 'above' ? Math.abs(v - nearest(x)) : v;
  const values = d.series.filter(s => !s.rest).flatMap(s => s.points.map(([x, v]) => turned(x, v))).filter(Number.isFinite);
  const least = Math.min(...values.filter(v => v > 0)), most = Math.max(...values), log = mode === 'log' || mode === 'times' && most > 4 * least;
  const low = log ? least / 1.1 : mode === 'times' ? 0.95 : 0, high = most * (log ? 1.1 : 1.03);
  const px = v => { const s = log ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : (v - low) / (high - low); return Math.min(d.from, Math.max(d.to, d.from + s * (d.to - d.from))); };
  const moved = (x, y) => px(turned(x, d.value(y))).toFixed(1);
  for (const s of d.series) for (const [e, was] of s.parts) for (const [a, v] of was)
    e.setAttribute(a, a === 'd' ? v.replace(/([ML])([\d.-]+) ([\d.-]+)/g, (_, c, x, y) => `${c}${x} ${moved(+x, +y)}`) : moved(+(e.getAttribute('cx') ?? e.getAttribute('x1')), +v));
  for (const s of d.series) if (s.points.length) place[s.name] = px(turned(...s.points.at(-1)));
  let last = -1e9;
  for (const [t] of [...d.names].sort((a, b) => place[a[0].parentElement.dataset.s] - place[b[0].parentElement.dataset.s])) { last = Math.max(last + 14, place[t.parentElement.dataset.s] + 4); t.setAttribute('y', last); }
  const [left, end] = d.ticks.dataset.ticks.split(',');
  d.ticks.innerHTML = nice(low, high, log).map(v => `<line x1="${left}" y1="${px(v)}" x2="${end}" y2="${px(v)}" class="mg-grid"/><text x="${left - 6}" y="${px(v) + 4}" class="mg-soft" text-anchor="end">${+v.toPrecision(3)}</text>`).join('');
  d.title.textContent = mode === 'times' ? 'times the best' : mode === 'above' ? `beside the best: ${d.words}` : d.words;
};

// Two barriers beside each other, wherever both were measured.
const data = JSON.parse(document.getElementById('mgsync-data').textContent);
const subject = r => r.variant ? `${r.subject}:${r.variant}` : r.subject;
const beside = make('div'), pair = { a: '', b: '' };
const compare = () => {
  beside.replaceChildren();
  if (!pair.a || !pair.b) return;
  const of = name => new Map(data.results.filter(r => subject(r) === name && r.metrics.latency).map(r => [[r.device, r.members, r.ranks, r.shape, r.under ?? ''].join('|'), r]));
  const a = of(pair.a), b = of(pair.b), range = m => m.ci95 ? ` (${m.ci95[0]} - ${m.ci95[1]})` : ' (one batch)';
  const rows = [...a].filter(([k]) => b.has(k)).map(([k, r]) => {
    const x = r.metrics.latency, y = b.get(k).metrics.latency, apart = x.ci95 && y.ci95 && (x.ci95[1] < y.ci95[0] || y.ci95[1] < x.ci95[0]);
    return [`${r.members} ${r.device === 'gpu' ? 'GPU' : 'host member'}${r.members > 1 ? 's' : ''}${r.ranks > 1 ? ', ranks' : ''}`, r.shape, r.under ?? '', x.median + range(x), y.median + range(y), (y.median / x.median).toFixed(2), apart ? (y.median < x.median ? pair.b : pair.a) : 'no difference shown'];
  });
  const head = ['members', 'shape', 'under', `${pair.a}, us`, `${pair.b}, us`, 'times', 'faster'];
  const cells = (tag, words) => make('tr', {}, ...words.map(w => make(tag, { textContent: w })));
  beside.append(make('div', { className: 'wide' }, rows.length ? make('table', {}, make('thead', {}, cells('th', head)), make('tbody', {}, ...rows.map(r => cells('td', r)))) : 'nowhere measured alike'));
};

// A figure as a file: the drawing with the rules that it needs.
const file = (name, blob) => { const a = make('a', { download: name, href: URL.createObjectURL(blob) }); a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 1000); };
const drawn = svg => {
  const copy = svg.cloneNode(true), style = document.createElementNS(svg.namespaceURI, 'style');
  style.textContent = [...document.styleSheets[0].cssRules].map(r => r.cssText).filter(t => t.includes('.mg-')).join('\n');
  copy.prepend(style);
  return new XMLSerializer().serializeToString(copy);
};
const picture = (svg, done) => {
  const image = new Image(), { width, height } = svg.viewBox.baseVal;
  image.onload = () => { const c = make('canvas', { width: 2 * width, height: 2 * height }); c.getContext('2d').drawImage(image, 0, 0, c.width, c.height); c.toBlob(done); };
  image.src = 'data:image/svg+xml,' + encodeURIComponent(drawn(svg));
};
for (const f of all('figure')) {
  const svg = f.querySelector('svg');
  if (!svg) continue;
  const name = f.dataset.figure ?? 'topology', seen = () => all('svg', f).find(s => s.getClientRects().length) ?? svg;
  f.append(button('save SVG', () => file(name + '.svg', new Blob([drawn(seen())], { type: 'image/svg+xml' }))), button('save PNG', () => picture(seen(), blob => file(name + '.png', blob))));
}

// What the reader chooses, above all figures.
const tools = document.getElementById('tools'), charts = all('figure svg[data-scale]');
const names = [...new Set(all('[data-s]').map(e => e.dataset.s))].filter(n => n.includes(':')).sort();
if (tools && names.length) {
  const plain = n => [n, n], backends = [...new Set(names.map(n => n.split(':')[0]))], subjects = [...new Set(data.results.filter(r => r.metrics.latency).map(subject))].sort();
  const shapes = [...new Set(data.results.map(r => r.shape).filter(s => /x/.test(s)))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  tools.append(make('div', {}, choice('highlight', [['', 'nothing'], ...names.map(plain)], n => { delete document.documentElement.dataset.lit; lit(n); }),
    choice('only the backend', [['', 'all'], ...backends.map(plain)], n => { shown.backend = n; filter(); }),
    ...shapes.length > 1 ? [choice('shape', [['', 'all'], ...shapes.map(plain)], n => { shown.shape = n; filter(); })] : []));
  if (charts.length) {
    const scales = make('div', {}, 'charts: ');
    for (const [mode, words] of [['', 'as drawn'], ['log', 'logarithmic'], ['linear', 'linear'], ['times', 'times the best'], ['above', 'above the best']])
      scales.append(button(words, b => { for (const svg of charts) redraw(svg, mode); for (const o of all('button', scales)) o.setAttribute('aria-pressed', o === b); }));
    tools.append(scales);
  }
  if (subjects.length > 1) tools.append(make('div', {}, choice('compare', [['', '-'], ...subjects.map(plain)], n => { pair.a = n; compare(); }), choice('with', [['', '-'], ...subjects.map(plain)], n => { pair.b = n; compare(); })), beside);
  tools.hidden = false;
  tools.open = innerWidth > 600;
}

const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let up = target; up; up = up.parentElement) {
    if (up.tagName === 'DETAILS') up.open = true;
    for (const inside of all(':scope > .fold', up)) inside.open = true;
    const set = up.parentElement?.classList.contains('set') && up.tagName === 'FIGURE' ? up.parentElement : null;
    if (set) all(':scope > input', set)[all(':scope > figure', set).indexOf(up)].checked = true;
  }
  target.hidden = false;
  target.scrollIntoView({ block: 'center' });
};
addEventListener('hashchange', open);
addEventListener('beforeprint', () => { for (const one of all('.fold')) one.open = true; });
open();
document.documentElement.dataset.script = 'on';
