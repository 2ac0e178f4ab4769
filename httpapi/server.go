package httpapi

import (
	"net/http"
	"time"
)

// Server is an http.Server for handler whose limits keep slow and greedy clients from holding it up. The caller
// serves and shuts down. Routes that may take longer extend the deadlines for themselves.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       20 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}
