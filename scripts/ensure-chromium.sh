#!/usr/bin/env bash
# Makes sure that there is a Chromium for the tests in test/web: installs the one of Debian if possible. Otherwise exits with
# 1, and prints the reason in a line that starts with "SKIPPED:". No other tests need it.
set -euo pipefail

for program in "${LARDER_TEST_CHROMIUM:-}" /usr/bin/chromium-headless-shell; do
  if [ -n "$program" ] && [ -x "$program" ]; then exit 0; fi
done

# The headless shell needs a third less processor time. Any other Chromium works too.
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

command -v apt-get >/dev/null || skip "Chromium and apt-get were not found."
[ "$(id -u)" -eq 0 ] || skip "Chromium was not found. Install it: sudo apt-get install chromium"
printf 'Installing Chromium …\n' >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || skip "apt-get update failed."
apt-get install -y -qq --no-install-recommends chromium-headless-shell >&2 ||
  apt-get install -y -qq --no-install-recommends chromium >&2 || skip "Chromium could not be installed."
