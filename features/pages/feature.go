package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"os"

	"leaderboard/features"
	"leaderboard/internal/settings"
)

// Settings are how the pages look, by the tags of package settings.
type Settings struct {
	Folder // of --site

	_ struct{} `setting:"site" section:"Pages" value:"folder" doc:"folder with the look of the pages; each file may be missing: title.txt, header.txt (manual, console, Shop https://example.com/), footer.txt, accent.txt (a colour, #3151d3), language.txt (language if none of the reader's is available, such as de), logo.png, font.ttf (letters in share pictures that are not Latin, Greek or Cyrillic), and logos, a folder of pictures for boards"`
	_ struct{} `setting:"site-title" old:"site"`
	_ struct{} `setting:"site-accent" old:"site"`
	_ struct{} `setting:"site-logo" old:"site"`
	_ struct{} `setting:"site-footer" old:"site"`
	_ struct{} `setting:"site-logos" old:"site"`
	_ struct{} `setting:"site-language" old:"site"`
	_ struct{} `setting:"picture-font" old:"site"`
}

// Parsers implements settings.Parsers.
func (s *Settings) Parsers() map[string]func(string) error {
	f := &s.Face
	return map[string]func(string) error{
		"site": settings.Into(&s.Folder, ReadFolder), "site-title": settings.Into(&f.Title, CheckTitle), "site-accent": settings.Into(&f.Accent, ParseAccent),
		"site-logo": settings.Into(&f.Logo, ReadLogo), "site-footer": settings.Into(&f.Footer, CheckFooter), "site-logos": settings.Into(&f.Logos, ReadLogos),
		"site-language": settings.Into(&s.Language, CheckLanguage), "picture-font": settings.Into(&s.Font, settings.Text),
	}
}

// Feature returns the feature's settings and its loader of pages. The pages are loaded after all features are open.
func Feature() features.Feature {
	s := &Settings{}
	return features.Feature{Name: "pages", Settings: s, Open: func(e *features.Engine) features.Opened {
		return features.Opened{Offers: []any{&loader{s, e.Server}}}
	}}
}

// loader makes the pages.
type loader struct {
	settings *Settings
	server   features.Server
}

// LoadPages loads the pages, and returns a function that makes their handler, which reads from api.
func (l *loader) LoadPages() (handler func(api http.Handler) http.Handler, err error) {
	o := Options{Face: l.settings.Face, Language: l.settings.Language, Base: l.server.Base}
	o.Face.Header = cmp.Or(o.Face.Header, l.server.Header)
	if file := l.settings.Font; file != "" {
		if o.Font, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("read the font of pictures: %w", err)
		}
	}
	site, err := Load(&o)
	if err != nil {
		return nil, fmt.Errorf("load the pages: %w", err)
	}
	return site.Handler, nil
}
