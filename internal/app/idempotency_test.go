package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/store"
)

// sent is the answer to a submission with an idempotency key, without the mark of a repeated answer.
type sent struct {
	status   int
	body     string
	replayed bool
}

func send(t *testing.T, a *testApp, key, body string) sent {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL+"/v1/boards/sums/scores", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + apptest.AdminKey}, "Content-Type": {"application/json"}, "Idempotency-Key": {key},
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return sent{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	body, replayed := strings.CutSuffix(string(text), `,"replayed":true}`+"\n")
	if replayed {
		body += "}\n"
	}
	if header := resp.Header.Get("Idempotency-Replayed"); (header == "true") != replayed {
		t.Errorf("Idempotency-Replayed %q with the body %s", header, text)
	}
	return sent{resp.StatusCode, body, replayed}
}

// TestOneKeyAtOnce: a request with one idempotency key, sent many times at once through two servers, counts once, and all get the
// same bytes, all but the first with "replayed". Another body with the key is 422 at both. After the key has expired and was
// swept, the request counts again (promise A3).
func TestOneKeyAtOnce(t *testing.T) {
	t.Parallel()
	dsn, redis := testenv.MySQL(t), testenv.Redis(t)
	servers := []*testApp{startReady(t, dsn, redis), startReady(t, dsn, redis)}
	servers[0].Ask(201, "PUT", "/v1/boards/sums", `{"policy":"sum"}`)
	const rounds, each = 5, 32
	body := `{"entries":[{"member":"m","score":5},{"member":"n","score":7}]}`
	for round := range rounds {
		key := fmt.Sprint("key-", round)
		answers := make([]sent, each)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = send(t, servers[i%2], key, body) })
		}
		all.Wait()
		first := 0
		for i, a := range answers {
			if !a.replayed {
				first++
			}
			if a.status != http.StatusOK || a.body != answers[0].body {
				t.Errorf("round %d: answer %d is %+v, the first %+v", round, i, a, answers[0])
			}
		}
		if first != 1 {
			t.Errorf("round %d: %d of the answers say that they are the first", round, first)
		}
		for _, a := range servers {
			if other := send(t, a, key, `{"entries":[{"member":"m","score":6}]}`); other.status != http.StatusUnprocessableEntity {
				t.Errorf("round %d: another body is answered %+v", round, other)
			}
		}
	}
	if got := servers[1].Ask(200, "GET", "/v1/boards/sums/members/m?min_seq=10", "").Text("score"); got != fmt.Sprint(5*rounds) {
		t.Errorf("the sum is %s after %d requests of 5", got, rounds)
	}

	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE idempotency_keys SET created_at = created_at - INTERVAL 25 HOUR WHERE idempotency_key LIKE '% key-0'"); err != nil {
		t.Fatal(err)
	}
	if err := servers[0].store.Housekeeping.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := send(t, servers[1], "key-0", `{"entries":[{"member":"m","score":6}]}`); again.status != http.StatusOK {
		t.Errorf("a key that has expired is answered %+v", again)
	}
	again, first := send(t, servers[0], "key-1", body), send(t, servers[1], "key-1", body)
	if again.status != http.StatusOK || again != first {
		t.Errorf("a key that has not expired is answered %+v and %+v", again, first)
	}
	if got := servers[0].Ask(200, "GET", "/v1/boards/sums/members/m?min_seq=11", "").Text("score"); got != fmt.Sprint(5*rounds+6) {
		t.Errorf("the sum is %s in the end", got)
	}
}
