package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
)

const (
	giantRoom  = 220     // bytes of disk for a row while its board is filled: table, ordered index, and the files of sorting
	giantRedo  = 4 << 30 // bytes
	giantFlush = 2 * time.Minute

	giantRounds     = 5
	giantSeconds    = 3.0 // of a round per board
	giantLoads      = 3
	giantBuildGoal  = 1.3      // seconds per million
	giantMemoryGoal = 16 << 20 // bytes, for each 100 million
	giantLoadGoal   = 200 * time.Millisecond

	giantWarm    = 15 // seconds before latencies of the server count
	giantCalls   = 30 // seconds in which they do
	giantRank    = 2 * time.Millisecond
	giantTail    = 15 * time.Millisecond
	giantConns   = 64
	giantServing = 300 // 2^20 bytes
)

// giants are the boards of the topic: the large one, one of a tenth of its size, and one of a hundredth or a million.
type giants struct {
	large, tenth, small *board
	held                bool // whether the buffer pool holds them
}

func (g *giants) all() []*board {
	var there []*board
	for _, b := range []*board{g.large, g.tenth, g.small} {
		if b != nil {
			there = append(there, b)
		}
	}
	return there
}

// measureGiant measures the store in this process on one board, and then a server that has the board. A filled board is
// used again.
func (w *world) measureGiant(ctx context.Context, rep *report) error {
	if err := w.giantStore(ctx, rep); err != nil {
		return err
	}
	return w.giantServer(ctx, rep)
}

func (w *world) giantStore(ctx context.Context, rep *report) (err error) {
	if err := w.roomFor(ctx); err != nil {
		return err
	}
	if _, err := w.db.ExecContext(ctx, "SET GLOBAL innodb_redo_log_capacity = ?", giantRedo); err != nil {
		return err
	}
	if err := w.growPool(ctx, w.members, 2.0/3); err != nil {
		return err
	}
	var g giants
	defer func() {
		for _, b := range g.all() {
			err = errors.Join(err, b.close())
		}
	}()
	for _, one := range []struct {
		to      **board
		members int
	}{{&g.large, w.members}, {&g.tenth, w.members / 10}, {&g.small, min(w.members/100, 1_000_000)}} {
		if *one.to, err = openBoard(ctx, w.db, w.mysql.DSN, one.members, w.log); err != nil {
			return fmt.Errorf("board of %s: %w", thousands(one.members), err)
		}
	}
	defer func() { err = errors.Join(err, w.flushPages(context.WithoutCancel(ctx))) }()
	for _, part := range []struct {
		name string
		run  func(context.Context, *giants, *report) error
	}{
		{"size", w.giantSize},
		{"build", w.giantBuild},
		{"memory", w.giantMemory},
		{"latency", w.giantLatency},
		{"load", w.giantLoad},
		{"submits", w.giantSubmits},
	} {
		start := time.Now()
		if err := part.run(ctx, &g, rep); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprintf(w.log, "- %s took %.1f s\n", part.name, time.Since(start).Seconds())
	}
	return nil
}

