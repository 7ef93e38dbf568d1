#!/usr/bin/env bash
# Builds the image from the Dockerfile without a running container engine, and tests it with run-image.sh.
#
#   test/packages/image.sh
#
# buildah runs the steps of the Dockerfile in a chroot. The base image is made here from Debian packages (debootstrap) and this
# machine's Node.js, so that only packages are fetched. Needs root, Debian or Ubuntu, buildah, debootstrap, npm, a few minutes
# and 4 GB below TMPDIR. Exits with 2 if a tool or root is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for program in buildah debootstrap node npm unshare nsenter; do
  command -v "$program" >/dev/null || { echo "test/packages/image.sh needs $program: apt install buildah debootstrap npm util-linux" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "test/packages/image.sh needs root." >&2; exit 2; }

work=$(mktemp -d)
engine=(buildah --root "$work/containers" --runroot "$work/run" --storage-driver vfs)
cleanup() {
  "${engine[@]}" umount --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

# The base image in FROM.
base=$(sed -n 's/^FROM \(node:[^ ]*\) AS build$/\1/p' Dockerfile)
suite=$(echo "$base" | sed -n 's/.*-\(bookworm\|trixie\)-slim$/\1/p')
debootstrap --variant=minbase "$suite" "$work/base" >"$work/debootstrap.log"
install -D "$(readlink -f "$(command -v node)")" "$work/base/usr/bin/node"
mkdir -p "$work/base/usr/lib/node_modules"
cp -a "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$work/base/usr/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/base/usr/bin/npm"
# The certificates that this machine trusts, because it may reach registries through its own proxy.
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/ca-certificates.crt"
container=$("${engine[@]}" from scratch)
"${engine[@]}" add -q "$container" "$work/base" / >/dev/null
trust=/etc/ssl/certs/ca-certificates.crt
"${engine[@]}" config --env NODE_EXTRA_CA_CERTS=$trust --env SSL_CERT_FILE=$trust "$container"
"${engine[@]}" commit -q --rm "$container" "docker.io/library/$base" >/dev/null
rm -rf "$work/base"

"${engine[@]}" bud --isolation chroot --network host --pull-never -q -t larder -f Dockerfile . >/dev/null
container=$("${engine[@]}" from --pull-never localhost/larder)
mounted=$("${engine[@]}" mount "$container")
test/packages/run-image.sh "$mounted"
test/packages/run-image.sh "$mounted" 10001:10001
