-- +goose Up
CREATE TABLE friend_lists (
    member       VARBINARY(64) NOT NULL,
    updated_time DATETIME(6)   NOT NULL COMMENT 'who changes a list locks this row first',
    PRIMARY KEY (member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE friend_lists;
