-- +goose Up
CREATE TABLE derived_boards (
    board_id BIGINT        NOT NULL,
    step     BIGINT        NOT NULL DEFAULT 0 COMMENT 'grows by one whenever the entries follow the sources',
    spec     VARBINARY(32) NOT NULL DEFAULT '' COMMENT 'SHA-256 of the rule that the entries follow; empty: they are to be computed',
    PRIMARY KEY (board_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE derived_boards;
