package cli

import (
	"math"
	"time"
)

func toolsTable() []setting {
	return []setting{
		{
			name: "dir", section: secDev, fallback: ".leaderboard", usage: "folder of the private servers' data and the admin key",
			set: text(func(c *config) *string { return &c.dir }),
		},
		{
			name: "members", section: secDev, fallback: "5000", usage: "members of the demo board when it is first made",
			set: number(func(c *config) *int { return &c.members }, 1, 10_000_000),
		},
		{
			name: "kind", section: secRefresh, fallback: "full", usage: "full rebuilds the copy, incremental catches up by the change log, recompute computes derived boards from scratch",
			set: choice(func(c *config) *string { return &c.kind }, "full", "incremental", "recompute"),
		},
		{
			name: "against", section: secRefresh, fallback: "copy", usage: "what verify compares MySQL with: copy, the copies in Redis; sources, derived boards with their sources",
			set: choice(func(c *config) *string { return &c.against }, "copy", "sources"),
		},
		{
			name: "board", section: secRefresh, usage: "the board",
			set: text(func(c *config) *string { return &c.board }),
		},
		{
			name: "all", section: secRefresh, toggle: true, usage: "all boards",
			set: toggle(func(c *config) *bool { return &c.all }),
		},
	}
}

func clientTable() []setting {
	return []setting{
		{
			name: "url", section: secClient, fallback: "http://127.0.0.1:8080", usage: "where the server is",
			set: setURL,
		},
		{
			name: "key", section: secClient, secret: true, usage: "the bearer key",
			set: setKey,
		},
		{
			name: "timeout", section: secClient, fallback: "30s", usage: "how long to wait for the server",
			set: duration(func(c *config) *time.Duration { return &c.timeout }, time.Millisecond),
		},
		{
			name: "json", section: secClient, toggle: true, usage: "answer in JSON, for machines",
			set: toggle(func(c *config) *bool { return &c.json }),
		},
		{
			name: "limit", section: secClient, fallback: "10", usage: "entries to show, 1 to 1000",
			set: number(func(c *config) *int { return &c.limit }, 1, 1000),
		},
		{
			name: "offset", section: secClient, fallback: "0", usage: "entries to leave out from the top",
			set: number(func(c *config) *int64 { return &c.offset }, 0, math.MaxInt64),
		},
		{
			name: "mode", section: secClient, usage: "numbering of ties: strict (1,2,3,4), tied (1,2,2,4) or dense (1,2,2,3); empty: the board's own",
			set: choice(func(c *config) *string { return &c.mode }, "strict", "tied", "dense"),
		},
		{
			name: "boards", section: secClient, usage: "boards to rank as one, separated by commas: up to 50 that have the same order and tiebreak",
			set: text(func(c *config) *string { return &c.boards }),
		},
		{
			name: "labels", section: secClient, usage: "label:value pairs separated by commas, as in type:moba,aspect:sound: labels to give a board, or that boards must have",
			set: setLabels,
		},
		{
			name: "window", section: secClient, usage: "which of the board's windows, such as day; empty: its first",
			set: text(func(c *config) *string { return &c.window }),
		},
		{
			name: "period", section: secClient, usage: "current, previous or a name such as 2026-11-20, 2026-W47, 2026-Q4; empty: the current one",
			set: text(func(c *config) *string { return &c.period }),
		},
		{
			name: "min-seq", section: secClient, usage: "answer from a state at least this new, as a submit's answer names it",
			set: number(func(c *config) *int64 { return &c.minSeq }, 0, math.MaxInt64),
		},
		{
			name: "around", section: secClient, usage: "show that many entries on each side of the member, 0 to 500",
			set: optional(func(c *config) **int { return &c.around }, 0, 500),
		},
		{
			name: "score", section: secClient, usage: "the score to rank",
			set: optional(func(c *config) **int64 { return &c.score }, math.MinInt64, math.MaxInt64),
		},
		{
			name: "tiebreak", section: secClient, usage: "tiebreak of the entries, or of the score",
			set: optional(func(c *config) **int64 { return &c.tiebreak }, math.MinInt64, math.MaxInt64),
		},
		{
			name: "field", section: secClient, repeats: true, set: setFields,
			usage: "a tiebreak field of the entries, or of the score, as in level=7; once for each field of the board",
		},
		{
			name: "idempotency-key", section: secClient, usage: "repeat a submit under the same key and it counts once; empty: a random one. The same file imported under another key counts again",
			set: text(func(c *config) *string { return &c.idempotencyKey }),
		},
	}
}

// rulesTable holds the fields of PUT /v1/boards/{board}, which the server checks: what is given goes into the body.
func rulesTable() []setting {
	rows := []setting{{
		name: "rules", section: secRules, usage: "file with the rules in JSON, - for standard input; not together with the options below",
		set: text(func(c *config) *string { return &c.rulesFile }),
	}}
	for _, r := range []struct {
		name, path, usage string
		numeric, list     bool
	}{
		{name: "title", path: "title", usage: "name for people"},
		{name: "order", path: "order", usage: "desc: higher is better, asc: lower is better (default: desc)"},
		{name: "policy", path: "policy", usage: "best, latest or sum (default: best)"},
		{name: "visibility", path: "visibility", usage: "public or private (default: public)"},
		{name: "top-n", path: "top_n", usage: "entries in the Redis copy (default: 1000)", numeric: true},
		{name: "tiebreak-order", path: "tiebreak.order", usage: "desc or asc (default: desc)"},
		{name: "min-score", path: "limits.min_score", usage: "least score that is accepted", numeric: true},
		{name: "max-score", path: "limits.max_score", usage: "greatest score that is accepted", numeric: true},
		{name: "max-delta", path: "limits.max_delta", usage: "greatest change of a score by one submission", numeric: true},
		{name: "refresh-full", path: "refresh.full", usage: "when to rebuild the copy, as a cron expression in UTC"},
		{name: "refresh-incremental", path: "refresh.incremental", usage: "interval of catching up, or off (default: 10s)"},
		{name: "refresh-dynamic", path: "refresh.dynamic", usage: "pairs of seconds/changes, as in 900/1 300/10"},
		{name: "cache-ttl", path: "cache_ttl", usage: "how long an unread copy stays in Redis (default: 24h)"},
		{name: "windows", path: "windows", usage: "all_time, hour, day, week, month, quarter, year, season: any of them, separated by commas (default: all_time)", list: true},
		{name: "time-zone", path: "time_zone", usage: "IANA time zone of the periods (default: UTC)"},
		{name: "starts-at", path: "starts_at", usage: "submissions before it are rejected, RFC 3339"},
		{name: "ends-at", path: "ends_at", usage: "submissions from it on are rejected, RFC 3339"},
	} {
		set := ruleField(r.path, r.numeric)
		if r.list {
			set = ruleList(r.path)
		}
		rows = append(rows, setting{name: r.name, section: secRules, usage: r.usage, set: set})
	}
	return append(rows, setting{
		name: "tiebreak-fields", section: secRules, set: setTiebreakFields,
		usage: "fields of the tiebreak, the first decides first, as NAME:BITS or NAME:BITS:ORDER separated by commas: level:20,paid:1,deaths:16:asc",
	})
}
