package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	coldRounds  = 5
	coldSeconds = 12
	coldSlot    = 100 * time.Millisecond // in which answers are counted
	coldMean    = 5                      // slots whose mean is used
	coldSpeed   = 0.75                   // of the rate at the end: at speed
	coldGoal    = 3500 * time.Millisecond

	rollServers = 3
	rollSeconds = 8.0
)

// measureCold measures how soon a server that has just started answers as fast as later, while many connections send
// requests from its first moment on: a server with an empty Redis and no saved index, and a server that replaces another.
func (w *world) measureCold(ctx context.Context, rep *report) error {
	for _, start := range []struct {
		what   string
		before func() error
	}{
		{"with an empty Redis", func() error { return redisCommand(w.redis.Addr, "FLUSHALL") }},
		{"after one that had the board in memory", func() error { return nil }},
	} {
		var rounds []cold
		for range coldRounds {
			w.stopService()
			if err := start.before(); err != nil {
				return err
			}
			began := time.Now()
			if err := w.serve(ctx); err != nil {
				return err
			}
			c, err := w.coldRound(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", start.what, err)
			}
			c.ready = c.began.Sub(began)
			rounds = append(rounds, c)
		}
		rep.addCold(start.what, rounds)
	}
	if err := w.rollOver(ctx, rep); err != nil {
		return err
	}
	return w.measureUnknown(ctx, rep)
}

// rollOver replaces three servers one after another, as a balancer that follows /readyz sees it: meanwhile all connections
// use the servers that are ready.
func (w *world) rollOver(ctx context.Context, rep *report) error {
	servers := make([]*service, rollServers)
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	for i := range servers {
		var err error
		if servers[i], err = w.start(ctx, w.redis.URL); err != nil {
			return err
		}
		if err := w.awaitResident(ctx, servers[i]); err != nil {
			return err
		}
	}
	ask := func(without int, seconds float64) (slots []int, err error) {
		l := load{conns: readConns, length: w.seconds(seconds), request: memberRequest(w.members)}
		for i, s := range servers {
			if i != without {
				l.addrs = append(l.addrs, s.addr)
			}
		}
		slots, _, err = l.slots()
		return slots, err
	}
	calm, err := ask(-1, rollSeconds)
	if err != nil {
		return err
	}
	lowest := math.Inf(1)
	for i := range servers {
		var replaced error
		var replacing sync.WaitGroup
		replacing.Go(func() {
			servers[i].stop()
			servers[i], replaced = w.start(ctx, w.redis.URL)
		})
		without, err := ask(i, rollSeconds)
		replacing.Wait()
		if err = errors.Join(err, replaced); err != nil {
			return err
		}
		with, err := ask(-1, rollSeconds/2)
		if err != nil {
			return err
		}
		lowest = min(lowest, lowestIn(without), lowestIn(with))
	}
	rep.add(row{
		what: fmt.Sprintf("%d servers replaced in turn: ranks in the slowest half second", rollServers),
		here: thousands(lowest) + "/s", yardstick: "before: " + thousands(rateIn(calm)) + "/s", ratio: lowest / rateIn(calm), goal: "≥ 0.7",
	})
	return nil
}

// lowestIn returns the lowest mean rate of coldMean slots in a row.
func lowestIn(slots []int) float64 {
	lowest := math.Inf(1)
	for i := range len(slots) - coldMean + 1 {
		lowest = min(lowest, rateIn(slots[i:i+coldMean]))
	}
	return lowest
}

func (r *report) addCold(what string, rounds []cold) {
	slices.SortFunc(rounds, func(a, b cold) int { return cmp.Compare(a.after, b.after) })
	m, last := rounds[len(rounds)/2], rounds[len(rounds)-1]
	r.add(row{
		what: what + ": from ready to speed",
		here: fmt.Sprintf("%.1f s, at most %.1f s; %s/s meanwhile; %s of %s refused; ready after %.1f s", m.after.Seconds(), last.after.Seconds(),
			thousands(m.until), thousands(m.all.refused), thousands(m.all.answers), m.ready.Seconds()),
		yardstick: fmt.Sprintf("%s/s at the end; %s statements to MySQL", thousands(m.end), thousands(m.statements)),
		goal:      fmt.Sprintf("≤ %.1f s", coldGoal.Seconds()), met: yesNo(m.after <= coldGoal),
	})
}

// cold is the answers of a server that has just started.
type cold struct {
	began      time.Time
	ready      time.Duration // from the start of the process until then
	after      time.Duration // until it is at speed
	until, end float64       // answers a second: until then, and in the last third
	statements int64         // that MySQL got until then
	all        *loadResult
}

// coldRound asks a server that has just started.
func (w *world) coldRound(ctx context.Context) (c cold, err error) {
	statements := make([]int64, coldSeconds*time.Second/coldSlot+1)
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var sampling sync.WaitGroup
	c.began = time.Now()
	sampling.Go(func() {
		for i := range statements {
			if statements[i], err = w.statements(ctx); err != nil || wait(asking, time.Until(c.began.Add(time.Duration(i+1)*coldSlot))) != nil {
				return
			}
		}
	})
	slots, all, failed := load{addrs: []string{w.addr}, conns: readConns, length: coldSeconds * time.Second, request: memberRequest(w.members)}.slots()
	stop()
	sampling.Wait()
	if err = errors.Join(err, failed); err != nil {
		return c, err
	}
	c.all, c.end = all, rateIn(slots[len(slots)*2/3:])
	at := firstAtSpeed(slots, c.end)
	if share := float64(all.local) / float64(all.answers); share < 0.5 {
		return c, fmt.Errorf("%.0f %% of the answers came from memory", 100*share)
	}
	c.after, c.until, c.statements = time.Duration(at)*coldSlot, rateIn(slots[:at]), statements[at]-statements[0]
	return c, nil
}

// slots runs a load and returns the number of answers without an error in each coldSlot of it.
func (l load) slots() (slots []int, all *loadResult, err error) {
	slots = make([]int, l.length/coldSlot)
	var mu sync.Mutex
	start := time.Now()
	l.observe = func(_, end time.Time, of said) {
		if i := int(end.Sub(start) / coldSlot); of.status < 400 && i < len(slots) {
			mu.Lock()
			defer mu.Unlock()
			slots[i]++
		}
	}
	all = l.run()
	return slots, all, all.broken()
}

// firstAtSpeed returns the first of coldMean slots in a row that are at speed, given the rate at the end.
func firstAtSpeed(slots []int, end float64) (at int) {
	for at+coldMean < len(slots) && rateIn(slots[at:at+coldMean]) < coldSpeed*end {
		at++
	}
	return at
}

// rateIn returns the answers a second in slots.
func rateIn(slots []int) float64 {
	sum := 0
	for _, n := range slots {
		sum += n
	}
	return float64(sum) / max(1, float64(len(slots))) / coldSlot.Seconds()
}

// statements returns how many statements MySQL has got.
func (w *world) statements(ctx context.Context) (n int64, err error) {
	var name string
	err = w.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n)
	return n, err
}
