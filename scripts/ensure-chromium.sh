#!/usr/bin/env bash
# Makes sure that there is a Chromium for the tests of the pages: installs Debian's where it may. Exits with 1, and says
# why in a line that begins with "SKIPPED:", where there is none; nothing else of the suite needs it.
set -euo pipefail

for program in "${LARDER_TEST_CHROMIUM:-}" /usr/bin/chromium-headless-shell; do
  if [ -n "$program" ] && [ -x "$program" ]; then exit 0; fi
done

# The shell without a window needs a third less of the processor. Any other Chromium does too.
has_chromium() {
  local program
  for program in /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    if [ -x "$program" ]; then return 0; fi
  done
  return 1
}

skip() {
  if has_chromium; then exit 0; fi
  printf 'SKIPPED: the tests of the pages in a browser: %s\n' "$*" >&2
  exit 1
}

command -v apt-get >/dev/null || skip "there is no Chromium, and no apt-get to install it with."
[ "$(id -u)" -eq 0 ] || skip "there is no Chromium. Install it: sudo apt-get install chromium"
printf 'Installing Chromium …\n' >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || skip "apt-get update failed."
apt-get install -y -qq --no-install-recommends chromium-headless-shell >&2 ||
  apt-get install -y -qq --no-install-recommends chromium >&2 || skip "Chromium could not be installed."
