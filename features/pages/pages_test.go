package pages

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// hostile is a name that a member may have.
const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&`

// longName is a name that a member may have, too long for an id.
var longName = strings.Repeat("Ada ", 20)

// fakeAPI answers as the API does: one public board, whose members mean ill, and boards that cannot be shown.
func fakeAPI(w http.ResponseWriter, r *http.Request) {
	name, _ := json.Marshal(hostile)
	entry := `{"rank":1,"member":` + string(name) + `,"score":9223372036854775807,"fields":{"level":7},"created_time":"2026-11-20T13:00:00.000000Z","profile":{"display_name":` + string(name) + `,"avatar_url":"javascript:alert(3)","attributes":{}}}`
	state := `"window":"day","period":"2026-11-20","mode":"tied","total":60,"as_of":"2026-11-20T13:00:00.000000Z"`
	board := `{"name":"demo","title":` + string(name) + `,"mode":"tied","order":"desc","windows":["day","all_time"],"labels":{"type":"moba"},"tiebreak":{"fields":[{"name":"level"}]},"derive":{"from":[{"board":"source"}],"last":"7d","aggregate":"sum"}}`
	problem := func(status int, title, detail string) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"title": title, "status": status, "detail": detail})
	}
	answer := func(body string) { _, _ = io.WriteString(w, body) }
	switch path := r.URL.Path; {
	case path == "/v1/boards" && r.URL.Query().Get("labels") == "type:busy":
		problem(http.StatusTooManyRequests, "A quota is used up", "")
	case path == "/v1/boards" && r.URL.Query().Get("limit") == "2": // whether a label leads to another board
		answer(`{"boards":[` + board + `,{"name":"other"}]}`)
	case path == "/v1/boards":
		answer(`{"boards":[` + board + `],"next_cursor":"more"}`)
	case path == "/v1/boards/demo":
		answer(board)
	case path == "/v1/boards/demo/top" && r.URL.Query().Get("period") == "1999-01-01":
		problem(http.StatusNotFound, "Period not found", "It ended before the board was made.")
	case path == "/v1/boards/demo/top":
		answer(`{` + state + `,"stale":` + map[bool]string{true: "true", false: "false"}[r.URL.Query().Get("mode") == "dense"] + `,"entries":[` + entry + `]}`)
	case path == "/v1/boards/demo/periods":
		answer(`{"periods":[{"period":"2026-11-20","state":"open"},{"period":"2026-11-19","state":"closed"}]}`)
	case path == "/v1/boards/demo/members/ada/around" && r.URL.RawQuery == "after=5&before=4&profiles=true":
		answer(`{` + state + `,"entries":[{"rank":29,"member":"u1"},{"rank":30,"member":"ada"}]}`)
	case path == "/v1/boards/demo/members/nobody/around":
		problem(http.StatusNotFound, "Not ranked", "")
	case strings.Contains(path, "/members/hurried"):
		problem(http.StatusServiceUnavailable, "The service is not available", "")
	case strings.Contains(path, "/members/"+longName), path == "/v1/boards/demo/members" && r.URL.Query().Get("q") == "\x00":
		problem(http.StatusBadRequest, "The request is not valid", "The member is no id.")
	case path == "/v1/boards/demo/members" && r.URL.Query().Get("q") == longName:
		answer(`{` + state + `,"partial":false,"entries":[{"rank":5,"member":"ada"}]}`)
	case strings.HasSuffix(path, "/around"):
		answer(`{"entries":[` + entry + `]}`)
	case strings.Contains(path, "/members/\x00"):
		problem(http.StatusBadRequest, "The request is not valid", "The member is no id.")
	case path == "/v1/boards/demo/members/ada":
		answer(`{` + state + `,"percentile":88.64,` + strings.TrimPrefix(entry, "{"))
	case path == "/v1/boards/demo/members" && r.URL.Query().Get("q") == "Love":
		answer(`{` + state + `,"partial":false,"entries":[{"rank":5,"member":"ada"}]}`)
	case path == "/v1/boards/demo/members" && r.URL.Query().Get("q") == "Ada":
		answer(`{` + state + `,"partial":false,"next_cursor":"more","entries":[{"rank":5,"member":"u1","profile":{"display_name":"Ada L."}},{"rank":9,"member":"u2"}]}`)
	case path == "/v1/boards/demo/members" && r.URL.Query().Get("q") == "gone":
		answer(`{` + state + `,"partial":false,"entries":[{"rank":5,"member":"gone"}]}`)
	case strings.HasPrefix(path, "/v1/boards/busy"):
		problem(http.StatusServiceUnavailable, "The service is not available", "")
	case strings.HasPrefix(path, "/v1/boards/private"):
		problem(http.StatusForbidden, "The key does not allow this", "It is a secret.")
	default:
		problem(http.StatusNotFound, "Board not found", "No board has this name.")
	}
}

// request asks for a page and returns the answer and its body.
func request(t *testing.T, method, path string, header http.Header) (*http.Response, string) {
	t.Helper()
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, path, http.NoBody)
	if header != nil {
		r.Header = header
	}
	w := httptest.NewRecorder()
	site.Handler(http.HandlerFunc(fakeAPI)).ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

func get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	return request(t, http.MethodGet, path, nil)
}

// TestHostileNames: members' names are text on every page, and no address in them becomes a link.
func TestHostileNames(t *testing.T) {
	for _, path := range []string{"/", "/boards/demo", "/boards/demo?member=ada", "/boards/demo?embed=1", "/boards/demo?member=%3Cscript%3Ealert(4)%3C/script%3E&mode=%22%3E%3Cscript%3Ealert(5)%3C/script%3E"} {
		_, body := get(t, path)
		for _, bad := range []string{"<script>alert", "<img src=x", "javascript:alert", "ZgotmplZ"} {
			if strings.Contains(strings.Split(body, `<script type="application/json"`)[0], bad) {
				t.Errorf("%s: %q in %s", path, bad, body)
			}
		}
		if n := strings.Count(body, "</script>"); n != 3 {
			t.Errorf("%s: %d scripts end, want those of the page", path, n)
		}
		if !strings.Contains(body, "&lt;script&gt;alert(1)") {
			t.Errorf("%s: the name is not there", path)
		}
	}
}

// TestWithoutScripts: a board's page says all of it in plain HTML.
func TestWithoutScripts(t *testing.T) {
	for path, wants := range map[string][]string{
		"/":                                             {`href="/boards/demo"`, "60 players", "9,223,372,036,854,775,807", `href="/?cursor=more"`},
		"/?labels=type:moba":                            {"Boards of type:moba", `href="/?cursor=more&amp;labels=type%3Amoba"`},
		"/boards/demo":                                  {"9,223,372,036,854,775,807", "As of <time", "2026-11-20 13:00:00 UTC", `href="/boards/demo?window=all_time"`, `href="/boards/demo?mode=dense"`, `href="/boards/demo?period=2026-11-19"`, `href="/boards/demo?offset=25"`, `href="/boards/source"`, `href="/?labels=type:moba"`, `<th scope="col" class="number field">level</th>`, `<form class="find" action="/boards/demo">`},
		"/boards/demo?offset=25":                        {`rel="prev"`, `href="/boards/demo?offset=50"`, `>First</a>`},
		"/boards/demo?rank=30":                          {`href="/boards/demo?offset=50"`},
		"/boards/demo?mode=dense":                       {"Delayed; as of", `href="/boards/demo?mode=dense&amp;offset=25"`},
		"/boards/demo?member=ada":                       {"1st of 60, top 2 %", "Nearby", `href="/boards/demo?member=ada&amp;rank=1"`},
		"/boards/demo?member=nobody":                    {"Nobody with a score in this period has a name that begins with <bdi>nobody</bdi>."},
		"/boards/demo?member=gone":                      {"Nobody with a score in this period has a name that begins with <bdi>gone</bdi>."},
		"/boards/demo?member=%20o%20":                   {"Nobody here is called just <bdi> o </bdi>"},
		"/boards/demo?member=%00":                       {"Nobody here is called just"},
		"/boards/demo?member=hurried":                   {"<bdi>hurried</bdi>", "Load the page again in 7 seconds.", "9,223,372,036,854,775,807"},
		"/boards/demo?member=Ada":                       {"Some of the names with <bdi>Ada</bdi>", `href="/boards/demo?member=u1"`, "<bdi>Ada L.</bdi>", `href="/boards/demo?member=u2"`},
		"/boards/demo?embed=1&limit=60":                 {`class="board embed"`},
		"/boards/demo?embed=1&member=ada":               {`<tr aria-current="true"><td class="number rank"><span>30</span>`, "<bdi>u1</bdi>"},
		"/boards/demo?embed=1&member=nobody":            {"9,223,372,036,854,775,807"},
		"/boards/demo?embed=1&transparent=1&theme=dark": {`<html lang="en" class="clear dark">`},
		"/console":                                      {"The console needs JavaScript"},
	} {
		r, body := get(t, path)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", path, want, body)
			}
		}
	}
	if _, body := get(t, "/boards/demo?embed=1"); strings.Contains(body, "masthead") || strings.Contains(body, "<form") {
		t.Error("a frame has the menus of the site")
	}
}

// TestNamedInAddress: an address with a name that one member has leads to the address with the id, and keeps all else.
func TestNamedInAddress(t *testing.T) {
	for path, want := range map[string]string{
		"/boards/demo?member=Love": "/boards/demo?member=ada", "/boards/demo?member=" + url.QueryEscape(longName): "/boards/demo?member=ada", "/boards/demo?member=Love&mode=dense&offset=25&lang=de": "/boards/demo?lang=de&member=ada&mode=dense&offset=25",
	} {
		r, _ := get(t, path)
		if got := r.Header.Get("Location"); r.StatusCode != http.StatusFound || got != want {
			t.Errorf("%s: %s to %q, want %q", path, r.Status, got, want)
		}
	}
}

// TestProblems: a page that cannot be shown has the reason in words, with the status and the pause of the API.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		path, words, again string
		status             int
	}{
		{"/boards/none", "There is no public board of this name.", "", http.StatusNotFound},
		{"/boards/busy", "Load the page again in 7 seconds.", "7", http.StatusServiceUnavailable},
		{"/?labels=type:busy", "Too many requests came from your address.", "7", http.StatusTooManyRequests},
		{"/boards/demo?period=1999-01-01", "It ended before the board was made.", "", http.StatusNotFound},
	} {
		r, body := get(t, c.path)
		if r.StatusCode != c.status || !strings.Contains(body, c.words) || strings.Contains(body, "data-again") != (c.again != "") {
			t.Errorf("%s: %s %s", c.path, r.Status, body)
		}
		if c.again != "" && r.Header.Get("Retry-After") != c.again {
			t.Errorf("%s: Retry-After %q", c.path, r.Header.Get("Retry-After"))
		}
	}
	if _, body := get(t, "/boards/demo?period=1999-01-01"); !strings.Contains(body, `href="/boards/demo?period=1999-01-01&amp;window=all_time"`) && !strings.Contains(body, "window=all_time") {
		t.Error("there is no way back to what there is")
	}
}

// TestPrivateBoard: a board that the reader may not read is not there, by every byte and header.
func TestPrivateBoard(t *testing.T) {
	none, noneBody := get(t, "/boards/absents")
	private, privateBody := get(t, "/boards/private")
	if none.StatusCode != private.StatusCode || strings.ReplaceAll(privateBody, "private", "absents") != noneBody {
		t.Errorf("missing: %s\n%s\nprivate: %s\n%s", none.Status, noneBody, private.Status, privateBody)
	}
	none.Header.Del("ETag")
	private.Header.Del("ETag")
	if a, b := headers(none.Header), headers(private.Header); a != b {
		t.Errorf("missing: %s\nprivate: %s", a, b)
	}
}

func headers(h http.Header) string {
	out, _ := json.Marshal(h)
	return string(out)
}

// TestPolicy: a page loads only files of this server, has nothing in it that the policy would forbid, and other sites can frame
// only the pages made for frames.
func TestPolicy(t *testing.T) {
	for path, want := range map[string]string{"/": "'none'", "/boards/demo": "'none'", "/console": "'none'", "/boards/demo?embed=1": "*", "/boards/none": "'none'"} {
		r, body := get(t, path)
		if got := r.Header.Get("Content-Security-Policy"); got != policy+want {
			t.Errorf("%s: %s", path, got)
		}
		for _, bad := range []string{" style=", "<style", " onclick=", "http://", "https://"} {
			if strings.Contains(strings.NewReplacer("http://www.w3.org/2000/svg", "", `content="http://example.com/boards/demo`, "").Replace(body), bad) { // for sites that link to the page
				t.Errorf("%s: %s in %s", path, bad, body)
			}
		}
	}
}

