package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	benchKey  = "bench-admin-key"
	boardPath = "/v1/boards/" + benchBoard

	friendLists = 1000 // members that have a list of friends each, so many that an answer is rarely kept
	pageOf      = 100
)

// requester appends one more request of a kind, as load sends it.
type requester func(conn, i int, buf []byte) []byte

// always returns the same request again and again.
func always(request []byte) requester {
	return func(_, _ int, buf []byte) []byte { return append(buf, request...) }
}

// anyOf returns one of the requests at random.
func anyOf(requests [][]byte) requester {
	return func(_, _ int, buf []byte) []byte { return append(buf, requests[rand.IntN(len(requests))]...) }
}

const (
	getVerb = "GET "
	getEnd  = " HTTP/1.1\r\nHost: bench\r\n\r\n"
	// getTemplate is a GET of a path.
	getTemplate = getVerb + "%s" + getEnd
)

// topRequest asks for the best n entries.
func topRequest(n int) requester {
	return always(fmt.Appendf(nil, getTemplate, boardPath+"/top?limit="+strconv.Itoa(n)))
}

// memberRequest asks for the rank of a random member.
func memberRequest(board string, members int) requester { return memberPath(board, members, "") }

// aroundRequest asks for the slice around a random member.
func aroundRequest(board string, members int) requester {
	return memberPath(board, members, "/around?before=5&after=5")
}

func memberPath(board string, members int, rest string) requester {
	begin := getVerb + "/v1/boards/" + board + "/members/"
	rest += getEnd
	return func(_, _ int, buf []byte) []byte {
		return append(appendMember(append(buf, begin...), rand.IntN(members)), rest...)
	}
}

// pageRequest asks for n entries at a random depth.
func pageRequest(board string, members, n int) requester {
	begin := getVerb + "/v1/boards/" + board + "/top?limit=" + strconv.Itoa(n) + "&offset="
	return func(_, _ int, buf []byte) []byte {
		return append(strconv.AppendInt(append(buf, begin...), rand.Int64N(int64(members-n+1)), 10), getEnd...)
	}
}

// ranksRequests ask for the ranks of n given members each.
func ranksRequests(board string, members, n int) requester {
	requests := make([][]byte, friendLists)
	for i := range requests {
		body := []byte(`{"members":[`)
		for j, m := range distinctMembers(members, n, "") {
			if j > 0 {
				body = append(body, ',')
			}
			body = strconv.AppendQuote(body, m)
		}
		requests[i] = appendPost(nil, "/v1/boards/"+board+"/ranks", append(body, "]}"...))
	}
	return anyOf(requests)
}

// appendPost appends a POST of JSON.
func appendPost(buf []byte, path string, body []byte) []byte {
	buf = fmt.Appendf(buf, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, benchKey, len(body))
	return append(buf, body...)
}

// appendSubmit appends a submit of n entries, members at random.
func appendSubmit(buf []byte, path string, members, n int) []byte {
	return appendPost(buf, path+"/scores", submitBody(members, n))
}

// submitBody returns the body of it.
func submitBody(members, n int) []byte {
	body := []byte(`{"entries":[`)
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(appendMember(append(body, `{"member":"`...), rand.IntN(members)), `","score":`...)
		body = append(strconv.AppendInt(body, randomScore(), 10), '}')
	}
	return append(body, "]}"...)
}

// distinctMembers returns n of the members but the one that is left out.
func distinctMembers(members, n int, without string) []string {
	seen := map[string]bool{without: true}
	list := make([]string, 0, n)
	for len(list) < n {
		if m := randomMember(members); !seen[m] {
			seen[m] = true
			list = append(list, m)
		}
	}
	return list
}
