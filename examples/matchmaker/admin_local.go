package main

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// forThisMachine refuses what a page of somebody else has a browser on this machine ask: one whose
// name has been made to lead here, which shows in Host, and one that asks across sites, which
// browsers say. The admin port has no passwords, and its profiles show memory.
func forThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
		from, err := url.Parse(origin)
		switch {
		case !isLoopback(r.Host):
			http.Error(w, "ask by a loopback address or localhost, as in http://127.0.0.1:8082/", http.StatusForbidden)
		case site != "" && site != "same-origin" && site != "none", origin != "" && (err != nil || from.Host != r.Host):
			http.Error(w, "pages of other sites are not answered here", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLoopback reports whether HOST or HOST:PORT is this machine, by an address that no name server
// has a say in.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
