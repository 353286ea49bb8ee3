package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func withFaults(c *serveCommand) { c.Faults = true }

// fault plays a fault.
func (r *running) fault(t *testing.T, backend, fault string) {
	t.Helper()
	a, text := r.do(t, "POST", "http://"+r.Admin+"/admin/fault", `{"backend":"`+backend+`","fault":"`+fault+`"}`)
	if a.StatusCode != 200 {
		t.Fatal(text)
	}
}

// unavailable wants an answer that says when to come again.
func (r *running) unavailable(t *testing.T, method, path, body string) string {
	t.Helper()
	a, text := r.ask(t, method, path, body, http.StatusServiceUnavailable)
	var e struct{ Error string }
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Error == "" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s %s: Retry-After %q, %s", method, path, a.Header.Get("Retry-After"), text)
	}
	if strings.Contains(text, "127.0.0.1") || strings.Contains(text, "user=") || strings.Contains(text, "database=") {
		t.Errorf("%s %s tells everybody where the backends are: %s", method, path, text)
	}
	return text
}

// untilOK asks until a backend is there again.
func (r *running) untilOK(t *testing.T, method, path, body string) {
	t.Helper()
	for {
		if a, _ := r.do(t, method, "http://"+r.HTTP+path, body); a.StatusCode == http.StatusOK {
			return
		}
	}
}

// Where a backend goes away, what needs it gets 503, and the rest goes on; when it is there again
// all is well.
func TestABackendGoesAway(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, withFaults)
	match, popular, put, name := "/api/v1/matches?uid=7", "/api/v1/recommendations?uid=7", "/api/v1/users/7", `{"name":"Ada"}`
	r.ask(t, "GET", match, "", 200)
	r.ask(t, "GET", popular, "", 200)

	r.fault(t, "scorer", "refuse")
	r.unavailable(t, "GET", match, "")
	r.ask(t, "GET", popular, "", 200)
	r.ask(t, "PUT", put, name, 200)
	r.fault(t, "scorer", "none")
	r.untilOK(t, "GET", match, "")

	r.fault(t, "redis", "refuse")
	r.ask(t, "GET", match, "", 200) // the profile is PostgreSQL's
	r.ask(t, "GET", popular, "", 200)
	if text := r.unavailable(t, "PUT", put, `{"name":"Bea"}`); !strings.Contains(text, `"written":"yes"`) {
		t.Errorf("PostgreSQL has it, and the answer is %s", text)
	}
	if _, text := r.ask(t, "GET", put, "", 200); !strings.Contains(text, `"name":"Bea"`) {
		t.Errorf("what is said to be written is not read: %s", text)
	}
	if a, text := r.do(t, "GET", "http://"+r.Admin+"/readyz", ""); a.StatusCode != 200 || !strings.HasPrefix(text, "ok\nwithout what Redis has") {
		t.Errorf("/readyz: %d %s", a.StatusCode, text)
	}
	r.fault(t, "redis", "none")
	r.untilOK(t, "PUT", put, name)
	r.untilOK(t, "GET", popular, "")

	r.fault(t, "postgres", "refuse")
	r.unavailable(t, "GET", match, "")
	if text := r.unavailable(t, "PUT", put, name); !strings.Contains(text, `"written":"no"`) && !strings.Contains(text, `"written":"unknown"`) {
		t.Errorf("PostgreSQL does not have it, and the answer is %s", text)
	}
	r.ask(t, "GET", popular, "", 200) // Redis has it
	r.ask(t, "GET", put, "", 200)
	r.ask(t, "GET", "/img/u/7_480p.jpg", "", 200)
	r.ask(t, "POST", "/process", `{"id":1}`, 200)
	if a, text := r.do(t, "GET", "http://"+r.Admin+"/readyz", ""); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "database") {
		t.Errorf("/readyz: %d %s", a.StatusCode, text)
	}
	r.fault(t, "postgres", "none")
	r.untilOK(t, "GET", match, "")
	r.fault(t, "postgres", "kill")
	r.untilOK(t, "GET", match, "")
	r.fault(t, "redis/us-west", "slow")
	r.ask(t, "GET", match, "", 200)
	r.fault(t, "redis/us-west", "none")
	r.nothingInUse(t)
}

// What cannot be played is refused, and a service without --faults plays nothing.
func TestFaultsRefuse(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, withFaults)
	for _, tt := range []struct{ path, body, says string }{
		{"fault", `{"backend":"kafka","fault":"hang"}`, `there is no stand-in \"kafka\": the stand-ins are postgres, redis, redis/cn-east, redis/us-west, scorer`},
		{"fault", `{"backend":"redis","fault":"fire"}`, "give kill, hang, slow, refuse, or none"},
		{"fault", `{"backend":"redis","fault":"slow","delay":"soon"}`, "give one such as 100ms"},
		{"fault", `hang`, `send {\"backend\":\"redis\"`},
		{"ballast", ``, "bytes=200MiB, or bytes=0"},
		{"ballast?bytes=-1", ``, "bytes=200MiB, or bytes=0"},
		{"ballast?bytes=512GiB", ``, "is above"},
	} {
		if a, text := r.do(t, "POST", "http://"+r.Admin+"/admin/"+tt.path, tt.body); a.StatusCode != 400 || !strings.Contains(text, tt.says) {
			t.Errorf("%s %s answers %d %s, want %q", tt.path, tt.body, a.StatusCode, text, tt.says)
		}
	}
	before := total()
	if a, text := r.do(t, "POST", "http://"+r.Admin+"/admin/ballast?bytes=64MiB", ""); a.StatusCode != 200 || text != "{\"bytes\":67108864}\n" {
		t.Errorf("%d %s", a.StatusCode, text)
	}
	if has := total(); has < 64<<20 {
		t.Errorf("the process has %d bytes with its ballast, and had %d", has, before)
	}
	r.do(t, "POST", "http://"+r.Admin+"/admin/ballast?bytes=0", "")
	r.stop()
	r = begin(t)
	if a, _ := r.do(t, "POST", "http://"+r.Admin+"/admin/fault", `{"backend":"redis","fault":"hang"}`); a.StatusCode != 404 {
		t.Errorf("without --faults: %d", a.StatusCode)
	}
}
