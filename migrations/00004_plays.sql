-- Plays that players have begun and not used yet: one small row of each member and board, which the submission with it deletes.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS plays (
    board_id   BIGINT        NOT NULL,
    member     VARBINARY(64) NOT NULL,
    id         BINARY(16)    NOT NULL COMMENT 'random; a play that is begun later has another one',
    started_at DATETIME(6)   NOT NULL COMMENT 'database clock',
    refusals   INT           NOT NULL DEFAULT 0 COMMENT 'submissions with it that were refused',
    PRIMARY KEY (board_id, member),
    KEY plays_member (member, board_id),
    KEY plays_age (started_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS plays;
