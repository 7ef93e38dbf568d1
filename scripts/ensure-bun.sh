# Puts the pinned Bun first on PATH, and installs the packages. The scripts in this folder source it:
#
#   . "$(dirname "${BASH_SOURCE[0]}")/ensure-bun.sh"
#
# Afterwards the working directory is the root of the checkout, `bun` is the pinned version, and node_modules matches
# bun.lock. Needs bash, and Bun (any version) or Node.js with npm. Writes only to node_modules.

set -euo pipefail
# Messages of programs in English, and comparisons by bytes.
export LC_ALL=C
# These variables of the caller would change what Bun runs.
unset BUN_OPTIONS BUN_BE_BUN

cd "$(dirname "${BASH_SOURCE[0]}")/.."

larder_say() { printf '%s\n' "$*" >&2; }

larder_fail() {
  larder_say "$@"
  exit 2
}

# Only package.json names the version.
LARDER_BUN_PIN=$(sed -n 's/^ *"bun": *"\([0-9][0-9.]*\)",\{0,1\}$/\1/p' package.json)
[ -n "$LARDER_BUN_PIN" ] || larder_fail "package.json does not pin a Bun version."
# Not node_modules/bun, which belongs to the package installation.
LARDER_BUN_HOME="$PWD/node_modules/.cache/larder/bun-$LARDER_BUN_PIN"

# Whether a program runs on this machine and is the pinned version. This excludes placeholders of installers that may not
# run scripts, and builds for other processors.
larder_is_pinned_bun() {
  [ -x "$1" ] && [ "$("$1" --version 2>/dev/null || true)" = "$LARDER_BUN_PIN" ]
}

# Tries the paths that the npm packages use, with and without their install scripts.
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
  # The install scripts are not needed: the program is in a package.
  if command -v npm >/dev/null; then
    larder_say "Installing Bun $LARDER_BUN_PIN with npm, only for this checkout …"
    (cd "$LARDER_BUN_HOME" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error >&2)
  elif command -v bun >/dev/null; then
    larder_say "Installing Bun $LARDER_BUN_PIN with Bun $(bun --version), only for this checkout …"
    (cd "$LARDER_BUN_HOME" && bun install --ignore-scripts --no-save >&2)
  else
    larder_fail "Neither Bun nor npm was found. Install Node.js (which includes npm) or Bun, then run this again."
  fi
}

if ! LARDER_BUN=$(larder_find_bun); then
  larder_install_bun || larder_fail "Could not install Bun $LARDER_BUN_PIN. See the messages above."
  LARDER_BUN=$(larder_find_bun) || larder_fail \
    "Bun $LARDER_BUN_PIN was installed, but does not run here. On x64 it needs a processor with SSE4.2 (x86-64-v2)."
fi

# A folder with only this program goes first on PATH. Otherwise programs in node_modules/.bin would find the placeholders of
# the packages.
LARDER_BUN_BIN="$PWD/node_modules/.cache/larder/bin"
mkdir -p "$LARDER_BUN_BIN"
# A hard link, because the installation below may replace the program.
if ! larder_is_pinned_bun "$LARDER_BUN_BIN/bun"; then
  LARDER_BUN_REAL=$(readlink -f "$LARDER_BUN" 2>/dev/null || printf '%s' "$LARDER_BUN")
  rm -f "$LARDER_BUN_BIN/bun"
  ln "$LARDER_BUN_REAL" "$LARDER_BUN_BIN/bun" 2>/dev/null || cp "$LARDER_BUN_REAL" "$LARDER_BUN_BIN/bun"
fi
export PATH="$LARDER_BUN_BIN:$PATH"

# Without a network, this succeeds if all packages are there. The second try prints the error that --silent hides.
bun install --frozen-lockfile --silent >&2 || bun install --frozen-lockfile >&2 || larder_fail "Could not install the packages from bun.lock. The messages above say why."

# Builds dist/larder if it is missing or older than its sources.
larder_build() {
  local sources=(src migrations scripts/build scripts/build.ts package.json bun.lock tsconfig.json)
  if [ -x dist/larder ] && [ -z "$(find "${sources[@]}" -newer dist/larder -print -quit)" ]; then return; fi
  larder_say "Building dist/larder …"
  scripts/build >&2
}

# Makes tests use dist/larder, unless the caller has set LARDER_TEST_COMMAND.
larder_test_executable() {
  if [ -n "${LARDER_TEST_COMMAND:-}" ]; then return; fi
  larder_build
  export LARDER_TEST_COMMAND="$PWD/dist/larder"
}
