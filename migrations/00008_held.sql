-- Submissions that wait for an admin, and decided ones, for as long as their board says.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS held (
    id           BIGINT        NOT NULL COMMENT 'its time in microseconds, and random bits',
    board_id     BIGINT        NOT NULL,
    member       VARBINARY(64) NOT NULL,
    state        ENUM('waiting','approved','rejected') NOT NULL DEFAULT 'waiting',
    held_at      DATETIME(6)   NOT NULL COMMENT 'database clock',
    expires_at   DATETIME(6)   NOT NULL COMMENT 'when the row goes',
    created_time DATETIME(6)   NOT NULL COMMENT 'of the entry, once approved, but with policy sum',
    score        BIGINT        NOT NULL COMMENT 'that it would have made',
    tiebreak     BIGINT        NOT NULL COMMENT 'that it would have made',
    reason       VARCHAR(200)  NOT NULL,
    submission   BLOB          NOT NULL COMMENT 'JSON: what was submitted, and the ids of its periods',
    actor        VARBINARY(128) NOT NULL COMMENT 'id of the key, or by whom the player is known',
    request_id   VARBINARY(128) NOT NULL,
    decided_at   DATETIME(6)   NULL,
    decided_by   VARBINARY(128) NULL COMMENT 'id of the key',
    note         VARCHAR(200)  NULL,
    outcome      VARBINARY(16) NULL COMMENT 'of an approved one',
    PRIMARY KEY (id),
    KEY held_board (board_id, state, id),
    KEY held_state (state, id),
    KEY held_member (member, state, id),
    KEY held_waiting (board_id, member, state),
    KEY held_age (expires_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS held;
