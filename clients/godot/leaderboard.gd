## The client of a leaderboard server for games in Godot 4. One file, no add-on: put it into the project, and a node of it into the tree.
##
##     var leaderboard := Leaderboard.new()
##     leaderboard.url = "https://scores.example"
##     leaderboard.new_token = func() -> String: return await ask_my_backend_for_a_token()
##     add_child(leaderboard)
##     var result: Dictionary = await leaderboard.submit("spring", "ada", 4200)
##     var page: Dictionary = await leaderboard.around("spring", "ada")
##
## Each call returns what the server answers, or a problem: a Dictionary with "problem" (stable, as in "/problems/not-ranked"; "" when no answer
## of the server came), "detail" and "status". docs/clients.md says what a client does; /docs of a server has the rest.
class_name Leaderboard
extends Node

## The address of the server.
var url := ""
## Gets a token of the player; without it there is what everybody may read. It is asked again when the server takes the token no longer. A key of
## the server belongs into a backend, never into a game.
var new_token := Callable()
## For how many seconds a call is repeated.
var max_wait := 30.0

var _token := ""


## Sends a score. The same idempotency_key again, also after a restart of the game, returns the result of the first time; it is chosen here
## when it is empty. play is the token of a play, on a board that wants one. The result has "status" (applied, unchanged, rejected, held …), "score",
## "previous_score", "seq", "replayed" (by an earlier call: nothing counted again), and "error" with "type" and "detail" when it was rejected or held.
func submit(board: String, member: String, score: int, idempotency_key := "", play := "") -> Dictionary:
	var entry := {"member": member, "score": str(score)}
	if play != "":
		entry["play"] = play
	if idempotency_key == "":
		idempotency_key = Crypto.new().generate_random_bytes(16).hex_encode()
	var answer := await _send(HTTPClient.METHOD_POST, "/v1/boards/%s/scores" % board.uri_encode(), {}, JSON.stringify({"entries": [entry]}), idempotency_key)
	if answer.has("problem"):
		return answer
	var result: Dictionary = answer["results"][0]
	for field: String in ["score", "previous_score"]:
		if result[field] != null:
			result[field] = int(result[field])
	result["seq"] = int(answer["seq"])
	result["replayed"] = answer.get("replayed", false)
	return result


## Reads the best entries, or those after the "next_cursor" of another page. mode is how ties are numbered: strict, tied or dense.
func top(board: String, limit := 10, cursor := "", mode := "", window := "", min_seq := 0) -> Dictionary:
	var query := {"limit": limit, "cursor": cursor, "mode": mode, "window": window, "min_seq": min_seq}
	return _page(await _send(HTTPClient.METHOD_GET, "/v1/boards/%s/top" % board.uri_encode(), query))


## Reads the entry of a member; "/problems/not-ranked" when it has none.
func rank(board: String, member: String, mode := "", window := "", min_seq := 0) -> Dictionary:
	var query := {"mode": mode, "window": window, "min_seq": min_seq}
	var answer := await _send(HTTPClient.METHOD_GET, "/v1/boards/%s/members/%s" % [board.uri_encode(), member.uri_encode()], query)
	return answer if answer.has("problem") else _entry(answer)


## Reads a member and those before and after it; "/problems/not-ranked" when it has no entry.
func around(board: String, member: String, before := 5, after := 5, mode := "", window := "", min_seq := 0) -> Dictionary:
	var query := {"before": before, "after": after, "mode": mode, "window": window, "min_seq": min_seq}
	return _page(await _send(HTTPClient.METHOD_GET, "/v1/boards/%s/members/%s/around" % [board.uri_encode(), member.uri_encode()], query))


func _page(answer: Dictionary) -> Dictionary:
	if answer.has("problem"):
		return answer
	for entry: Dictionary in answer["entries"]:
		_entry(entry)
	for field: String in ["total", "seq"]:
		answer[field] = int(answer[field])
	return answer


# 64-bit numbers come as digits (numbers=string), since a number of JSON is a float here.
func _entry(entry: Dictionary) -> Dictionary:
	for field: String in ["rank", "score", "tiebreak"]:
		entry[field] = int(entry[field])
	return entry


# Repeats a request until it is answered, refused or max_wait is over: after Retry-After and a random part of a second, or after pauses that double. The
# body and the key stay the same, so that a score counts once.
func _send(method: HTTPClient.Method, path: String, query: Dictionary, body := "", idempotency_key := "") -> Dictionary:
	query["numbers"] = "string"
	var parts := PackedStringArray()
	for parameter: String in query:
		var value := str(query[parameter])
		if value != "" and not (parameter == "min_seq" and value == "0"):
			parts.append(parameter + "=" + value.uri_encode())
	var address := url.trim_suffix("/") + path + "?" + "&".join(parts)
	var began := Time.get_ticks_msec()
	var renewed := false
	var maybe_done := false # by an earlier attempt
	var longest := 0.1
	while true:
		if _token == "" and new_token.is_valid():
			_token = await new_token.call()
		var headers := PackedStringArray()
		if _token != "":
			headers.append("Authorization: Bearer " + _token)
		if body != "":
			headers.append("Content-Type: application/json")
			headers.append("Idempotency-Key: " + idempotency_key)
		var request := HTTPRequest.new()
		request.timeout = 10.0 # of one attempt
		add_child(request)
		var failed := {"problem": "", "detail": "no answer", "status": 0}
		var pause := longest * (1.0 + randf()) / 2.0
		longest = minf(2.0 * longest, 5.0)
		if request.request(address, headers, method, body) == OK:
			# result, status, headers, body
			var answer: Array = await request.request_completed
			if answer[0] == HTTPRequest.RESULT_SUCCESS:
				var status: int = answer[1]
				var content: Variant = JSON.parse_string((answer[3] as PackedByteArray).get_string_from_utf8())
				if status == 200 and content is Dictionary:
					if maybe_done:
						content.erase("replayed") # it is of this very call
					request.queue_free()
					return content
				failed = {"problem": "", "detail": "status %d" % status, "status": status}
				if content is Dictionary:
					var type: String = content.get("type", "")
					failed["problem"] = type.substr(maxi(0, type.rfind("/problems/"))) # without the path below which the server may be
					failed["detail"] = content.get("detail", "")
				if status == 401 and new_token.is_valid() and not renewed:
					renewed = true
					_token = ""
					request.queue_free()
					continue
				if status not in [408, 429, 502, 503, 504]:
					request.queue_free()
					return failed
				for header: String in answer[2]:
					if header.to_lower().begins_with("retry-after:"):
						pause = header.get_slice(":", 1).strip_edges().to_float() + randf()
		maybe_done = maybe_done or failed["status"] != 429 and failed["problem"] != "/problems/overloaded"
		request.queue_free()
		if (Time.get_ticks_msec() - began) / 1000.0 + pause > max_wait:
			return failed
		await get_tree().create_timer(pause).timeout
	return {} # not reached; the analyser wants it
