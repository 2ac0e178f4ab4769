package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of the page, in the folder of the documentation.
const (
	pageFile    = "benchmarks.md"
	resultsFile = "benchmarks.json"
	plotFile    = "benchmarks-rank.svg"
)

// section is what one step measured. The page is made from the sections, whichever run they come from.
type section struct {
	Name    string      `json:"name"`
	Date    string      `json:"date"`    // UTC day
	Members int         `json:"members"` // of the board; 0: there is none
	Env     environment `json:"environment"`
	Command string      `json:"command,omitempty"` // that measures it
	Seconds float64     `json:"seconds,omitempty"` // that took

	Readings []reading `json:"readings,omitempty"`
	Rows     []row     `json:"rows"`
	Points   []point   `json:"points,omitempty"` // of the plot, by members
}

// writeTables prints what was measured in Markdown.
func (s *section) writeTables(w io.Writer) {
	if len(s.Readings) > 0 {
		writeReadings(w, s.Readings)
	}
	if len(s.Readings) > 0 && len(s.Rows) > 0 {
		fmt.Fprintln(w)
	}
	if len(s.Rows) > 0 {
		writeRows(w, s.Rows)
	}
}

// sectionNames returns the sections in the order in which they are measured.
func sectionNames() []string {
	return []string{
		"reads", "changing", "friends", "categories", "beyond", "loading", "freshness", "rebuild", "field", "writes", "overload", "quotas", "streams", "windows",
		"derived", "boards", "housekeeping", "structure", "index", giantSection,
	}
}

// heading is what the page says about a section in words.
type heading struct{ name, title, text string }

