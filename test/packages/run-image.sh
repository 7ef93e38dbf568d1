#!/usr/bin/env bash
# Runs the content of the image as an engine would, with what the kernel has and nothing else: its files read-only, a
# volume at /data, the server as process 1 of its own process tree, and a user that nobody made. Needs root.
#
#   test/packages/run-image.sh ROOTFS [UID:GID]
#
# ROOTFS is a directory with the files of the image's last stage. Ends with 0 where all of it holds (D40, D41).
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

# An engine makes the folders that it mounts things on, in a layer above the image.
cp -a "$image" "$rootfs"
mkdir -p "$rootfs"/{proc,dev,sys,tmp}

# Begins the image: `start UID:GID VOLUME [ARGUMENT…]`.
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
    # What an engine brings.
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    # Process 1 of the new tree becomes the server: no shell stands between it and the signals.
    exec env -i PATH=/usr/local/bin LARDER_DATA=/data LARDER_HOST=127.0.0.1 LARDER_PORT="$port" \
      "$(command -v chroot)" --userspec="$user" "$root" /usr/local/bin/larder "$@"
  ' run "$rootfs" "$work/root" "$volume" "$user" "$port" "$@" >"$work/log" 2>&1 &
  outer=$!
}

# The process id, seen from here, of process 1 there.
inner() { pgrep -P "$outer" | head -1; }

await_line() {
  for _ in $(seq 300); do
    grep -q "$1" "$work/log" && return
    kill -0 "$outer" 2>/dev/null || fail "it ended before it said \"$1\""
    sleep 0.1
  done
  fail "it never said \"$1\""
}

ask() { curl --silent --show-error --noproxy '*' --max-time 10 "$@"; }

volume=$work/volume
install -d -m 1777 "$volume"
start "$user" "$volume" serve
await_line "listening on"
pass "a read-only root, a volume of its own, user $user"

[ "$(awk '/^NSpid/ { print $NF }' "/proc/$(inner)/status")" = 1 ] || fail "the server is not process 1"
[ "$(awk '/^Uid/ { print $2 }' "/proc/$(inner)/status")" = "${user%:*}" ] || fail "it runs as another user"
pass "the server is process 1, as that user"

[ "$(ask -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/health/ready")" = 200 ] || fail "not ready"
# With the environment of the image, inside it.
LARDER_DATA=/data LARDER_HOST=0.0.0.0 LARDER_PORT="$port" \
  nsenter --target "$(inner)" --mount --pid chroot "$work/root" /usr/local/bin/larder healthcheck >"$work/health" 2>&1 ||
  fail "the health check of the image: $(cat "$work/health")"
pass "the health check of the image agrees"

[ -z "$(find "$volume" -mindepth 1 ! -uid "${user%:*}")" ] || fail "it made files of another owner"
pass "every file in the volume belongs to that user"

begun=$(date +%s%N)
kill -TERM "$(inner)"
code=0
wait "$outer" || code=$?
took=$((($(date +%s%N) - begun) / 1000000))
outer=
[ "$code" = 0 ] || fail "SIGTERM ended it with $code"
[ "$took" -lt 10000 ] || fail "SIGTERM took $took ms"
[ ! -s "$volume/larder.db-wal" ] || fail "the database was not closed cleanly"
pass "SIGTERM to process 1 ends it cleanly, within $took ms"

if [ "${user%:*}" = 0 ]; then
  printf '%d things hold; root may write to every volume.\n' "$passed"
  exit 0
fi

# A volume that is another's: stops at once, and says what would help.
chmod 700 "$volume"
chown -R 1:1 "$volume"
before=$(find "$volume" -printf '%p %u %m\n' | sort)
start "$user" "$volume" serve
code=0
wait "$outer" || code=$?
outer=
[ "$code" = 2 ] || fail "a volume of another user ended it with $code"
grep -q "/data" "$work/log" || fail "it does not say which path"
[ "$(find "$volume" -printf '%p %u %m\n' | sort)" = "$before" ] || fail "it changed owners or modes"
pass "a volume of another user stops it at once: $(head -1 "$work/log" | cut -c1-120)"

printf '%d things hold.\n' "$passed"
