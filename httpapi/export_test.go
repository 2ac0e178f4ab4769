package httpapi

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

const classicCSV = `strict_rank,tied_rank,member,score,tiebreak,created_time
1,1,5,100,0,2018-08-16T14:18:53.000000Z
2,2,4,96,0,2018-08-16T14:20:43.000000Z
3,3,1,90,0,2018-08-16T14:31:10.000000Z
4,4,3,82,0,2018-08-16T09:37:53.000000Z
5,5,8,80,0,2018-08-16T14:30:01.000000Z
6,5,2,80,0,2018-08-16T14:31:11.000000Z
7,7,7,8,0,2018-08-16T14:30:23.000000Z
8,8,6,5,0,2018-08-16T14:21:13.000000Z
`

func TestExportCSV(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	r := e.Get(apitest.AdminKey, "/v1/boards/demo/export").Want(200)
	if string(r.Body) != classicCSV {
		t.Errorf("got\n%s", r.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/csv; charset=utf-8; header=present", "Cache-Control": "no-store", "Leaderboard-Seq": "8", "Leaderboard-Total": "8",
		"Leaderboard-As-Of": "2023-11-14T22:13:20.000001Z", "Content-Disposition": `attachment; filename="demo_all_time_all_time.csv"`,
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if head := e.Do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}).Want(200); len(head.Body) > 0 || head.Header.Get("Leaderboard-Total") != "8" {
		t.Errorf("HEAD: %q %v", head.Body, head.Header)
	}
	e.Board("empty", leaderboard.Rules{})
	if r := e.Get(apitest.AdminKey, "/v1/boards/empty/export?format=csv"); string(r.Want(200).Body) != csvHead+"\n" {
		t.Errorf("an empty board: %q", r.Body)
	}
}

// TestMemberData: all that is stored of a member in one object, empty for an unknown one; wide numbers as strings when
// they are wanted so.
func TestMemberData(t *testing.T) {
	e := newEnv(t)
	const unknown = `{"member":"nobody","profile":null,"friends":[],"friend_of":[],"hidden":[],"bars":[],"plays":[],"held":[],"entries":[],"submissions":[],"audit":[]}` + "\n"
	if got := e.Get(apitest.AdminKey, "/v1/members/nobody/data").Want(200); string(got.Body) != unknown || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("of an unknown member: %s", got.Body)
	}
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("cup", leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{}}, apitest.Classic()...)
	e.fake.profile = `{"member":"5","display_name":"Five","avatar_url":"","attributes":{"score":7},"updated_time":"2023-11-14T22:13:20.000000Z"}`
	e.befriend("5", "1", "2")
	e.befriend("1", "5")
	e.Put(apitest.AdminKey, "/v1/boards/cup/members/5/hidden", `{"reason":"aimbot"}`).Want(200)
	e.fake.told = []leaderboard.MemberRecord{{List: "submissions", Record: jsontext.Value(`{"board":"demo","time":"2023-11-14T22:13:20.000000Z","status":"applied","score":100,"tiebreak":null,"previous_score":null,"new_score":null,"seq":0,"actor":"k","request_id":""}`)}}
	for query, quote := range map[string]string{"": "", "?numbers=string": `"`} {
		got := e.Get(apitest.AdminKey, "/v1/members/5/data"+query).Want(200)
		for _, want := range []string{
			`{"member":"5","profile":{"member":"5","display_name":"Five","avatar_url":"","attributes":{"score":7},`, `,"friends":["1","2"],"friend_of":["1"],"hidden":[{"member":"5","board":"cup","reason":"aimbot",`,
			`],"entries":[{"board":"demo","window":"all_time","period":"all_time","closed":false,"hidden":false,"score":` + quote + `100` + quote + `,"tiebreak":` + quote + `0` + quote + `,"created_time":"2018-08-16T14:18:53.000000Z"},{"board":"cup",`,
			`"hidden":true,`, `],"submissions":[{"board":"demo","time":"2023-11-14T22:13:20.000000Z","status":"applied","score":` + quote + `100`, `],"audit":[`,
		} {
			if !strings.Contains(string(got.Body), want) {
				t.Errorf("%s: %s\nwants %s", query, got.Body, want)
			}
		}
	}
	if head := e.Do(apitest.Ask{Method: "HEAD", Path: "/v1/members/5/data", Key: apitest.AdminKey}).Want(200); len(head.Body) > 0 {
		t.Errorf("HEAD: %q", head.Body)
	}
	e.Get(apitest.WriteKey, "/v1/members/5/data").WantProblem(403, "forbidden")
	e.Get(apitest.AdminKey, "/v1/members/a%00b/data").WantProblem(400, "malformed-request")
	e.fake.Fails = map[string]error{"MemberData": leaderboard.ErrUnavailable}
	e.Get(apitest.AdminKey, "/v1/members/5/data").WantProblem(503, "unavailable")
}