// TestSending: pages and files are compressed for clients that accept it, not sent again to clients that have them, and not sent for HEAD.
func TestSending(t *testing.T) {
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/boards/demo", "/console", site.assets.entries["board"].Script} {
		zipped, _ := request(t, http.MethodGet, path, http.Header{"Accept-Encoding": {"br, gzip"}})
		reader, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		unzipped, err := io.ReadAll(reader)
		plain, body := get(t, path)
		if err != nil || string(unzipped) != body {
			t.Errorf("%s: unzipped it is another: %v", path, err)
		}
		tag := plain.Header.Get("ETag")
		if tag == "" || tag == zipped.Header.Get("ETag") {
			t.Errorf("%s: ETag %s", path, tag)
		}
		if r, body := request(t, http.MethodGet, path, http.Header{"If-None-Match": {`"other", ` + tag}}); r.StatusCode != http.StatusNotModified || body != "" || r.Header.Get("ETag") != tag {
			t.Errorf("%s: %s %s", path, r.Status, body)
		}
		if r, head := request(t, http.MethodHead, path, nil); r.StatusCode != http.StatusOK || head != "" || r.Header.Get("Content-Length") != plain.Header.Get("Content-Length") {
			t.Errorf("%s: HEAD: %s %s", path, r.Status, head)
		}
	}
}

