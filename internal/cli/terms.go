package cli

import (
	"fmt"
	"math"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/leaderboard"
)

// submitTerms are the terms of submit for its entries, in addition to scores.
type submitTerms struct {
	absent           bool
	score, tiebreak  *int64
	fields, set, add map[string]int64
	createdTime      *leaderboard.Micros
	op               string
	keepTime, atomic bool
	metadata         string
}

// termFlags returns the flags of conditions, of single fields, of overrides, and --atomic.
func (p *program) termFlags(t *submitTerms) []cli.Flag {
	number := func(name, usage string, at **int64) cli.Flag {
		return optional(whole(p.option(name, usage), new(int64), math.MinInt64, math.MaxInt64), at)
	}
	values := func(name, usage string, at *map[string]int64) cli.Flag {
		f := newChecked(p.option(name, usage), new([]string), func(v string) ([]string, error) { return nil, addFields(at, v) })
		f.HideDefault = true
		return f
	}
	return []cli.Flag{
		&cli.BoolFlag{Name: "if-absent", Usage: "only while the member has no entry", Destination: &t.absent},
		number("if-score", "only while the member's score is this", &t.score),
		number("if-tiebreak", "only while the member's tiebreak is this, on a board without fields", &t.tiebreak),
		values("if-field", "only while a tiebreak field of the member is this, `name=n` as in paid=0", &t.fields),
		optional(newChecked(p.option("if-created-time", "only while the member's score was reached at this `time`, RFC 3339"), new(leaderboard.Micros), parseMicros), &t.createdTime),
		values("set", "give single tiebreak fields values, `name=n` as in paid=1; a member without =SCORE keeps its score", &t.set),
		values("add", "add to single tiebreak fields, `name=n` as in wins=1; a member without =SCORE keeps its score", &t.add),
		oneOf(p.option("op", "best, latest or sum in the place of the board's policy, where its rule overrides allows it"), &t.op, "best", "latest", "sum"),
		&cli.BoolFlag{Name: "keep-time", Usage: "keep created_time if the score does not change, where the rule overrides allows it", Destination: &t.keepTime},
		newChecked(p.option("metadata", "JSON `object` that each entry keeps, on boards with the rule metadata"), &t.metadata, parseMetadata),
		&cli.BoolFlag{Name: "atomic", Usage: "apply all entries, or none when one is rejected or unmet", Destination: &t.atomic},
	}
}

func parseMicros(v string) (leaderboard.Micros, error) {
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil {
		return 0, fmt.Errorf("want a time such as 2026-11-20T13:00:00Z, not %q", v)
	}
	return leaderboard.MicrosOf(t), nil
}

func parseMetadata(v string) (string, error) {
	if object, ok := leaderboard.CompactMetadata([]byte(v)); ok {
		return object, nil
	}
	return "", fmt.Errorf("want a JSON object such as {\"replay\":\"/replays/4711\"}, not %q", v)
}

// metadataFlag is --with-metadata.
func metadataFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "with-metadata", Usage: "show the metadata of entries, on boards with the rule metadata", Destination: at}
}

// edits reports whether single fields change.
func (t *submitTerms) edits() bool { return t.set != nil || t.add != nil }

// addTo adds the terms to a submission.
func (t *submitTerms) addTo(sub *leaderboard.Submission) {
	sub.Metadata = t.metadata
	if t.absent || t.score != nil || t.tiebreak != nil || t.fields != nil || t.createdTime != nil {
		sub.If = &leaderboard.Condition{Score: t.score, Tiebreak: t.tiebreak, Fields: t.fields, CreatedTime: t.createdTime}
		if t.absent {
			sub.If.Absent = &t.absent
		}
	}
	if t.edits() || t.op != "" || t.keepTime {
		sub.Edit = &leaderboard.Edit{Set: t.set, Add: t.add, Op: leaderboard.Policy(t.op), KeepTime: t.keepTime}
	}
}