func headings() []heading {
	return []heading{
		{"reads", "Reading", "The board is resident: the process has all of it in memory. 64 keep-alive connections ask the service; a bare `net/http` handler in a" +
			" process of its own returns the same bytes without looking at anything. Rounds of two seconds in turn. Nothing is written meanwhile."},
		{"changing", "Reading while the board changes", "The same, while 50 commits a second of 100 entries each change the board, beside the bare handler too. The server's CPU time" +
			" includes that of the commits."},
		{"friends", "Friends", "The best ten among a member's friends, and the member, with their ranks on the board; 1,000 members with lists of their" +
			" own, asked at random by 2 connections while the board changes 50 times a second. The ratio is how many times as long an answer about 500 friends takes as one about 10."},
		{"categories", "Several boards ranked as one", "Over HTTP, in turn: a question about three boards that have the same members with other scores, and the same question" +
			" about one of them. p50; random members and depths, so that hardly any answer is cached."},
		{"beyond", "Beyond memory", "A server that keeps no board in memory; the copy in Redis holds the best 1,000 entries. Otherwise as above."},
		{"loading", "A board becomes resident", "A new server, of which one connection asks random members of the board. The time of the loading is what the server says in its metrics; the other one" +
			" ends with the first of 50 members in a row that are answered from memory. Half load: 64 connections read another resident board of that size at half" +
			" the rate that they come to without it. Medians of three servers."},
		{"freshness", "Age of another server's answers", "Two servers on one MySQL and a Redis of their own. One commits 50 times a second, the other is asked 500 times a second for top pages, members, slices" +
			" around members and deep pages. Age: when the question was sent, minus when the first commit that is not in the answer was acknowledged; of answers that do not say `stale:true`." +
			" Back: with a seq below that of an answer that was there before the question was sent."},
		{"writes", "Writing", "Every answer means committed and flushed to disk. The yardsticks write the same rows into a copy of the same table," +
			" without HTTP, lock or log. The eight boards have 20,000 members each, and eight connections; the yardstick is all connections on one of them."},
		{"overload", "Overload", "The load generator is pinned to one core, the service, MySQL and Redis share the others, in all runs. Whoever is refused asks again" +
			" at once. No board is kept in memory, so that a deep page is one of MySQL. CPU: of the service, MySQL and Redis" +
			" together, per answer; that of a rejection is what the flood took beyond its answers, or all of it while a lock lets nothing be answered. Open loop: requests are sent when they are due, whatever became of those before."},
		{"quotas", "Quotas", "Two servers that share a Redis. Each key may make 10 requests a second. 100 quiet ones ask for the top 500 times a second together, in turn alone and beside one that sends 50 times" +
			" its quota; requests are sent when they are due. The load generator shares the cores: beside a flood of a bare handler, in a process of its own, is what the flood does to others without reaching the service. Its quota: what may be saved up, and what came in from the first noise to the last."},
		{"streams", "Streams", "2,000 clients follow the top 10 of one board, to which 50 commits a second are made; a stream sends 5 events a second at most, so a commit waits 100 ms on average." +
			" Beside them 500 reads a second of random members, sent when they are due, in turn with and without the streams. The load generator, which reads all events, shares the cores."},
		{"windows", "Windows", "Submits to a board with all eight windows, in turn with those to a board with one: eight times the rows, one transaction." +
			" 20,000 members, whose scores all change (policy latest), the most that a submit can cost."},
		{"derived", "Derived boards", "A board of the last seven days, 100,000 members on each, in a service of its own; scores all change (policy latest). The" +
			" turn of the day is made by setting the days of the source back by one."},
		{"boards", "Many boards", "A server on so many boards, one derived board for each thousand of them beside them. Idle: nobody asks it for anything. Then 1,000 of them, of which it has" +
			" not heard before, are written to and read at once, in the time of the machine; memory: how much larger the server is after that."},
		{"housekeeping", "Housekeeping", "The store of one process has all of it to do at once, and commits 20 times a second to a board meanwhile. Rounds of 45 s follow each other at once, where" +
			" the service rests a minute between two, so the times are those of the work."},
		{"rebuild", "Rebuilding the copy", "A forced full rebuild, from the request to the finished run, with the best 10,000 entries of the board in Redis at the end."},
		{"field", "Mixed load, and what it leaves behind", "All at once, from one load generator; then the service is left alone. First with the board in memory, then by a server" +
			" that keeps none there. Before: at rest after five seconds of it. After: when the memory is back within a tenth, or 140 s later."},
		{"structure", "What keeps a board in memory", "Ranks of random members in the structure alone, without a server, in periods of three sizes in turn: " +
			"`go test ./cache/resident -run '^$' -bench '^BenchmarkRankBySize$' -benchtime 15x`. Medians; the ratio is that of neighbours."},
		{"index", "Any rank at any depth", "The store in one process, asked by one goroutine, without HTTP and without Redis. p50 in the time of the machine;" +
			" all sizes and the yardstick in turn. “By COUNT” is the same question to the same store" +
			" without its index."},
		{giantSection, "A hundred million members", "The store in one process, without HTTP and without Redis, on one board of that size; boards of a tenth and a hundredth of it are asked in turn, as yardsticks." +
			" Unlike everywhere else MySQL's buffer pool may take two thirds of the memory, and its redo log 4 GB. Filling is LOAD DATA in the order of the primary key, without redo and" +
			" binary log, and then the ordered index, whose pages are left a fifth empty, as submits leave them ([why](scaling.md#why-submits-to-a-large-board-can-be-slow)); everything else runs on the durable defaults. What the tables take is in the first row."},
	}
}

// writePage puts the new section in the place of the old one and writes the page and the plot.
func writePage(dir string, sec section) error {
	sections, err := readResults(dir)
	if err != nil {
		return err
	}
	sections = replaceSection(sections, sec)
	results, err := json.MarshalIndent(sections, "", "\t")
	if err != nil {
		return err
	}
	var page bytes.Buffer
	renderPage(&page, sections)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if points := pointsOf(sections); len(points) > 0 {
		if err := plotRanks(filepath.Join(dir, plotFile), points); err != nil {
			return err
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, resultsFile), append(results, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, pageFile), page.Bytes(), 0o644),
	)
}

// readResults reads what earlier runs measured: nothing, if there were none.
func readResults(dir string) ([]section, error) {
	data, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var sections []section
	if err := json.Unmarshal(data, &sections); err != nil {
		return nil, fmt.Errorf("%s: %w", resultsFile, err)
	}
	return sections, nil
}

