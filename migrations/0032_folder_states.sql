-- Folders have a state and a size that follow every change below them, and files are sorted by their own date.
-- Sizes start as NULL: the server adds them up in the background. States start at the current time: after a return to the
-- database of an earlier version and another upgrade, they differ from those of the first one.
ALTER TABLE `nodes` ADD `file_at` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE `nodes` SET `file_at` = CASE `kind` WHEN 0 THEN `created_at` ELSE
  coalesce(CAST(round(unixepoch(`file_modified_at`, 'subsec') * 1000) AS INTEGER), `content_at`, `created_at`) END;
--> statement-breakpoint
CREATE INDEX `nodes_file_at` ON `nodes` (`parent_id`,`kind`,`file_at`);
--> statement-breakpoint
ALTER TABLE `folders` ADD `bytes` integer;
--> statement-breakpoint
ALTER TABLE `folders` ADD `tree_bytes` integer;
--> statement-breakpoint
ALTER TABLE `folders` ADD `tree_rev` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
UPDATE `folders` SET `tree_rev` = CAST(unixepoch('subsec') * 1000 AS INTEGER);
--> statement-breakpoint
ALTER TABLE `folders` ADD `children_at` integer;
--> statement-breakpoint
CREATE INDEX `folders_unfilled` ON `folders` (`node_id`) WHERE bytes IS NULL;
--> statement-breakpoint
CREATE TABLE `changed_folders` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`)
) STRICT, WITHOUT ROWID;
