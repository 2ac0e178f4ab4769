package app

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestDeepQuestionsAtOnce: 512 clients ask at once for ranks that only MySQL knows. Each gets the answer to its own
// question, on a busy machine when it asks again.
func TestDeepQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	const members, clients = 3000, 512
	a := startReady(t, testenv.MySQL(t), "", func(c *Config) { c.ResidentMemory = 0 })
	a.Ask(201, "PUT", "/v1/boards/deep", `{}`)
	for from := 0; from < members; from += 1000 {
		body := `{"entries":[`
		for n := from; n < from+1000; n++ {
			if n > from {
				body += ","
			}
			body += fmt.Sprintf(`{"member":"m%d","score":%d}`, n, -n)
		}
		a.Ask(200, "POST", "/v1/boards/deep/scores", body+"]}")
	}
	var asking sync.WaitGroup
	for i := range clients {
		asking.Go(func() {
			at := 20 + (i*977)%(members-40)
			path, first := fmt.Sprintf("/v1/boards/deep/top?limit=10&offset=%d", at), at
			if i%2 == 0 {
				path, first = fmt.Sprintf("/v1/boards/deep/members/m%d/around", at), at-5
			}
			status, body := a.Get(path)
			for deadline := time.Now().Add(apptest.MaxWait); status == 503 && time.Now().Before(deadline); { // on a busy machine not all are answered at once
				status, body = a.Get(path)
			}
			var got struct {
				Source  string
				Entries []struct {
					Rank   int
					Member string
				}
			}
			if err := json.Unmarshal(body, &got); err != nil || status != 200 || len(got.Entries) < 10 || got.Source != "mysql" ||
				got.Entries[0].Rank != first+1 || got.Entries[0].Member != fmt.Sprint("m", first) {
				t.Errorf("%s: %d, %v, %s", path, status, err, body)
			}
		})
	}
	asking.Wait()
}