// roomFor refuses to fill a disk that has too little room.
func (w *world) roomFor(ctx context.Context) error {
	filled, err := isFilled(ctx, w.db, w.members)
	if err != nil || filled {
		return err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(w.dir, &fs); err != nil {
		return err
	}
	if free, want := int64(fs.Bavail)*fs.Bsize, int64(w.members)*giantRoom; free < want {
		return fmt.Errorf("%s has %.1f GB left, %.1f GB are wanted", w.dir, float64(free)/1e9, float64(want)/1e9)
	}
	return nil
}

// flushPages has all pages written to disk, so that the server stops in time.
func (w *world) flushPages(ctx context.Context) error {
	for _, q := range []string{"SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0"} {
		if _, err := w.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	for start := time.Now(); time.Since(start) < giantFlush; {
		var name string
		var dirty int64
		if err := w.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'").Scan(&name, &dirty); err != nil {
			return err
		}
		if dirty < 1000 {
			return nil
		}
		if err := wait(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	fmt.Fprintln(w.log, "not all pages are on disk yet; the next start recovers them")
	return nil
}

// giantSize reports the size of the tables, whether the buffer pool holds them, and how quickly they were filled. It reads
// all of them once.
func (w *world) giantSize(ctx context.Context, g *giants, rep *report) error {
	for _, b := range g.all() {
		if err := b.warm(ctx); err != nil {
			return err
		}
	}
	if err := g.large.exec(ctx, "ANALYZE TABLE entries"); err != nil { // the statistics may be older than the last rows
		return err
	}
	var table, key, pool float64
	err := g.large.db.QueryRowContext(ctx, "SELECT SUM(IF(index_name = 'PRIMARY', stat_value, 0)) * @@innodb_page_size,"+
		" SUM(IF(index_name = ?, stat_value, 0)) * @@innodb_page_size, @@innodb_buffer_pool_size FROM mysql.innodb_index_stats"+
		" WHERE database_name = DATABASE() AND table_name = 'entries' AND stat_name = 'size'", orderKey).Scan(&table, &key, &pool)
	if err != nil {
		return err
	}
	holds := "does not hold them: what is measured is the disk too"
	if g.held = table+key <= pool; g.held {
		holds = "holds them"
	}
	rep.add(row{
		what:      "table and ordered index",
		here:      fmt.Sprintf("%.1f GB and %.1f GB, %.0f bytes a member", table/1e9, key/1e9, (table+key)/float64(g.large.members)),
		yardstick: fmt.Sprintf("a buffer pool of %.1f GB, which %s", pool/1e9, holds),
	})
	rep.add(row{what: "filling", here: thousands(g.large.fillRate) + " rows/s"})
	return nil
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

// giantBuild builds the index of all boards and measures the large one.
func (w *world) giantBuild(ctx context.Context, g *giants, rep *report) error {
	for _, b := range g.all() {
		took, err := b.buildIndex(ctx)
		if err != nil {
			return err
		}
		if b != g.large {
			continue
		}
		perMillion := took.Seconds() / (float64(b.members) / 1e6)
		rep.add(row{
			what: "build of the index", here: fmt.Sprintf("%.1f s, %.2f s per million", took.Seconds(), perMillion),
			goal: "≤ 1.3 s per million", met: yesNo(perMillion <= giantBuildGoal),
		})
	}
	return nil
}

// giantMemory weighs the index on the heap.
func (w *world) giantMemory(ctx context.Context, g *giants, rep *report) error {
	saved, err := g.large.saved(ctx)
	if err != nil {
		return err
	}
	before := heapBytes()
	index, err := rank.Decode(saved)
	if err != nil {
		return err
	}
	size := heapBytes() - before
	goal := giantMemoryGoal * max(1, float64(g.large.members)/1e8)
	rep.add(row{
		what: "memory of the index", goal: fmt.Sprintf("≤ %.0f MiB", goal/(1<<20)), met: yesNo(size <= goal),
		here: fmt.Sprintf("%.1f MiB in %s buckets; saved in %.1f MiB", size/(1<<20), thousands(index.Len()), float64(len(saved))/(1<<20)),
	})
	runtime.KeepAlive(saved)
	return nil
}

// saved reads the saved index of the board.
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

func heapBytes() float64 {
	runtime.GC()
	runtime.GC() // the memory of finalisers
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// giantLatency sends the same questions to the large board and to the board of a tenth of its size, in turn. With reads
// from the disk there are no goals here: the server's topic has them.
func (w *world) giantLatency(ctx context.Context, g *giants, rep *report) error {
	for _, q := range []struct {
		what, goal string
		ask        func(context.Context, *board) error
	}{
		{"primary-key read of a random member", "", readMember},
		{"rank of a random member", "≤ 1.5", func(ctx context.Context, b *board) error { return b.rankMember(ctx, b.store) }},
		{"page of 100 at a random depth", "≤ 1.5", func(ctx context.Context, b *board) error { return b.readPage(ctx, rand.Float64()) }},
		{"page of 100 at the top", "", func(ctx context.Context, b *board) error { return b.readPage(ctx, 0) }},
		{"page of 100 around the middle", "", func(ctx context.Context, b *board) error { return b.readPage(ctx, 0.5) }},
		{"page of 100 at the end", "", func(ctx context.Context, b *board) error { return b.readPage(ctx, 1) }},
	} {
		var large []time.Duration
		p50 := func(b *board) func() (float64, error) {
			return func() (float64, error) {
				times, err := w.times(func() error { return q.ask(ctx, b) })
				if b == g.large {
					large = append(large, times...)
				}
				return float64(median(times)), err
			}
		}
		here, there, ratio, err := paired(giantRounds, p50(g.large), p50(g.tenth))
		if err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		if !g.held {
			q.goal = ""
		}
		rep.add(row{
			what: q.what, here: fmt.Sprintf("p50 %s, p99 %s", inMS(time.Duration(here)), inMS(quantile(large, 0.99))),
			yardstick: fmt.Sprintf("%s: p50 %s", g.tenth.size(), inMS(time.Duration(there))), ratio: ratio, goal: q.goal,
		})
	}
	return nil
}

// times does something for a round, once at least, and returns how long it took each time.
func (w *world) times(do func() error) (times []time.Duration, err error) {
	for start := time.Now(); len(times) == 0 || time.Since(start) < w.seconds(giantSeconds); {
		took, err := timed(do)
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	return times, nil
}

func timed(do func() error) (time.Duration, error) {
	start := time.Now()
	err := do()
	return time.Since(start), err
}

// readMember reads a random member by primary key, the yardstick.
func readMember(ctx context.Context, b *board) error {
	var score, tiebreak int64
	var created time.Time
	return b.db.QueryRowContext(ctx, "SELECT score, tiebreak, created_time FROM entries WHERE period_id = ? AND member = ?",
		b.ref.ID, randomMember(b.members)).Scan(&score, &tiebreak, &created)
}

// rankMember asks for the rank of a random member.
func (b *board) rankMember(ctx context.Context, s *store.Store) error {
	got, err := s.Entries.Members(ctx, b.ref, leaderboard.MembersQuery{Members: []string{randomMember(b.members)}})
	if err == nil && len(got.Entries) != 1 {
		err = fmt.Errorf("a member of %s has no rank", b.dsn)
	}
	return err
}

// readPage asks for a page after this part of the board, with a little chance.
func (b *board) readPage(ctx context.Context, part float64) error {
	last := int64(b.members - pageOf)
	offset := min(last, int64(part*float64(last))+rand.Int64N(pageOf))
	page, err := b.store.Entries.Page(ctx, b.ref, leaderboard.PageQuery{Limit: pageOf, Offset: offset})
	if err == nil && len(page.Entries) != pageOf {
		err = fmt.Errorf("a page of %s has %d entries", b.dsn, len(page.Entries))
	}
	return err
}

// giantLoad times the first answer of a new process, which loads the saved index for it.
func (w *world) giantLoad(ctx context.Context, g *giants, rep *report) error {
	var times []time.Duration
	for range giantLoads {
		s, err := g.large.open(ctx)
		if err != nil {
			return err
		}
		if err := s.Ping(ctx); err != nil { // connecting is not loading
			return err
		}
		took, err := timed(func() error { return g.large.rankMember(ctx, s) })
		if err != nil {
			return err
		}
		times = append(times, took)
	}
	took := median(times)
	rep.add(row{
		what: "first rank of a new process, loading the index", here: inMS(took), goal: "≤ 200 ms",
		met: yesNo(took <= giantLoadGoal),
	})
	return nil
}

// giantSubmits submits to the large board and to the small one in turn; both maintain their index.
func (w *world) giantSubmits(ctx context.Context, g *giants, rep *report) error {
	for _, load := range []struct {
		what       string
		callers, n int
	}{{"single submits, 128 callers", submitConns, 1}, {"submits of 500 entries, 4 callers", batchConns, bulkRows}} {
		submits := func(b *board) func() (float64, error) {
			return func() (float64, error) {
				return together(load.callers, load.n, w.seconds(2*writeSeconds), func() error { return b.submit(ctx, load.n) })
			}
		}
		large, small, ratio, err := paired(writeRounds, submits(g.large), submits(g.small))
		if err != nil {
			return err
		}
		rep.add(row{
			what: load.what, here: thousands(large) + " rows/s",
			yardstick: g.small.size() + ": " + thousands(small) + " rows/s", ratio: ratio, goal: "≥ 0.5",
		})
	}
	return nil
}

// giantServer asks a server for the ranks of random members, and weighs it.
func (w *world) giantServer(ctx context.Context, rep *report) error {
	var err error
	if w.service, err = startProgram(ctx, w.program, w.mysql.DSN+databaseOf(w.members), w.redis.URL, w.serveArgs); err != nil {
		return err
	}
	for _, conns := range []int{1, giantConns} {
		r := load{
			addrs: []string{w.addr}, conns: conns, warm: w.seconds(giantWarm), length: w.seconds(giantWarm + giantCalls),
			request: memberRequest(w.members),
		}.run()
		if err := r.broken(); err != nil {
			return err
		}
		p50, p99 := r.quantile(0.5), r.quantile(0.99)
		next := row{
			what: fmt.Sprintf("rank of a random member by HTTP, connections: %d", conns),
			here: fmt.Sprintf("p50 %s, p99 %s; %s/s, %d refused", inMS(p50), inMS(p99), thousands(r.perSecond()), r.refused),
		}
		if conns == 1 {
			next.goal, next.met = "p50 ≤ 2 ms, p99 ≤ 15 ms", yesNo(p50 <= giantRank && p99 <= giantTail)
		}
		rep.add(next)
	}
	peak, err := peakMemory(w.pid)
	if err != nil {
		return err
	}
	rep.add(row{
		what: "memory of that server at most (RSS)", here: fmt.Sprintf("%.0f MiB", peak),
		goal: fmt.Sprintf("≤ %d MiB", giantServing), met: yesNo(peak <= giantServing),
	})
	return nil
}

// submit submits n entries, members at random.
func (b *board) submit(ctx context.Context, n int) error {
	entries := make([]leaderboard.Submission, n)
	for i := range entries {
		entries[i] = leaderboard.Submission{Member: randomMember(b.members), Score: randomScore()}
	}
	_, err := b.store.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: benchBoard, Entries: entries})
	return err
}
