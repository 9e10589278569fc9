#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SAMPLE_PAGE: makes the pages and tests them in Chromium. Exit 77 (skipped) where something
# that the test needs is not installed.
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "skipped: $1"; exit 77; }
command -v node >/dev/null || skip "node is not installed"
[ -x "${HOLTER_CHROMIUM:-/usr/bin/chromium}" ] || skip "chromium is not installed (HOLTER_CHROMIUM names another)"
[ -d "$here/node_modules/playwright-core" ] || skip "run 'npm ci --ignore-scripts' in tests/ui first"
HOLTER_PAGES=$(mktemp -d) && export HOLTER_PAGES
trap 'rm -rf "$HOLTER_PAGES"' EXIT
"$1" "$HOLTER_PAGES" || exit 1
cd "$here" && node --test
