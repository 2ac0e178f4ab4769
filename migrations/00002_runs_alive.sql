-- A run that is under way says which process does it, and that it goes on. NULL: a version before this one began it.
--
-- It is one statement, which MySQL and MariaDB do whole or not at all. MySQL has no ADD COLUMN IF NOT EXISTS, so it is only
-- prepared where the columns are missing: whoever comes after a process that was killed finds them.

-- +goose NO TRANSACTION
-- +goose Up
SET @runs_alive = IF((SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'runs' AND column_name = 'alive_at') > 0, 'DO 0',
    'ALTER TABLE runs ADD COLUMN server VARBINARY(32) NULL COMMENT ''the process that does it, random'', ADD COLUMN alive_at DATETIME(6) NULL COMMENT ''when that process last said so'', ADD KEY runs_state (state)');
PREPARE runs_alive FROM @runs_alive;
EXECUTE runs_alive;
DEALLOCATE PREPARE runs_alive;

-- +goose Down
SET @runs_alive = IF((SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'runs' AND column_name = 'alive_at') = 0, 'DO 0',
    'ALTER TABLE runs DROP KEY runs_state, DROP COLUMN alive_at, DROP COLUMN server');
PREPARE runs_alive FROM @runs_alive;
EXECUTE runs_alive;
DEALLOCATE PREPARE runs_alive;
