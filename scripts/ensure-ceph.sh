#!/usr/bin/env bash
# Makes sure that Ceph is there for the tests that need a real object store: installs the packages of Debian if possible, which
# takes about a minute. Otherwise exits with 1, and prints the reason in a line that starts with "SKIPPED:". Those tests are
# skipped then.
set -euo pipefail

packages=(ceph-mon ceph-mgr ceph-osd radosgw ceph-common curl)
# Users other than root do not have sbin on their path.
PATH="$PATH:/usr/sbin:/sbin"

is_there() {
  local program
  for program in ceph ceph-mon ceph-mgr ceph-osd radosgw radosgw-admin curl; do
    command -v "$program" >/dev/null || return 1
  done
}

skip() {
  printf 'SKIPPED: the rounds with Ceph: %s\n' "$*" >&2
  exit 1
}

if is_there; then exit 0; fi
command -v apt-get >/dev/null || skip "Ceph and apt-get were not found."
[ "$(id -u)" -eq 0 ] || skip "install it: sudo apt-get install ${packages[*]}"
printf 'Installing Ceph …\n' >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || skip "apt-get update failed."
apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2 || skip "its packages could not be installed."
is_there || skip "its packages lack a program."
