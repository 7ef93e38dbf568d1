-- How many files and folders lie in the trash: they count against the plan's number of files and folders.
ALTER TABLE `accounts` ADD `trash_nodes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `accounts` SET `trash_nodes` = ifnull((SELECT sum(`files` + `folders`) FROM `trash` WHERE `account_id` = `accounts`.`id`), 0);--> statement-breakpoint
-- How far the tree reaches below a folder, at most: levels of folders, and bytes of the longest path from it. Only ever
-- raised, so that a move knows without a walk that nothing below gets too deep.
ALTER TABLE `folders` ADD `levels_below` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `folders` ADD `bytes_below` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE TEMP TABLE `folder_depths` AS
WITH RECURSIVE s(id, branch, levels, bytes) AS (
  SELECT id, 0, 0, 0 FROM nodes WHERE kind = 0 AND (parent_id IS NULL OR parent_id < 0)
  UNION ALL
  SELECT n.id, iif(s.levels = 0, n.id, s.branch), s.levels + 1, s.bytes + 1 + octet_length(n.name)
  FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)
SELECT * FROM s;--> statement-breakpoint
-- The deepest of a branch is the bound for all of it: one pass, whatever the depth.
UPDATE `folders` SET `levels_below` = b.levels - d.levels, `bytes_below` = b.bytes - d.bytes
FROM temp.folder_depths d
JOIN (SELECT branch, max(levels) AS levels, max(bytes) AS bytes FROM temp.folder_depths GROUP BY branch) b ON b.branch = d.branch
WHERE d.branch > 0 AND `folders`.`node_id` = d.id;--> statement-breakpoint
UPDATE `folders` SET `levels_below` = t.levels, `bytes_below` = t.bytes
FROM (SELECT n.parent_id AS id, max(1 + f.levels_below) AS levels, max(1 + octet_length(n.name) + f.bytes_below) AS bytes
  FROM temp.folder_depths d CROSS JOIN nodes n ON n.id = d.branch CROSS JOIN folders f ON f.node_id = n.id
  WHERE d.id = d.branch GROUP BY n.parent_id) t
WHERE `folders`.`node_id` = t.id;--> statement-breakpoint
DROP TABLE temp.`folder_depths`;
