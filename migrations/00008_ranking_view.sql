-- +goose Up
CREATE VIEW scores AS
SELECT b.name AS board,
       p.window_name,
       p.starts_at,
       e.period_id,
       CONVERT(e.member USING utf8mb4) AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.order')) = 'asc', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.tiebreak.order')) = 'asc', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = e.period_id
JOIN boards b ON b.id = p.board_id
WHERE b.state = 'open';

-- +goose Down
DROP VIEW scores;
