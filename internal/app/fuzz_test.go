package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/features/featuretest"
	"leaderboard/features/quotas"
	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// fuzzed is an app on a real MySQL and a real Redis, with a board whose entries must not change.
type fuzzed struct {
	url   string
	redis *redis.Client
}

// startFuzzed starts an app with a board that no request is about.
func startFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	cfg := Defaults()
	cfg.MySQLDSN, cfg.RedisURL, cfg.Listen, cfg.Migrate = testenv.MySQL(f), testenv.Redis(f), "127.0.0.1:0", true
	cfg.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: apptest.AdminKey}}
	featuretest.SettingsOf[quotas.Settings](cfg.Features).Keys = quotas.Rates{} // nothing here is about them, and fuzzing asks for more than anybody
	a, err := New(f.Context(), cfg, NewLogger(io.Discard, &cfg))
	if err == nil {
		err = a.Start(f.Context())
	}
	if err != nil {
		f.Fatal(err)
	}
	opts, err := redis.ParseURL(cfg.RedisURL)
	if err != nil {
		f.Fatal(err)
	}
	z := &fuzzed{"http://" + a.Addr(), redis.NewClient(opts)}
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), apptest.MaxWait)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			f.Error(err)
		}
		_ = z.redis.Close()
	})
	deadline := time.Now().Add(apptest.MaxWait)
	for z.send(f, "GET", "/readyz", "").status != http.StatusOK {
		if time.Now().After(deadline) {
			f.Fatal("the app does not get ready")
		}
		<-time.After(10 * time.Millisecond)
	}
	z.send(f, "PUT", "/v1/boards/canary", `{}`).want(f, http.StatusCreated)
	z.send(f, "POST", "/v1/boards/canary/scores", `{"entries":[{"member":"canary","score":1}]}`).want(f, http.StatusOK)
	return z
}

// response is an answer of the app.
type response struct {
	asked  string
	status int
	body   []byte
}

func (r response) want(t testing.TB, statuses ...int) {
	t.Helper()
	for _, s := range statuses {
		if r.status == s {
			return
		}
	}
	t.Fatalf("%s: %d %s, want one of %v", r.asked, r.status, r.body, statuses)
}

// send sends a request with the given bytes. A failure of the server is a failure of the test.
func (z *fuzzed) send(t testing.TB, method, path, body string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, z.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s %q: %s", method, path, err)
	}
	req.Header.Set("Authorization", "Bearer "+apptest.AdminKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %q: %s", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := response{fmt.Sprintf("%s %q %q", method, path, body), resp.StatusCode, answer}
	if r.status == http.StatusInternalServerError {
		t.Fatalf("%s: %s", r.asked, r.body)
	}
	return r
}

// redisKey matches the keys that this program may write: the id of a period as the hash tag, its incarnation and a kind,
// or the name of a board.
var redisKey = regexp.MustCompile(`^lb:(\{\d+\}:[0-9a-f]+:[a-z]+(:[A-Z0-9]+:[a-z]+)?|board:[a-z0-9][a-z0-9._-]*)$`)

// FuzzServing: names, ids and texts of any bytes arrive through HTTP in MySQL unchanged, or are refused. No key in Redis has
// another form because of them, and another board is unchanged (promise G4).
func FuzzServing(f *testing.F) {
	f.Add("b", "m", "text", int64(5))
	f.Add("board-1", "O'Brien\\", `'; DROP TABLE entries; -- `, int64(-1)<<63)
	f.Add("a.b_c", "{1}:top", "\x00\n{}:*?[]", int64(1)<<53+1)
	f.Add("canary", "canary\x00", "%", int64(0))
	f.Add("ü", "é😀", "\"\\\xff", int64(7))
	f.Add("..", ".", "../../x", int64(7))
	z := startFuzzed(f)
	f.Fuzz(func(t *testing.T, board, member, text string, score int64) {
		if board != "canary" {
			z.board(t, board, member, score)
		}
		path := "/v1/boards/" + url.PathEscape(board)
		query := url.Values{"cursor": {text}, "limit": {"3"}}.Encode()
		z.send(t, "GET", path+"/top?"+query, "").want(t, 200, 400, 404, 422)
		z.send(t, "GET", path+"/top?"+url.QueryEscape(text)+"="+url.QueryEscape(member), "").want(t, 200, 400, 404, 409, 422)
		z.send(t, "GET", "/v1/rankings/top?boards="+url.QueryEscape(board+","+text), "").want(t, 200, 400, 404, 422)
		z.send(t, "GET", path+"/members/"+url.PathEscape(text)+"/around", "").want(t, 200, 400, 404)
		if got := z.send(t, "GET", "/v1/boards/canary/top", ""); !bytes.Contains(got.body, []byte(`"total":1,`)) || !bytes.Contains(got.body, []byte(`"rank":1,"member":"canary","score":1,`)) {
			t.Fatalf("the canary is %s", got.body)
		}
		z.checkKeys(t)
	})
}

// board makes a board, submits, and reads the submission back.
func (z *fuzzed) board(t *testing.T, board, member string, score int64) {
	t.Helper()
	path := "/v1/boards/" + url.PathEscape(board)
	made := z.send(t, "PUT", path, `{"policy":"latest"}`)
	if leaderboard.CheckBoardName(board) != nil {
		made.want(t, 400, 404, 405, 422)
		return
	}
	made.want(t, 200, 201)
	quoted, err := json.Marshal(member)
	if err != nil {
		t.Fatal(err)
	}
	var asSent string // invalid UTF-8 does not survive json.Marshal
	if err := json.Unmarshal(quoted, &asSent); err != nil {
		t.Fatal(err)
	}
	submitted := z.send(t, "POST", path+"/scores", fmt.Sprintf(`{"entries":[{"member":%s,"score":%d}]}`, quoted, score))
	submitted.want(t, 200)
	var receipt struct {
		Seq     int64
		Results []struct{ Status string }
	}
	if err := json.Unmarshal(submitted.body, &receipt); err != nil || len(receipt.Results) != 1 {
		t.Fatalf("%s: %s", submitted.asked, submitted.body)
	}
	if leaderboard.CheckMember(asSent) != nil {
		if receipt.Results[0].Status != "rejected" {
			t.Fatalf("%s: %s", submitted.asked, submitted.body)
		}
		return
	}
	read := z.send(t, "GET", fmt.Sprintf("%s/members/%s?min_seq=%d", path, url.PathEscape(asSent), receipt.Seq), "")
	read.want(t, 200)
	var found struct {
		Member string
		Score  int64
	}
	if err := json.Unmarshal(read.body, &found); err != nil || found.Member != asSent || found.Score != score {
		t.Fatalf("%s: %s, want member %q with %d", read.asked, read.body, asSent, score)
	}
}

// checkKeys looks at some keys in Redis.
func (z *fuzzed) checkKeys(t *testing.T) {
	t.Helper()
	keys, _, err := z.redis.Scan(t.Context(), 0, "*", 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if !redisKey.MatchString(key) {
			t.Fatalf("there is a key %q", key)
		}
	}
}
