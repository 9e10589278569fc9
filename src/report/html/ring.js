// SPDX-License-Identifier: Apache-2.0
// One ring of each communicator as a circle, with the broken edge at the top.
'use strict';
(() => {
  const host = document.getElementById('ring-view');
  const { data, count, element, colour, painters } = holter;
  if (!host || !data.rings) return;
  const kSize = 240;

  // The order along the ring, starting at the receiver of the broken edge.
  const walk = (edges) => {
    const next = new Map();
    let broken = null;
    for (let i = 0; i < edges.length; i += 3) {
      next.set(edges[i], edges[i + 1]);
      if (edges[i + 2]) broken = [edges[i], edges[i + 1]];
    }
    const order = [], seen = new Set();
    let at = broken ? broken[1] : edges[0];
    while (at !== undefined && !seen.has(at)) { seen.add(at); order.push(at); at = next.get(at); }
    return { order, broken };
  };

  for (const ring of data.rings.slice(0, 4)) {
    if (!ring.edges) continue;
    const { order, broken } = walk(ring.edges), canvas = element('canvas', { role: 'img',
      'aria-label': 'Ring of ' + order.length + ' ranks' + (broken ? ', broken between ' + broken[0] + ' and ' + broken[1] : ', no broken edge seen') });
    host.append(element('figure', {}, canvas, element('figcaption', {}, ring.name + ', ring of channel ' + ring.channel + ', ' + count(order.length) + ' ranks')));
    const paint = () => {
      const ratio = devicePixelRatio || 1, g = canvas.getContext('2d'), n = order.length, radius = kSize / 2 - 36;
      canvas.width = canvas.height = kSize * ratio;
      canvas.style.width = canvas.style.height = kSize + 'px';
      g.scale(ratio, ratio);
      g.translate(kSize / 2, kSize / 2);
      g.font = '11px ' + getComputedStyle(document.body).fontFamily;
      g.textAlign = 'center';
      g.textBaseline = 'middle';
      // Half a step of gap on both sides of the top.
      const gap = broken ? Math.max(0.16, Math.PI / n) : Math.PI / n, angle = (i) => -Math.PI / 2 + gap + (n > 1 ? i / (n - 1) : 0) * (2 * Math.PI - 2 * gap);
      g.strokeStyle = colour('muted');
      g.beginPath(); g.arc(0, 0, radius, angle(0), angle(n - 1)); g.stroke();
      g.strokeStyle = colour(broken ? 'culprit' : 'muted');
      g.setLineDash(broken ? [3, 3] : []);
      g.lineWidth = broken ? 2 : 1;
      g.beginPath(); g.arc(0, 0, radius, angle(n - 1), angle(0) + 2 * Math.PI); g.stroke();
      g.setLineDash([]);
      const every = Math.max(1, Math.ceil(n / 128)), labels = Math.max(1, Math.ceil(n / 16));
      for (let i = 0; i < n; i++) {
        const end = broken && (i === 0 || i === n - 1);
        if (i % every && !end) continue;
        const x = Math.cos(angle(i)), y = Math.sin(angle(i));
        g.fillStyle = colour(end && i === n - 1 ? 'culprit' : 'text');
        g.beginPath(); g.arc(x * radius, y * radius, end ? 4 : 2, 0, 7); g.fill();
        const clear = broken ? i > labels / 2 && i < n - labels / 2 : i <= n - labels;
        if (end || (i % labels === 0 && clear)) g.fillText(String(order[i]), x * (radius + 18), y * (radius + 14));
      }
      if (broken) { g.fillStyle = colour('culprit'); g.font = 'bold 14px ' + getComputedStyle(document.body).fontFamily; g.fillText('\u2715', 0, -radius); }
    };
    paint();
    painters.push(paint);
  }
})();
