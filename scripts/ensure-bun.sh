# Puts the pinned Bun first on PATH, and installs what the checkout needs. To be sourced by the commands beside it:
#
#   . "$(dirname "${BASH_SOURCE[0]}")/ensure-bun.sh"
#
# Afterwards the working directory is the root of the checkout, `bun` is the pinned version, and node_modules is what
# bun.lock says. Needs bash, and Bun (any version) or Node.js with npm. Writes to node_modules alone.

set -euo pipefail
# Compared by bytes, and spoken in the words that are looked for.
export LC_ALL=C
# Whoever runs this may have told Bun to load or to be something else.
unset BUN_OPTIONS BUN_BE_BUN

cd "$(dirname "${BASH_SOURCE[0]}")/.."

larder_say() { printf '%s\n' "$*" >&2; }

larder_fail() {
  larder_say "$@"
  exit 2
}

# The version that package.json pins: there is one place to change it.
LARDER_BUN_PIN=$(sed -n 's/^ *"bun": *"\([0-9][0-9.]*\)",\{0,1\}$/\1/p' package.json)
[ -n "$LARDER_BUN_PIN" ] || larder_fail "package.json does not pin a Bun version."
# An own folder: node_modules/bun belongs to whatever installs the rest.
LARDER_BUN_HOME="$PWD/node_modules/.cache/larder/bun-$LARDER_BUN_PIN"

# Whether this program runs on this machine and is the pinned version. A placeholder that an installer left behind
# because it was not allowed to run scripts, or a build for another processor, is not.
larder_is_pinned_bun() {
  [ -x "$1" ] && [ "$("$1" --version 2>/dev/null || true)" = "$LARDER_BUN_PIN" ]
}

# Where the packages of npm put the program: with their scripts run, and without.
larder_find_bun() {
  local candidate
  for candidate in "$(command -v bun || true)" \
    "$PWD"/node_modules/.bin/bun "$PWD"/node_modules/@oven/bun-*/bin/bun \
    "$LARDER_BUN_HOME"/node_modules/.bin/bun "$LARDER_BUN_HOME"/node_modules/@oven/bun-*/bin/bun; do
    if larder_is_pinned_bun "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

larder_install_bun() {
  mkdir -p "$LARDER_BUN_HOME"
  printf '{ "private": true, "dependencies": { "bun": "%s" } }\n' "$LARDER_BUN_PIN" >"$LARDER_BUN_HOME/package.json"
  # npm may refuse to run a package's scripts, and Bun asks for leave: neither is needed, the program lies in a package.
  if command -v npm >/dev/null; then
    larder_say "Installing Bun $LARDER_BUN_PIN by npm, for this checkout alone …"
    (cd "$LARDER_BUN_HOME" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error >&2)
  elif command -v bun >/dev/null; then
    larder_say "Installing Bun $LARDER_BUN_PIN by the Bun that is here ($(bun --version)), for this checkout alone …"
    (cd "$LARDER_BUN_HOME" && bun install --ignore-scripts --no-save >&2)
  else
    larder_fail "Neither Bun nor npm was found. Install Node.js (which brings npm), or Bun, then run this again."
  fi
}

if ! LARDER_BUN=$(larder_find_bun); then
  larder_install_bun || larder_fail "Could not install Bun $LARDER_BUN_PIN. See the messages above."
  LARDER_BUN=$(larder_find_bun) || larder_fail \
    "Bun $LARDER_BUN_PIN was installed and does not run here. On x64 it needs a processor with SSE4.2 (x86-64-v2)."
fi

# One folder with nothing else in it goes first on PATH, so that whatever says "bun" means this one. The packages'
# own placeholders would otherwise be found by the programs in node_modules/.bin.
LARDER_BUN_BIN="$PWD/node_modules/.cache/larder/bin"
mkdir -p "$LARDER_BUN_BIN"
# Copied by link: the program may be replaced by the installation below, and the link must outlive that.
if ! larder_is_pinned_bun "$LARDER_BUN_BIN/bun"; then
  LARDER_BUN_REAL=$(readlink -f "$LARDER_BUN" 2>/dev/null || printf '%s' "$LARDER_BUN")
  rm -f "$LARDER_BUN_BIN/bun"
  ln "$LARDER_BUN_REAL" "$LARDER_BUN_BIN/bun" 2>/dev/null || cp "$LARDER_BUN_REAL" "$LARDER_BUN_BIN/bun"
fi
export PATH="$LARDER_BUN_BIN:$PATH"

# Without the network this succeeds where everything is there already. A silent failure says nothing: the second try does.
bun install --frozen-lockfile --silent >&2 || bun install --frozen-lockfile >&2 || larder_fail "Could not install the packages from bun.lock. The messages above say why."
