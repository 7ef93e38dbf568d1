#!/usr/bin/env bash
# Runs the image as a container engine would, using only the kernel: read-only files, a volume at /data, the server as process 1
# of its own process tree, and a user id without an account. Needs root.
#
#   test/packages/run-image.sh ROOTFS [UID:GID]
#
# ROOTFS is a directory with the files of the image's last stage. Exits with 0 if all checks pass.
set -euo pipefail
export LC_ALL=C

image=$(cd "${1:?the directory with the files of the image}" && pwd)
user=${2:-54321:54321}
work=$(mktemp -d)
rootfs=$work/image
port=$((20000 + RANDOM % 20000))
passed=0

cleanup() {
  [ -z "${outer:-}" ] || kill -9 "$outer" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  cat "$work/log" >&2 2>/dev/null || true
  exit 1
}
pass() {
  passed=$((passed + 1))
  printf 'ok  %s\n' "$*"
}

# An engine creates its mount points in a layer above the image.
cp -a "$image" "$rootfs"
mkdir -p "$rootfs"/{proc,dev,sys,tmp}

# Starts the image: `start UID:GID VOLUME [ARGUMENT…]`.
start() {
  local user=$1 volume=$2
  shift 2
  mkdir -p "$work/root"
  unshare --mount --pid --ipc --uts --fork --kill-child bash -c '
    set -e
    rootfs=$1 root=$2 volume=$3 user=$4 port=$5
    shift 5
    mount --make-rprivate /
    mount --bind "$rootfs" "$root"
    mount -o remount,bind,ro "$root"
    mount --bind "$volume" "$root/data"
    # Mounts that an engine provides.
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    # The server replaces process 1 of the new tree, so that it receives signals directly.
    exec env -i PATH=/usr/local/bin LARDER_DATA=/data LARDER_HOST=127.0.0.1 LARDER_PORT="$port" \
      "$(command -v chroot)" --userspec="$user" "$root" /usr/local/bin/larder "$@"
  ' run "$rootfs" "$work/root" "$volume" "$user" "$port" "$@" >"$work/log" 2>&1 &
  outer=$!
}

# The process id of the container's process 1 in this process tree.
inner() { pgrep -P "$outer" | head -1; }

await_line() {
  for _ in $(seq 300); do
    grep -q "$1" "$work/log" && return
    kill -0 "$outer" 2>/dev/null || fail "it ended before it printed \"$1\""
    sleep 0.1
  done
  fail "it never printed \"$1\""
}

request() { curl --silent --show-error --noproxy '*' --max-time 10 "$@"; }

volume=$work/volume
install -d -m 1777 "$volume"
start "$user" "$volume" serve
await_line "listening on"
pass "runs with a read-only root, its own volume, and user $user"

[ "$(awk '/^NSpid/ { print $NF }' "/proc/$(inner)/status")" = 1 ] || fail "the server is not process 1"
[ "$(awk '/^Uid/ { print $2 }' "/proc/$(inner)/status")" = "${user%:*}" ] || fail "it runs as another user"
pass "the server is process 1, as that user"

[ "$(request -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/health/ready")" = 200 ] || fail "not ready"
# Runs inside the image, with its environment.
LARDER_DATA=/data LARDER_HOST=0.0.0.0 LARDER_PORT="$port" \
  nsenter --target "$(inner)" --mount --pid chroot "$work/root" /usr/local/bin/larder healthcheck >"$work/health" 2>&1 ||
  fail "the health check of the image: $(cat "$work/health")"
pass "the health check of the image succeeds"

[ -z "$(find "$volume" -mindepth 1 ! -uid "${user%:*}")" ] || fail "it created files of another owner"
pass "every file in the volume belongs to that user"

started=$(date +%s%N)
kill -TERM "$(inner)"
code=0
wait "$outer" || code=$?
took=$((($(date +%s%N) - started) / 1000000))
outer=
[ "$code" = 0 ] || fail "SIGTERM ended it with $code"
[ "$took" -lt 10000 ] || fail "SIGTERM took $took ms"
[ ! -s "$volume/larder.db-wal" ] || fail "the database was not closed cleanly"
pass "SIGTERM to process 1 ends it cleanly, within $took ms"

if [ "${user%:*}" = 0 ]; then
  printf '%d checks passed; root may write to every volume.\n' "$passed"
  exit 0
fi

# With a volume of another user, the server stops at once and names the path.
chmod 700 "$volume"
chown -R 1:1 "$volume"
before=$(find "$volume" -printf '%p %u %m\n' | sort)
start "$user" "$volume" serve
code=0
wait "$outer" || code=$?
outer=
[ "$code" = 2 ] || fail "a volume of another user ended it with $code"
grep -q "/data" "$work/log" || fail "it does not name the path"
[ "$(find "$volume" -printf '%p %u %m\n' | sort)" = "$before" ] || fail "it changed owners or modes"
pass "a volume of another user stops it at once: $(head -1 "$work/log" | cut -c1-120)"

printf '%d checks passed.\n' "$passed"
