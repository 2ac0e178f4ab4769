package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

const (
	singleRate  = 20          // submits a second to each server
	loadLength  = time.Second // of a load that is repeated
	writersGoal = "≤ 5"
	readersGoal = "≤ 3"

	oldSeason   = "old"
	newSeason   = "new"
	turnLead    = 3 * time.Second
	turnSeconds = 12.0
	newPart     = 10 // one of this many entries of the old period is submitted to the new one

	deleteGoal  = time.Second
	purgeGoal   = "≤ 1"
	purgeLimit  = 30 * time.Minute
	purgeLooked = 50 * time.Millisecond
)

// seasonsUntil returns two seasons, where the first is now and ends at a time.
func seasonsUntil(turn time.Time) []leaderboard.SeasonRule {
	at := leaderboard.MicrosOf(turn)
	return []leaderboard.SeasonRule{
		{Name: oldSeason, StartsAt: leaderboard.MicrosOf(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), EndsAt: at},
		{Name: newSeason, StartsAt: at, EndsAt: leaderboard.MicrosOf(turn.AddDate(1, 0, 0))},
	}
}

// measureInUse measures a board of a million that is in use: another server imports into it, its period turns, and it is
// deleted. alone is the time of a load into memory without other work.
func (u *unknown) measureInUse(ctx context.Context, rep *report, alone time.Duration) error {
	if err := u.resident(ctx, leaderboard.ResidentAuto); err != nil {
		return err
	}
	if err := u.restart(ctx); err != nil {
		return err
	}
	if err := u.awaitLocal(ctx, u.service, memberOf(unknownBoard, u.members), u.seconds(residentLimit)); err != nil {
		return err
	}
	if err := u.importBeside(ctx, rep); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if err := u.turn(ctx, rep, alone); err != nil {
		return fmt.Errorf("turn of the period: %w", err)
	}
	if err := u.deleteBoard(ctx, rep); err != nil {
		return fmt.Errorf("deletion: %w", err)
	}
	return nil
}

// during repeats loads while the work runs, and returns the results of each load.
func during(do func() error, loads ...load) ([]*loadResult, error) {
	var (
		all  sync.WaitGroup
		done atomic.Bool
		got  = make([]*loadResult, len(loads))
	)
	for i, l := range loads {
		got[i] = &loadResult{}
		all.Go(func() {
			for {
				if got[i].add(l.run()); done.Load() {
					return
				}
			}
		})
	}
	err := do()
	done.Store(true)
	all.Wait()
	for _, r := range got {
		err = errors.Join(err, r.broken())
	}
	return got, err
}

// calm returns the results of loads without anything else.
func (u *unknown) calm(ctx context.Context, loads ...load) ([]*loadResult, error) {
	return during(func() error { return wait(ctx, u.seconds(besideSeconds)) }, loads...)
}

// steady is a load on a server at a rate, to be repeated.
func steady(s *service, rate float64, request requester) load {
	return load{addrs: []string{s.addr}, conns: besideConns, rate: rate, length: loadLength, request: request}
}

// importBeside has another server import all members again, while the board is read and single entries are submitted.
func (u *unknown) importBeside(ctx context.Context, rep *report) error {
	other, err := u.startServer(ctx)
	if err != nil {
		return err
	}
	defer other.stop()
	submit := submitRequest(unknownBoard, u.members, 1)
	loads := []load{
		steady(u.service, singleRate, submit), steady(other, singleRate, submit), steady(u.service, besideRate, memberOf(unknownBoard, u.members)),
	}
	without, err := u.calm(ctx, loads...)
	if err != nil {
		return err
	}
	with, err := during(func() error { return u.imports(ctx, other) }, loads...)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("a server imports %s rows into a board that is read, beside %d busy threads: ", thousands(u.members), runtime.NumCPU())
	single := what + fmt.Sprintf("single submits, %d a second, through ", singleRate)
	rep.addBeside(single+"the server that is read", "p50", 0.5, with[0], without[0], writersGoal)
	rep.addBeside(single+"the server that imports", "p50", 0.5, with[1], without[1], writersGoal)
	rep.addBeside(what+fmt.Sprintf("random ranks, %d requests a second", besideRate), "p99", 0.99, with[2], without[2], readersGoal)
	return nil
}