// TestNotThere: the API or a page answers for an unknown address, never package http.
func TestNotThere(t *testing.T) {
	for path, want := range map[string]string{
		"/assets/nothing.js": `"title":"Board not found"`, "/assets/licenses.json": `"title":"Board not found"`, // as the API of this test has it
		"/boards/none": "Nothing here", "/boards/%2F": "Nothing here", "/boards/a%2Fb": "Nothing here", "/boards/%25": "Nothing here",
		"/boards": "There is no page at this address.", "/nothing/": "There is no page at this address.", "/nothing?lang=de": "Unter dieser Adresse gibt es keine Seite.",
	} {
		if r, body := get(t, path); r.StatusCode != http.StatusNotFound || !strings.Contains(body, want) {
			t.Errorf("%s: %s %s", path, r.Status, body)
		}
	}
}

// TestAcceptsGzip: gzip is not sent to a client that gives it no weight, however that is written.
func TestAcceptsGzip(t *testing.T) {
	for _, c := range []struct {
		accepts []string
		want    bool
	}{
		{[]string{"gzip"}, true},
		{[]string{"br, GZIP ; q=0.5"}, true},
		{[]string{"br", "gzip"}, true},
		{[]string{"gzip;Q=1"}, true},
		{nil, false},
		{[]string{"br"}, false},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip;q=0.0"}, false},
		{[]string{"gzip; q=0.000, br"}, false},
		{[]string{"gzip;q=x"}, false},
		{[]string{"gzip;level=9"}, false},
		{[]string{"gzipped"}, false},
	} {
		if r, _ := request(t, http.MethodGet, "/console", http.Header{"Accept-Encoding": c.accepts}); (r.Header.Get("Content-Encoding") == "gzip") != c.want {
			t.Errorf("%q: Content-Encoding %q", c.accepts, r.Header.Get("Content-Encoding"))
		}
	}
}

