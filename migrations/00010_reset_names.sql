-- Names that admins have taken away from a member: a key of scope write cannot give them again. MySQL knows no ADD COLUMN IF NOT EXISTS
-- and no DROP COLUMN IF EXISTS, so whether the column is there is asked first: this may be repeated after a kill.

-- +goose NO TRANSACTION
-- +goose Up
SET @reset_names = IF((SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'profiles' AND column_name = 'reset_names') > 0, 'DO 0',
    'ALTER TABLE profiles ADD COLUMN reset_names VARBINARY(1010) NOT NULL DEFAULT '''' COMMENT ''display names that were taken away, the newest first, a line each, ten at most''');
PREPARE reset_names FROM @reset_names;
EXECUTE reset_names;
DEALLOCATE PREPARE reset_names;

-- +goose Down
SET @reset_names = IF((SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'profiles' AND column_name = 'reset_names') = 0, 'DO 0',
    'ALTER TABLE profiles DROP COLUMN reset_names');
PREPARE reset_names FROM @reset_names;
EXECUTE reset_names;
DEALLOCATE PREPARE reset_names;