// addBeside compares a quantile of a load, measured while something else is done, with the same load alone.
func (r *report) addBeside(what, name string, q float64, with, without *loadResult, goal string) {
	a, b := with.quantile(q), without.quantile(q)
	r.add(row{
		what: what, here: fmt.Sprintf("%s %s; %s of %s answers refused", name, inMS(a), thousands(with.refused), thousands(with.answers)),
		yardstick: "without it: " + inMS(b), ratio: float64(a) / float64(b), goal: goal,
	})
}

// turn has the period of the board turn while many connections ask for ranks, half of them in the old period, half in the current one.
func (u *unknown) turn(ctx context.Context, rep *report, alone time.Duration) error {
	at := time.Now().Add(turnLead).Truncate(time.Microsecond)
	if err := u.endSeason(ctx, at); err != nil {
		return err
	}
	limited, err := u.limited(ctx)
	if err != nil {
		return err
	}
	lead, length := time.Until(at), u.seconds(turnSeconds)
	submits := load{
		addrs: []string{u.addr}, conns: batchConns, length: lead + length, rate: float64(u.members) / newPart / bulkRows / length.Seconds(),
		request: submitRequest(unknownBoard, u.members, bulkRows),
	}
	var submitted *loadResult
	var both sync.WaitGroup
	both.Go(func() { submitted = submits.run() })
	slots, got, err := load{addrs: []string{u.addr}, conns: readConns, length: lead + length, warm: lead, request: u.oldAndCurrent()}.slots()
	both.Wait()
	after, failed := u.limited(ctx)
	top, unread := u.api.Top(ctx, unknownBoard, client.TopQuery{Limit: 1})
	if err := errors.Join(err, submitted.broken(), failed, unread); err != nil {
		return err
	}
	if top.Period != newSeason {
		return fmt.Errorf("the current period is %s", top.Period)
	}
	before, then := slots[:max(0, lead/coldSlot)], slots[max(0, lead/coldSlot):]
	end := rateIn(then[len(then)*2/3:])
	n := firstAtSpeed(then, end)
	took := time.Duration(n) * coldSlot
	ratio := took.Seconds() / alone.Seconds()
	rep.add(row{
		what: fmt.Sprintf("the period of that board turns, and %s entries are submitted to the new one, beside %d busy threads: until ranks of both come at %.0f %% of the rate at the end, %d connections",
			thousands(u.members/newPart), runtime.NumCPU(), 100*coldSpeed, readConns),
		here: fmt.Sprintf("%.1f s, %s/s meanwhile, p99 from the turn on %s; %s of %s answers refused; %s statements ended by their limit", took.Seconds(),
			thousands(rateIn(then[:n])), inMS(got.quantile(0.99)), thousands(got.refused), thousands(got.answers), thousands(after-limited)),
		yardstick: fmt.Sprintf("at the end %s/s, before the turn %s/s; the load for one reader %.1f s", thousands(end), thousands(rateIn(before)), alone.Seconds()),
		ratio:     ratio, goal: fmt.Sprintf("≤ %g, no statement ended", unknownGoal), met: yesNo(ratio <= unknownGoal && after == limited),
	})
	return nil
}

// endSeason moves the end of the season. The service refuses that once a season was used, except as the table of periods
// says.
func (u *unknown) endSeason(ctx context.Context, at time.Time) error {
	u.seasons = seasonsUntil(at)
	const move = "UPDATE " + unknownDatabase + ".periods SET ends_at = ? WHERE window_name = 'season' AND name = ?"
	if _, err := u.db.ExecContext(ctx, move, at.UTC(), oldSeason); err != nil {
		return err
	}
	return u.resident(ctx, leaderboard.ResidentAuto)
}

