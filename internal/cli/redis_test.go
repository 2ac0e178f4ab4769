package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// redisAt returns a client of a Redis.
func redisAt(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// zadd adds n members of a game to a sorted set: scores up to 9,999, so that there are ties at every height.
func zadd(t *testing.T, c *redis.Client, key, prefix string, n int) {
	t.Helper()
	const batch = 5000
	for from := 0; from < n; from += batch {
		var members []redis.Z
		for i := from; i < min(n, from+batch); i++ {
			members = append(members, redis.Z{Score: float64(i * 7919 % 10_000), Member: fmt.Sprintf("%s%06d", prefix, i)})
		}
		if err := c.ZAdd(t.Context(), key, members...).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// standings returns the members of a board in order, one a line.
func (tr *transferring) standings(board string) []string {
	tr.T.Helper()
	out, _ := tr.run(exitOK, "export", board)
	var members []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		members = append(members, strings.Split(line, ",")[2])
	}
	return members
}

// TestImportZset imports a sorted set, at its full size of 100,000 members, while others are written to it. Members that were there all
// the time are on the board in the order of ZREVRANGE, ties too. The same command again changes nothing.
func TestImportZset(t *testing.T) {
	t.Parallel()
	tr, url := startTransferring(t), testenv.Redis(t)
	c := redisAt(t, url)
	size := testenv.Size(20_000, 100_000)
	zadd(t, c, "scores", "p", size)
	if err := c.ZAdd(t.Context(), "scores", redis.Z{Score: 1 << 60, Member: "=1+1"}, redis.Z{Score: -5, Member: "a \"b\",\nc"}).Err(); err != nil {
		t.Fatal(err)
	}
	want, err := c.ZRangeArgs(t.Context(), redis.ZRangeArgs{Key: "scores", Start: 0, Stop: -1, Rev: true}).Result()
	if err != nil {
		t.Fatal(err)
	}
	writing, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	file := tr.file("game.csv", "")
	go func() {
		defer close(stopped)
		for i := 0; writing.Err() == nil; i++ {
			if _, err := os.Stat(file); err == nil {
				return // it is read
			}
			c.ZAdd(writing, "scores", redis.Z{Score: float64(i), Member: fmt.Sprint("new", i%1000)})
			c.ZRem(writing, "scores", fmt.Sprint("new", (i+500)%1000))
		}
	}()
	tr.Ask(201, "PUT", "/v1/boards/game", `{"policy":"sum"}`)
	args := []string{"game", file, "--redis", url, "--zset", "scores"}
	tr.cutOff(file+".progress", args...)
	stop()
	<-stopped
	// The same command continues; the id with a line break is refused.
	done := tr.imported(exitRefused, args...)
	if done.Sent == done.Entries {
		t.Error("the second run did not go on after the first")
	}
	if done.Applied < int64(size+1) || done.Refused != 1 || !strings.Contains(tr.read("game.csv.refused"), "control characters") {
		t.Errorf("%+v, refused: %s", done, tr.read("game.csv.refused"))
	}
	var old []string
	for _, member := range tr.standings("game") {
		if !strings.HasPrefix(member, "new") {
			old = append(old, member)
		}
	}
	want[0] = "'=1+1" // as CSV has it
	if want = want[:size+1]; !equal(t, old, want) {
		t.Error("the board has another order")
	}
	if again := tr.imported(exitRefused, args...); again.Sent != 0 || again.Seq != done.Seq {
		t.Errorf("again: %+v", again)
	}
}

// cutOff runs an import and interrupts it when it has dealt with some entries.
func (tr *transferring) cutOff(progress string, args ...string) {
	tr.T.Helper()
	ctx, cancel := context.WithCancel(tr.T.Context())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		env := map[string]string{"LEADERBOARD_URL": tr.URL, "LEADERBOARD_KEY": apptest.AdminKey}
		std := stdio{strings.NewReader(""), io.Discard, io.Discard}
		ended <- run(ctx, append([]string{"leaderboard", "import"}, args...), std, func(name string) string { return env[name] })
	}()
	apptest.Eventually(tr.T, func() string {
		content, err := os.ReadFile(progress)
		if err == nil && !strings.Contains(string(content), `"applied":0`) {
			return ""
		}
		return "nothing is imported"
	})
	cancel()
	if status := <-ended; status != exitFailed {
		tr.T.Errorf("an import that is cut off ends with %d", status)
	}
}

// equal reports whether two lists are equal, and where they differ.
func equal(t *testing.T, got, want []string) bool {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d members, want %d", len(got), len(want))
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("place %d is %s, want %s", i, got[i], want[i])
			return false
		}
	}
	return true
}