// replaceSection returns the sections in the order of the page.
func replaceSection(sections []section, sec section) []section {
	var out []section
	for _, h := range headings() {
		for _, s := range append([]section{sec}, sections...) {
			if s.Name == h.name {
				out = append(out, s) // the new one comes first
				break
			}
		}
	}
	return out
}

func pointsOf(sections []section) []point {
	for _, s := range sections {
		if s.Name == "index" {
			return s.Points
		}
	}
	return nil
}

const pageIntro = `# Benchmarks

How fast the service is, and how that was measured. This page is written by ` + "`make bench`" + `; do not edit it.

MySQL keeps its durable defaults (flush at commit, synchronised binary log); its buffer pool is made large enough for the
tables of the run (as far as a third of the memory goes), so that the figures show the work and not the disk. The load generator, the service, MySQL and
Redis share the cores of one machine, so every part costs all others something. Absolute numbers drift with the machine
and with what else it does; therefore each figure is held against a yardstick that runs in turn with it, and what counts
is the median of the ratios of neighbouring rounds. “here” and “yardstick” are medians too.

Measured on:
`

const pageCommands = `
To measure again, on a quiet machine:

    make bench                        # everything with 1,000,000 members, about half an hour
    make bench ARGS=-huge             # the index with 10,000,000 members too, about eight minutes more and 5 GB of disk
    make bench ARGS=-giant            # 100,000,000 members, and nothing else: 25 GB of disk, 24 GB of memory, a quarter of an hour
    make bench ARGS='-only reads'     # one section (%s); the others stay
    go test -run '^$' -bench . ./rank # the arithmetic alone: sort keys, and an index of 65,536 buckets

The data stay in ` + "`.leaderboard/bench`" + ` for the next run; delete the folder to start from scratch. What a run measured is kept in
[` + resultsFile + `](` + resultsFile + `), from which this page is made.
`

// renderPage writes the page.
func renderPage(w io.Writer, sections []section) {
	fmt.Fprint(w, pageIntro)
	for _, line := range environments(sections) {
		fmt.Fprintf(w, "- %s\n", line)
	}
	fmt.Fprintf(w, pageCommands, strings.Join(sectionNames(), ", "))
	renderContents(w, sections)
	for _, h := range headings() {
		for i := range sections {
			if sections[i].Name == h.name {
				renderSection(w, h, &sections[i])
			}
		}
	}
}

// renderContents writes links to the sections.
func renderContents(w io.Writer, sections []section) {
	separator := "\n"
	for _, h := range headings() {
		if slices.ContainsFunc(sections, func(s section) bool { return s.Name == h.name }) {
			anchor := strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(strings.ToLower(h.title))
			fmt.Fprintf(w, "%s[%s](#%s)", separator, h.title, anchor)
			separator = " ·\n"
		}
	}
	fmt.Fprintln(w)
}

func renderSection(w io.Writer, h heading, s *section) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n", h.title, h.text)
	if len(s.Points) > 0 {
		fmt.Fprintf(w, "\n![The rank of a random member takes about the same time at any size by the index, and time in proportion to the size by COUNT](%s)\n", plotFile)
	} else if s.Members > 0 {
		fmt.Fprintf(w, "\n%s members.\n", thousands(s.Members))
	}
	fmt.Fprintln(w)
	s.writeTables(w)
	fmt.Fprintf(w, "\nMeasured on %s", s.Date)
	if s.Command != "" {
		fmt.Fprintf(w, " in %.0f s with `%s`", s.Seconds, s.Command)
	}
	fmt.Fprintln(w, ".")
}

// environments says which sections were measured where, one line per environment.
func environments(sections []section) []string {
	var lines []string
	names := map[string][]string{}
	for _, s := range sections {
		line := s.Env.String()
		if names[line] == nil {
			lines = append(lines, line)
		}
		names[line] = append(names[line], s.Name)
	}
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%s (%s)", line, strings.Join(names[line], ", "))
	}
	return lines
}
