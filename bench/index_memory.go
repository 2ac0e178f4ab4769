package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"leaderboard/rank"
	"leaderboard/store"
)

const (
	loadRounds   = 3
	loadGoal     = 100 * time.Millisecond
	memoryGoal   = 16 << 20
	bucketGoal   = 64     // bytes
	leastBuckets = 20_000 // are weighed together
)

// saved reads the index of the board as it is saved.
func (b *board) saved(ctx context.Context) ([]byte, error) {
	rows, err := b.db.QueryContext(ctx, "SELECT payload FROM rank_indexes WHERE period_id = ? ORDER BY chunk", b.ref.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var payload []byte
	for rows.Next() {
		var chunk []byte
		if err := rows.Scan(&chunk); err != nil {
			return nil, err
		}
		payload = append(payload, chunk...)
	}
	return payload, rows.Err()
}

// measureMemory weighs indexes on the heap.
func (w *world) measureMemory(ctx context.Context, boards []*board, rep *report, _ io.Writer) error {
	for _, b := range boards {
		payload, err := b.saved(ctx)
		if err != nil {
			return err
		}
		m, err := weigh(payload)
		if err != nil {
			return err
		}
		r := row{
			What: "memory of the index, " + b.size(),
			Here: fmt.Sprintf("%.1f KiB in %s buckets: %.0f bytes each and %.0f of boundary", m.total/1024, thousands(m.buckets), m.perBucket(), m.boundaries/float64(m.buckets)),
			Goal: "≤ 64 bytes per bucket + boundary", Met: yesNo(m.perBucket() <= bucketGoal),
		}
		if b.members == huge {
			r.Goal, r.Met = r.Goal+", ≤ 16 MB in all", yesNo(m.perBucket() <= bucketGoal && m.total <= memoryGoal)
		}
		rep.add(r)
	}
	return nil
}

// weight is what one index takes.
type weight struct {
	total      float64 // bytes on the heap
	boundaries float64 // bytes of them for the sort keys between buckets
	buckets    int
}

func (m weight) perBucket() float64 { return (m.total - m.boundaries) / float64(m.buckets) }

// weigh decodes an index as often as it takes to see it on the heap.
func weigh(payload []byte) (weight, error) {
	first, err := rank.Decode(payload)
	if err != nil {
		return weight{}, err
	}
	m := weight{buckets: first.Len()}
	for span := range first.Spans() {
		m.boundaries += float64(len(span.From))
	}
	copies := make([]*rank.Index, leastBuckets/m.buckets+1)
	before := heapBytes()
	for i := range copies {
		if copies[i], err = rank.Decode(payload); err != nil {
			return weight{}, err
		}
	}
	m.total = (heapBytes() - before) / float64(len(copies))
	runtime.KeepAlive(copies)
	return m, nil
}

func heapBytes() float64 {
	runtime.GC()
	runtime.GC() // what finalisers held
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// measureLoad times the first answer of a new process, which loads the saved index for it.
func (w *world) measureLoad(ctx context.Context, boards []*board, rep *report, log io.Writer) error {
	fmt.Fprintln(log, "index: load")
	for _, b := range boards {
		var times []time.Duration
		for range loadRounds {
			took, err := b.firstAnswer(ctx)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		took := median(times)
		rep.add(row{
			What: "first rank of a new process, loading the index, " + b.size(), Here: inMS(took),
			Goal: "≤ 100 ms", Met: yesNo(took <= loadGoal),
		})
	}
	return nil
}

func (b *board) firstAnswer(ctx context.Context) (time.Duration, error) {
	s, err := store.Open(ctx, store.Config{DSN: b.dsn})
	if err != nil {
		return 0, err
	}
	if err := s.Ping(ctx); err != nil { // connecting is not loading
		return 0, err
	}
	took, err := timed(ctx, func(ctx context.Context) error { return b.rankMember(ctx, s) })
	if err != nil {
		return 0, err
	}
	return took, s.Close()
}
