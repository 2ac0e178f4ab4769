package pages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"leaderboard/internal/bounded"
)

const (
	// Bounds of the pictures that are kept.
	maxPictures     = 512
	maxPictureBytes = 16 << 20
	// pictureWait is how long a request waits for its turn to draw.
	pictureWait = 2 * time.Second
)

// errBusy reports that too many other pictures were to be drawn.
var errBusy = errors.New("too many pictures at once")

// painter draws share pictures, one at a time, and keeps them by their content: the same state of a board is drawn once.
type painter struct {
	fonts *typefaces
	made  string // names the fonts in ETags
	kept  *bounded.Map[string, []byte]
	token chan struct{} // holds one token, whose holder may draw
	drawn atomic.Int64
}

// newPainter makes one; otherFont is a font for scripts that the embedded ones lack, nil for none.
func newPainter(otherFont []byte) (*painter, error) {
	fonts, err := loadTypefaces(otherFont)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(otherFont)
	p := &painter{fonts: fonts, made: hex.EncodeToString(sum[:4]), kept: bounded.New[string, []byte](maxPictures, maxPictureBytes), token: make(chan struct{}, 1)}
	p.token <- struct{}{}
	return p, nil
}

// name returns the ETag of a picture, which depends on its content and the fonts.
func (p *painter) name(of *picture) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	sum := sha256.Sum256(append(text, p.made...))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// get returns the picture with a name, drawn now or kept.
func (p *painter) get(ctx context.Context, name string, of *picture) ([]byte, error) {
	if kept, ok := p.kept.Get(name); ok {
		return kept, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	select {
	case <-p.token:
		defer func() { p.token <- struct{}{} }()
	case <-ctx.Done():
		return nil, errBusy
	}
	if kept, ok := p.kept.Get(name); ok { // the one before drew it
		return kept, nil
	}
	p.drawn.Add(1)
	out, err := p.fonts.paint(of)
	if err != nil {
		return nil, err
	}
	p.kept.Put(name, len(out), out)
	return out, nil
}

// picture answers GET /boards/{board}/picture.png.
func (h *handlers) picture(w http.ResponseWriter, r *http.Request) {
	l, a := h.site.languages.shared(r), newAsker(h.api, r)
	q := readQuestion(r, linkBase{base: h.site.base})
	of := h.site.pictureOf(a, &q, l.drawn)
	if of == nil {
		if again := a.worst.Again(); again != "" {
			w.Header().Set("Retry-After", again)
		}
		http.Error(w, a.worst.Words(l), a.worst.Status)
		return
	}
	header, name := w.Header(), h.site.painter.name(of)
	header.Set("Content-Type", "image/png")
	header.Set("Cache-Control", "public, max-age=60")
	if strings.Contains(r.Header.Get("If-None-Match"), name) {
		send(w, r, http.StatusOK, name, nil)
		return
	}
	out, err := h.site.painter.get(r.Context(), name, of)
	if errors.Is(err, errBusy) {
		header.Set("Retry-After", "2")
		http.Error(w, l.say("problem.pictures"), http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		panic(err) // the server answers 500 and logs it
	}
	send(w, r, http.StatusOK, name, out)
}

// pictureOf asks for the content of a picture. It returns nil if that fails, and a.worst has the reason. If the fonts lack
// letters of a name, the picture has another name, or none.
func (s *Site) pictureOf(a *asker, q *question, l *language) *picture {
	var b rules
	var t top
	if !a.need(q.path(""), nil, &b) || !a.need(q.path("/top"), q.state(url.Values{"limit": {"3"}, "profiles": {"true"}}), &t) {
		return nil
	}
	fonts := s.painter.fonts
	worn := s.assets.worn(s.face, b.Face)
	of := &picture{
		Site: fonts.first(s.face.Title, l.say("site.title")), Logo: cmp.Or(worn.Board.Logo, worn.Logo),
		Title: fonts.first(b.Heading(), b.Name), About: l.Members(t.Total), Stripe: worn.dark,
	}
	if a := s.assets.files[path.Base(of.Logo)]; a != nil {
		of.logo = a.plain
	}
	if t.Window != "all_time" {
		of.About = l.say("picture.period", "window", l.Window(t.Window), "period", t.Period, "members", of.About)
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		of.Rows = append(of.Rows, pictureRow{fonts.person(e), e.Rank, l.Score(b.Display, e.Score)})
	}
	if q.member == "" {
		return of
	}
	var f found
	if !a.need(q.path("/members/"+url.PathEscape(q.member)), q.state(url.Values{"profiles": {"true"}}), &f) {
		return nil
	}
	shown := fonts.person(&f.entry)
	of.Shown, of.Does = &shown, l.say("picture.is", "rank", l.Ordinal(f.Rank), "n", f.Total)
	return of
}

// person returns a member as a picture shows it.
func (t *typefaces) person(e *entry) person {
	return person{Name: t.first(e.Name(), e.Member), Member: e.Member, Picture: string(e.Picture())}
}

// legible returns a language in which pictures can be written: English when the fonts lack letters of it, or it is written from right to left.
func (l *languages) legible(of *language, fonts *typefaces) *language {
	if of.Dir == "rtl" {
		return l.english
	}
	for key, text := range of.Texts {
		for _, form := range text {
			if (key == "members" || key == "ordinal" || strings.HasPrefix(key, "picture.") || strings.HasPrefix(key, "window.")) && fonts.legible(form, "") != form {
				return l.english
			}
		}
	}
	return of
}

// hosts are the names that a page may be linked by.
var hosts = regexp.MustCompile(`^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:.]+\](:\d{1,5})?$`)

// shared is the content of a link's preview on other sites.
type shared struct{ Title, About, Link, Picture string }

// share returns the preview of a board's page; nil if the page's address is unknown. Sites need absolute addresses.
func (v *boardView) share(r *http.Request, q *question, l *language) *shared {
	if v.Top == nil || q.embed || !hosts.MatchString(r.Host) {
		return nil
	}
	origin := "http://" + r.Host
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		origin = "https://" + r.Host
	}
	s := &shared{Title: v.Rules.Heading(), About: l.Members(v.Top.Total), Link: origin + q.link()}
	choice := q.state(url.Values{})
	if v.Found != nil {
		choice.Set("member", v.Found.Member)
		s.About = l.say("share.is", "name", v.Found.Name(), "rank", l.Ordinal(v.Found.Rank), "n", v.Found.Total)
	}
	s.Picture = origin + q.place.to("/boards/"+url.PathEscape(q.board)+pictureEnd, choice)
	return s
}
