// Optional comfort: rows can be sorted and searched, tables copied, and links open the folded section that they lead to.
'use strict';
const key = cell => { const t = cell.textContent.trim(), n = parseFloat(t.replace(/^[<~*]\s*/, '')); return t !== '' && !Number.isNaN(n) && /^[<~*\s\d.+-]/.test(t) ? n : t; };
const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1;
for (const table of document.querySelectorAll('table')) {
  if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.title = 'sort';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const rows = [...table.tBodies[0].rows].map((row, i) => ({ row, i, key: key(row.cells[column]) }));
      rows.sort((a, b) => (up ? order(a.key, b.key) : order(b.key, a.key)) || a.i - b.i);
      table.tBodies[0].append(...rows.map(r => r.row));
    });
  });
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.textContent = 'copy table';
  copy.addEventListener('click', () => {
    const rows = [...table.rows].filter(r => !r.hidden);
    const text = rows.map(r => [...r.cells].map(c => c.textContent.trim()).join('\t')).join('\n');
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    copy.textContent = `copied ${rows.length - 1} rows`;
  });
  table.parentElement.after(copy);
}
const all = document.querySelector('.all-rows table');
if (all) {
  const search = document.createElement('input');
  search.type = 'search';
  search.placeholder = 'words that a row must have';
  search.setAttribute('aria-label', 'search the rows');
  all.parentElement.before(search);
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of all.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
  });
}
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let up = target; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
  target.hidden = false;
  target.scrollIntoView({ block: 'center' });
};
addEventListener('hashchange', open);
open();
document.documentElement.dataset.script = 'on';
