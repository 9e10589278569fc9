// SPDX-License-Identifier: Apache-2.0
// Collectives by rank on a canvas. A lane is a set of ranks with equal calls; its bars span the
// earliest start to the latest end, solid where all ranks agree, soft where they or the clocks differ.
// Without times the axis is the sequence of calls.
'use strict';
(() => {
  const host = document.getElementById('timeline-view');
  const { data, ranges, contains, size, overlap, each, noun, count, element, colour, painters, extra } = holter;
  if (!host || !data.calls) return;
  const { names, timed, span } = data.calls;
  const kRow = 22, kAxis = 26, kWide = 8;  // kWide: numbers per call in lane.calls
  const culprits = ranges(data.culprits), waiting = ranges(data.waiting);

  const lanes = data.calls.lanes.map((lane) => ({ ...lane, set: ranges(lane.ranks), open: false }));
  if (data.missing) lanes.push({ ranks: data.missing, set: ranges(data.missing), calls: [], missing: true });
  lanes.forEach((lane) => {
    lane.n = size(lane.set);
    lane.tone = lane.missing ? 'unknown' : overlap(lane.set, culprits) ? 'culprit' : overlap(lane.set, waiting) ? 'waiting' : 'progress';
  });
  lanes.sort((a, b) => (b.tone === 'culprit') - (a.tone === 'culprit') || (a.missing ? 1 : 0) - (b.missing ? 1 : 0));

  // Sequence axis: every (group, seq) has one column, in order of sequence numbers.
  const columns = new Map();
  if (!timed) {
    const all = [];
    for (const lane of lanes) for (let i = 0; i < lane.calls.length; i += kWide) all.push([lane.calls[i + 2], lane.calls[i]]);
    all.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [seq, group] of all) if (!columns.has(group + ':' + seq)) columns.set(group + ':' + seq, columns.size);
  }
  const domain = timed ? Math.max(1, span * 1.04) : Math.max(1, columns.size);
  let from = 0, to = domain, selected = 0, rows = [], width = 0;

  const scroller = element('div', { class: 'scroller', tabindex: '0', role: 'application', 'aria-label': 'Timeline of collectives by rank' });
  const inner = element('div'), canvas = element('canvas'), said = document.getElementById('timeline-said');
  inner.append(canvas);
  scroller.append(inner);
  const legend = element('p', { class: 'legend' });
  for (const [key, text] of [['progress', 'completed'], ['waiting', 'entered, not left'], ['culprit', 'culprit: gap or call'], ['none', 'no evidence']]) {
    legend.append(element('span', {}, element('i', { class: 'k-' + key }), text));
  }
  const more = data.calls.more ? element('p', { class: 'hint' }, count(data.calls.more) + ' further behaviours are in the JSON report.') : '';
  const without = data.calls.without ? element('p', { class: 'hint' }, 'Too many calls for one page; left out: ranks ' + data.calls.without) : '';
  host.append(scroller, legend, more, without);

  const layout = () => {
    rows = [];
    lanes.forEach((lane, index) => {
      rows.push({ lane, index });
      if (!lane.open) return;
      let at = 0;
      for (const rank of each(lane.set)) rows.push({ lane, index, rank, at: at++ });
    });
    selected = Math.min(selected, rows.length - 1);
    inner.style.height = rows.length * kRow + kAxis + 'px';
  };

  // start and end of call i of a row: [latest start, earliest end, earliest start, latest end]; end < 0: open.
  const extent = (row, i) => {
    const c = row.lane.calls, base = i * kWide;
    if (!timed) {
      const column = columns.get(c[base] + ':' + c[base + 2]);
      return [column + 0.08, column + 0.92, column + 0.08, column + 0.92];
    }
    if (row.rank !== undefined && row.lane.times) {
      const at = (row.at * (c.length / kWide) + i) * 2;
      return [row.lane.times[at], row.lane.times[at + 1], row.lane.times[at] - data.error, row.lane.times[at + 1] + data.error];
    }
    return [c[base + 5], c[base + 6], c[base + 4] - data.error, c[base + 7] + data.error];
  };

  const label = (row) => (row.rank !== undefined ? 'rank ' + row.rank : noun(row.lane.ranks, row.lane.n));
  const gutter = () => (width < 560 ? 96 : 200);

  const paintRow = (g, row, y, palette) => {
    const left = gutter(), scale = (width - left) / (to - from), { lane } = row;
    if (lane.missing) {
      g.fillStyle = palette.hatch;
      g.fillRect(left, y + 3, width - left, kRow - 6);
      return;
    }
    for (let i = 0; i < lane.calls.length / kWide; i++) {
      const [start, end, soft, softEnd] = extent(row, i);
      const done = timed ? end >= 0 : names[lane.calls[i * kWide + 3]].startsWith('completed');
      const stop = timed && !done ? to : end, x0 = left + (start - from) * scale, x1 = left + (stop - from) * scale;
      if (x1 < left || x0 > width) continue;
      g.fillStyle = done ? palette.progress : lane.tone === 'culprit' ? palette.culprit : palette.waiting;
      if (timed) {
        const s0 = left + (soft - from) * scale, s1 = done ? left + (softEnd - from) * scale : x1;
        g.globalAlpha = 0.3;
        g.fillRect(Math.max(left, s0), y + 4, Math.max(1, s1 - Math.max(left, s0)), kRow - 8);
        g.globalAlpha = 1;
      }
      const a = Math.max(left, x0), w = Math.max(1.5, x1 - a - 0.5);
      g.fillRect(a, y + 4, w, kRow - 8);
      if (w > 70) {
        g.fillStyle = palette.ground;
        g.save();
        g.beginPath(); g.rect(a, y, w - 4, kRow); g.clip();
        g.fillText(names[lane.calls[i * kWide + 1]] + ' #' + lane.calls[i * kWide + 2], a + 4, y + kRow / 2);
        g.restore();
      }
    }
  };

  const stamp = (us) => (us >= 1e6 || to - from > 2e6 ? (us / 1e6).toFixed(to - from < 2e6 ? 3 : 1) + ' s' : to - from > 2000 ? (us / 1e3).toFixed(0) + ' ms' : us.toFixed(0) + ' \u00b5s');
  const paintAxis = (g, palette, height) => {
    const left = gutter(), scale = (width - left) / (to - from);
    let step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
    while ((to - from) / step > 8) step *= step * 2.5 * scale < 40 ? 5 : 2;
    if (!timed) step = Math.max(1, Math.round(step));
    g.fillStyle = palette.ground;
    g.fillRect(0, 0, width, kAxis);
    g.strokeStyle = palette.line;
    const byColumn = timed ? null : [...columns.keys()];
    for (let v = Math.ceil(from / step) * step; v <= to; v += step) {
      const x = Math.round(left + (v - from) * scale) + 0.5;
      g.beginPath(); g.moveTo(x, kAxis - 6); g.lineTo(x, height); g.stroke();
      g.fillStyle = palette.muted;
      const text = timed ? '+' + stamp(v) : byColumn[v] ? '#' + byColumn[v].split(':')[1] : '';
      if (x < width - 40) g.fillText(text, x + 3, kAxis / 2);
    }
  };

  const pattern = (g) => {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const t = tile.getContext('2d');
    t.strokeStyle = colour('muted');
    for (const shift of [-8, 0, 8]) { t.beginPath(); t.moveTo(shift, 8); t.lineTo(shift + 8, 0); t.stroke(); }
    return g.createPattern(tile, 'repeat');
  };

  const paint = () => {
    width = scroller.clientWidth;
    const height = Math.min(420, rows.length * kRow + kAxis + 2), ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + 'px';
    canvas.style.height = height + 'px';
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '12px ' + getComputedStyle(document.body).fontFamily;
    g.textBaseline = 'middle';
    const palette = { ground: colour('ground'), line: colour('line'), muted: colour('muted'), text: colour('text'), raised: colour('raised'), culprit: colour('culprit'), waiting: colour('wait-fill'), progress: colour('progress'), hatch: pattern(g) };
    g.fillStyle = palette.ground;
    g.fillRect(0, 0, width, height);
    paintAxis(g, palette, height);
    const first = Math.floor(scroller.scrollTop / kRow);
    for (let i = first; i < rows.length; i++) {
      const y = kAxis + i * kRow - scroller.scrollTop;
      if (y > height) break;
      if (y < kAxis - kRow) continue;
      g.save();
      g.beginPath(); g.rect(0, kAxis, width, height); g.clip();
      if (i === selected) { g.fillStyle = palette.raised; g.fillRect(0, y, width, kRow); }
      paintRow(g, rows[i], y, palette);
      const { lane } = rows[i], mark = lane.missing || lane.n < 2 || rows[i].rank !== undefined ? '  ' : lane.open ? '\u25be ' : '\u25b8 ';
      g.beginPath(); g.rect(0, y, gutter() - 6, kRow); g.clip();
      g.fillStyle = lane.tone === 'culprit' ? palette.culprit : palette.text;
      g.fillText((rows[i].rank !== undefined ? '    ' : mark) + label(rows[i]), 8, y + kRow / 2);
      g.restore();
    }
  };

  const say = () => {
    const row = rows[selected];
    if (!row) return;
    const c = row.lane.calls, last = c.length - kWide;
    const state = row.lane.missing ? 'no evidence' : c.length === 0 ? 'no call' :
      'last call ' + names[c[last + 1]] + ' #' + c[last + 2] + ' of ' + names[c[last]] + ', ' + names[c[last + 3]];
    said.textContent = label(row) + (row.rank === undefined && row.lane.n > 1 ? ' (' + count(row.lane.n) + ')' : '') + ': ' + state;
  };

  const zoom = (factor, centre = (from + to) / 2) => {
    const floor = timed ? 5 : 2, wide = Math.min(domain, Math.max(floor, (to - from) * factor)), share = (centre - from) / (to - from);
    from = Math.min(Math.max(0, centre - wide * share), domain - wide);
    to = from + wide;
    paint();
  };
  const move = (share) => {
    const wide = to - from;
    from = Math.min(Math.max(0, from + wide * share), domain - wide);
    to = from + wide;
    paint();
  };
  const choose = (i) => {
    selected = Math.min(Math.max(0, i), rows.length - 1);
    const top = selected * kRow, view = canvas.clientHeight - kAxis;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + kRow > scroller.scrollTop + view) scroller.scrollTop = top + kRow - view;
    say();
    paint();
  };
  const unfold = () => {
    const { lane, rank } = rows[selected];
    if (lane.missing || lane.n < 2) return;
    lane.open = !lane.open;
    layout();
    if (rank !== undefined) selected = rows.findIndex((row) => row.lane === lane);
    choose(selected);
  };

  const keys = {
    '+': () => zoom(0.6), '=': () => zoom(0.6), '-': () => zoom(1 / 0.6), '0': () => { from = 0; to = domain; paint(); },
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), ArrowUp: () => choose(selected - 1), ArrowDown: () => choose(selected + 1),
    PageUp: () => choose(selected - 15), PageDown: () => choose(selected + 15), Home: () => choose(0), End: () => choose(rows.length - 1), Enter: unfold, ' ': unfold,
  };
  scroller.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  // The wheel zooms only while the timeline has the focus: a reader who scrolls the page passes over it.
  scroller.addEventListener('wheel', (event) => {
    if (document.activeElement !== scroller || event.shiftKey) return;
    event.preventDefault();
    const x = event.clientX - canvas.getBoundingClientRect().left - gutter();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, from + Math.max(0, x / (width - gutter())) * (to - from));
  }, { passive: false });
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect(), i = Math.floor((event.clientY - box.top - kAxis + scroller.scrollTop) / kRow);
    scroller.focus({ preventScroll: true });
    if (i < 0 || i >= rows.length) return;
    choose(i);
    if (event.clientX - box.left < gutter()) unfold();
  });
  scroller.addEventListener('scroll', paint);
  new ResizeObserver(paint).observe(scroller);
  painters.push(paint);
  for (const lane of lanes) {
    const c = lane.calls, last = c.length - kWide;
    extra.push({ text: noun(lane.ranks, lane.n) + (c.length ? ' ' + names[c[last + 1]] + ' #' + c[last + 2] + ' ' + names[c[last]] + ' ' + names[c[last + 3]] : ' no evidence'), where: 'Timeline', ranks: lane.set,
      go: () => { scroller.scrollIntoView({ block: 'center' }); scroller.focus({ preventScroll: true }); choose(rows.findIndex((row) => row.lane === lane)); } });
  }
  layout();
  say();
})();
