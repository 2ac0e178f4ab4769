package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"leaderboard/internal/child"
	"leaderboard/leaderboard"
)

const (
	unknownDatabase = "unknown"
	unknownBoard    = "unknown" // neither in memory nor indexed
	knownBoard      = "known"   // in memory
	besideBoard     = "beside"  // neither, and never in memory
	besideMembers   = 20_000
	besideRate      = 100 // requests a second
	besideConns     = 8

	unknownRounds  = 5
	unknownSeconds = 20.0
	besideSeconds  = 8.0
	besideGoal     = "≤ 1.5"
	unknownGoal    = 2.0 // times what the load into memory takes
)

// unknown is a server with a board that it does not know yet, while threads keep every core busy.
type unknown struct {
	*world
	dsn      string
	seasons  []leaderboard.SeasonRule // of the board, so that its period can turn
	imported time.Duration            // that the import of its members took
	busy     []*child.Process
}

// askedUnknown is the result of one run of readers.
type askedUnknown struct {
	*loadResult
	after    time.Duration // until the readers were at speed, or all of it
	atSpeed  bool          // most answers came from memory
	until    float64       // answers a second until then
	end      float64       // and in the last third
	beside   *loadResult   // of the second board
	limited  int64         // statements that MySQL ended
	scanning float64       // batches that counted by scanning
}

// measureUnknown measures a board of a million that is neither in memory nor indexed, asked by many readers (promise C7).
func (w *world) measureUnknown(ctx context.Context, rep *report) (err error) {
	w.stopService()
	u := newUnknown(w)
	defer func() { err = errors.Join(err, u.end()) }()
	if err := u.prepare(ctx); err != nil {
		return err
	}
	if err := u.keepBusy(); err != nil {
		return err
	}
	imported, err := u.load(ctx, unknownBoard, unknownSeconds, true)
	if err != nil {
		return err
	}
	alone, err := u.loadAlone(ctx)
	if err != nil {
		return err
	}
	rep.addUnknown("imported through the command, then asked", alone, []*askedUnknown{imported})
	if err := u.lost(ctx, rep, alone); err != nil {
		return err
	}
	if err := u.changed(ctx, rep); err != nil {
		return err
	}
	return u.measureInUse(ctx, rep, alone)
}

func newUnknown(w *world) *unknown {
	return &unknown{world: w, dsn: w.mysql.DSN + unknownDatabase, seasons: seasonsUntil(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))}
}

// lost compares the second board while readers read a board in memory, and a board that the server does not know, each time
// after a start with an empty Redis and without any saved index.
func (u *unknown) lost(ctx context.Context, rep *report, alone time.Duration) error {
	var rounds []*askedUnknown
	var quiet, known, unknown, ratios []float64
	for range unknownRounds {
		for _, board := range []string{"", knownBoard, unknownBoard} {
			if err := u.restart(ctx); err != nil {
				return err
			}
			length := besideSeconds
			switch board {
			case knownBoard:
				if err := u.awaitLocal(ctx, u.service, memberOf(board, besideMembers), u.seconds(residentLimit)); err != nil {
					return err
				}
			case unknownBoard:
				length = unknownSeconds
			}
			got, err := u.load(ctx, board, length, true)
			if err != nil {
				return err
			}
			p99 := float64(got.beside.quantile(0.99))
			switch board {
			case knownBoard:
				known = append(known, p99)
			case unknownBoard:
				unknown, rounds = append(unknown, p99), append(rounds, got)
				ratios = append(ratios, p99/known[len(known)-1])
			default:
				quiet = append(quiet, p99)
			}
		}
	}
	rep.addUnknown("with an empty Redis and no saved index", alone, rounds)
	refused := int64(0)
	for _, r := range rounds {
		refused += r.beside.failed
	}
	rep.add(row{
		what: fmt.Sprintf("p99 of another board without memory and index, %d requests a second, meanwhile", besideRate),
		here: fmt.Sprintf("%s, %s refused", inMS(time.Duration(median(unknown))), thousands(refused)),
		yardstick: fmt.Sprintf("while %d connections read a board in memory: %s; alone: %s", readConns,
			inMS(time.Duration(median(known))), inMS(time.Duration(median(quiet)))),
		ratio: median(ratios), goal: besideGoal,
	})
	return nil
}

