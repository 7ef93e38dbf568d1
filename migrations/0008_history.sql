CREATE TABLE `former_places` (
	`node_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`account_id` integer NOT NULL,
	`at` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`born_seq` integer NOT NULL,
	PRIMARY KEY(`node_id`, `seq`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `former_places_folder` ON `former_places` (`parent_id`,`seq`);--> statement-breakpoint
CREATE INDEX `former_places_age` ON `former_places` (`account_id`,`at`);--> statement-breakpoint
ALTER TABLE `versions` ADD `replaced_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `versions` SET replaced_at = max(created_at, ifnull(
	(SELECT v.created_at FROM versions v WHERE v.node_id = versions.node_id AND v.version > versions.version ORDER BY v.version LIMIT 1),
	ifnull((SELECT n.content_at FROM nodes n WHERE n.id = versions.node_id), 0)));--> statement-breakpoint
DROP INDEX `versions_age`;--> statement-breakpoint
INSERT INTO `meta` (key, value) SELECT 'history_since', CAST(unixepoch('subsec') * 1000 AS INTEGER) WHERE EXISTS (SELECT 1 FROM nodes);
