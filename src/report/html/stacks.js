// SPDX-License-Identifier: Apache-2.0
// The merged stack tree: flame graph (outermost frame on top, width = ranks, narrow branches kept
// visible), tree and table. A click names the rank set; a second one makes the frame the root.
'use strict';
(() => {
  const host = document.getElementById('stacks-view'), plain = document.getElementById('stacks-plain');
  const { data, ranges, noun, count, element, extra } = holter;
  const nodes = data.stacks;
  if (!host || !nodes || !nodes.length) return;
  const kRow = 24, kNarrow = 28, kDrawn = 3000;
  let root = 0, selected = -1;

  const parents = new Int32Array(nodes.length).fill(-1);
  // Children that point backwards or outside would make the tree endless: they are dropped.
  nodes.forEach((node, i) => { node.c = (node.c || []).filter((child) => child > i && child < nodes.length && parents[child] < 0 && (parents[child] = i, true)); });

  const tabs = element('div', { class: 'tabs', role: 'group', 'aria-label': 'View of the stacks' });
  const crumb = element('span', { class: 'crumb' }), view = element('div'), detail = element('div', { class: 'detail', role: 'status' });
  host.append(tabs, view, detail);

  const describe = (i) => {
    const node = nodes[i];
    detail.replaceChildren(element('code', {}, node.f), element('div', {}, node.r ? noun(node.r, node.n) + ' (' + count(node.n) + ')' : count(node.n) + ' stacks',
      node.k ? ', here the minority leaves' : '', node.m ? ', minority' : ''));
  };

  // A child gets its share of the width, but at least kNarrow while there is room.
  const shares = (children, width) => {
    const total = children.reduce((sum, child) => sum + nodes[child].n, 0) || 1, least = Math.min(kNarrow, width / children.length);
    const small = children.filter((child) => nodes[child].n / total * width < least);
    const rest = width - small.length * least, weight = total - small.reduce((sum, child) => sum + nodes[child].n, 0) || 1;
    return children.map((child) => (small.includes(child) ? least : nodes[child].n / weight * rest));
  };

  const flame = () => {
    const box = element('div', { class: 'flame' });
    view.replaceChildren(box);
    const todo = [[root, 0, 0, box.clientWidth]];
    let drawn = 0, depth = 0;
    while (todo.length && drawn < kDrawn) {
      const [i, level, x, width] = todo.shift(), node = nodes[i];
      const button = element('button', { type: 'button', 'aria-pressed': String(i === selected), class: (node.m ? 'minority ' : '') + (node.k ? 'fork' : ''), 'data-node': i }, node.f);
      button.style.left = x + 'px';
      button.style.top = level * kRow + 'px';
      button.style.width = Math.max(2, width - 1) + 'px';
      button.title = node.f;
      box.append(button);
      drawn++;
      depth = Math.max(depth, level);
      // A branch that has fewer ranks than its parent leaves the rest of the width empty: ranks end there.
      const used = node.c.reduce((sum, child) => sum + nodes[child].n, 0), part = node.n ? Math.min(1, used / node.n) : 1;
      let at = x;
      shares(node.c, width * part).forEach((share, k) => { if (share >= 2) todo.push([node.c[k], level + 1, at, share]); at += share; });
    }
    box.style.height = (depth + 1) * kRow + 2 + 'px';
    box.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      const i = +button.dataset.node;
      if (i === selected) { root = i === root ? Math.max(0, parents[i]) : i; show('flame'); }
      selected = i;
      for (const other of box.children) other.setAttribute('aria-pressed', String(+other.dataset.node === i));
      describe(i);
    });
    crumb.textContent = root === 0 ? '' : 'from ' + nodes[root].f;
  };

  const table = () => {
    const body = element('tbody');
    const leaves = nodes.map((node, i) => i).filter((i) => !nodes[i].c.length).sort((a, b) => nodes[a].n - nodes[b].n).slice(0, 500);
    for (const i of leaves) body.append(element('tr', {}, element('td', {}, element('code', {}, nodes[i].f)), element('td', {}, nodes[i].r || ''), element('td', {}, count(nodes[i].n)), element('td', {}, nodes[i].m ? 'minority' : '')));
    view.replaceChildren(element('table', {}, element('thead', {}, element('tr', {}, ...['Innermost frame', 'Ranks', 'Count', ''].map((text) => element('th', {}, text)))), body));
  };
  const tree = () => view.replaceChildren(plain);

  const kinds = { flame, tree, table }, buttons = {};
  const show = (kind) => {
    plain.hidden = kind !== 'tree';
    crumb.textContent = '';
    kinds[kind]();
    for (const [name, button] of Object.entries(buttons)) button.setAttribute('aria-pressed', String(name === kind));
  };
  for (const [kind, text] of [['flame', 'Flame graph'], ['tree', 'Tree'], ['table', 'Table']]) {
    buttons[kind] = element('button', { type: 'button' }, text);
    buttons[kind].addEventListener('click', () => show(kind));
    tabs.append(buttons[kind]);
  }
  tabs.append(crumb);
  nodes.forEach((node, i) => extra.push({ text: node.f, where: 'Stacks', ranks: node.c.length ? null : ranges(node.r || ''),
    go: () => { show('flame'); host.scrollIntoView({ block: 'center' }); view.querySelector('[data-node="' + i + '"]')?.focus(); describe(i); } }));
  show('flame');
  let width = host.clientWidth;
  new ResizeObserver(() => { if (host.clientWidth !== width) { width = host.clientWidth; if (buttons.flame.getAttribute('aria-pressed') === 'true') flame(); } }).observe(host);
})();