// changed has a board leave the memory by its rules, while no index is saved.
func (u *unknown) changed(ctx context.Context, rep *report) error {
	if err := u.resident(ctx, leaderboard.ResidentAlways); err != nil {
		return err
	}
	if err := u.restart(ctx); err != nil {
		return err
	}
	if err := u.awaitLocal(ctx, u.service, memberOf(unknownBoard, u.members), u.seconds(residentLimit)); err != nil {
		return err
	}
	if err := u.resident(ctx, leaderboard.ResidentNever); err != nil {
		return err
	}
	got, err := u.load(ctx, unknownBoard, unknownSeconds, false)
	if err != nil {
		return err
	}
	rep.addUnknown("in memory, then `resident` is `never`, so that MySQL answers", 0, []*askedUnknown{got})
	return nil
}

// prepare makes and fills the boards.
func (u *unknown) prepare(ctx context.Context) error {
	if err := u.growPool(ctx, 2*u.members, 1.0/3); err != nil {
		return err
	}
	for _, q := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		if _, err := u.db.ExecContext(ctx, q+unknownDatabase); err != nil {
			return err
		}
	}
	var err error
	if u.service, err = u.startServer(ctx); err != nil {
		return err
	}
	for _, b := range []struct {
		name     string
		resident leaderboard.Resident
	}{{knownBoard, leaderboard.ResidentAlways}, {besideBoard, leaderboard.ResidentNever}} {
		if _, _, err := u.api.PutBoard(ctx, b.name, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Resident: b.resident}); err != nil {
			return err
		}
		if err := u.fillOverHTTP(b.name, besideMembers, ""); err != nil {
			return err
		}
	}
	if err := u.resident(ctx, ""); err != nil {
		return err
	}
	return u.imports(ctx, u.service)
}

// startServer starts a server on the boards and returns it when it is ready.
func (u *unknown) startServer(ctx context.Context) (*service, error) {
	return startProgram(ctx, u.program, u.dsn, u.redis.URL, append([]string{"--public-metrics"}, u.serveArgs...))
}

// resident sets the rule of the board.
func (u *unknown) resident(ctx context.Context, r leaderboard.Resident) error {
	_, _, err := u.api.PutBoard(ctx, unknownBoard, leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Resident: r, Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: u.seasons,
	})
	return err
}

// imports gives every member of the board a score, through the command and a server.
func (u *unknown) imports(ctx context.Context, s *service) error {
	file := filepath.Join(u.dir, "unknown.csv")
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	_, _ = out.WriteString("member,score\n")
	var line []byte
	for i := range u.members {
		line = append(appendMember(line[:0], i), ',')
		_, _ = out.Write(append(strconv.AppendInt(line, randomScore(), 10), '\n'))
	}
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return err
	}
	defer os.Remove(file)
	cmd := exec.CommandContext(ctx, u.program, "import", unknownBoard, file, "--restart", "--progress", file+".progress")
	cmd.Env = append(os.Environ(), "LEADERBOARD_URL=http://"+s.addr, "LEADERBOARD_KEY="+benchKey)
	defer os.Remove(file + ".progress")
	start := time.Now()
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import: %w\n%s", err, said)
	}
	u.imported = time.Since(start)
	return nil
}

// keepBusy starts as many threads that do nothing but work as the machine has cores.
func (u *unknown) keepBusy() error {
	for range runtime.NumCPU() {
		p, err := child.Start(exec.Command("sh", "-c", "while :; do :; done"), syscall.SIGKILL)
		if err != nil {
			return err
		}
		u.busy = append(u.busy, p)
	}
	return nil
}

func (u *unknown) end() error {
	u.stopService()
	for _, p := range u.busy {
		_ = p.Signal(syscall.SIGKILL)
		_ = p.Wait()
	}
	_, err := u.db.Exec("DROP DATABASE IF EXISTS " + unknownDatabase)
	return err
}

// restart starts a server without earlier data: Redis is empty, and no index is saved.
func (u *unknown) restart(ctx context.Context) error {
	u.stopService()
	if _, err := u.db.ExecContext(ctx, "DELETE FROM "+unknownDatabase+".rank_indexes"); err != nil {
		return err
	}
	if err := redisCommand(u.redis.Addr, "FLUSHALL"); err != nil {
		return err
	}
	var err error
	u.service, err = u.startServer(ctx)
	return err
}

