// SPDX-License-Identifier: Apache-2.0
// The HTML report in Chromium. HOLTER_PAGES: the folder that sample_page wrote.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';

const at = (name) => pathToFileURL(process.env.HOLTER_PAGES + '/' + name).href;
let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const visit = async (name, options, body) => {
  const opened = await open(browser, at(name), options);
  try {
    await body(opened.page);
    assert.deepEqual(opened.wrong, []);
  } finally {
    await opened.close();
  }
};

for (const name of ['normal', 'large', 'huge', 'empty', 'hostile', 'untimed', 'fine']) {
  test(name + ' loads without an error or a request', () => visit(name + '.html', {}, async (page) => {
    assert.ok(await page.locator('h1').isVisible());
  }));
}

test('the first screen holds verdict, culprit, evidence and next step', () => visit('normal.html', {}, async (page) => {
  for (const part of ['.verdict b', 'dd.culprit', '.lead li:nth-child(3)', '.actions li:first-child']) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box && box.y + box.height <= 900, part + ' is on the first screen');
  }
}));

// Time of the page's own work, so that a busy test machine does not count.
test('1,024 ranks load in less than 2 s', () => visit('large.html', {}, async (page) => {
  await page.locator('#timeline canvas').waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  const seconds = of('ScriptDuration') + of('LayoutDuration') + of('RecalcStyleDuration');
  console.log(`1,024 ranks x 100 calls: ${(seconds * 1000).toFixed(0)} ms`);
  assert.ok(seconds < 2, `${seconds} s`);
}));

test('hostile text is inert', () => visit('hostile.html', {}, async (page) => {
  await page.fill('#search', 'script');
  await page.keyboard.press('Enter');
  await page.locator('#timeline .scroller').press('Enter');
  for (const tab of await page.locator('.tabs button').all()) await tab.click();
  assert.equal(await page.evaluate(() => window.owned), undefined);
  assert.equal(await page.locator('img').count(), 0);
  const text = await page.evaluate(() => document.body.innerText);
  assert.ok(text.includes('<script>window.owned=1</script>'));
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u001b]/.test(text));
}));

test('search finds text, ranks and frames; / focuses it, Escape leaves it', () => visit('normal.html', {}, async (page) => {
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
  await page.keyboard.type('not responding');
  assert.ok((await page.locator('#results li').count()) >= 1);
  assert.match(await page.locator('#results').innerText(), /Evidence/);
  await page.fill('#search', 'rank 26');
  assert.match(await page.locator('#results').innerText(), /Timeline/);
  await page.fill('#search', 'next_batch');
  assert.match(await page.locator('#results').innerText(), /Stacks/);
  await page.locator('#results a', { hasText: 'Stacks' }).first().click();
  assert.match(await page.locator('#stacks .detail').innerText(), /loader\.py:40[\s\S]*rank 26/);
  await page.fill('#search', 'zzzz');
  assert.match(await page.locator('#results').innerText(), /Nothing found/);
  await page.keyboard.press('Escape');
  assert.ok(await page.locator('#results').isHidden());
}));

const pixels = (page) => page.evaluate(() => document.querySelector('#timeline canvas').toDataURL());

test('the timeline zooms, moves and unfolds by keyboard and wheel', () => visit('normal.html', {}, async (page) => {
  const view = page.locator('#timeline .scroller');
  await view.focus();
  const fit = await pixels(page);
  await page.keyboard.press('+');
  const zoomed = await pixels(page);
  assert.notEqual(zoomed, fit);
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await pixels(page), zoomed);
  await page.keyboard.press('0');
  assert.equal(await pixels(page), fit);
  await view.hover();
  await page.mouse.wheel(0, -200);
  await page.waitForFunction((old) => document.querySelector('#timeline canvas').toDataURL() !== old, fit);
  await page.keyboard.press('Home');
  assert.match(await page.locator('#timeline-said').innerText(), /^rank 26: last call/);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#timeline-said').innerText(), /\(61\): last call all_\w+ #90211 of default_pg, started/);
  const folded = await view.evaluate((node) => node.scrollHeight);
  await page.keyboard.press('Enter');
  assert.ok((await view.evaluate((node) => node.scrollHeight)) > folded + 1000);
  await page.keyboard.press('ArrowDown');
  assert.match(await page.locator('#timeline-said').innerText(), /^rank 0: /);
}));

test('without times the axis is the sequence of calls', () => visit('untimed.html', {}, async (page) => {
  await page.locator('#timeline .scroller').focus();
  await page.keyboard.press('Home');
  assert.match(await page.locator('#timeline-said').innerText(), /#90210/);
}));

test('the stack views show the fork and the rank set', () => visit('normal.html', {}, async (page) => {
  assert.equal(await page.locator('.flame button.fork').count(), 1);
  assert.ok((await page.locator('.flame button.minority').first().boundingBox()).width >= 20);
  await page.locator('.flame button.minority').first().click();
  assert.match(await page.locator('#stacks .detail').innerText(), /rank 26/);
  await page.getByRole('button', { name: 'Table' }).click();
  assert.match(await page.locator('#stacks table').innerText(), /dataset\.py:88/);
  await page.getByRole('button', { name: 'Tree', exact: true }).click();
  assert.match(await page.locator('#stacks pre').innerText(), /fork/);
}));

// WCAG contrast of every visible text against the background that is behind it.
const worst = (page) => page.evaluate(() => {
  const parse = (text) => { const v = text.match(/[\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
  const channel = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  let least = [99, ''];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility({ opacityProperty: true }) || ['SCRIPT', 'STYLE'].includes(node.tagName)) continue;
    let back = node;
    while (back && parse(getComputedStyle(back).backgroundColor)[3] === 0) back = back.parentElement;
    const a = light(parse(getComputedStyle(node).color)), b = light(parse(getComputedStyle(back || document.body).backgroundColor));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, node.tagName + '.' + node.className + ': ' + node.textContent.slice(0, 40)];
  }
  return least;
});

for (const theme of ['light', 'dark']) {
  test('every text has contrast, ' + theme, () => visit('normal.html', { colorScheme: theme }, async (page) => {
    const [ratio, where] = await worst(page);
    assert.ok(ratio >= 4.5, `${ratio} at ${where}`);
  }));
}

test('the theme follows the system and its button', () => visit('normal.html', { colorScheme: 'dark' }, async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), 'rgb(20, 23, 26)');
  await page.click('#theme');
  assert.equal(await ground(), 'rgb(252, 252, 251)');
  await page.click('#theme');
  assert.equal(await ground(), 'rgb(20, 23, 26)');
}));

test('a phone needs no sideways scrolling', async () => {
  for (const name of ['normal.html', 'large.html', 'hostile.html']) {
    await visit(name, { viewport: { width: 360, height: 740 } }, async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
    });
  }
});

test('the page is complete without scripts', () => visit('normal.html', { javaScriptEnabled: false }, async (page) => {
  assert.ok(await page.locator('.tree').isVisible());
  assert.ok(await page.locator('#evidence mark').first().isVisible());
}));

test('print is two pages', () => visit('normal.html', {}, async (page) => {
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 2);
}));

test('a link to a piece of evidence opens it', async () => {
  const opened = await open(browser, at('normal.html') + '#E2');
  const box = await opened.page.locator('#E2').boundingBox();
  assert.ok(box.y >= 0 && box.y < 900);
  assert.deepEqual(opened.wrong, []);
  await opened.close();
});