// oldAndCurrent asks for the rank of a random member in the old period, and for the entry at a random rank of the current one.
func (u *unknown) oldAndCurrent() requester {
	begin := getBegin + "/v1/boards/" + unknownBoard
	return func(conn, _ int, buf []byte) []byte {
		buf = append(buf, begin...)
		if conn%2 == 0 {
			buf = append(appendMember(append(buf, "/members/"...), rand.IntN(u.members)), "?period="+oldSeason...)
		} else {
			buf = strconv.AppendInt(append(buf, "/top?limit=1&offset="...), rand.Int64N(int64(u.members/newPart)), 10)
		}
		return append(buf, getEnd...)
	}
}

// deleteBoard deletes the board and waits until the housekeeping has deleted its rows, while another board is read.
func (u *unknown) deleteBoard(ctx context.Context, rep *report) error {
	quiet := steady(u.service, besideRate, memberOf(besideBoard, besideMembers))
	without, err := u.calm(ctx, quiet)
	if err != nil {
		return err
	}
	answered := func(board string) (took time.Duration, err error) {
		start := time.Now()
		err = u.api.DeleteBoard(ctx, board)
		return time.Since(start), err
	}
	start := time.Now()
	var took time.Duration
	with, err := during(func() (err error) {
		took, err = answered(unknownBoard)
		return err
	}, quiet)
	if err != nil {
		return err
	}
	all, err := u.purgeLeft(ctx)
	if err != nil {
		return err
	}
	ended := func(left purge) bool { return left.boards == 0 }
	if err := u.awaitPurge(ctx, func(left purge) bool { return left != all || ended(left) }); err != nil { // once a minute
		return err
	}
	began := time.Now()
	var gone time.Time
	then, err := during(func() error {
		defer func() { gone = time.Now() }()
		return u.awaitPurge(ctx, ended)
	}, quiet)
	if err != nil {
		return err
	}
	with[0].add(then[0])
	small, err := answered(knownBoard)
	if err != nil {
		return err
	}
	work := gone.Sub(began)
	what := fmt.Sprintf("a board of %s members is deleted, beside %d busy threads: ", thousands(u.members), runtime.NumCPU())
	rep.add(row{
		what: what + "until the request is answered", here: inMS(took),
		yardstick: fmt.Sprintf("a board of %s: %s", thousands(besideMembers), inMS(small)), ratio: took.Seconds() / small.Seconds(),
		goal: fmt.Sprintf("≤ %g s", deleteGoal.Seconds()), met: yesNo(took <= deleteGoal),
	})
	rep.add(row{
		what: what + "deletion of its rows by the housekeeping", here: fmt.Sprintf("%.1f s, gone after %.1f s", work.Seconds(), gone.Sub(start).Seconds()),
		yardstick: fmt.Sprintf("their import: %.1f s", u.imported.Seconds()), ratio: work.Seconds() / u.imported.Seconds(), goal: purgeGoal,
	})
	rep.addBeside(what+fmt.Sprintf("another board that is neither in memory nor indexed, %d requests a second", besideRate), "p99", 0.99, with[0], without[0], besideGoal)
	return nil
}

// purge is the amount left to delete of deleted boards.
type purge struct {
	boards int
	first  sql.NullString // member of the first period, in the order in which they are deleted
}

func (u *unknown) purgeLeft(ctx context.Context) (left purge, err error) {
	const query = "SELECT (SELECT COUNT(*) FROM " + unknownDatabase + ".boards WHERE state = 'deleting')," +
		" (SELECT (SELECT e.member FROM " + unknownDatabase + ".entries e WHERE e.period_id = p.id ORDER BY e.member LIMIT 1)" +
		" FROM " + unknownDatabase + ".periods p WHERE p.state = 'deleting' ORDER BY p.id LIMIT 1)"
	err = u.db.QueryRowContext(ctx, query).Scan(&left.boards, &left.first)
	return left, err
}

// awaitPurge waits until the amount left to delete is as wanted.
func (u *unknown) awaitPurge(ctx context.Context, wanted func(purge) bool) error {
	ctx, cancel := context.WithTimeout(ctx, purgeLimit)
	defer cancel()
	for {
		left, err := u.purgeLeft(ctx)
		if err != nil || wanted(left) {
			return err
		}
		if err := wait(ctx, purgeLooked); err != nil {
			return fmt.Errorf("%+v is left to delete: %w", left, err)
		}
	}
}
