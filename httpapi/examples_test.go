package httpapi

import (
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestExamples runs the line for a shell of each route, as a reader would after filling in the server and a key.
func TestExamples(t *testing.T) {
	examples := apitest.Examples()
	for _, rt := range routesOfEngine() {
		operation := apitest.OperationOf(rt.Method, rt.Path)
		line := examples[operation]
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			e := exampleServer(t)
			if before := beforeExample[operation]; before != nil {
				line = before(e, line)
			}
			e.RunExample(line)
		})
	}
}

// exampleServer has the boards of the examples.
func exampleServer(t *testing.T) *env {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("sound", leaderboard.Rules{})
	return e
}

// beforeExample prepares the examples of some operations, and returns the example for the prepared data.
var beforeExample = map[string]func(e *env, line string) string{
	"getRun": func(e *env, line string) string {
		run := e.Post(apitest.AdminKey, "/v1/boards/demo/rebuild", `{"kind":"full"}`).Want(202).Header.Get("Location")
		return strings.Replace(line, "/v1/runs/1", run, 1)
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