// TestExportQuotesFormulas: an id that a spreadsheet takes for a formula stands behind a quote in CSV, unless raw ids are asked
// for; JSON lines have no formulas (finding F28).
func TestExportQuotesFormulas(t *testing.T) {
	e := newEnv(t)
	ids := []string{`=HYPERLINK("http://x")`, "+1", "-2+3", "@a", "'=1", "＝1", "a=1", "'a"}
	var entries []leaderboard.Submission
	for i, id := range ids {
		entries = append(entries, leaderboard.Submission{Member: id, Score: int64(-i)})
	}
	e.Board("demo", leaderboard.Rules{}, entries...)
	for query, want := range map[string][]string{
		"?format=csv":             {`'=HYPERLINK("http://x")`, "'+1", "'-2+3", "'@a", "''=1", "'＝1", "a=1", "'a"},
		"?format=csv&raw=true":    ids,
		"?format=jsonl":           ids,
		"?format=jsonl&raw=false": ids,
	} {
		body := e.Get(apitest.AdminKey, "/v1/boards/demo/export"+query).Want(200).Body
		var got []string
		if strings.Contains(query, "csv") {
			records, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records[1:] {
				got = append(got, r[2])
			}
		} else {
			for line := range strings.Lines(string(body)) {
				var e struct{ Member string }
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				got = append(got, e.Member)
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s exports %q, want %q", query, got, want)
		}
	}
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?raw=1").WantProblem(400, wire.CodeMalformed)
}

// TestExportFields: fields of the tiebreak are shown unpacked, as their own columns.
func TestExportFields(t *testing.T) {
	e := newEnv(t)
	rules := leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 20}, {Name: "deaths", Bits: 4, Order: leaderboard.OrderAsc}}}}
	e.Board("game", rules,
		leaderboard.Submission{Member: "a", Score: 5, Fields: map[string]int64{"level": 7, "deaths": 15}},
		leaderboard.Submission{Member: "b", Score: 5, Fields: map[string]int64{"level": 7, "deaths": 0}})
	want := csvHead + ",fields.level,fields.deaths\n" +
		"1,1,b,5,127,2023-11-14T22:13:20.000001Z,7,0\n2,2,a,5,112,2023-11-14T22:13:20.000000Z,7,15\n"
	if got := string(e.Get(apitest.AdminKey, "/v1/boards/game/export").Want(200).Body); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = `{"strict_rank":1,"tied_rank":1,"member":"b","score":5,"tiebreak":127,"fields":{"level":7,"deaths":0},"created_time":"2023-11-14T22:13:20.000001Z"}`
	if got, _, _ := strings.Cut(string(e.Get(apitest.AdminKey, "/v1/boards/game/export?format=jsonl").Want(200).Body), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestExportOddMembers: the lines have the stored ids, whatever the bytes of a member id are.
func TestExportOddMembers(t *testing.T) {
	e := newEnv(t)
	odd := []string{
		"a,b", `say "hi"`, " ends ", "\ufeffbom", "日本", "\u200d", `\`, "'", "=1+1", "…", "{", "\u0301e",
	}
	var subs []leaderboard.Submission
	for i, m := range odd {
		subs = append(subs, leaderboard.Submission{Member: m, Score: int64(-i)})
	}
	e.Board("odd", leaderboard.Rules{}, subs...)
	body := string(e.Get(apitest.AdminKey, "/v1/boards/odd/export?raw=true").Want(200).Body)
	// The reader of package csv drops a carriage return ahead of a line feed, also in quotes.
	records, err := csv.NewReader(strings.NewReader(strings.ReplaceAll(body, "\r\n", "\r\r\n"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(e.Get(apitest.AdminKey, "/v1/boards/odd/export?format=jsonl").Want(200).Body), "\n"), "\n")
	if len(records) != len(odd)+1 || len(lines) != len(odd) {
		t.Fatalf("%d records, %d lines", len(records), len(lines))
	}
	for i, m := range odd {
		var got struct {
			Strict int64 `json:"strict_rank"`
			Tied   int64 `json:"tied_rank"`
			apitest.Row
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if records[i+1][2] != m || got.Member != m || got.Strict != int64(i+1) || got.Tied != int64(i+1) || got.Score != int64(-i) || got.CreatedTime == 0 {
			t.Errorf("want %q, got %q and %+v", m, records[i+1], got)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Get(apitest.NoKey, "/v1/boards/demo/export").WantProblem(401, wire.CodeUnauthorized)
	e.Get(apitest.WriteKey, "/v1/boards/demo/export").WantProblem(403, wire.CodeForbidden)
	e.Get(apitest.AdminKey, "/v1/boards/nowhere/export").WantProblem(404, "board-not-found")
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?window=day").WantProblem(404, "period-not-found")
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?format=xml").WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?mode=tied").WantProblem(400, wire.CodeMalformed)
	e.fake.Fails["Export"] = leaderboard.ErrUnavailable
	e.Get(apitest.AdminKey, "/v1/boards/demo/export").WantProblem(503, "unavailable")
}

// TestExportOfASeason: a closed period can be exported as it stayed.
func TestExportOfASeason(t *testing.T) {
	e := newEnv(t)
	const day = 24 * 3600 * 1_000_000
	start := leaderboard.Micros(1_700_000_000_000_000)
	e.Board("cup", leaderboard.Rules{
		Windows: []leaderboard.Window{leaderboard.WindowSeason},
		Seasons: []leaderboard.SeasonRule{{Name: "one", StartsAt: start - day, EndsAt: start + day}, {Name: "two", StartsAt: start + day, EndsAt: start + 2*day}},
	}, leaderboard.Submission{Member: "a", Score: 1})
	e.fake.SetNow(start + day)
	e.Post(apitest.WriteKey, "/v1/boards/cup/scores", `{"entries":[{"member":"b","score":2}]}`).Want(200)
	for period, member := range map[string]string{"one": "a", "previous": "a", "current": "b", "two": "b"} {
		r := e.Get(apitest.AdminKey, "/v1/boards/cup/export?format=jsonl&period="+period).Want(200)
		if !strings.Contains(string(r.Body), `"member":"`+member+`"`) || strings.Count(string(r.Body), "\n") != 1 {
			t.Errorf("%s: %s", period, r.Body)
		}
	}
}

// TestExportBreaksOff: an export that fails in the middle does not come to its end: the client hears of it.
func TestExportBreaksOff(t *testing.T) {
	var status atomic.Int64
	e := newEnv(t, func(c *Config) {
		c.Observer = observed{request: func(a RequestInfo) { status.Store(int64(a.Status)) }}
	})
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.Fails["Export part"] = fmt.Errorf("secret: %w", leaderboard.ErrUnavailable)
	srv := newServer(t, e)
	for _, format := range []string{formatCSV, formatJSONL} {
		r := apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export?format=" + format, Key: apitest.AdminKey}.Request()
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", srv.addr
		res, err := srv.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if res.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
			t.Errorf("%s: status %d, %q, %v", format, res.StatusCode, body, err)
		}
		_ = res.Body.Close()
	}
	// Called directly, the handler shows the status for which the request was counted.
	func() {
		defer func() {
			if p, _ := recover().(error); !errors.Is(p, http.ErrAbortHandler) {
				t.Errorf("recovered %v", p)
			}
		}()
		e.api.ServeHTTP(httptest.NewRecorder(), apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}.Request())
	}()
	if status.Load() != 503 {
		t.Errorf("counted as %d", status.Load())
	}
}

// TestExportsAreBounded: exports are bounded, and end when their client goes.
func TestExportsAreBounded(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.exportGate = make(chan struct{})
	srv := newServer(t, e)
	begin := func() *http.Response {
		t.Helper()
		r := apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}.Request()
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", srv.addr
		res, err := srv.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	first, second := begin(), begin()
	if line, err := bufio.NewReader(first.Body).ReadString('\n'); err != nil || line != csvHead+"\n" {
		t.Fatalf("%q, %v", line, err) // it is under way, and its first part has been sent
	}
	e.Get(apitest.AdminKey, "/v1/boards/demo/export").WantProblem(503, wire.CodeOverloaded)
	_ = second.Body.Close() // the client goes
	eventually(t, "the export has ended", func() bool { return e.api.handlers.exports.permits.InUse() == 1 })
	close(e.fake.exportGate)
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Error(err)
	}
	eventually(t, "the other one has ended", func() bool { return e.api.handlers.exports.permits.InUse() == 0 })
}

// TestExportEndsWithItsKey: an export is broken off when its key is no longer good enough, and no attempt is counted.
func TestExportEndsWithItsKey(t *testing.T) {
	t.Parallel()
	lesser := leaderboard.ScopeWrite
	for name, change := range map[string]leaderboard.KeyChange{"scope": {Scope: &lesser}, "boards": {Boards: &[]string{"other"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &charges{}
			e := newEnv(t, withCharges(q, "127.0.0.0/8"))
			var entries []leaderboard.Submission
			for i := range leaderboard.MaxLimit {
				entries = append(entries, leaderboard.Submission{Member: fmt.Sprint(i), Score: int64(i)})
			}
			e.Board("demo", leaderboard.Rules{}, entries...)
			e.fake.exportGate = make(chan struct{})
			key := e.Key(leaderboard.ScopeAdmin, nil)
			srv := newServer(t, e)
			r := apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: key, Header: http.Header{"X-Forwarded-For": {"198.51.100.7"}}}.Request()
			r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", srv.addr
			res, err := srv.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			id, _ := leaderboard.KeyIDIn(key)
			if _, err := e.fake.Keyring.Change(id, func(k *leaderboard.HashedKey) (err error) { k.Key, err = k.With(change); return err }); err != nil {
				t.Fatal(err)
			}
			read := make(chan error, 1)
			go func() {
				_, err := io.ReadAll(res.Body)
				read <- err
			}()
			pace := time.NewTicker(10 * time.Millisecond) // three entries each: the key is looked at several times
			defer pace.Stop()
			for {
				select {
				case <-pace.C:
					select {
					case e.fake.exportGate <- struct{}{}:
					default:
					}
				case err := <-read:
					if !errors.Is(err, io.ErrUnexpectedEOF) || q.attempts > 0 {
						t.Errorf("%v, %d attempts", err, q.attempts)
					}
					return
				}
			}
		})
	}
}

// TestExportStalls: a client that takes nothing holds no snapshot for long.
func TestExportStalls(t *testing.T) {
	ended := make(chan error, 1)
	e := newEnv(t, func(c *Config) {
		c.Limits.ExportStall = 500 * time.Millisecond // a slow machine has to send the first part in it
		c.Writer.(*fake).exportAll = func(ctx context.Context, _ leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error {
			err := begin(leaderboard.State{})
			for part := make([]leaderboard.Entry, 1000); err == nil; {
				err = entries(part) // without end: more than the sockets keep
			}
			ended <- err
			return err
		}
	})
	e.Board("demo", leaderboard.Rules{})
	srv := newServer(t, e)
	r := apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}.Request()
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", srv.addr
	res, err := srv.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, errClientGone) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the export goes on")
	}
}

// TestExportsAreQuick: a client that takes an export, but slowly, holds no snapshot for long either.
func TestExportsAreQuick(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause time.Duration // of the client for 1,000 entries
		whole bool
	}{"slow": {pause: 2 * time.Second}, "slow enough": {pause: 900 * time.Millisecond, whole: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const stall = 30 * time.Second
				w := exportWriter{
					download: download{stall: stall, call: &Call{response: response{shared: &shared{}, W: httptest.NewRecorder(), R: httptest.NewRequest(http.MethodGet, "/", nil)}, Route: &Route{Pattern: Pattern{Operation: api.Operation{Access: api.AccessAnyone}}}}},
					ref:      &leaderboard.PeriodRef{}, format: formatCSV, row: exportRow{tiebreak: &leaderboard.Tiebreak{}},
				}
				start, err := time.Now(), w.begin(leaderboard.State{})
				for part := make([]leaderboard.Entry, 1000); err == nil && time.Since(start) < 10*time.Minute; {
					time.Sleep(c.pause)
					err = w.entries(part, nil)
				}
				if took := time.Since(start); c.whole != (err == nil) || !c.whole && (took > 3*stall || !errors.Is(err, errClientGone)) {
					t.Errorf("%v after %s", err, took)
				}
			})
		})
	}
}

// eventually polls until cond is true.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline, tick := time.NewTimer(30*time.Second), time.NewTicker(time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// slowData has friends in both directions, with a pause or a failure between.
type slowData struct {
	pause time.Duration
	err   error
}

func (slowData) DataLists() []leaderboard.DataList { return (*storetest.Model)(nil).DataLists() }

func (s slowData) MemberData(_ context.Context, _ string, tell func(leaderboard.MemberRecord) error) error {
	const friends = 1100 // more than one part
	for i := range friends {
		if err := tell(leaderboard.MemberRecord{List: "friends", Record: fmt.Sprintf("f%063d", i)}); err != nil {
			return err
		}
	}
	if time.Sleep(s.pause); s.err != nil {
		return s.err
	}
	for i := range friends {
		if err := tell(leaderboard.MemberRecord{List: "friend_of", Record: fmt.Sprintf("f%063d", i)}); err != nil {
			return err
		}
	}
	return nil
}

// TestMemberDataInParts: the time of the database between two parts is not the client's time, and a failure after the first part
// breaks the answer off.
func TestMemberDataInParts(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]slowData{"slow": {pause: 2500 * time.Millisecond}, "failing": {err: leaderboard.ErrUnavailable}} {
		e := newEnv(t, func(c *Config) {
			c.Limits.ExportStall = 500 * time.Millisecond
			c.MemberData = data
		})
		srv := newServer(t, e)
		r := apitest.Ask{Method: "GET", Path: "/v1/members/x/data", Key: apitest.AdminKey}.Request()
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", srv.addr
		res, err := srv.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if closed := res.Body.Close(); closed != nil {
			t.Error(closed)
		}
		if whole := json.Valid(body) && err == nil; whole != (data.err == nil) {
			t.Errorf("%s: %d bytes, %v", name, len(body), err)
		}
	}
}
