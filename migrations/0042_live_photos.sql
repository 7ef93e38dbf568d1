-- Live Photos: a photo and the short video that belongs to it are one item. The video of a pair is no row of `photos`,
-- so every list of photos leaves it out. `live_queue` has the files whose pair has to be looked for again. `reading` is
-- the version of the reader that filled a row of `media_info`: older rows are read again in the background.
ALTER TABLE `media_info` ADD `content_id` text;

ALTER TABLE `media_info` ADD `motion_offset` integer;

ALTER TABLE `media_info` ADD `motion_bytes` integer;

ALTER TABLE `media_info` ADD `reading` integer DEFAULT 0 NOT NULL;

CREATE INDEX `media_info_reading` ON `media_info` (`reading`);

CREATE INDEX `media_info_content` ON `media_info` (`content_id`) WHERE content_id IS NOT NULL;

CREATE TABLE `live_pairs` (
	`photo_id` integer PRIMARY KEY NOT NULL,
	`video_id` integer NOT NULL
) STRICT;

CREATE UNIQUE INDEX `live_pairs_video` ON `live_pairs` (`video_id`);

CREATE TABLE `live_queue` (
	`node_id` integer PRIMARY KEY NOT NULL
) STRICT;

DROP VIEW `photo_sources`;

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
		AND NOT EXISTS (SELECT 1 FROM live_pairs l WHERE l.video_id = n.id)
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

-- A file whose metadata was read may be half of a pair.
CREATE TRIGGER `live_read` AFTER INSERT ON `media_info` WHEN NEW.failure IS NULL
BEGIN
	INSERT OR IGNORE INTO `live_queue` SELECT n.id FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 100;
END;

-- A copy of a file has metadata at once.
CREATE TRIGGER `live_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%')
BEGIN
	INSERT OR IGNORE INTO `live_queue` SELECT NEW.id FROM `blobs` b CROSS JOIN `media_info` m ON m.digest = b.digest
		WHERE b.id = NEW.blob_id;
END;

CREATE TRIGGER `live_changed` AFTER UPDATE OF `parent_id`, `account_id`, `name`, `media_type`, `blob_id`, `captured_at` ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%' OR OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
	AND (NEW.parent_id IS NOT OLD.parent_id OR NEW.account_id <> OLD.account_id OR NEW.name <> OLD.name
		OR NEW.media_type IS NOT OLD.media_type OR NEW.blob_id IS NOT OLD.blob_id OR NEW.captured_at IS NOT OLD.captured_at)
BEGIN
	INSERT OR IGNORE INTO `live_queue` (node_id) VALUES (NEW.id);
END;

CREATE TRIGGER `live_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1
BEGIN
	DELETE FROM `live_pairs` WHERE photo_id = OLD.id OR video_id = OLD.id;
	DELETE FROM `live_queue` WHERE node_id = OLD.id;
END;

-- The video of a pair that ended is an item of its own again. Either half may belong to another file.
CREATE TRIGGER `live_parted` AFTER DELETE ON `live_pairs`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = OLD.video_id;
	INSERT OR IGNORE INTO `live_queue` SELECT id FROM `nodes` WHERE id IN (OLD.photo_id, OLD.video_id);
END;

CREATE TRIGGER `live_paired` AFTER INSERT ON `live_pairs`
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.video_id;
END;
