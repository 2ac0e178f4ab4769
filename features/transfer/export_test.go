package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
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
	e.Board("empty", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}})
	for _, query := range []string{"?format=csv", "?period=previous"} { // the previous period has no row
		if r := e.Get(apitest.AdminKey, "/v1/boards/empty/export"+query).Want(200); string(r.Body) != csvHead+"\n" || r.Header.Get("Leaderboard-Total") != "0" {
			t.Errorf("an empty board%s: %q", query, r.Body)
		}
	}
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
	if got := e.lines("game/export?format=jsonl")[0]; got != want+"\n" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(e.lines("game/export?format=jsonl&numbers=string"), ""); strings.Count(got, `"score":"5"`) != 2 || strings.Count(got, `"level":"7"`) != 2 {
		t.Errorf("with numbers as text: %s", got)
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

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, newEnv(t).handlers.routes(), func(t testing.TB) *apitest.Env {
		e := newEnv(t)
		e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
		return e.Env
	}, nil)
}

func TestExportRefuses(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Get(apitest.NoKey, "/v1/boards/demo/export").WantProblem(401, wire.CodeUnauthorized)
	e.Get(apitest.WriteKey, "/v1/boards/demo/export").WantProblem(403, wire.CodeForbidden)
	e.Get(apitest.AdminKey, "/v1/boards/nowhere/export").WantProblem(404, "board-not-found")
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?window=day").WantProblem(404, "period-not-found")
	e.Get(apitest.AdminKey, "/v1/boards/demo/export?window=foo").WantProblem(400, wire.CodeMalformed)
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
	var answered statuses
	e := newEnv(t, func(c *httpapi.Config) { c.Observer = &answered })
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.Fails["Export part"] = fmt.Errorf("secret: %w", leaderboard.ErrUnavailable)
	open := e.opener(nil)
	for _, format := range []string{formatCSV, formatJSONL} {
		res := open(apitest.AdminKey, "/v1/boards/demo/export?format="+format)
		body, err := io.ReadAll(res.Body)
		if res.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || len(body) == 0 {
			t.Errorf("%s: status %d, %q, %v", format, res.StatusCode, body, err)
		}
	}
	// Called directly, the handler shows the status for which the request was counted.
	func() {
		defer func() {
			if p, _ := recover().(error); !errors.Is(p, http.ErrAbortHandler) {
				t.Errorf("recovered %v", p)
			}
		}()
		e.Get(apitest.AdminKey, "/v1/boards/demo/export")
	}()
	if n := answered.last.Load(); n != 503 {
		t.Errorf("counted as %d", n)
	}
}

// TestExportsAreBounded: exports are bounded, and end when their client goes.
func TestExportsAreBounded(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.gate = make(chan struct{})
	open := e.opener(nil)
	first, second := open(apitest.AdminKey, "/v1/boards/demo/export"), open(apitest.AdminKey, "/v1/boards/demo/export")
	if line, err := bufio.NewReader(first.Body).ReadString('\n'); err != nil || line != csvHead+"\n" {
		t.Fatalf("%q, %v", line, err) // it is under way, and its first part has been sent
	}
	for _, path := range []string{"/v1/boards/demo/export", "/v1/members/5/data"} {
		e.Get(apitest.AdminKey, path).WantProblem(503, wire.CodeOverloaded)
	}
	_ = second.Body.Close() // the client goes
	eventually(t, "the export has ended", func() bool { return e.handlers.permits.InUse() == 1 })
	close(e.fake.gate)
	if _, err := io.ReadAll(first.Body); err != nil {
		t.Error(err)
	}
	eventually(t, "the other one has ended", func() bool { return e.handlers.permits.InUse() == 0 })
}

// attempts are quotas without bounds, which count attempts with bad keys.
type attempts struct {
	httpapi.Quotas
	n atomic.Int64
}

// Charge implements httpapi.Quotas.
func (*attempts) Charge(httpapi.Bearer, netip.Addr, leaderboard.Charge) (out leaderboard.Allowance) {
	return out
}

// Attempt implements httpapi.Quotas.
func (a *attempts) Attempt(netip.Addr) (out leaderboard.Allowance) {
	a.n.Add(1)
	return out
}

