#include "src/report/page_assets.hpp"

#include "src/report/svg.hpp"

namespace mgsync::report {

// Text and links have a contrast of at least 4.5 to 1. Wide content scrolls in a box of its own rather than
// the whole page.
std::string page_style() {
  static constexpr std::string_view own = R"css(
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--grid:#d8dee4;--paper:#fff;--raised:#f6f8fa;--link:#0059a3;--mark:#fff3c4;--bad:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--grid:#30363d;--paper:#0d1117;--raised:#161b22;--link:#79b8ff;--mark:#4a3f10;--bad:#ff8f8f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:1.2rem clamp(.8rem,3vw,2rem) 4rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0}h2{font-size:1.3rem;margin:2.6rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--grid)}h3{font-size:1rem;margin:1.4rem 0 .4rem}
a{color:var(--link)}p{max-width:46rem;margin:.5rem 0}.soft,figcaption,summary{color:var(--soft);font-size:.9rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;padding:0;margin:1rem 0}
.verdict p:not(.soft):first-of-type{font-size:1.15rem}.bad{color:var(--bad);font-weight:600}
.wide{overflow-x:auto;max-width:100%}
figure{margin:1.4rem 0;max-width:770px}.drawing{max-width:none}figure svg{display:block;min-width:600px;max-width:100%;height:auto}figure .wide{border:1px solid var(--grid);border-radius:6px}
.drawing svg,.drawing img{background:#fff;min-width:0;width:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;margin:.3rem 0}
th,td{padding:.22rem .7rem;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top;overflow-wrap:normal}
thead th{background:var(--raised);position:sticky;top:0}.n{text-align:right;white-space:nowrap}td.words{min-width:14rem}
tr:target,tr.here{background:var(--mark)}
details{margin:.4rem 0}summary{cursor:pointer}code,pre{font:.85rem/1.45 ui-monospace,Menlo,Consolas,monospace}
pre{background:var(--raised);padding:.5rem .7rem;border-radius:6px;white-space:pre-wrap;margin:.3rem 0}
button,input{font:inherit;font-size:.85rem;color:var(--ink);background:var(--raised);border:1px solid var(--grid);border-radius:5px;padding:.15rem .6rem;margin:.3rem .5rem .3rem 0}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--link)}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1rem;font-size:.9rem;margin:.4rem 0}dt{color:var(--soft)}dd{margin:0}
@media (max-width:600px){.wide table{min-width:34rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}h1{font-size:1.35rem}}
@media print{:root{--ink:#000;--soft:#444;--grid:#bbb;--paper:#fff;--raised:#f2f2f2;--link:#000;--mark:#fff}body{max-width:none;font-size:10.5pt;padding:0}
nav,button,input,.all-rows,figure details:not([open]){display:none}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}a{text-decoration:none}figure svg{min-width:0}.wide{overflow:visible}}
)css";
  return std::string(figure_style()) + std::string(own);
}

// Optional comfort: rows can be sorted and searched, tables copied, and links open the folded section that
// they lead to.
std::string_view page_script() {
  static constexpr std::string_view own = R"js(
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
)js";
  return own;
}

}  // namespace mgsync::report
