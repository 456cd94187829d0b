// What is wrong with a page as it is shown: {kind: [where and what]}. Run in the page by report_controls.py.
(() => {
const found = {}, add = (kind, words) => (found[kind] ??= []).push(words);
const rgb = words => { const n = words.match(/[\d.]+/g).map(Number); return n.length > 3 && n[3] === 0 ? null : n.slice(0, 3); };
const luminance = color => {
  const [r, g, b] = color.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
const paper = e => { for (let at = e; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor); if (c) return c; } return [255, 255, 255]; };
const least_contrast = 4.5, least_letter = 8.5, first_words = words => words.trim().slice(0, 40);
const width = document.documentElement.clientWidth;

if (document.documentElement.scrollWidth > width) add('wide', `the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
const words_of_page = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (words_of_page.nextNode()) {
  const { data, parentElement: e } = words_of_page.currentNode;
  if (!data.trim() || e.closest('svg,script,option') || !seen(e)) continue;
  const is = contrast(rgb(getComputedStyle(e).color), paper(e));
  if (is < least_contrast) add('faint', `${is.toFixed(1)}: ${first_words(data)}`);
}

// What lies below a text: the paper, and every rectangle that is drawn before it and holds its middle.
const below = (text, box, rectangles, color) => {
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  for (const [e, b] of rectangles) {
    if (!(e.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) || x < b.left || x > b.right || y < b.top || y > b.bottom) continue;
    const style = getComputedStyle(e), fill = style.fill === 'none' ? null : rgb(style.fill), share = style.fillOpacity * style.opacity;
    if (fill) color = fill.map((v, i) => v * share + color[i] * (1 - share));
  }
  return color;
};
for (const svg of document.querySelectorAll('figure svg')) {
  if (!seen(svg) || svg.closest('label')) continue;
  const name = svg.closest('figure').dataset.figure ?? svg.getAttribute('aria-label') ?? 'a picture';
  const box = e => e.getBoundingClientRect(), frame = box(svg), back = rgb(getComputedStyle(svg).backgroundColor) ?? paper(svg);
  const marks = [...svg.querySelectorAll('rect,circle,path,line,text')].filter(e => seen(e) && !e.closest('defs')).map(e => [e, box(e)]);
  const rectangles = marks.filter(([e]) => e.tagName === 'rect'), texts = marks.filter(([e]) => e.tagName === 'text' && e.textContent.trim());
  for (const [e, b] of marks) {
    const over = Math.max(frame.left - b.left, b.right - frame.right, frame.top - b.top, b.bottom - frame.bottom);
    if (over > 1.5) add('outside', `${name}: ${e.tagName} ${first_words(e.textContent)} by ${over.toFixed(0)} px`);
  }
  for (const [e, b] of texts) {
    const under = below(e, b, rectangles, back), is = contrast(rgb(getComputedStyle(e).fill), under);
    if (is < least_contrast) add('faint', `${name}: ${is.toFixed(1)}: ${first_words(e.textContent)}`);
    const px = parseFloat(getComputedStyle(e).fontSize) * frame.width / svg.viewBox.baseVal.width;
    if (px < least_letter) add('small', `${name}: letters of ${px.toFixed(1)} px`);
  }
  const level = texts.filter(([e]) => !e.hasAttribute('transform'));
  for (let i = 0; i < level.length; ++i)
    for (let j = i + 1; j < level.length; ++j) {
      const [[e, a], [f, b]] = [level[i], level[j]];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 3.5) add('overlap', `${name}: '${first_words(e.textContent)}' and '${first_words(f.textContent)}'`);
    }
}
return found;
})()
