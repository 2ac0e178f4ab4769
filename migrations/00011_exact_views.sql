-- The views compare names with all their bytes, trailing spaces too. The collation utf8mb4_bin takes 'bob ' for 'bob'; the exact one has
-- another name in MySQL (8.0.17 and later) and in MariaDB, so the server is asked for it.

-- +goose NO TRANSACTION
-- +goose Up
SET @exact = (SELECT collation_name FROM information_schema.collations
    WHERE collation_name IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin', 'utf8mb4_bin') AND character_set_name = 'utf8mb4'
    ORDER BY collation_name = 'utf8mb4_nopad_bin' DESC, collation_name = 'utf8mb4_0900_bin' DESC LIMIT 1);

SET @scores = REPLACE('CREATE OR REPLACE VIEW scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE exact_collation AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE exact_collation AS window_name,
       CONVERT(IF(p.name = '''', p.window_name, p.name) USING utf8mb4) COLLATE exact_collation AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE exact_collation AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, ''$.order'')) = ''asc'', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, ''$.tiebreak.order'')) = ''asc'', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = e.period_id
JOIN boards b ON b.id = p.board_id
WHERE b.state = ''open'' AND p.state <> ''deleting''', 'exact_collation', @exact);
PREPARE scores FROM @scores;
EXECUTE scores;
DEALLOCATE PREPARE scores;

SET @hidden_scores = REPLACE('CREATE OR REPLACE VIEW hidden_scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE exact_collation AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE exact_collation AS window_name,
       CONVERT(IF(p.name = '''', p.window_name, p.name) USING utf8mb4) COLLATE exact_collation AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE exact_collation AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, ''$.order'')) = ''asc'', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, ''$.tiebreak.order'')) = ''asc'', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = -e.period_id AND e.period_id = -p.id
JOIN boards b ON b.id = p.board_id
WHERE e.period_id < 0 AND b.state = ''open'' AND p.state <> ''deleting''', 'exact_collation', @exact);
PREPARE hidden_scores FROM @hidden_scores;
EXECUTE hidden_scores;
DEALLOCATE PREPARE hidden_scores;

SET @period_counts = REPLACE('CREATE OR REPLACE VIEW period_counts AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE exact_collation AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE exact_collation AS window_name,
       CONVERT(IF(p.name = '''', p.window_name, p.name) USING utf8mb4) COLLATE exact_collation AS period,
       p.starts_at,
       p.ends_at,
       p.id AS period_id,
       CONVERT(p.state USING utf8mb4) COLLATE exact_collation AS state,
       p.entry_count AS visible_count,
       COALESCE(h.hidden_count, 0) AS hidden_count
FROM periods p
JOIN boards b ON b.id = p.board_id
LEFT JOIN (SELECT -e.period_id AS period_id, COUNT(*) AS hidden_count FROM entries e WHERE e.period_id < 0 GROUP BY e.period_id) h
       ON h.period_id = p.id
WHERE b.state = ''open'' AND p.state <> ''deleting''', 'exact_collation', @exact);
PREPARE period_counts FROM @period_counts;
EXECUTE period_counts;
DEALLOCATE PREPARE period_counts;

-- +goose Down
CREATE OR REPLACE VIEW scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE utf8mb4_bin AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.order')) = 'asc', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.tiebreak.order')) = 'asc', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = e.period_id
JOIN boards b ON b.id = p.board_id
WHERE b.state = 'open' AND p.state <> 'deleting';

CREATE OR REPLACE VIEW hidden_scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE utf8mb4_bin AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.order')) = 'asc', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.tiebreak.order')) = 'asc', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = -e.period_id AND e.period_id = -p.id
JOIN boards b ON b.id = p.board_id
WHERE e.period_id < 0 AND b.state = 'open' AND p.state <> 'deleting';

CREATE OR REPLACE VIEW period_counts AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.ends_at,
       p.id AS period_id,
       CONVERT(p.state USING utf8mb4) COLLATE utf8mb4_bin AS state,
       p.entry_count AS visible_count,
       COALESCE(h.hidden_count, 0) AS hidden_count
FROM periods p
JOIN boards b ON b.id = p.board_id
LEFT JOIN (SELECT -e.period_id AS period_id, COUNT(*) AS hidden_count FROM entries e WHERE e.period_id < 0 GROUP BY e.period_id) h
       ON h.period_id = p.id
WHERE b.state = 'open' AND p.state <> 'deleting';
