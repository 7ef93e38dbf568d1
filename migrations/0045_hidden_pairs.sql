-- A Live Photo may have its photo in one folder and its video in another. The video of a pair is hidden only while both
-- are visible: `hides_video` is 0 while exactly one of them is in a deleted folder. Moving a folder to the trash changes
-- no row of the files in it, so `live_rechecks` has the accounts whose pairs in two folders have to be checked again,
-- and the last photo that was checked.
ALTER TABLE `live_pairs` ADD `account_id` integer DEFAULT 0 NOT NULL;

ALTER TABLE `live_pairs` ADD `is_apart` integer DEFAULT 0 NOT NULL;

ALTER TABLE `live_pairs` ADD `hides_video` integer DEFAULT 1 NOT NULL;

UPDATE `live_pairs` SET
	account_id = (SELECT n.account_id FROM `nodes` n WHERE n.id = photo_id),
	is_apart = (SELECT n.parent_id FROM `nodes` n WHERE n.id = photo_id) IS NOT (SELECT n.parent_id FROM `nodes` n WHERE n.id = video_id);

CREATE INDEX `live_pairs_apart` ON `live_pairs` (`account_id`,`photo_id`) WHERE is_apart = 1;

CREATE TABLE `live_rechecks` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`after_photo_id` integer NOT NULL
) STRICT;

INSERT INTO `live_rechecks` SELECT DISTINCT account_id, 0 FROM `live_pairs` WHERE is_apart = 1;

DROP VIEW `photo_sources`;

CREATE VIEW `photo_sources` AS
WITH told AS (
	SELECT n.id, n.account_id, n.parent_id, n.blob_id, n.media_type LIKE 'video/%' AS is_video, n.created_at, m.place_id,
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

DROP TRIGGER `live_paired`;

CREATE TRIGGER `live_paired` AFTER INSERT ON `live_pairs` WHEN NEW.hides_video = 1
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.video_id;
END;

CREATE TRIGGER `live_hidden` AFTER UPDATE OF `hides_video` ON `live_pairs` WHEN NEW.hides_video <> OLD.hides_video
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.video_id;
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.video_id;
END;

-- A folder went to the trash, came back, or is being deleted.
CREATE TRIGGER `live_folder_changed` AFTER UPDATE OF `parent_id` ON `nodes`
WHEN NEW.kind = 0 AND (ifnull(NEW.parent_id, 0) > 0) <> (ifnull(OLD.parent_id, 0) > 0)
BEGIN
	INSERT OR REPLACE INTO `live_rechecks` SELECT NEW.account_id, 0
		WHERE EXISTS (SELECT 1 FROM `live_pairs` INDEXED BY `live_pairs_apart` WHERE account_id = NEW.account_id AND is_apart = 1);
END;
