#!/usr/bin/env bash
# Installs the service on a separate machine (Debian in a systemd container, with systemd as process 1), and tests it with all
# restrictions of its unit: start, readiness, a thumbnail, a server that hangs, stop and removal.
#
#   test/packages/systemd.sh [EXECUTABLE]     dist/larder by default
#
# Needs root, debootstrap and systemd-nspawn (apt install debootstrap systemd-container), two minutes and 600 MB below
# TMPDIR. LARDER_TEST_MACHINE=DIR keeps the machine there for the next run. Exits with 2 if a tool or root is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for program in debootstrap systemd-nspawn nsenter; do
  command -v "$program" >/dev/null || { echo "test/packages/systemd.sh needs $program: apt install debootstrap systemd-container" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "test/packages/systemd.sh needs root." >&2; exit 2; }

executable=${1:-dist/larder}
work=$(mktemp -d)
machine=${LARDER_TEST_MACHINE:-$work/machine}
port=$((20000 + RANDOM % 20000))

cleanup() {
  [ -z "${nspawn:-}" ] || kill -TERM "$nspawn" 2>/dev/null || true
  [ -z "${nspawn:-}" ] || wait "$nspawn" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  inside journalctl -u larder --no-pager --lines=40 >&2 || true
  exit 1
}
pass() { printf 'ok  %s\n' "$*"; }
inside() { nsenter --target "$init" --mount --pid --uts --ipc --cgroup env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
larder() { inside setpriv --reuid=larder --regid=larder --clear-groups env LARDER_DATA=/var/lib/larder /usr/local/bin/larder "$@"; }
request() { curl --silent --show-error --noproxy '*' --max-time 20 "$@"; }
property() { inside systemctl show larder --property="$1" --value; }
await() {
  for _ in $(seq 300); do
    ! "${@:2}" >/dev/null 2>&1 || return 0
    sleep 0.2
  done
  fail "$1"
}

[ -x "$machine/usr/bin/systemctl" ] ||
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$machine" >"$work/debootstrap.log"
rm -rf "$machine"/etc/systemd/system/larder.service* "$machine/etc/sysusers.d/larder.conf" "$machine/var/lib/larder"
install -m 755 "$executable" "$machine/usr/local/bin/larder"
printf 'LARDER_PORT=%d\nLARDER_LOG_LEVEL=debug\n' "$port" >"$machine/etc/larder.env"
systemd-nspawn --directory="$machine" --register=no --keep-unit --machine="larder-test-$$" --boot </dev/null >"$work/boot" 2>&1 &
nspawn=$!
for _ in $(seq 100); do
  init=$(pgrep -P "$nspawn" | head -1 || true)
  [ -z "$init" ] || break
  sleep 0.1
done
await "the machine does not start" inside systemctl is-active basic.target
pass "the machine has systemd as process 1"

inside larder service install >"$work/install" || fail "the installation: $(cat "$work/install")"
[ "$(property ActiveState)" = active ] || fail "it does not run"
case "$(property StatusText)" in "Listening on http://127.0.0.1:$port."*) ;; *) fail "its status is $(property StatusText)" ;; esac
[ "$(property User)" = larder ] || fail "it runs as $(property User)"
pass "installed, notifies systemd of its readiness, and runs as its own account"
inside larder service install | grep -q "as it should be" || fail "a second installation changes something"
inside larder service status >/dev/null || fail "status"
pass "a second installation changes nothing"

[ "$(request -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/health/ready")" = 200 ] || fail "not ready"
echo "correct horse battery" | larder user add service@example.org --admin --plan enterprise --password-stdin >/dev/null
token=$(larder user token service@example.org)
id=$(request -H "Authorization: Bearer $token" -F "file=@test/fixtures/images/rotated-p3.jpg" "http://127.0.0.1:$port/api/files/upload" |
  grep -o 'file_[A-Za-z0-9]*' | head -1)
[ -n "$id" ] || fail "nothing could be uploaded"
has_thumbnail() {
  [ "$(request -o "$work/thumbnail" -w '%{http_code} %{content_type}' -H "Authorization: Bearer $token" \
    "http://127.0.0.1:$port/api/files/$id/download?thumbnail=true")" = "200 image/webp" ]
}
await "no thumbnail was made" has_thumbnail
larder doctor | grep -q "^ok .*thumbnails: made by sharp" || fail "sharp could not be loaded"
pass "uploads, and thumbnails by sharp, within the restrictions of the unit"

# The watchdog, with a shorter timeout.
mkdir -p "$machine/etc/systemd/system/larder.service.d"
printf '[Service]\nWatchdogSec=3\n' >"$machine/etc/systemd/system/larder.service.d/test.conf"
inside systemctl daemon-reload
inside systemctl restart larder
before=$(property MainPID)
sleep 7
[ "$(property MainPID)" = "$before" ] && [ "$(property NRestarts)" = 0 ] || fail "a healthy server was restarted"
inside bash -c "kill -STOP $before"
is_another() { [ "$(property NRestarts)" = 1 ] && [ "$(property ActiveState)" = active ]; }
await "a hanging server was not restarted" is_another
pass "systemd restarts a hanging server and leaves a healthy one running"
[ "$(request -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" "http://127.0.0.1:$port/api/files/$id")" = 200 ] ||
  fail "the file is missing"
pass "the acknowledged upload still exists after the restart"

started=$(date +%s%N)
inside systemctl stop larder
[ "$(property Result)" = success ] || fail "the stop ended with $(property Result)"
pass "stopped cleanly, within $((($(date +%s%N) - started) / 1000000)) ms"
inside larder service uninstall >/dev/null
! inside test -e /etc/systemd/system/larder.service || fail "the unit is still there"
inside test -e /var/lib/larder/larder.db || fail "the data was removed"
pass "removed the unit and kept the data"