// TestImportZsetAscending: on a board where lower is better, ties are in the order of ZRANGE. Fractions are scaled; a score that
// is no whole number then is refused, with its line. --restart reads the set again.
func TestImportZsetAscending(t *testing.T) {
	t.Parallel()
	tr, url := startTransferring(t), testenv.Redis(t)
	c := redisAt(t, url)
	add := func(score float64, member string) {
		t.Helper()
		if err := c.ZAdd(t.Context(), "laps", redis.Z{Score: score, Member: member}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, member := range []string{"cyd", "ada", "bob"} {
		add(52.25, member)
	}
	add(51.007, "dan")
	add(60, "eve")
	add(52.0005, "fay")
	tr.Ask(201, "PUT", "/v1/boards/laps", `{"order":"asc"}`)
	args := []string{"laps", tr.file("laps.csv", ""), "--redis", url, "--zset", "laps", "--multiply", "1000"}
	if done := tr.imported(exitRefused, args...); done.Applied != 5 || done.Refused != 1 {
		t.Errorf("%+v", done)
	}
	if got := tr.scores("laps"); got != "dan=51007 ada=52250 bob=52250 cyd=52250 eve=60000" {
		t.Errorf("the board has %s", got)
	}
	if report := tr.read("laps.csv.refused"); !strings.Contains(report, `score ""52.0005"": want a whole number`) {
		t.Errorf("the report says %s", report)
	}
	add(50, "fay")
	if done := tr.imported(exitRefused, args...); done.Sent != 0 {
		t.Errorf("without --restart: %+v", done)
	}
	if done := tr.imported(exitOK, append(args, "--restart")...); done.Applied != 1 || done.Unchanged != 5 {
		t.Errorf("with --restart: %+v", done)
	}
	if got := tr.scores("laps"); !strings.HasPrefix(got, "fay=50000 dan=51007 ") {
		t.Errorf("the board has %s", got)
	}
}

// TestImportZsetProblems: an import that cannot work fails with the reason, without the password, and leaves no files.
func TestImportZsetProblems(t *testing.T) {
	t.Parallel()
	tr, url := startTransferring(t), testenv.Redis(t)
	c := redisAt(t, url)
	if err := c.Set(t.Context(), "text", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	zadd(t, c, "set", "p", 3)
	tr.Ask(201, "PUT", "/v1/boards/b", `{}`)
	own := tr.file("own.csv", "member,score\nmine,1\n")
	for _, each := range []struct {
		name, want string
		status     int
		args       []string
	}{
		{"no such key", "no such key", exitFailed, []string{"--redis", url, "--zset", "nothing"}},
		{"no zset", "WRONGTYPE", exitFailed, []string{"--redis", url, "--zset", "text"}},
		{"no server there", "read zset set of 127.0.0.1:1/0", exitFailed, []string{"--redis", "redis://:s3cret@127.0.0.1:1/0", "--zset", "set"}},
		{"bad address", "--redis", exitUsage, []string{"--redis", "http://:s3cret@h", "--zset", "set"}},
		{"no key", "go together", exitUsage, []string{"--redis", url}},
		{"no address", "go together", exitUsage, []string{"--zset", "set"}},
		{"multiply a file", "--multiply is for --zset", exitUsage, []string{own, "--multiply", "10"}},
		{"standard input", "not -", exitUsage, []string{"-", "--redis", url, "--zset", "set"}},
		{"a file of another kind", "own.csv is there and was not read from this zset", exitFailed, []string{own, "--redis", url, "--zset", "set"}},
	} {
		file := tr.file("problem.csv", "")
		args := append([]string{"import", "b"}, each.args...)
		if each.args[0][0] == '-' && each.args[0] != "-" {
			args = append(args, file)
		}
		out, errOut := tr.run(each.status, args...)
		if !strings.Contains(errOut, each.want) || strings.Contains(out+errOut, "s3cret") {
			t.Errorf("%s: %s%s", each.name, out, errOut)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: there is a file", each.name)
		}
	}
	if tr.read("own.csv") != "member,score\nmine,1\n" {
		t.Error("a file of another kind was written to")
	}
	// Another multiplier is another file.
	args := []string{"b", tr.file("b.csv", ""), "--redis", url, "--zset", "set"}
	tr.imported(exitOK, args...)
	if _, errOut := tr.run(exitFailed, append([]string{"import"}, append(args, "--multiply", "10")...)...); !strings.Contains(errOut, "--restart reads the zset") {
		t.Errorf("another multiplier: %s", errOut)
	}
}
