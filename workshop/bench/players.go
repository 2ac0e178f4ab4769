package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

const (
	players     = 1000    // members with their own tokens
	playerQuota = 100_000 // requests a second of each, and of the key: no request is refused, each is charged
	forgedRate  = 10_000  // forged tokens a second
	forgedConns = 64
	forgedBytes = 64 // of a signature by Ed25519
)

// player is a member with a token.
type player struct {
	member, token string
}

// measurePlayers compares reads with a player's token to reads with a key, and measures honest reads while forged tokens
// come in: from the address of the players, and from a new address each.
func (w *world) measurePlayers(ctx context.Context, rep *report) error {
	if err := w.serveResident(ctx, "--trusted-proxies", "127.0.0.0/8", "--player-quota", strconv.Itoa(playerQuota)+"/20/20", "--address-quota", "0/100"); err != nil {
		return err
	}
	all := make([]player, players)
	for i := range all {
		member := string(appendMember(nil, rand.IntN(w.members)))
		t, err := w.api.CreateToken(ctx, client.TokenRequest{Member: member, Boards: []string{benchBoard}})
		if err != nil {
			return err
		}
		all[i] = player{member, t.Token}
	}
	key, err := w.api.CreateKey(ctx, client.KeyRequest{Name: "bench", Scope: leaderboard.ScopeRead, Quota: &client.Quota{RequestsPerSecond: new(int64(playerQuota))}})
	if err != nil {
		return err
	}
	if err := w.playersRead(rep, all, key.Secret); err != nil {
		return err
	}
	for _, from := range []struct{ what, header string }{{"the players' own address", ""}, {"a new address each", "X-Forwarded-For: "}} {
		if err := w.forged(ctx, rep, all, from.what, from.header); err != nil {
			return err
		}
	}
	return nil
}

// playersRead holds the rates of reads of the own entry against each other, and the CPU that they take, which other work on the machine
// changes less.
func (w *world) playersRead(rep *report, all []player, key string) error {
	var tokens, keys side
	sides := []struct {
		*side
		key string
	}{{&tokens, ""}, {&keys, key}}
	for range readPairs {
		for _, s := range sides {
			if err := s.round(w.addr, w.pid, load{conns: readConns, length: w.seconds(readSeconds), request: ownRequest(all, s.key)}); err != nil {
				return fmt.Errorf("reads of the own entry: %w", err)
			}
		}
	}
	for _, s := range sides {
		if err := s.all.failure(); err != nil {
			return fmt.Errorf("reads of the own entry: %w", err)
		}
	}
	rep.add(row{
		what: fmt.Sprintf("rank of the own entry with a token, %s players", thousands(int64(players))), here: tokens.String(),
		yardstick: "the same with a key: " + keys.String(), ratio: ratioOf(tokens.rates, keys.rates), goal: "≥ 0.9",
		also: fmt.Sprintf("CPU %.2f", ratioOf(tokens.cpus, keys.cpus)),
	})
	return nil
}

// ownRequest reads the rank of a random player with the player's own token, or with a key, if any.
func ownRequest(all []player, key string) requester {
	requests := make([][]byte, len(all))
	for i, p := range all {
		bearer := p.token
		if key != "" {
			bearer = key
		}
		requests[i] = fmt.Appendf(nil, "GET %s/members/%s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n\r\n", boardPath, p.member, bearer)
	}
	return func(_, _ int, buf []byte) []byte { return append(buf, requests[rand.IntN(len(requests))]...) }
}

// forgedRequest uses a token with a wrong signature, a different one each time, and a different address each time if header
// names the field for it.
func forgedRequest(p player, header string) requester {
	claims := p.token[:strings.LastIndexByte(p.token, '.')+1]
	begin := fmt.Sprintf("GET %s/members/%s HTTP/1.1\r\nHost: bench\r\n", boardPath, p.member)
	return func(_, _ int, buf []byte) []byte {
		buf = append(buf, begin...)
		if n := rand.Uint32(); header != "" {
			buf = fmt.Appendf(buf, "%s20.%d.%d.%d\r\n", header, byte(n>>16), byte(n>>8), byte(n))
		}
		var signature [forgedBytes]byte
		for i := range signature {
			signature[i] = byte(rand.Uint32())
		}
		buf = append(append(buf, "Authorization: Bearer "...), claims...)
		return append(base64.RawURLEncoding.AppendEncode(buf, signature[:]), "\r\n\r\n"...)
	}
}

// forged measures honest reads while forged tokens come in, in turn with as many requests to a bare handler, which refuses
// nothing: the flood's own client and its connections use their part of the cores there too.
func (w *world) forged(ctx context.Context, rep *report, all []player, from, header string) error {
	nothing, err := startBare(ctx, w.dir, []byte("{}"))
	if err != nil {
		return err
	}
	defer nothing.stop()
	honest := load{
		addrs: []string{w.addr}, conns: quietKeys, rate: quietRate, length: w.seconds(quietSeconds), warm: w.seconds(quietSeconds) / 4,
		request: ownRequest(all, ""),
	}
	flood := load{conns: forgedConns, rate: forgedRate, length: honest.length, request: forgedRequest(all[0], header)}
	var forged, elsewhere, alone loadResult
	beside := func(addr string, sum *loadResult) func() (float64, error) {
		l := flood
		l.addrs = []string{addr}
		return func() (float64, error) {
			if sum == &elsewhere { // no more than the server can take
				l.rate = float64(forged.answers) / forged.took.Seconds()
			}
			var both sync.WaitGroup
			both.Go(func() {
				got := l.run()
				sum.add(got)
				sum.took += got.took
			})
			got := honest.run()
			both.Wait()
			return float64(got.quantile(0.99)), got.failure()
		}
	}
	attack := beside(w.addr, &forged)
	if _, err := attack(); err != nil { // warms up
		return fmt.Errorf("forged tokens from %s: %w", from, err)
	}
	there, floor, ratio, err := paired(quietRounds, attack, beside(nothing.addr, &elsewhere))
	if err != nil {
		return fmt.Errorf("forged tokens from %s: %w", from, err)
	}
	alone.add(honest.run())
	if good := forged.answers - forged.failed; good > 0 {
		return fmt.Errorf("%d forged tokens were taken", good)
	}
	rate := func(r *loadResult) string { return thousands(float64(r.answers) / r.took.Seconds()) }
	rep.add(row{
		what: fmt.Sprintf("p99 of %d honest reads a second beside forged tokens from %s", quietRate, from),
		here: fmt.Sprintf("%s, beside %s/s, %.0f %% refused for their number", inMS(time.Duration(there)), rate(&forged),
			100*float64(forged.refused)/float64(max(1, forged.answers))),
		yardstick: fmt.Sprintf("%s/s of them sent to a bare handler: %s; none: %s", rate(&elsewhere), inMS(time.Duration(floor)), inMS(alone.quantile(0.99))),
		ratio:     ratio, goal: "≤ 1.10",
	})
	return nil
}
