package manual

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"leaderboard/docs"
)

// TestRender: the start says what this is, no page shows the name of a file in the place of a title or a link that leads nowhere, and no
// heading of the menu is empty. Decisions have pages that the search does not know.
func TestRender(t *testing.T) {
	made, search, err := render(docs.Files, []byte("# What this is\n\nA [tutorial](docs/tutorial.md).\n"), "", "")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"": ""} // the reference
	for name, page := range made {
		pages[name] = string(page)
	}
	if got := pages[start]; !strings.Contains(got, `<h1 id="what-this-is">`) || !strings.Contains(got, `<a href="/docs/tutorial">tutorial</a>`) || !strings.Contains(got, `<h2 id="the-manual">`) {
		t.Errorf("the start is not what this is, then the manual:\n%.500s", got)
	}
	dead, link := regexp.MustCompile(`>\.\./[^<]*<|>[\w-]+\.md<`), regexp.MustCompile(`href="/docs/?([^"#]*)(?:#([^"]*))?"`)
	for name, page := range pages {
		_, text, _ := strings.Cut(page, "<main")
		if found := dead.FindString(text); found != "" {
			t.Errorf("%s has a dead link: %s", name, found)
		}
		for _, to := range link.FindAllStringSubmatch(page, -1) {
			target, ok := pages[to[1]]
			if id := to[2]; !ok || target != "" && id != "" && !strings.Contains(target, `id="`+id+`"`) {
				t.Errorf("%s leads to %s, which is not there", name, to[0])
			}
		}
		if regexp.MustCompile(`<p>[^<]*</p>\s*<ul></ul>`).MatchString(page) {
			t.Errorf("the menu of %s has an empty group", name)
		}
	}
	if _, text, _ := strings.Cut(pages["settings"], "<h1"); !regexp.MustCompile(`^[^\n]*\n<h2[^\n]*\n<table`).MatchString(text) {
		t.Errorf("the page of settings begins with something else:\n%.300s", text)
	}
	var sections []section
	if err := json.Unmarshal(search, &sections); err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if strings.HasPrefix(s.Href, reference+"/decisions") {
			t.Errorf("the search finds %s", s.Href)
		}
	}
	if pages["decisions-libraries"] == "" {
		t.Error("decisions have no pages")
	}
}
