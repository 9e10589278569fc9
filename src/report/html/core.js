// SPDX-License-Identifier: Apache-2.0
// Shared by the page's scripts: the data, rank sets, elements, theme, search. Text from the report
// enters the page as textContent only.
'use strict';
const holter = (() => {
  const island = document.getElementById('data');
  const data = island ? JSON.parse(island.textContent) : {};

  // "0-412,414-1023" -> [[0, 412], [414, 1023]]
  const ranges = (text) => (text ? text.split(',').map((part) => {
    const at = part.indexOf('-', 1);
    return at < 0 ? [+part, +part] : [+part.slice(0, at), +part.slice(at + 1)];
  }) : []);
  const contains = (set, rank) => set.some(([a, b]) => a <= rank && rank <= b);
  const size = (set) => set.reduce((sum, [a, b]) => sum + b - a + 1, 0);
  const overlap = (one, other) => one.some(([a, b]) => other.some(([c, d]) => a <= d && c <= b));
  const each = function* (set) {
    for (const [a, b] of set) for (let rank = a; rank <= b; rank++) yield rank;
  };
  const noun = (text, n) => (n === 1 ? 'rank ' : 'ranks ') + (text.length > 60 ? text.slice(0, text.lastIndexOf(',', 60)) + ' \u2026' : text);
  const count = (n) => n.toLocaleString('en-US');

  const element = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

  const painters = [];
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const repaint = () => painters.forEach((paint) => paint());
  dark.addEventListener('change', repaint);
  document.getElementById('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const now = root.dataset.theme || (dark.matches ? 'dark' : 'light');
    root.dataset.theme = now === 'dark' ? 'light' : 'dark';
    repaint();
  });

  // Views add {text, where, go} rows; static rows are found by class.
  const extra = [];
  const box = document.getElementById('search');
  const list = document.getElementById('results');
  const section = (node) => (node.closest('section')?.querySelector('h2, .verdict')?.textContent || '').replace('#', '').trim();
  let rows = null;
  const index = () => {
    // The stack view adds its own rows; the table for pages without scripts would only repeat them.
    rows = [...document.querySelectorAll('.s')].filter((node) => !node.closest('#stacks')).map((node) => ({
      text: node.textContent.replace(/\s+/g, ' ').trim(), where: section(node), go: () => {
        node.closest('details')?.setAttribute('open', '');
        node.scrollIntoView({ block: 'center' });
        node.tabIndex = -1;
        node.focus();
      },
    }));
  };
  const matches = (query) => {
    if (!rows) index();
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = /^(?:rank\s+)?(\d+)$/i.exec(query.trim());
    const found = extra.filter((row) => rank && row.ranks && contains(row.ranks, +rank[1]));
    for (const row of [...rows, ...extra]) {
      if (found.length >= 50) break;
      const text = row.text.toLowerCase();
      if (!found.includes(row) && words.every((word) => text.includes(word))) found.push(row);
    }
    return found;
  };
  const excerpt = (text, query) => {
    const at = Math.max(0, text.toLowerCase().indexOf(query.toLowerCase()) - 40);
    return (at > 0 ? '\u2026' : '') + text.slice(at, at + 140);
  };
  const close = () => { list.hidden = true; list.replaceChildren(); };
  const search = () => {
    const query = box.value.trim();
    if (!query) return close();
    const found = matches(query);
    list.replaceChildren(...(found.length ? found : [null]).map((row) => {
      if (!row) return element('li', { class: 'none' }, 'Nothing found');
      const link = element('a', { href: '#' }, excerpt(row.text, query), element('small', {}, row.where));
      link.addEventListener('click', (event) => { event.preventDefault(); close(); row.go(); });
      return element('li', {}, link);
    }));
    list.hidden = false;
  };
  box.addEventListener('input', search);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
      const first = list.querySelector('a');
      if (first) { event.preventDefault(); event.key === 'Enter' ? first.click() : first.focus(); }
    }
  });
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = document.activeElement.parentElement[step];
    next ? next.querySelector('a').focus() : box.focus();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { close(); box.blur(); }
    if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.focus();
      box.select();
    }
  });
  document.addEventListener('click', (event) => { if (!event.target.closest('.search')) close(); });
  // An anchor inside a closed <details> opens it.
  const open = () => document.getElementById(location.hash.slice(1))?.closest('details')?.setAttribute('open', '');
  addEventListener('hashchange', open);
  open();

  return { data, ranges, contains, size, overlap, each, noun, count, element, colour, painters, extra };
})();