// loadAlone returns how long a server takes to bring the board into memory for one reader, while the threads are busy.
func (u *unknown) loadAlone(ctx context.Context) (time.Duration, error) {
	if err := u.resident(ctx, leaderboard.ResidentAlways); err != nil {
		return 0, err
	}
	if err := u.restart(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := u.awaitLocal(ctx, u.service, memberOf(unknownBoard, u.members), u.seconds(residentLimit)); err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, u.resident(ctx, "")
}

// memberOf asks for the rank of a random member of a board.
func memberOf(board string, members int) requester {
	begin := getBegin + "/v1/boards/" + board + "/members/"
	return func(_, _ int, buf []byte) []byte {
		return append(appendMember(append(buf, begin...), rand.IntN(members)), getEnd...)
	}
}

// load lets many connections read a board, "" for no board, while some read the second board. They are at speed once most
// answers come from memory, unless the board must not be there.
func (u *unknown) load(ctx context.Context, board string, seconds float64, inMemory bool) (*askedUnknown, error) {
	length := u.seconds(seconds)
	got := &askedUnknown{}
	before, err := u.limited(ctx)
	if err != nil {
		return nil, err
	}
	quiet := load{addrs: []string{u.addr}, conns: besideConns, rate: besideRate, length: length, request: memberOf(besideBoard, besideMembers)}
	var both sync.WaitGroup
	both.Go(func() { got.beside = quiet.run() })
	if board != "" {
		members := map[string]int{knownBoard: besideMembers, unknownBoard: u.members}[board]
		var slots []int
		slots, got.loadResult, err = load{addrs: []string{u.addr}, conns: readConns, length: length, request: memberOf(board, members)}.slots()
		got.end = rateIn(slots[len(slots)*2/3:])
		at := len(slots)
		if got.atSpeed = 2*got.local > got.answers || !inMemory; got.atSpeed {
			at = firstAtSpeed(slots, got.end)
		}
		got.after, got.until = time.Duration(at)*coldSlot, rateIn(slots[:at])
	}
	both.Wait()
	after, failed := u.limited(ctx)
	if err := errors.Join(err, failed, got.beside.broken()); err != nil {
		return nil, err
	}
	got.limited = after - before
	got.scanning, err = u.metric(ctx, "leaderboard_read_scans_total")
	return got, err
}

// limited returns how many statements MySQL has ended because of their limit.
func (u *unknown) limited(ctx context.Context) (n int64, err error) {
	var name string
	err = u.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Max_execution_time_exceeded'").Scan(&name, &n)
	return n, err
}

// metric returns the value of a counter of the server.
func (u *unknown) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+u.addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+benchKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(lines.Err(), fmt.Errorf("no metric %s", name))
}

func (r *report) addUnknown(what string, alone time.Duration, rounds []*askedUnknown) {
	slices.SortFunc(rounds, func(a, b *askedUnknown) int { return cmp.Compare(a.after, b.after) })
	m, last := rounds[len(rounds)/2], rounds[len(rounds)-1]
	var limited int64
	for _, r := range rounds {
		limited += r.limited
	}
	took := func(r *askedUnknown) string {
		if !r.atSpeed {
			return fmt.Sprintf("never in %.0f s", r.after.Seconds())
		}
		return fmt.Sprintf("%.1f s", r.after.Seconds())
	}
	added := row{
		what: fmt.Sprintf("an unknown board, %s, %d busy threads: to speed", what, runtime.NumCPU()),
		here: fmt.Sprintf("%s, at most %s; %s/s meanwhile; %s of %s refused, the slowest after %s; %s statements at their limit, %.0f scans",
			took(m), took(last), thousands(m.until), thousands(m.refused), thousands(m.answers), inMS(quantile(m.rejections, 1)), thousands(limited), m.scanning),
		yardstick: fmt.Sprintf("%s/s at the end", thousands(m.end)),
	}
	if alone > 0 {
		added.yardstick += fmt.Sprintf("; %.1f s the load for one reader", alone.Seconds())
		added.ratio, added.goal = m.after.Seconds()/alone.Seconds(), fmt.Sprintf("≤ %g", unknownGoal)
		added.met = yesNo(m.atSpeed && added.ratio <= unknownGoal && limited == 0)
	}
	r.add(added)
}
