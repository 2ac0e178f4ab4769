package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	buildGoal = 1.2       // seconds per million
	fillGoal  = 40_000    // rows a second
	largeFrom = 1_000_000 // goals of building and filling hold from here on: before, their beginning and end weigh too much
)

// measureIndex measures the store in this process, at several sizes.
func (w *world) measureIndex(ctx context.Context, rep *report, log io.Writer) (err error) {
	sizes := indexSizes(w.members, w.huge)
	var boards []*board
	defer func() {
		for _, b := range boards {
			err = errors.Join(err, b.close())
		}
	}()
	for _, n := range sizes {
		b, err := openBoard(ctx, w.mysql.DSN, "bench_"+strconv.Itoa(n), n, log)
		if err != nil {
			return err
		}
		boards = append(boards, b)
		if err := b.warm(ctx); err != nil {
			return err
		}
	}
	for _, part := range indexParts(w) {
		if err := part(ctx, boards, rep, log); err != nil {
			return err
		}
	}
	return nil
}

// indexParts returns the measurements, in an order that lets the later ones use what the earlier ones did.
func indexParts(w *world) []func(context.Context, []*board, *report, io.Writer) error {
	return []func(context.Context, []*board, *report, io.Writer) error{
		w.measureFill, w.measureBuild, w.measureLatency, w.measureMemory, w.measureLoad, w.measureUpkeep,
	}
}

// warm reads the table and its ordered index once.
func (b *board) warm(ctx context.Context) error {
	for _, key := range []string{"PRIMARY", orderKey} {
		var sum sql.NullFloat64
		if err := b.db.QueryRowContext(ctx, "SELECT SUM(score) FROM entries FORCE INDEX ("+key+") WHERE period_id = ?", b.ref.ID).Scan(&sum); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) measureFill(_ context.Context, boards []*board, rep *report, _ io.Writer) error {
	for _, b := range boards {
		r := row{What: "filling, " + b.size(), Here: thousands(b.fillRate) + " rows/s"}
		if b.members >= largeFrom {
			r.Goal, r.Met = "≥ 40,000 rows/s", yesNo(b.fillRate >= fillGoal)
		}
		rep.add(r)
	}
	return nil
}

func (w *world) measureBuild(ctx context.Context, boards []*board, rep *report, log io.Writer) error {
	fmt.Fprintln(log, "index: build")
	for _, b := range boards {
		took, err := b.buildIndex(ctx)
		if err != nil {
			return err
		}
		perMillion := took.Seconds() / (float64(b.members) / 1e6)
		r := row{What: "build of the index, " + b.size(), Here: fmt.Sprintf("%.2f s, %.2f s per million", took.Seconds(), perMillion)}
		if b.members >= largeFrom {
			r.Goal, r.Met = "≤ 1.2 s per million", yesNo(perMillion <= buildGoal)
		}
		rep.add(r)
	}
	return nil
}
