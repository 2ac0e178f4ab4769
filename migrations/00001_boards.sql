-- +goose Up
CREATE TABLE boards (
    id           BIGINT        NOT NULL AUTO_INCREMENT,
    name         VARBINARY(64) NOT NULL COMMENT 'unique; a board that is being deleted gives its name up',
    version      BIGINT        NOT NULL DEFAULT 1 COMMENT 'grows by one with each change of the rules',
    state        VARBINARY(16) NOT NULL DEFAULT 'open' COMMENT 'open, deleting',
    rules        JSON          NOT NULL COMMENT 'leaderboard.Rules',
    created_time DATETIME(6)   NOT NULL,
    updated_time DATETIME(6)   NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY boards_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE boards;
