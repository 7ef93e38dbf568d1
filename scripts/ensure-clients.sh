#!/usr/bin/env bash
# Makes sure that the WebDAV, sync, and photo programs for the tests in test/clients are there: installs the packages of
# Debian if possible. Otherwise exits with 1, and prints the missing programs in a line that starts with "SKIPPED:". The
# tests of a missing program are skipped. No other tests need them.
set -euo pipefail

# Each program and its package.
programs=(
  litmus:litmus
  nextcloudcmd:nextcloud-desktop-cmd
  owncloudcmd:owncloud-client-cmd
  rclone:rclone
  cadaver:cadaver
  mount.davfs:davfs2
  gio:libglib2.0-bin
  dbus-run-session:dbus-daemon
  curl:curl
  exiftool:libimage-exiftool-perl
)
# Users other than root do not have sbin on their path.
PATH="$PATH:/usr/sbin:/sbin"

missing_programs=() missing_packages=()
find_missing() {
  local entry
  missing_programs=() missing_packages=()
  for entry in "${programs[@]}"; do
    if command -v "${entry%%:*}" >/dev/null; then continue; fi
    missing_programs+=("${entry%%:*}")
    missing_packages+=("${entry#*:}")
  done
  # A plug-in of gio without a program of its own on the path.
  if [ ! -x /usr/libexec/gvfsd-dav ]; then
    missing_programs+=(gvfsd-dav)
    missing_packages+=(gvfs-backends)
  fi
}

skip() {
  printf 'SKIPPED: the tests of %s: %s\n' "${missing_programs[*]}" "$*" >&2
  exit 1
}

find_missing
[ "${#missing_programs[@]}" -gt 0 ] || exit 0
command -v apt-get >/dev/null || skip "apt-get was not found."
[ "$(id -u)" -eq 0 ] || skip "install them: sudo apt-get install ${missing_packages[*]}"
printf 'Installing %s …\n' "${missing_packages[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 || skip "apt-get update failed."
# One after another, so that a package that a distribution lacks does not prevent the others.
for package in "${missing_packages[@]}"; do
  apt-get install -y -qq --no-install-recommends "$package" >&2 || printf '%s could not be installed.\n' "$package" >&2
done
find_missing
[ "${#missing_programs[@]}" -eq 0 ] || skip "their packages could not be installed."
