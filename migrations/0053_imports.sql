-- Imports from other systems. The request of a run contains no secret.
CREATE TABLE `import_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`source` text NOT NULL,
	`request` text NOT NULL,
	`state` text NOT NULL,
	`message` text,
	`counts` text NOT NULL,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `import_runs_public` ON `import_runs` (`public_id`);
--> statement-breakpoint
CREATE INDEX `import_runs_account` ON `import_runs` (`account_id`,`id`);
--> statement-breakpoint
-- What a run did not import: the first of them.
CREATE TABLE `import_problems` (
	`run_id` integer NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`reason` text NOT NULL,
	`message` text NOT NULL,
	PRIMARY KEY(`run_id`, `number`),
	FOREIGN KEY (`run_id`) REFERENCES `import_runs`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
-- What was imported, so that no run imports it again. A row stays when its file is deleted. The key is a digest of the
-- source and of what names the file there.
CREATE TABLE `import_items` (
	`account_id` integer NOT NULL,
	`key` blob NOT NULL,
	`version` text NOT NULL,
	`node_id` integer NOT NULL,
	`digest` blob NOT NULL,
	PRIMARY KEY(`account_id`, `key`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `import_items_digest` ON `import_items` (`account_id`,`digest`);
--> statement-breakpoint
-- The nearest towns of files whose metadata has a location, and the files whose town is still to be found. The position
-- in the file itself takes precedence.
CREATE TABLE `file_places` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`place_id` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `place_queue` (
	`node_id` integer PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `place_queue` SELECT id FROM `nodes` WHERE kind = 1 AND metadata LIKE '%"location"%';
--> statement-breakpoint
CREATE TRIGGER `location_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND NEW.metadata IS NOT NULL AND json_extract(NEW.metadata, '$.location') IS NOT NULL
BEGIN
	INSERT OR IGNORE INTO `place_queue` VALUES (NEW.id);
END;
--> statement-breakpoint
CREATE TRIGGER `location_changed` AFTER UPDATE OF `metadata` ON `nodes`
WHEN NEW.kind = 1 AND NEW.metadata IS NOT OLD.metadata
	AND json_extract(ifnull(NEW.metadata, '{}'), '$.location') IS NOT json_extract(ifnull(OLD.metadata, '{}'), '$.location')
BEGIN
	INSERT OR IGNORE INTO `place_queue` VALUES (NEW.id);
END;
--> statement-breakpoint
CREATE TRIGGER `location_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1 AND OLD.metadata IS NOT NULL
BEGIN
	DELETE FROM `place_queue` WHERE node_id = OLD.id;
	DELETE FROM `file_places` WHERE node_id = OLD.id;
END;
--> statement-breakpoint
DROP VIEW `photo_sources`;
--> statement-breakpoint
CREATE VIEW `photo_sources` AS
WITH told AS (
	SELECT n.id, n.account_id, n.parent_id, n.blob_id, n.media_type LIKE 'video/%' AS is_video, n.created_at,
		ifnull(m.place_id, f.place_id) AS place_id,
		CASE
			WHEN unixepoch(substr(n.captured_at, 1, 19)) IS NOT NULL THEN n.captured_at
			WHEN unixepoch(substr(m.taken_at, 1, 19)) IS NOT NULL THEN m.taken_at
			WHEN unixepoch(substr(n.file_modified_at, 1, 19)) IS NOT NULL THEN n.file_modified_at
		END AS told
	FROM nodes n
	LEFT JOIN blobs b ON b.id = n.blob_id
	LEFT JOIN media_info m ON m.digest = b.digest
	LEFT JOIN file_places f ON f.node_id = n.id
	WHERE n.kind = 1 AND n.parent_id > 0 AND (n.media_type LIKE 'image/%' OR n.media_type LIKE 'video/%')
		AND n.media_type NOT LIKE 'image/svg%' AND n.media_type NOT LIKE 'image/%icon%'
		AND NOT EXISTS (SELECT 1 FROM live_pairs l WHERE l.video_id = n.id AND l.hides_video = 1)
),
timed AS (
	SELECT id, account_id, parent_id, is_video, place_id,
		ifnull(unixepoch(substr(told, 1, 19)) * 1000, created_at) AS taken_at,
		CASE
			WHEN substr(told, -6, 1) = '+' AND substr(told, -3, 1) = ':' THEN
				CAST(substr(told, -5, 2) AS INTEGER) * 60 + CAST(substr(told, -2) AS INTEGER)
			WHEN substr(told, -6, 1) = '-' AND substr(told, -3, 1) = ':' THEN
				- CAST(substr(told, -5, 2) AS INTEGER) * 60 - CAST(substr(told, -2) AS INTEGER)
		END AS offset_minutes
	FROM told
)
SELECT id AS node_id, account_id, parent_id, (taken_at + 62167219200000) / 86400000 - 719528 AS day, taken_at,
	offset_minutes, is_video, place_id
FROM timed;
--> statement-breakpoint
CREATE TRIGGER `photos_placed` AFTER INSERT ON `file_places`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.node_id;
END;
--> statement-breakpoint
CREATE TRIGGER `photos_unplaced` AFTER DELETE ON `file_places`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = OLD.node_id;
END;
