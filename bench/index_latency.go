package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"leaderboard"
	"leaderboard/store"
)

const (
	latencyRounds  = 5
	latencySeconds = 1.5 // of a round per board
	countSeconds   = 4   // per board
	countLeast     = 5   // counts per board, however long they take
	pageEntries    = 100

	rankGoal, pageGoal = "≤ 4", "≤ 6"
	growthGoal         = 1.5
)

// latency is what one board showed: one value per round, the median of the times in it.
type latency struct {
	read, rank, page []time.Duration
	rankRatio        []float64 // of rank to read
	pageRatio        []float64
	count            time.Duration
}

// measureLatency asks boards of all sizes in turn.
func (w *world) measureLatency(ctx context.Context, boards []*board, rep *report, log io.Writer) error {
	fmt.Fprintln(log, "index: latencies")
	seen := make([]latency, len(boards))
	for range latencyRounds {
		for i, b := range boards {
			if err := b.latencyRound(ctx, w.seconds(latencySeconds), &seen[i]); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(log, "index: COUNT")
	for i, b := range boards {
		var err error
		if seen[i].count, err = b.countLatency(ctx, w.seconds(countSeconds)); err != nil {
			return err
		}
	}
	reportLatency(boards, seen, rep)
	return nil
}

// latencyRound reads random members by primary key, asks for ranks of random members and for pages anywhere, in turn.
func (b *board) latencyRound(ctx context.Context, length time.Duration, seen *latency) error {
	var read, ranks, page []time.Duration
	for start := time.Now(); len(page) == 0 || time.Since(start) < length; {
		for _, m := range []struct {
			times *[]time.Duration
			ask   func(context.Context) error
		}{
			{&read, b.readMember},
			{&ranks, func(ctx context.Context) error { return b.rankMember(ctx, b.store) }},
			{&page, b.readPage},
		} {
			took, err := timed(ctx, m.ask)
			if err != nil {
				return err
			}
			*m.times = append(*m.times, took)
		}
	}
	a, r, p := median(read), median(ranks), median(page)
	seen.read, seen.rank, seen.page = append(seen.read, a), append(seen.rank, r), append(seen.page, p)
	seen.rankRatio = append(seen.rankRatio, float64(r)/float64(a))
	seen.pageRatio = append(seen.pageRatio, float64(p)/float64(a))
	return nil
}

func timed(ctx context.Context, do func(context.Context) error) (time.Duration, error) {
	start := time.Now()
	err := do(ctx)
	return time.Since(start), err
}

// readMember reads a random member by primary key, the yardstick.
func (b *board) readMember(ctx context.Context) error {
	var score, tiebreak int64
	var created time.Time
	return b.db.QueryRowContext(ctx, "SELECT score, tiebreak, created_time FROM entries WHERE period_id = ? AND member = ?",
		b.ref.ID, b.randomMember()).Scan(&score, &tiebreak, &created)
}

// rankMember asks for the rank of a random member.
func (b *board) rankMember(ctx context.Context, s *store.Store) error {
	got, err := s.Members(ctx, b.ref, leaderboard.MembersQuery{Members: []string{b.randomMember()}})
	if err == nil && len(got.Entries) != 1 {
		err = fmt.Errorf("a member of %s has no rank", b.dsn)
	}
	return err
}

// readPage asks for a page at a random depth.
func (b *board) readPage(ctx context.Context) error {
	page, err := b.store.Page(ctx, b.ref, leaderboard.PageQuery{Limit: pageEntries, Offset: rand.Int64N(int64(b.members) - pageEntries)})
	if err == nil && len(page.Entries) != pageEntries {
		err = fmt.Errorf("a page of %s has %d entries", b.dsn, len(page.Entries))
	}
	return err
}

// countLatency returns the median time of a rank without an index.
func (b *board) countLatency(ctx context.Context, length time.Duration) (time.Duration, error) {
	scanning, err := b.openScanning()
	if err != nil {
		return 0, err
	}
	var times []time.Duration
	for start := time.Now(); len(times) < countLeast || time.Since(start) < length; {
		took, err := timed(ctx, func(ctx context.Context) error { return b.rankMember(ctx, scanning) })
		if err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	return median(times), nil
}

func reportLatency(boards []*board, seen []latency, rep *report) {
	for i, b := range boards {
		l := seen[i]
		read, rank, page := median(l.read), median(l.rank), median(l.page)
		yardstick := "primary-key read: " + inMS(read)
		rep.add(row{What: "rank of a random member, p50, " + b.size(), Here: inMS(rank), Yardstick: yardstick, Ratio: median(l.rankRatio), Goal: rankGoal})
		rep.add(row{What: "page of 100 at a random depth, p50, " + b.size(), Here: inMS(page), Yardstick: yardstick, Ratio: median(l.pageRatio), Goal: pageGoal})
		rep.add(row{
			What: "rank by COUNT, p50, " + b.size(), Here: inMS(l.count), Yardstick: "by the index: " + inMS(rank),
			Ratio: float64(l.count) / float64(max(1, rank)),
		})
		rep.points = append(rep.points, point{Members: b.members, Read: read, Index: rank, Count: l.count})
	}
	growth := growthOf(seen)
	rep.add(row{
		What: fmt.Sprintf("slowest size by the fastest, rank of a random member, %s to %s", thousands(boards[0].members), boards[len(boards)-1].size()),
		Here: fmt.Sprintf("%.2f", growth), Goal: "≤ 1.5", Met: yesNo(growth <= growthGoal),
	})
}

// growthOf returns the time of the slowest size by that of the fastest, the median over the rounds.
func growthOf(seen []latency) float64 {
	var growths []float64
	for round := range seen[0].rank {
		least, most := seen[0].rank[round], seen[0].rank[round]
		for _, l := range seen[1:] {
			least, most = min(least, l.rank[round]), max(most, l.rank[round])
		}
		growths = append(growths, float64(most)/float64(max(1, least)))
	}
	return median(growths)
}
