CREATE TABLE `conflicts` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`type` text NOT NULL,
	`file_id` text NOT NULL,
	`remote_file_id` text NOT NULL,
	`change` text NOT NULL,
	`detected_at` integer NOT NULL,
	`awaits_content` integer DEFAULT 0 NOT NULL,
	`resolution` text,
	`resolved_at` integer,
	`outcome_file_id` text,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "conflicts_type" CHECK("conflicts"."type" IN ('modified','deleted','name'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `conflicts_public` ON `conflicts` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `conflicts_change` ON `conflicts` (`device_id`,`fingerprint`);--> statement-breakpoint
CREATE INDEX `conflicts_open` ON `conflicts` (`device_id`,`file_id`) WHERE resolved_at IS NULL;--> statement-breakpoint
CREATE INDEX `conflicts_awaiting` ON `conflicts` (`device_id`) WHERE awaits_content = 1;--> statement-breakpoint
CREATE INDEX `conflicts_resolved` ON `conflicts` (`resolved_at`) WHERE resolved_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `applied_changes` (
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`file_id` text NOT NULL,
	`call_id` text NOT NULL,
	`seq` integer NOT NULL,
	`applied_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `fingerprint`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `applied_changes_file` ON `applied_changes` (`device_id`,`file_id`);--> statement-breakpoint
CREATE INDEX `applied_changes_age` ON `applied_changes` (`applied_at`);--> statement-breakpoint
CREATE TABLE `last_calls` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`fingerprint` blob NOT NULL,
	`head_seq` integer NOT NULL,
	`outcomes` text NOT NULL,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE TABLE `change_counts` (
	`device_id` integer NOT NULL,
	`at` integer NOT NULL,
	`deletions` integer NOT NULL,
	`replacements` integer NOT NULL,
	PRIMARY KEY(`device_id`, `at`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `change_counts_age` ON `change_counts` (`at`);--> statement-breakpoint
CREATE TABLE `holds` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`changes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`decision` text,
	`decided_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "holds_decision" CHECK("holds"."decision" IN ('accepted','declined'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `holds_public` ON `holds` (`public_id`);--> statement-breakpoint
CREATE INDEX `holds_account` ON `holds` (`account_id`);--> statement-breakpoint
CREATE INDEX `holds_device` ON `holds` (`device_id`,`decided_at`);--> statement-breakpoint
CREATE INDEX `holds_expiry` ON `holds` (`expires_at`);--> statement-breakpoint
CREATE TABLE `held_changes` (
	`id` integer PRIMARY KEY NOT NULL,
	`hold_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`change` text NOT NULL,
	FOREIGN KEY (`hold_id`) REFERENCES `holds`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `held_changes_change` ON `held_changes` (`device_id`,`fingerprint`);--> statement-breakpoint
CREATE INDEX `held_changes_hold` ON `held_changes` (`hold_id`,`id`);
--> statement-breakpoint
CREATE INDEX `tombstones_public` ON `tombstones` (`public_id`);
