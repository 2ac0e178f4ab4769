package httpapi

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestManualExamples runs each line for a shell of /docs, as a reader would after filling in the server and a key.
func TestManualExamples(t *testing.T) {
	page := string(newEnv(t).Get(apitest.NoKey, "/docs").Body)
	examples := regexp.MustCompile(`(?s)<article class="op" id="(\w+)">.*?<pre class="curl">(.*?)</pre>`).FindAllStringSubmatch(page, -1)
	if n := len((&handlers{}).routes(true)); len(examples) != n {
		t.Fatalf("found %d examples of %d operations", len(examples), n)
	}
	for _, m := range examples {
		operation, line := m[1], html.UnescapeString(regexp.MustCompile(`<[^>]+>`).ReplaceAllString(m[2], ""))
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			e := exampleServer(t)
			if before := beforeExample[operation]; before != nil {
				line = before(e, line)
			}
			if got := e.Do(curlOf(t, line)); got.Status >= 400 {
				t.Errorf("%s\n%d %s", line, got.Status, got.Body)
			}
		})
	}
}

// exampleServer has what the examples are about.
func exampleServer(t *testing.T) *env {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("sound", leaderboard.Rules{})
	e.Put(apitest.WriteKey, "/v1/members/1", `{"display_name":"Ada"}`).Want(201)
	e.Post(apitest.WriteKey, "/v1/members/1/friends", `{"members":["2"]}`).Want(200)
	return e
}

// beforeExample is what has to be there for the examples of some operations, and returns the example about that.
var beforeExample = map[string]func(e *env, line string) string{
	"getSources": func(e *env, line string) string {
		e.Board("week", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "demo"}}}})
		return strings.Replace(line, "demo", "week", 1)
	},
	"getRun": func(e *env, line string) string {
		run := e.Post(apitest.AdminKey, "/v1/boards/demo/rebuild", `{"kind":"full"}`).Want(202).Header.Get("Location")
		return strings.Replace(line, "/v1/runs/1", run, 1)
	},
	"finishSignIn": func(_ *env, line string) string {
		return line + " -H 'Cookie: leaderboard-sign-in=s.n.v'"
	},
	"getKey": aboutNewKey, "changeKey": aboutNewKey, "revokeKey": aboutNewKey, "rotateKey": aboutNewKey,
	"getIssuer": aboutNewIssuer, "deleteIssuer": aboutNewIssuer, "getBar": aboutNewBar, "unbarMember": aboutNewBar,
	"getEndpoint": aboutNewEndpoint, "deleteEndpoint": aboutNewEndpoint, "rotateEndpoint": aboutNewEndpoint, "testEndpoint": aboutNewEndpoint,
	"listDeliveries": aboutNewEndpoint, "replayEvents": aboutNewEndpoint,
	"getHeld": aboutNewHeld, "approveHeld": aboutNewHeld, "rejectHeld": aboutNewHeld,
	"beginPlay": func(e *env, line string) string {
		e.Board("plays", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
		e.fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true}
		return strings.NewReplacer("/demo/", "/plays/", "$KEY", token5).Replace(line)
	},
	"restoreMember": func(e *env, line string) string {
		e.Put(apitest.AdminKey, "/v1/boards/demo/members/1/hidden", `{"reason":"aimbot"}`).Want(200)
		return line
	},
	"restoreMemberEverywhere": func(e *env, line string) string {
		e.Put(apitest.AdminKey, "/v1/members/1/hidden", `{"reason":"aimbot"}`).Want(200)
		return line
	},
}

// aboutNewKey makes a key, whose id cannot be known before.
func aboutNewKey(e *env, line string) string {
	var made struct{ ID string }
	e.Post(apitest.AdminKey, "/v1/keys", `{"name":"a","scope":"read"}`).Want(201).Decode(&made)
	return regexp.MustCompile(`/v1/keys/\w+`).ReplaceAllString(line, "/v1/keys/"+made.ID)
}

// aboutNewIssuer and aboutNewBar make those of the examples.
func aboutNewIssuer(e *env, line string) string {
	e.Put(apitest.AdminKey, "/v1/issuers/game1", `{"issuer":"i","audience":"a","jwks_url":"https://i.example/"}`).Want(201)
	return line
}

func aboutNewBar(e *env, line string) string {
	e.Put(apitest.AdminKey, "/v1/members/1/bar", "").Want(200)
	return line
}

// aboutNewHeld has a submission held, and makes the example one about it.
func aboutNewHeld(e *env, line string) string {
	return strings.Replace(line, "3690000000000000000", e.held("reviewed", leaderboard.Submission{Member: "1", Score: 500}), 1)
}

// aboutNewEndpoint makes the endpoint of the examples.
func aboutNewEndpoint(e *env, line string) string {
	e.Put(apitest.AdminKey, "/v1/endpoints/game", `{"url":"https://game.example/hooks"}`).Want(201)
	return line
}

// curlOf reads a line for a shell, with the values of $SERVER and $KEY.
func curlOf(t *testing.T, line string) apitest.Ask {
	t.Helper()
	words := regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"'\\]+`).FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.NewReplacer("$SERVER", "", "$KEY", apitest.AdminKey).Replace(strings.Trim(w, `"'`))
	}
	a := apitest.Ask{Method: "GET", Header: http.Header{}}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-N":
		case "-X", "-H", "-d":
			option := words[i]
			i++
			switch value := words[i]; option {
			case "-X":
				a.Method = value
			case "-H":
				name, value, _ := strings.Cut(value, ": ")
				a.Header.Set(name, value)
			case "-d":
				a.Body = value
				if a.Method == "GET" {
					a.Method = "POST"
				}
			}
		default:
			if a.Path != "" || words[0] != "curl" {
				t.Fatalf("this is no call of curl: %s", line)
			}
			a.Path = words[i]
		}
	}
	return a
}
