// Package client is the Go client of a leaderboard server: a method for every route of its HTTP API.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithKey(key))
//	receipt, err := c.Submit(ctx, "demo", []leaderboard.Submission{{Member: "ada", Score: 90}})
//	page, err := c.Top(ctx, "demo", client.TopQuery{Limit: 10, ReadQuery: client.ReadQuery{MinSeq: receipt.Seq}})
//
// The nouns (Rules, Submission, Window, Mode, …) are types of package leaderboard, the answers types of package api. Scores,
// tiebreaks and seqs are exact int64s.
//
// # The ten calls to begin with
//
//	PutBoard        creates a board, or sets its rules
//	Submit          submits scores, each counted once
//	Top             the best, or a page at any depth
//	Member          a member's rank
//	Around          who is around a member
//	Ranks           the ranks of given members
//	PutProfile      the name and picture of a member
//	Watch           the top or a member's place, live
//	HideMember      takes a cheat off the board, RestoreMember brings it back
//	ForgetMember    erases a member everywhere
//
// Its files, with these calls first:
//
//	client.go        New, its options, and Do, which sends every request
//	boards.go        boards: PutBoard
//	submit.go        submissions: Submit, on several boards too
//	read.go          reads of one board: Top, Member, Around, Ranks
//	members.go       profiles, friends, erasure: PutProfile, ForgetMember
//	watch.go         Watch
//	hidden.go        HideMember
//	problem.go       answers that are errors
//	documents.go     the documents of the API, by their names here
//	pages.go         iterators over answers of several pages
//	rankings.go, past.go, submissions.go  several boards as one, standings; past periods; records of submissions
//	export.go, changes.go  all entries of a period, each change of a board
//	players.go, held.go  players' tokens and plays; scores that wait for an admin
//	keys.go, audit.go, endpoints.go  API keys, who changed what, where events are sent
//	operate.go, status.go  rebuilds, health, metrics; how boards stand
//
// # Errors
//
// An answer that is an error is a [*Problem]; errors.As finds it, and errors.Is compares it with the sentinels of package
// leaderboard:
//
//	if errors.Is(err, leaderboard.ErrNotRanked) { … }
//
// Every other error means that the server did not answer, or that the answer made no sense.
//
// # Repeating
//
// Every route may be repeated. The client repeats a request when the connection fails and when the server is busy or away (408,
// 429, 502, 503, 504), until [WithMaxWait] has passed or the context ends. It waits for the server's Retry-After plus up to a
// second; without one the pauses double, with jitter. A write carries an Idempotency-Key, made up by the client unless
// [SubmitOptions] names one, so a score is counted once however often the request is sent, also after a lost answer. When the
// first answer to a removal or restoration was lost, the second may be "not ranked" or "not hidden".
//
// # Traces
//
// A Client adds no trace. It sends the headers that its http.Client adds, so with OpenTelemetry's transport each attempt is a
// span of the caller's trace, and the server's spans are inside it:
//
//	client.WithHTTPClient(&http.Client{Transport: otelhttp.NewTransport(nil)})
//
// Header of a [Request] sets the header traceparent by hand.
//
// A Client may be used by any number of goroutines at once.
package client
