// SPDX-License-Identifier: Apache-2.0
// One browser for all tests, with nothing that talks to the network.
import { chromium } from 'playwright-core';

export const executable = process.env.HOLTER_CHROMIUM || '/usr/bin/chromium';

export const launch = () => chromium.launch({
  executablePath: executable,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
});

// A page that fails the test on any console error, exception or request beyond the file itself.
export const open = async (browser, url, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push('console: ' + message.text()); });
  page.on('pageerror', (error) => wrong.push('exception: ' + error.message));
  page.on('request', (request) => { if (request.url().split('#')[0] !== url.split('#')[0]) wrong.push('request: ' + request.url()); });
  page.on('dialog', (dialog) => { wrong.push('dialog'); dialog.dismiss(); });
  await page.goto(url);
  return { page, wrong, close: () => context.close() };
};
