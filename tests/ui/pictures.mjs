// SPDX-License-Identifier: Apache-2.0
// pictures.mjs PAGE FOLDER: the first screen of a report in both themes, and the whole page.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';

const [page, folder] = process.argv.slice(2);
const browser = await launch();
for (const theme of ['light', 'dark']) {
  const opened = await open(browser, pathToFileURL(path.resolve(page)).href, { colorScheme: theme, viewport: { width: 1200, height: 800 }, deviceScaleFactor: 1.5 });
  await opened.page.screenshot({ path: `${folder}/report-${theme}.png` });
  if (opened.wrong.length) throw new Error(opened.wrong.join('\n'));
  await opened.close();
}
await browser.close();
