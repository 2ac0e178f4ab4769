// Package client is the Go client of a leaderboard server: a method for every route of its HTTP API.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithKey(key))
//	receipt, err := c.Submit(ctx, "demo", []leaderboard.Submission{{Member: "ada", Score: 90}})
//	page, err := c.Top(ctx, "demo", client.TopQuery{Limit: 10, ReadQuery: client.ReadQuery{MinSeq: receipt.Seq}})
//
// The nouns (Rules, Submission, Window, Mode, …) are those of package leaderboard; the answers are those of package api. Scores, tiebreaks and seqs are exact int64s.
//
// # Errors
//
// An answer that is an error is a [*Problem]; errors.As finds it, and errors.Is compares it with the sentinels of
// package leaderboard:
//
//	if errors.Is(err, leaderboard.ErrNotRanked) { … }
//
// Every other error means that the server did not answer, or that the answer made no sense.
//
// # Repeating
//
// Every route may be repeated. The client repeats a request when the connection fails and when the server is busy or
// away
// (408, 429, 502, 503, 504), until [WithMaxWait] has passed or the context ends. It waits for the server's Retry-After
// plus up to a second; without one the pauses double, with jitter. A write carries an Idempotency-Key, made up by the
// client unless [SubmitOptions] names one, so a score is counted once however often the request is sent, also after a
// lost
// answer. When the first answer to a removal or restoration was lost, the second may be "not ranked" or "not hidden".
//
// # Traces
//
// A Client adds no trace of its own. It sends what its http.Client adds, so with OpenTelemetry's transport each attempt
// is a span of the caller's trace, and the server's spans are inside it:
//
//	client.WithHTTPClient(&http.Client{Transport: otelhttp.NewTransport(nil)})
//
// Header of a [Request] sets the header traceparent by hand.
//
// A Client may be used by any number of goroutines at once.
package client
