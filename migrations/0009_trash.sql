-- What lies in the trash: one row for a file or a folder, whatever is below it. The node itself has its own negated id in
-- place of its parent's, so that no way leads to it.
CREATE TABLE `trash` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`trashed_at` integer NOT NULL,
	`seq` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`folder` text NOT NULL,
	`files` integer NOT NULL,
	`folders` integer NOT NULL,
	`file_bytes` integer NOT NULL,
	`version_bytes` integer NOT NULL,
	`types` text,
	`tags` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `trash_account` ON `trash` (`account_id`,`trashed_at`);--> statement-breakpoint
CREATE INDEX `trash_age` ON `trash` (`trashed_at`);
