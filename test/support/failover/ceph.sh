#!/usr/bin/env bash
# Runs a small Ceph for tests: a monitor, a manager, one BlueStore OSD in a sparse file, and a RADOS gateway with one bucket.
#
#   ceph.sh start DIR ADDRESS PORT  starts it with everything below DIR. The gateway listens on ADDRESS:PORT.
#   ceph.sh stop DIR                ends it. The next start continues with the stored objects.
#   ceph.sh freeze | thaw | kill | revive DIR   only the gateway: SIGSTOP, SIGCONT, kill -9, start again
#
# The access key ID is LARDERKEY, the secret is larder-secret-of-the-tests, and the bucket is larder. Only loopback and DIR are
# used, except by the gateway. CEPH_BYTES limits the stored bytes (16 GiB).
set -euo pipefail

command=${1:?"usage: ceph.sh start DIR ADDRESS PORT | stop DIR | freeze DIR | thaw DIR | kill DIR | revive DIR"}

dir=$(realpath -m "${2:?"the directory is missing"}")
conf="$dir/ceph.conf"

# Starts a daemon in the background, and remembers its process id.
run() {
  local name=$1
  shift
  nohup setsid "$@" >>"$dir/log/$name.out" 2>&1 </dev/null &
  echo $! >"$dir/run/$name.pid"
}
mon() { run mon ceph-mon -f -c "$conf" -i a; }
mgr() { run mgr ceph-mgr -f -c "$conf" -i x; }
osd() {
  : >"$dir/log/osd.out"
  run osd ceph-osd -f -c "$conf" -i 0
}
gateway() { run gateway radosgw -f -c "$conf" -n client.rgw.a; }

pid() { cat "$dir/run/$1.pid"; }

# Ends a daemon, and waits for its end.
end() {
  [ -s "$dir/run/$1.pid" ] || return 0
  local process
  process=$(pid "$1")
  kill -"$2" "$process" 2>/dev/null || true
  kill -CONT "$process" 2>/dev/null || true
  for _ in $(seq 100); do
    if ! kill -0 "$process" 2>/dev/null || grep -q '^State:\sZ' "/proc/$process/status" 2>/dev/null; then break; fi
    sleep 0.1
  done
  kill -KILL "$process" 2>/dev/null || true
  rm -f "$dir/run/$1.pid"
}

# within SECONDS COMMAND…: repeats a command until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

register_osd() { timeout 20 ceph -c "$conf" osd new "$1" >/dev/null 2>>"$dir/log/mkfs.out"; }
is_osd_up() { timeout 5 ceph -c "$conf" osd stat 2>/dev/null | grep -q '1 up'; }
is_gateway_up() { curl -s -o /dev/null --max-time 2 "http://$(cat "$dir/address")/"; }

await_gateway() {
  within 60 is_gateway_up && return
  echo "The gateway of Ceph does not respond. See $dir/log." >&2
  return 1
}

# On a busy machine, the OSD may be rejected while the monitor starts. It then hangs.
is_osd_decided() { is_osd_up || grep -q 'wrong fsid' "$dir/log/osd.out"; }
await_osd() {
  for _ in 1 2 3 4 5; do
    within 30 is_osd_decided && is_osd_up && return
    end osd KILL
    osd
  done
  echo "The OSD of Ceph does not start. See $dir/log." >&2
  return 1
}

# Writes the configuration and the keys of a new cluster, and starts its monitor, its manager and its OSD.
create() {
  local address=$1 port=$2 id monitor
  id=$(cat /proc/sys/kernel/random/uuid)
  # Below the range from which the kernel gives ports to clients.
  monitor=$((20000 + RANDOM % 10000))
  cat >"$conf" <<CONF
[global]
fsid = $id
mon_host = [v1:127.0.0.1:$monitor]
public_network = 127.0.0.0/8
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv4 = true
ms_bind_msgr2 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_pool_default_pgp_num = 8
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_data = $dir/mon
mgr_data = $dir/mgr/x
osd_data = $dir/osd/0
rgw_data = $dir/rgw
run_dir = $dir/run
admin_socket = $dir/run/\$name.asok
log_file = $dir/log/\$name.log
crash_dir = $dir/log
keyring = $dir/keyring
osd_objectstore = bluestore
bluestore_block_size = ${CEPH_BYTES:-17179869184}
bluestore_fsck_on_mount = false
osd_memory_target = 939524096
bluestore_cache_autotune = false
bluestore_cache_size = 134217728
mon_data_avail_warn = 3
mon_data_avail_crit = 1
mon_max_pg_per_osd = 1000
mgr_initial_modules =
[client.rgw.a]
rgw_frontends = beast endpoint=$address:$port
rgw_thread_pool_size = 64
rgw_enable_usage_log = false
rgw_gc_obj_min_wait = 60
CONF
  [ "$address" = 0.0.0.0 ] && address=127.0.0.1
  echo "$address:$port" >"$dir/address"
  ceph-authtool --create-keyring "$dir/keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
  ceph-authtool "$dir/keyring" --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' >/dev/null
  monmaptool --create --clobber --fsid "$id" --addv a "[v1:127.0.0.1:$monitor]" "$dir/monmap" >/dev/null
  ceph-mon -c "$conf" --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/keyring" 2>>"$dir/log/mkfs.out"
  mon
  mgr
  local osd_id
  osd_id=$(cat /proc/sys/kernel/random/uuid)
  # The monitor rejects commands while it starts. Repeating this one changes nothing.
  within 60 register_osd "$osd_id"
  ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$osd_id" >>"$dir/log/mkfs.out" 2>&1
  osd
}

# Sends a signed request for the bucket, or for an object in it.
request() {
  curl -sS --fail-with-body --max-time 60 -X "$2" "http://$(cat "$dir/address")/larder$1" \
    --aws-sigv4 aws:amz:us-east-1:s3 --user LARDERKEY:larder-secret-of-the-tests -H "x-amz-content-sha256: UNSIGNED-PAYLOAD" -H "Content-Length: 0"
}

# Creates the user and the bucket.
create_bucket() {
  timeout 60 radosgw-admin -c "$conf" -n client.rgw.a user create --uid=larder --display-name=larder \
    --access-key=LARDERKEY --secret-key=larder-secret-of-the-tests >"$dir/log/user.json" 2>>"$dir/log/user.err"
  request "" PUT
  # The first object of a cluster creates a pool, which takes seconds.
  request /first PUT
  request /first DELETE
  touch "$dir/created"
}

case $command in
  start)
    mkdir -p "$dir"/{log,run,mon,mgr/x,osd/0,rgw}
    if [ -s "$conf" ]; then
      mon
      mgr
      osd
    else
      create "${3:?"the address is missing"}" "${4:?"the port is missing"}"
    fi
    await_osd
    gateway
    await_gateway
    [ -e "$dir/created" ] || create_bucket
    ;;
  stop)
    end gateway TERM
    end mgr KILL
    end osd TERM
    end mon TERM
    ;;
  freeze) kill -STOP "$(pid gateway)" ;;
  thaw) kill -CONT "$(pid gateway)" ;;
  kill) end gateway KILL ;;
  revive)
    gateway
    await_gateway
    ;;
  *)
    echo "Unknown command \"$command\"." >&2
    exit 2
    ;;
esac