// TestInTheNameOfTheReader: the API sees the address of who looks at the page, and none of the reader's keys.
func TestInTheNameOfTheReader(t *testing.T) {
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	api := func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.RemoteAddr != "192.0.2.7:1234" || r.Header.Get("X-Forwarded-For") != "198.51.100.9" || r.Header.Get("X-Request-Id") != "id" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s is asked by %s with %v", r.URL, r.RemoteAddr, r.Header)
		}
		fakeAPI(w, r)
	}
	r := httptest.NewRequest(http.MethodGet, "/boards/demo?member=ada", http.NoBody)
	r.RemoteAddr = "192.0.2.7:1234"
	r.Header = http.Header{"X-Forwarded-For": {"198.51.100.9"}, "X-Request-Id": {"id"}, "Authorization": {"Bearer secret"}}
	site.Handler(http.HandlerFunc(api)).ServeHTTP(httptest.NewRecorder(), r)
	if asked != 6 { // one of them for the label
		t.Errorf("the API was asked %d times", asked)
	}
}

// TestPictures: the addresses that a page may load as a member's picture.
func TestPictures(t *testing.T) {
	for address, want := range map[string]bool{
		"data:image/png;base64,AAAA": true, "/avatars/ada.png": true,
		"": false, "/": false, "//evil.example/x.png": false, `/\evil.example/x.png`: false, "/\t/evil.example": false, "https://evil.example/x.png": false, "data:text/html,x": false, "javascript:alert(1)": false,
	} {
		e := entry{Profile: &profile{AvatarURL: address}}
		if got := e.Picture() != ""; got != want {
			t.Errorf("%q: %v", address, got)
		}
		e.Profile = &profile{AvatarURL: "https://other.example/x.png", Attributes: map[string]any{"avatar": address}}
		if got := e.Picture() != ""; got != want {
			t.Errorf("the attribute %q: %v", address, got)
		}
	}
}

