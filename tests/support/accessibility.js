// What is wrong with a page: names, labels, headings, language, and the contrast of text (WCAG 2.2, 1.4.3).
() => {
  const bad = [];
  const named = e => (e.labels && e.labels.length) || e.getAttribute('aria-label');
  for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea')) if (!named(e)) bad.push('label ' + e.id);
  for (const e of document.querySelectorAll('a,button')) if (!e.textContent.trim()) bad.push('empty ' + e.outerHTML);
  for (const e of document.querySelectorAll('svg')) if (!e.getAttribute('aria-label')) bad.push('picture without words');
  for (const e of document.querySelectorAll('th')) if (!e.scope) bad.push('head without scope');
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  if (new Set(ids).size !== ids.length) bad.push('ids repeat');
  if (!document.documentElement.lang || !document.title || document.querySelectorAll('h1').length !== 1) bad.push('page');
  let level = 0;
  for (const e of document.querySelectorAll('h1,h2,h3')) { const now = +e.tagName[1]; if (now > level + 1) bad.push('heading'); level = now; }
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const read = text => text.match(/[\d.]+/g).map(Number);
  for (const e of document.querySelectorAll('h1,h2,p,a,td,th,label,button,dd,dt,span,code,option')) {
    let under = e, back;
    do { back = read(getComputedStyle(under).backgroundColor); under = under.parentElement; } while (back[3] === 0 && under);
    const [one, two] = [light(read(getComputedStyle(e).color).slice(0, 3)), light(back.slice(0, 3))].sort((a, b) => b - a);
    if ((one + 0.05) / (two + 0.05) < 4.5) bad.push('contrast ' + e.outerHTML.slice(0, 80));
  }
  return bad;
}
