package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fixed answers every query with the same shared answers, as a local copy does, and resolves one board.
type fixed struct {
	fixedWriter
	Catalog  // methods that the benchmarks do not call
	Rankings // the same
	board    leaderboard.Board
	ref      leaderboard.PeriodRef
	pages    map[int]*leaderboard.Page
	one      *leaderboard.Standings
}

func newFixed() *fixed {
	rules := leaderboard.Rules{}.WithDefaults()
	f := &fixed{
		board: leaderboard.Board{ID: 1, Name: "demo", Rules: rules},
		ref:   leaderboard.PeriodRef{ID: 1, BoardID: 1, Board: "demo", Window: leaderboard.WindowAllTime, Name: "all_time", Rules: &rules},
		pages: map[int]*leaderboard.Page{},
	}
	state := leaderboard.State{Revision: leaderboard.Revision{Seq: 1_000_000, AsOf: 1_700_000_000_000_000}, Total: 1_000_000, Source: leaderboard.SourceLocal}
	for _, n := range []int{10, 100} {
		page := &leaderboard.Page{State: state, Next: strings.Repeat("k", 32), Encoded: new(leaderboard.Encoded)}
		for i := range n {
			page.Entries = append(page.Entries, leaderboard.Ranked{Ranks: leaderboard.Ranks{Strict: int64(i) + 1, Tied: int64(i) + 1}, Entry: leaderboard.Entry{
				Member: fmt.Sprintf("member-%06d", i), Score: 1_000_000 - int64(i), CreatedTime: 1_700_000_000_000_000,
			}})
		}
		f.pages[n] = page
	}
	f.one = &leaderboard.Standings{State: state, Entries: []leaderboard.Standing{{Ranked: f.pages[10].Entries[3]}}}
	f.receipt = leaderboard.Receipt{Seq: 1, Results: []leaderboard.Result{{Member: "m", Status: leaderboard.StatusApplied, Score: &state.Seq, CreatedTime: &state.AsOf}}}
	return f
}

func (f *fixed) Resolve(context.Context, string, string, string) (leaderboard.PeriodRef, *leaderboard.Board, error) {
	return f.ref, &f.board, nil
}

func (f *fixed) Board(context.Context, string) (leaderboard.Board, error) { return f.board, nil }

func (f *fixed) Page(_ context.Context, _ leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	return f.pages[q.Limit], nil
}

func (f *fixed) Members(context.Context, leaderboard.PeriodRef, leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return f.one, nil
}

var benchPaths = map[string]string{
	"top10":  "/v1/boards/demo/top",
	"top100": "/v1/boards/demo/top?limit=100",
	"member": "/v1/boards/demo/members/member-000003",
}

func benchAPI() *API {
	f := newFixed()
	return New(Config{Catalog: f, Rankings: f, Writer: f, SettingsKeys: []SettingsKey{{Scope: leaderboard.ScopeWrite, Secret: apitest.WriteKey}}})
}

// bare returns a handler to compare with: the same bytes with the same headers that a client needs, and nothing else.
func bare(b *testing.B, api http.Handler, path string) http.Handler {
	rec := httptest.NewRecorder()
	api.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	if rec.Code != http.StatusOK {
		b.Fatalf("%s answers %d", path, rec.Code)
	}
	body := rec.Body.Bytes()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
}

// BenchmarkHandler is the work of the handler alone.
func BenchmarkHandler(b *testing.B) {
	api := benchAPI()
	for name, path := range benchPaths {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			b.ReportAllocs()
			for b.Loop() {
				api.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
	for _, n := range []int{1, 500} {
		body := `{"entries":[` + strings.Repeat(`{"member":"member-000003","score":12345},`, n-1) + `{"member":"member-000003","score":12345}]}`
		b.Run("submit"+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v1/boards/demo/scores", strings.NewReader(body))
				r.Header["Authorization"] = []string{"Bearer " + apitest.WriteKey}
				r.Header["Content-Type"] = []string{"application/json"}
				api.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}

// BenchmarkRefused measures a request that a quota refuses, and a request with the same key that is served.
func BenchmarkRefused(b *testing.B) {
	for name, most := range map[string]int{"refused": 1, "served": 1 << 40} {
		b.Run(name, func(b *testing.B) {
			f, q := newFixed(), &charges{most: leaderboard.Charge{leaderboard.QuotaKindRequests: most}}
			q.charged[leaderboard.QuotaKindRequests] = 1
			api := New(Config{Catalog: f, Rankings: f, Writer: f, SettingsKeys: []SettingsKey{{Scope: leaderboard.ScopeWrite, Secret: apitest.WriteKey}}, Quotas: q})
			r := httptest.NewRequest(http.MethodGet, benchPaths["top10"], nil)
			r.Header["Authorization"] = []string{"Bearer " + apitest.WriteKey}
			b.ReportAllocs()
			for b.Loop() {
				q.who = q.who[:0]
				api.shared.guard.RefuseFrom(time.Time{})
				api.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}

// BenchmarkKept serves pages that are encoded once, and each time.
func BenchmarkKept(b *testing.B) {
	api := benchAPI()
	for _, page := range []string{"top10", "top100"} {
		r := httptest.NewRequest(http.MethodGet, benchPaths[page], nil)
		for _, kept := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/kept=%t", page, kept), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if !kept {
						api.handlers.reader.kept.drop()
					}
					api.ServeHTTP(discard{http.Header{}}, r)
				}
			})
		}
	}
}

// BenchmarkWire compares the API with the bare handler over connections of this machine, side by side in one run.
func BenchmarkWire(b *testing.B) {
	api := benchAPI()
	for name, path := range benchPaths {
		for kind, h := range map[string]http.Handler{"api": api, "bare": bare(b, api, path)} {
			b.Run(name+"/"+kind, func(b *testing.B) { benchWire(b, h, path) })
		}
	}
}

func benchWire(b *testing.B, h http.Handler, path string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := Server("", h)
	go func() { _ = s.Serve(Listener(l, ConnLimits{})) }()
	defer s.Close()
	request := "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		in := bufio.NewReaderSize(conn, 32<<10)
		for pb.Next() {
			if err := roundTrip(conn, in, request); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// roundTrip sends a request and reads the answer at little cost: it reads the headers for the length and drops the
// body.
func roundTrip(conn io.Writer, in *bufio.Reader, request string) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read a header: %w", err)
		}
		if len(line) == 2 {
			break
		}
		if n, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(n)); err != nil {
				return fmt.Errorf("read the length: %w", err)
			}
		}
	}
	if _, err := in.Discard(length); err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	return nil
}
