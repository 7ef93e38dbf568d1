/**
 * The systemd unit of the server (systemd.exec(5)). scripts/larder.service has the same text, for manual installation; a test
 * compares the two.
 */

/** The values of a unit that differ between machines. */
interface UnitOptions {
  /** Absolute path of the executable. */
  readonly executable: string;
  /** Absolute path of the data directory. */
  readonly data: string;
  /** Whether it waits beside the owner of a store that two machines share, and serves once it is the owner. */
  readonly isStandby: boolean;
  /** System user and group; undefined for a user unit, which runs as the current user. */
  readonly account: string | undefined;
}

/** The default data directory. systemd creates it. */
export const STATE_DIRECTORY = "/var/lib/larder";

/** Directories that ProtectHome hides: paths in them must be named in the unit. */
const HOMES = /^\/(home|root|run\/user)(\/|$)/;

/** The text of the unit. */
export function unitText(options: UnitOptions): string {
  return options.account === undefined ? userUnit(options) : systemUnit(options, options.account);
}

/** Restart and time limits, the same for both units. */
const STOP_AND_RESTART = `KillMode=mixed
TimeoutStopSec=40
Restart=on-failure
RestartSec=2
# Exit code 2 means an error in the configuration or the machine, which must be fixed first; see the log.
RestartPreventExitStatus=2
`;

function startLines({ executable, data, isStandby }: UnitOptions): string {
  const command = isStandby ? "standby" : "serve";
  return `ExecStart=${quote(executable.replaceAll("$", "$$$$"))} ${command}\nEnvironment=${quote(`LARDER_DATA=${data}`)}\n`;
}

function systemUnit(options: UnitOptions, name: string): string {
  const { data } = options;
  return `${installHelp(options, name)}[Unit]
Description=Larder, a file server for a home or small office
Wants=network-online.target
After=network-online.target time-sync.target
RequiresMountsFor=${quote(data)}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
# The server notifies systemd when it is ready, and sends a watchdog ping every minute. Without pings, systemd restarts it.
Type=notify
WatchdogSec=120
${startLines(options)}EnvironmentFile=-/etc/larder.env
# These variables could change what the executable does, or load code into it.
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN BUN_INSPECT NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH

# After SIGTERM, running requests have up to 30 seconds to finish.
${STOP_AND_RESTART}
User=${name}
Group=${name}
${data === STATE_DIRECTORY ? `StateDirectory=larder\nStateDirectoryMode=0700` : `ReadWritePaths=${quote(data)}`}
# For LARDER_SOCKET=/run/larder/larder.sock: a proxy must be a member of the group to connect.
RuntimeDirectory=larder
RuntimeDirectoryMode=0750
UMask=0077

${sandboxLines(options)}
[Install]
WantedBy=multi-user.target
`;
}

function installHelp({ executable }: UnitOptions, name: string): string {
  return `# systemd unit for Larder, as printed by \`larder service print\`. To install it and create its system user:
# larder service install. To install it manually, as root:
#
#   useradd --system --user-group --home-dir ${STATE_DIRECTORY} --no-create-home --shell /usr/sbin/nologin ${name}
#   install -m 755 larder ${executable}
#   install -m 644 larder.service /etc/systemd/system/larder.service
#   systemctl daemon-reload && systemctl enable --now larder
#   journalctl -u larder                      # shows the link to create the first account
#
# Put settings into larder.toml in the data directory, or into /etc/larder.env as LARDER_…=… lines. To change this unit, run
# systemctl edit larder. For a port below 1024, add:
#
#   [Service]
#   CapabilityBoundingSet=CAP_NET_BIND_SERVICE
#   AmbientCapabilities=CAP_NET_BIND_SERVICE
#   PrivateUsers=no
`;
}

function sandboxLines(options: UnitOptions): string {
  return `# The service can write only to its own directories, and cannot see home directories.
ProtectSystem=strict
${homeLines(options)}
PrivateTmp=yes
PrivateDevices=yes
DevicePolicy=closed
PrivateMounts=yes
PrivateUsers=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
ProcSubset=all
RemoveIPC=yes

# No privileges, and no way to gain any.
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictNamespaces=yes
KeyringMode=private
SystemCallArchitectures=native
# seccomp: the processes that read files deny themselves the network.
SystemCallFilter=@system-service seccomp
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
# MemoryDenyWriteExecute stays off: the JavaScript engine compiles to machine code.

# The server needs 100 to 250 MB, and a thumbnail process at most 768 MB (LARDER_THUMBNAILS_MEMORY_LIMIT); the rest is for
# the file cache. If memory still runs out, only the process that uses too much is killed.
MemoryMax=2G
OOMPolicy=continue
TasksMax=256
LimitNOFILE=65536
`;
}

function homeLines({ executable, data }: UnitOptions): string {
  if (!HOMES.test(executable) && !HOMES.test(data)) return "ProtectHome=yes";
  const lines = ["ProtectHome=tmpfs"];
  if (HOMES.test(executable)) lines.push(`BindReadOnlyPaths=${quote(executable)}`);
  if (HOMES.test(data)) lines.push(`BindPaths=${quote(data)}`);
  return lines.join("\n");
}

/** A user unit has no options that require root. */
function userUnit(options: UnitOptions): string {
  return `# systemd user unit for Larder, as printed by \`larder service print --user\`. It runs while the user is signed in. To
# keep it running: loginctl enable-linger
[Unit]
Description=Larder, a file server for a home or small office
RequiresMountsFor=${quote(options.data)}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=notify
WatchdogSec=120
${startLines(options)}EnvironmentFile=-%E/larder.env
UnsetEnvironment=BUN_OPTIONS BUN_BE_BUN BUN_INSPECT NODE_OPTIONS LD_PRELOAD LD_LIBRARY_PATH
${STOP_AND_RESTART}UMask=0077
NoNewPrivileges=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictNamespaces=yes
SystemCallArchitectures=native
# seccomp: the processes that read files deny themselves the network.
SystemCallFilter=@system-service seccomp
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
MemoryMax=2G
OOMPolicy=continue
TasksMax=256

[Install]
WantedBy=default.target
`;
}

/** Escapes a word for a line of a unit: specifiers are escaped, and words with spaces or quotes are quoted. */
function quote(word: string): string {
  const escaped = word.replaceAll("%", "%%").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return /[\s"'\\;]/.test(word) ? `"${escaped}"` : escaped;
}
