-- Locks of WebDAV clients (RFC 4918, section 6): rows, so that a restart ends none. An expired one counts no longer; a job
-- removes it later.
CREATE TABLE `locks` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`token` text NOT NULL,
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`created_by` integer NOT NULL,
	`program` text,
	`owner_xml` text,
	`is_exclusive` integer NOT NULL,
	`is_deep` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `locks_public` ON `locks` (`public_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `locks_token` ON `locks` (`token`);
--> statement-breakpoint
CREATE INDEX `locks_node` ON `locks` (`node_id`);
--> statement-breakpoint
CREATE INDEX `locks_account` ON `locks` (`account_id`,`expires_at`);
--> statement-breakpoint
CREATE INDEX `locks_expiry` ON `locks` (`expires_at`);
