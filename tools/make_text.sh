#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the text that the recipes train on: the King James Bible, public domain, one verse a line.
#
#   tools/make_text.sh [file]      default: data/kjv.txt
#
# Comes from Debian's packages bible-kjv and bible-kjv-text, so it is the same bytes everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."

file="${1:-data/kjv.txt}"
expected_bytes=4404412

if [ -f "$file" ] && [ "$(wc -c < "$file")" = "$expected_bytes" ]; then
  echo "   already there: $file"
  exit 0
fi
if ! command -v bible >/dev/null; then
  echo "the program bible is not installed. On Debian: apt-get install bible-kjv bible-kjv-text" >&2
  echo "Any text will do for training: training.dataset_path=FILE, or BRIGADE_TEXT=FILE for tools/quickstart.sh" >&2
  exit 1
fi
mkdir -p "$(dirname "$file")"
trap 'rm -f "$file.part"' EXIT
bible -f gen1:1-rev22:21 </dev/null > "$file.part"
bytes=$(wc -c < "$file.part")
if [ "$bytes" != "$expected_bytes" ]; then
  echo "$expected_bytes bytes of text were expected, found $bytes; is bible-kjv-text installed whole?" >&2
  exit 1
fi
mv "$file.part" "$file"
echo "   wrote $file ($bytes bytes)"
