// Package game is a small game in the browser, from the page to the board: its visitors submit for themselves, by plays.
// docs/players.md shows it.
package game

import (
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"leaderboard/client"
)

//go:embed page.html
var page embed.FS

// Backend serves the game's page, and gives each visitor a separate token for a board at url, and the name that the visitor
// has on it. service has a key of scope write, which stays here.
func Backend(service *client.Client, url, board string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, "page.html") })
	mux.Handle("GET /board", http.RedirectHandler(url+"/boards/"+board+"?embed=1", http.StatusFound))
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1024)
		session, err := r.Cookie("game")
		if err != nil { // a new visitor: from now on the player is the holder of this cookie
			session = &http.Cookie{Name: "game", Value: rand.Text(), MaxAge: 30 * 86400, HttpOnly: true, SameSite: http.SameSiteLaxMode}
			http.SetCookie(w, session)
		}
		player := fmt.Sprintf("visitor-%.10x", sha256.Sum256([]byte(session.Value))) // the board must not reveal the cookie
		name := strings.TrimSpace(r.PostFormValue("name"))
		if _, _, err := service.PutProfile(r.Context(), player, client.ProfileFields{DisplayName: name}); err != nil || name == "" {
			http.Error(w, `{"detail": "The board does not take this name."}`, http.StatusUnprocessableEntity)
			return
		}
		token, err := service.CreateToken(r.Context(), client.TokenRequest{Member: player, Boards: []string{board}, TTL: 15 * time.Minute})
		if err != nil {
			http.Error(w, "There is no token now.", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"service": url, "board": board, "member": player, "token": token.Token})
	})
	return http.NewCrossOriginProtection().Handler(mux)
}
