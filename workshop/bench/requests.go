package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	benchKey  = "bench-admin-key"
	boardPath = "/v1/boards/" + benchBoard
	pageOf    = 100
)

// requester appends the i-th request of a connection.
type requester func(conn, i int, buf []byte) []byte

const (
	getBegin = "GET "
	getEnd   = " HTTP/1.1\r\nHost: bench\r\n\r\n"
)

// topRequest asks for the best n entries.
func topRequest(n int) requester {
	request := getBegin + boardPath + "/top?limit=" + strconv.Itoa(n) + getEnd
	return func(_, _ int, buf []byte) []byte { return append(buf, request...) }
}

// memberRequest asks for the rank of a random member.
func memberRequest(members int) requester { return ofMember(members, "") }

// aroundRequest asks for the slice around a random member.
func aroundRequest(members int) requester { return ofMember(members, "/around?before=5&after=5") }

func ofMember(members int, rest string) requester {
	return func(_, _ int, buf []byte) []byte {
		buf = appendMember(append(buf, getBegin+boardPath+"/members/"...), rand.IntN(members))
		return append(append(buf, rest...), getEnd...)
	}
}

// pageRequest asks for n entries at a random depth.
func pageRequest(members, n int) requester {
	begin := getBegin + boardPath + "/top?limit=" + strconv.Itoa(n) + "&offset="
	return func(_, _ int, buf []byte) []byte {
		return append(strconv.AppendInt(append(buf, begin...), rand.Int64N(int64(members-n+1)), 10), getEnd...)
	}
}

// submitRequest submits n entries to a board, members at random.
func submitRequest(board string, members, n int) requester {
	return func(_, _ int, buf []byte) []byte { return appendSubmit(buf, board, members, n) }
}

func appendSubmit(buf []byte, board string, members, n int) []byte {
	return appendScores(buf, board, "", n, "", func(int) int { return rand.IntN(members) })
}

// appendTold is appendSubmit that asks what the submit has changed.
func appendTold(buf []byte, board string, members, n int) []byte {
	return appendScores(buf, board, "?standings=true", n, "", func(int) int { return rand.IntN(members) })
}

// appendConditional is appendSubmit with a condition for each entry, which holds.
func appendConditional(buf []byte, board string, members, n int) []byte {
	return appendScores(buf, board, "", n, `,"if":{"absent":false}`, func(int) int { return rand.IntN(members) })
}

// appendScores appends a submit of n entries, the i-th of the member with the number that member says, each with more
// members of JSON. query is the address's query, with its question mark.
func appendScores(buf []byte, board, query string, n int, more string, member func(i int) int) []byte {
	body := []byte(`{"entries":[`)
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(appendMember(append(body, `{"member":"`...), member(i)), `","score":`...)
		body = append(append(strconv.AppendInt(body, randomScore(), 10), more...), '}')
	}
	return appendPost(buf, "/v1/boards/"+board+"/scores"+query, append(body, "]}"...))
}

// appendPost sends a body to a path.
func appendPost(buf []byte, path string, body []byte) []byte {
	buf = fmt.Appendf(buf, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, benchKey, len(body))
	return append(buf, body...)
}