// TestAvatar holds the drawing of a member, which web/src/shared/avatar.ts makes too.
func TestAvatar(t *testing.T) {
	got, _ := json.Marshal([]avatar{newAvatar("ada"), newAvatar("世界")})
	if want := `[{"Path":"M0 1h1v1h-1zM4 1h1v1h-1zM0 2h1v1h-1zM4 2h1v1h-1zM0 3h1v1h-1zM4 3h1v1h-1zM1 4h1v1h-1zM3 4h1v1h-1zM2 0h1v1h-1zM2 1h1v1h-1zM2 2h1v1h-1zM2 3h1v1h-1z","Fill":"hsl(72 62% 54%)"},{"Path":"M0 0h1v1h-1zM4 0h1v1h-1zM1 2h1v1h-1zM3 2h1v1h-1zM1 3h1v1h-1zM3 3h1v1h-1zM1 4h1v1h-1zM3 4h1v1h-1zM2 1h1v1h-1zM2 2h1v1h-1zM2 4h1v1h-1z","Fill":"hsl(71 62% 58%)"}]`; string(got) != want {
		t.Errorf("got %s", got)
	}
}

// TestEmpty: an empty board reports whether members can still join.
func TestEmpty(t *testing.T) {
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	all, err := loadLanguages(DefaultLanguage)
	if err != nil {
		t.Fatal(err)
	}
	for want, b := range map[string]rules{
		"Nobody is here yet.": {}, "The board has not begun.": {StartsAt: future, EndsAt: future},
		"The board has ended. Nobody was here.": {StartsAt: past, EndsAt: past},
	} {
		if got := all.english.say(b.Empty()); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
