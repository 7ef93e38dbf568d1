ALTER TABLE `accounts` ADD `reserved_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `changed_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `journal` ADD `at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `journal` ADD `device_id` integer;--> statement-breakpoint
ALTER TABLE `nodes` ADD `content_device_id` integer;--> statement-breakpoint
ALTER TABLE `blobs` ADD `verified_at` integer;--> statement-breakpoint
ALTER TABLE `shares` ADD `downloaded_at` integer;--> statement-breakpoint
CREATE TABLE `deleted_contents` (
	`account_id` integer NOT NULL,
	`digest` blob NOT NULL,
	`deleted_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `digest`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
UPDATE `accounts` SET changed_at = (SELECT ifnull(max(n.modified_at), 0) FROM nodes n WHERE n.account_id = accounts.id);--> statement-breakpoint
UPDATE `journal` SET at = (SELECT changed_at FROM accounts WHERE accounts.id = journal.account_id);--> statement-breakpoint
DROP INDEX `nodes_blob`;--> statement-breakpoint
CREATE INDEX `nodes_blob` ON `nodes` (`blob_id`,`account_id`) WHERE blob_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `undo` (
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`node_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`kind` integer NOT NULL,
	`what` text NOT NULL,
	`before` text NOT NULL,
	`rewound` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `device_id`, `seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `undo_node` ON `undo` (`node_id`);
