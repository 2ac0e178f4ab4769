package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxProblem bounds the body of an error answer.
const maxProblem = 1 << 20

// readProblem reads an answer that is not 2xx.
func readProblem(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil {
		return &connectionError{fmt.Errorf("read the answer: %w", err)}
	}
	p := &Problem{}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if kind != "application/problem+json" || json.Unmarshal(body, p) != nil {
		p = &Problem{Detail: "this is no answer of a leaderboard server", Answer: body}
	}
	p.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}