// TestExportEndsWithItsKey: an export is broken off when its key is no longer good enough, and no attempt is counted.
func TestExportEndsWithItsKey(t *testing.T) {
	t.Parallel()
	lesser := leaderboard.ScopeWrite
	for name, change := range map[string]leaderboard.KeyChange{"scope": {Scope: &lesser}, "boards": {Boards: &[]string{"other"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := &attempts{}
			e := newEnv(t, func(c *httpapi.Config) {
				c.Quotas, c.Proxies = q, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			})
			e.Board("demo", leaderboard.Rules{}, many(leaderboard.MaxLimit)...)
			e.fake.gate = make(chan struct{})
			key := e.Key(leaderboard.ScopeAdmin, nil)
			res := e.opener(http.Header{"X-Forwarded-For": {"198.51.100.7"}})(key, "/v1/boards/demo/export")
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
					case e.fake.gate <- struct{}{}:
					default:
					}
				case err := <-read:
					if n := q.n.Load(); !errors.Is(err, io.ErrUnexpectedEOF) || n > 0 {
						t.Errorf("%v, %d attempts", err, n)
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
	e := newEnv(t)
	e.handlers.stall = 500 * time.Millisecond // a slow machine has to send the first part in it
	e.fake.exportAll = func(_ context.Context, _ leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error {
		err := begin(leaderboard.State{})
		for part := make([]leaderboard.Entry, 1000); err == nil; {
			err = entries(part) // without end: more than the sockets keep
		}
		ended <- err
		return err
	}
	e.Board("demo", leaderboard.Rules{})
	e.opener(nil)(apitest.AdminKey, "/v1/boards/demo/export")
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
				e := newEnv(t)
				e.Board("demo", leaderboard.Rules{})
				var start time.Time
				e.fake.exportAll = func(_ context.Context, _ leaderboard.PeriodRef, begin func(leaderboard.State) error, entries func([]leaderboard.Entry) error) error {
					start = time.Now()
					err := begin(leaderboard.State{})
					for part := make([]leaderboard.Entry, 1000); err == nil && time.Since(start) < 10*time.Minute; {
						time.Sleep(c.pause)
						err = entries(part)
					}
					if !c.whole && !errors.Is(err, errClientGone) {
						t.Error(err)
					}
					return err
				}
				defer func() {
					whole := recover() == nil
					if took := time.Since(start); whole != c.whole || !whole && took > 3*e.handlers.stall {
						t.Errorf("whole: %t, after %s", whole, took)
					}
				}()
				e.Handler.ServeHTTP(httptest.NewRecorder(), apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}.Request())
			})
		})
	}
}

// TestExportHasMetadata: an export has the data kept with entries if it is asked for, and the data of a member has it.
func TestExportHasMetadata(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}}, apitest.Classic()...)
	const body = `{"replay":"/r/1","score":12345678901234567890,"x":[null,"1"]}`
	e.Post(apitest.WriteKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":200,"metadata":`+body+`}]}`).Want(200)
	csv := e.lines("classic/export?metadata=true")
	if csv[0] != csvHead+",metadata\n" || !strings.HasSuffix(csv[1], `Z,"`+strings.ReplaceAll(body, `"`, `""`)+"\"\n") || !strings.HasSuffix(csv[2], "Z,\n") {
		t.Errorf("CSV is %q", csv)
	}
	jsonl := e.lines("classic/export?format=jsonl&metadata=true")
	if !strings.HasSuffix(jsonl[0], `,"metadata":`+body+"}\n") || strings.Contains(jsonl[1], "metadata") {
		t.Errorf("JSON lines are %q", jsonl)
	}
	if text := strings.Join(append(e.lines("classic/export"), e.lines("classic/export?format=jsonl")...), ""); strings.Contains(text, "replay") || strings.Contains(text, "metadata") {
		t.Errorf("without it: %s", text)
	}
	if data := string(e.Get(apitest.AdminKey, "/v1/members/4/data").Want(200).Body); strings.Count(data, `"metadata":`+body) != 1 || strings.Count(data, "metadata") != 1 {
		t.Errorf("data of a member: %s", data)
	}
}

// many returns n submissions.
func many(n int) (out []leaderboard.Submission) {
	for i := range n {
		out = append(out, leaderboard.Submission{Member: fmt.Sprintf("member-%03d", i), Score: int64(i / 2)})
	}
	return out
}

// TestCompressedExport: a compressed export has the content of the plain one. (Exports that are broken off are compressed, too:
// the client of package http asks for it.)
func TestCompressedExport(t *testing.T) {
	e := newEnv(t)
	e.Board("many", leaderboard.Rules{}, many(300)...)
	for _, path := range []string{"export", "export?format=jsonl"} {
		path = "/v1/boards/many/" + path
		plain := e.Get(apitest.AdminKey, path).Want(200)
		zipped := e.Do(apitest.Ask{Method: "GET", Path: path, Key: apitest.AdminKey, Header: http.Header{"Accept-Encoding": {"gzip"}}}).Want(200)
		if !bytes.Equal(plain.Body, zipped.Body) || len(zipped.Zipped) == 0 || len(zipped.Zipped) > len(plain.Body)/2 {
			t.Errorf("%s: %d bytes, compressed %d, of %d", path, len(plain.Body), len(zipped.Zipped), len(zipped.Body))
		}
		if plain.Header.Get("Vary") != "Accept-Encoding" || zipped.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: Vary is %q", path, zipped.Header.Get("Vary"))
		}
	}
}
