-- +goose Up
CREATE TABLE refresh_runs (
    id          BIGINT         NOT NULL AUTO_INCREMENT,
    board_id    BIGINT         NOT NULL,
    period_id   BIGINT         NOT NULL,
    kind        VARBINARY(16)  NOT NULL COMMENT 'full, incremental',
    reason      VARBINARY(16)  NOT NULL COMMENT 'admin, command, schedule, dynamic, demand',
    actor       VARCHAR(128)   NOT NULL DEFAULT '',
    state       VARBINARY(16)  NOT NULL COMMENT 'running, done, shared, refused, failed',
    from_seq    BIGINT         NOT NULL DEFAULT 0,
    to_seq      BIGINT         NOT NULL DEFAULT 0,
    row_count   BIGINT         NOT NULL DEFAULT 0,
    started_at  DATETIME(6)    NOT NULL,
    took_us     BIGINT         NOT NULL DEFAULT 0,
    error       VARCHAR(1000)  NOT NULL DEFAULT '',
    PRIMARY KEY (id),
    KEY refresh_runs_board (board_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE refresh_runs;
