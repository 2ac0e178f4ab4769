package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandsOfRoutes has for every operation of the API a command that uses it, or the reason why no command does.
func commandsOfRoutes() (commands, without map[string]string) {
	const people, programs = "a page for people", "for programs, which ask for it by its address"
	commands = map[string]string{
		"listBoards": "board list", "getBoard": "board show b", "putBoard": "board put b --rules RULES", "patchBoard": "board update b --title x",
		"deleteBoard": "board delete b --yes", "listPeriods": "board periods b", "getSources": "board sources b",
		"submitScores": "submit b m=1", "submitMultiBoard": "submit --boards b,c m=1", "removeMember": "remove b m --yes",
		"getTop": "top b", "getMember": "rank b m", "getAround": "rank b m --around 2", "getRanks": "rank b m n", "getScoreRank": "rank b --score 5",
		"getBoardFriends": "rank b m --friends", "getDistribution": "distribution b", "getHistory": "history b m", "getStandings": "standings m --boards b,c", "listSubmissions": "submissions b m", "getActivity": "activity b", "streamPage": "watch b", "readChanges": "follow b",
		"getMergedTop": "top --boards b,c", "getMergedMember": "rank --boards b,c m", "getMergedAround": "rank --labels type:x m --around 2",
		"hideMember": "hide b m --reason x", "restoreMember": "restore b m", "hideMemberEverywhere": "hide --all m --reason x",
		"restoreMemberEverywhere": "restore --all m", "moderateMembers": "hide b m n --reason x", "listHidden": "hidden", "listHeld": "held list", "getHeld": "held show 7", "approveHeld": "held approve 7", "rejectHeld": "held reject 7", "listAudit": "audit",
		"startRebuild": "refresh b", "verifyCopy": "verify b", "exportEntries": "export b", "getStatus": "status", "listRuns": "run list --board b", "getRun": "run show 7",
		"listKeys": "key list", "createKey": "key create --scope read k", "getOwnKey": "key show", "getKey": "key show k", "changeKey": "key update k --name x",
		"revokeKey": "key revoke k --yes", "rotateKey": "key rotate k",
		"listEndpoints": "endpoint list", "getEndpoint": "endpoint show e", "putEndpoint": "endpoint put e https://game.example/hooks", "deleteEndpoint": "endpoint delete e --yes",
		"rotateEndpoint": "endpoint rotate e", "testEndpoint": "endpoint test e", "listDeliveries": "endpoint deliveries e", "replayEvents": "endpoint replay e --since 2026-11-20T00:00:00Z",
		"listIssuers": "issuer list", "getIssuer": "issuer show i", "putIssuer": "issuer put i --issuer x --audience y --jwks-url https://x/", "deleteIssuer": "issuer delete i --yes",
		"createToken": "token create m", "beginPlay": "play b", "rotateTokens": "token rotate", "barMember": "token bar m", "getBar": "token barred m", "unbarMember": "token unbar m",
		"searchMembers": "member search a --by name", "findMembers": "rank b --find ada", "getProfile": "member show m", "putProfile": "member put m --replace", "patchProfile": "member put m --display-name x", "resetName": "member reset-name m --reason x",
		"forgetMember": "member forget m --yes", "getMemberData": "member data m", "listFriends": "member friends m", "putFriends": "member befriend m --replace", "addFriends": "member befriend m n", "removeFriend": "member unfriend m n",
		"getLivez": "health", "getReadyz": "health --ready",
	}
	without = map[string]string{
		"getRace": "a picture on the page of the board", "moderateMembersEverywhere": "of two words after --all the first may be meant as a board", "getHome": people, "getBoardPage": people, "getBoardPicture": people, "getConsole": people, "getDocs": people, "getManualPage": people, "getProblemPage": people, "getAsset": "a part of these pages",
		"getSession": "for the console, which has no other way to know", "endSession": "a session is in a browser", "keepKey": "a session is in a browser", "beginSignIn": people, "finishSignIn": people,
		"getMetrics": programs, "getTokenKeys": programs, "getOpenAPI": programs, "getOpenAPIYAML": programs,
	}
	return commands, without
}

// TestEveryRouteHasACommand runs a command for each operation of the API's document, and sees it ask for that.
func TestEveryRouteHasACommand(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	content, err := os.ReadFile("../../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(rules, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked []string
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "/stream") || strings.HasSuffix(r.URL.Path, "/changes") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"name":"b","windows":["all_time"],"state":"done","status":"ok"}`))
	})
	commands, without := commandsOfRoutes()
	operations := 0
	for path, methods := range document.Paths {
		for method, raw := range methods {
			var operation struct {
				ID string `json:"operationId"`
			}
			if err := json.Unmarshal(raw, &operation); err != nil || operation.ID == "" {
				continue // the parameters of the path
			}
			operations++
			line, ok := commands[operation.ID]
			if !ok && without[operation.ID] == "" {
				t.Errorf("%s %s: no command asks for %s, and no reason is given", method, path, operation.ID)
			}
			delete(commands, operation.ID)
			delete(without, operation.ID)
			if !ok {
				continue
			}
			asked = nil
			_, _, errOut := runWith(t, map[string]string{"LEADERBOARD_URL": url}, strings.Fields(strings.ReplaceAll(line, "RULES", rules))...)
			route := regexp.MustCompile("^" + strings.ToUpper(method) + " " + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "[^/]+") + "$")
			if !slices.ContainsFunc(asked, route.MatchString) {
				t.Errorf("leaderboard %s asks for %q, not for %s: %s", line, asked, route, errOut)
			}
		}
	}
	if operations < 50 || len(commands)+len(without) > 0 {
		t.Errorf("the document has %d operations, and lacks %v %v", operations, commands, without)
	}
}
