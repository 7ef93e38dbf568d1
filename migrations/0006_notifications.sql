CREATE TABLE `push_targets` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`token` text,
	`platform` text,
	`lane` text,
	`preferences` text,
	`paused_until` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `push_targets_token` ON `push_targets` (`token`) WHERE token IS NOT NULL;--> statement-breakpoint
CREATE INDEX `push_targets_next` ON `push_targets` (`next_at`) WHERE next_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `notifications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`category` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`data` text NOT NULL,
	`collapse_key` text,
	`only_device_id` integer,
	`except_device_id` integer,
	`created_at` integer NOT NULL,
	`read_at` integer,
	CONSTRAINT "notifications_category" CHECK("category" IN ('uploads','shares','storage','security'))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `notifications_public` ON `notifications` (`public_id`);--> statement-breakpoint
CREATE INDEX `notifications_account` ON `notifications` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `notifications_unread` ON `notifications` (`account_id`) WHERE read_at IS NULL;--> statement-breakpoint
CREATE INDEX `notifications_age` ON `notifications` (`created_at`);--> statement-breakpoint
CREATE TABLE `push_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`notification_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` text NOT NULL,
	`collapse_key` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`finished_at` integer,
	`last_error` text,
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_deliveries_state" CHECK("state" IN ('queued','held','delivered','gone','failed','dropped')),
	CONSTRAINT "push_deliveries_finished" CHECK(("finished_at" IS NULL) = ("state" IN ('queued','held')))
) STRICT;
--> statement-breakpoint
CREATE INDEX `push_deliveries_waiting` ON `push_deliveries` (`device_id`,`due_at`,`id`) WHERE finished_at IS NULL;--> statement-breakpoint
CREATE INDEX `push_deliveries_device` ON `push_deliveries` (`device_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_notification` ON `push_deliveries` (`notification_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_done` ON `push_deliveries` (`finished_at`) WHERE finished_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `upload_bursts` (
	`device_id` integer NOT NULL,
	`kind` text NOT NULL,
	`notification_id` integer NOT NULL,
	`files` integer NOT NULL,
	`pushes` integer NOT NULL,
	`pushed_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `kind`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "upload_bursts_kind" CHECK("kind" IN ('completed','failed'))
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `upload_bursts_notification` ON `upload_bursts` (`notification_id`);
