-- Pictures and films by when they were taken (features/photos). The view says what is a photo and when it was taken;
-- triggers keep the table with it, so that no deed that writes nodes, nor the reading of a content, can forget it.
CREATE TABLE `photos` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`day` integer NOT NULL,
	`taken_at` integer NOT NULL,
	`offset_minutes` integer,
	`is_video` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `photos_taken` ON `photos` (`account_id`,`day`,`taken_at`,`node_id`,`parent_id`,`is_video`);--> statement-breakpoint
-- Which folders are in the trash is asked with every page of photos; most of what is there may be files.
CREATE INDEX `trash_folders` ON `trash` (`account_id`) WHERE `folders` > 0;--> statement-breakpoint
CREATE TABLE `photo_fill` (
	`id` integer PRIMARY KEY NOT NULL,
	`next_id` integer NOT NULL,
	`until_id` integer NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `photo_fill` (id, next_id, until_id) SELECT 1, 1, ifnull(max(id), 0) FROM `nodes`;--> statement-breakpoint
CREATE TABLE `photos_again` (
	`digest` blob PRIMARY KEY NOT NULL,
	`after_account_id` integer NOT NULL,
	`after_node_id` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `photo_sources` AS
WITH told AS (
	SELECT n.id, n.account_id, n.parent_id, n.blob_id, n.media_type LIKE 'video/%' AS is_video, n.created_at,
		CASE
			WHEN unixepoch(substr(n.captured_at, 1, 19)) IS NOT NULL THEN n.captured_at
			WHEN unixepoch(substr(m.taken_at, 1, 19)) IS NOT NULL THEN m.taken_at
			WHEN unixepoch(substr(n.file_modified_at, 1, 19)) IS NOT NULL THEN n.file_modified_at
		END AS told
	FROM nodes n
	LEFT JOIN blobs b ON b.id = n.blob_id
	LEFT JOIN media_info m ON m.digest = b.digest
	WHERE n.kind = 1 AND n.parent_id > 0 AND (n.media_type LIKE 'image/%' OR n.media_type LIKE 'video/%')
		AND n.media_type NOT LIKE 'image/svg%' AND n.media_type NOT LIKE 'image/%icon%'
),
timed AS (
	SELECT id, account_id, parent_id, is_video,
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
	offset_minutes, is_video
FROM timed;
--> statement-breakpoint
CREATE TRIGGER `photos_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%')
BEGIN
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER `photos_changed` AFTER UPDATE OF `parent_id`, `account_id`, `media_type`, `blob_id`, `captured_at`, `file_modified_at` ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%' OR OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
	AND (NEW.parent_id IS NOT OLD.parent_id OR NEW.account_id <> OLD.account_id OR NEW.media_type IS NOT OLD.media_type
		OR NEW.blob_id IS NOT OLD.blob_id OR NEW.captured_at IS NOT OLD.captured_at
		OR NEW.file_modified_at IS NOT OLD.file_modified_at)
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.id;
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER `photos_removed` AFTER DELETE ON `nodes`
WHEN OLD.kind = 1 AND (OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
BEGIN
	DELETE FROM `photos` WHERE node_id = OLD.id;
END;
--> statement-breakpoint
CREATE TRIGGER `photos_told` AFTER INSERT ON `media_info`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT s.* FROM (
		SELECT n.id FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 100
	) n CROSS JOIN `photo_sources` s ON s.node_id = n.id;
	INSERT OR REPLACE INTO `photos_again` SELECT NEW.digest, n.account_id, n.id
		FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 1 OFFSET 99;
END;
