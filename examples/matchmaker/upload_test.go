package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
)

// picture is a JPEG with n bytes of nothing behind its end, which a decoder does not read.
func picture(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 600, 30)), nil); err != nil {
		t.Fatal(err)
	}
	return b.String() + strings.Repeat("\x00", n)
}

// statsOf returns the statistics of the live pool of that name.
func statsOf(t *testing.T, name string) dewpond.Stats {
	t.Helper()
	for p := range dewpond.Pools() {
		if p.Name() == name {
			return p.Stats()
		}
	}
	t.Fatalf("there is no pool %s", name)
	return dewpond.Stats{}
}

func TestUpload(t *testing.T) {
	r := begin(t)
	_, before := r.ask(t, "GET", "/img/u/7_480p.jpg", "", 200)
	for _, driver := range []string{"memory", "disk", "postgres"} {
		if a, text := r.do(t, "PUT", "http://"+r.Admin+"/admin/photos/driver", `{"driver":"`+driver+`"}`); a.StatusCode != 200 {
			t.Fatal(text)
		}
		uid := map[string]string{"memory": "7", "disk": "8", "postgres": "9"}[driver]
		if _, text := r.ask(t, "PUT", "/api/v1/photos/"+uid, picture(t, 0), 200); !strings.Contains(text, `"driver":"`+driver+`"`) {
			t.Errorf("%s: %s", driver, text)
		}
	}
	for _, uid := range []string{"7", "8", "9"} { // each from the driver that took it
		_, after := r.ask(t, "GET", "/img/u/"+uid+"_480p.jpg", "", 200)
		c, err := jpeg.DecodeConfig(strings.NewReader(after))
		if err != nil || c.Width != 480 || c.Height != 24 || after == before {
			t.Errorf("%s: %+v, %v", uid, c, err)
		}
	}
	if a, text := r.do(t, "PUT", "http://"+r.Admin+"/admin/photos/driver", `{"driver":"tape"}`); a.StatusCode != 400 || !strings.Contains(text, "disk, memory, postgres") {
		t.Errorf("an unknown driver: %d %s", a.StatusCode, text)
	}
}

// The memory of uploads stays in its budget while far more come than have room. Each is taken, or
// is told to come again.
func TestUploadsStayInTheirBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 400 MB")
	}
	r := begin(t)
	body := picture(t, 9<<20)
	var (
		uploading sync.WaitGroup
		mu        sync.Mutex
		answers   = map[int]int{}
		turns     = make(chan struct{}, 24)
	)
	for i := range 40 {
		turns <- struct{}{}
		uploading.Go(func() {
			defer func() { <-turns }()
			a, text := r.do(t, "PUT", fmt.Sprintf("http://%s/api/v1/photos/%d", r.HTTP, i+1), body)
			if a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") == "" {
				t.Errorf("503 without Retry-After: %s", text)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[a.StatusCode]++
		})
		if s := statsOf(t, "uploads"); s.BudgetUsed > s.BudgetLimit {
			t.Errorf("%d bytes of %d", s.BudgetUsed, s.BudgetLimit)
		}
	}
	uploading.Wait()
	if answers[200] == 0 || answers[200]+answers[503] != 40 {
		t.Errorf("the answers are %v", answers)
	}
	if s := statsOf(t, "uploads"); s.InUseBytes != 0 || s.OverBudget != 0 || s.Oversize != 0 {
		t.Errorf("in use %d, over the budget %d, oversize %d", s.InUseBytes, s.OverBudget, s.Oversize)
	}
}

// 500 requests of 500 goroutines, each with a body of its own, are 500 Gets, and nothing of one
// is in the answer to another.
func TestProcess(t *testing.T) {
	r := begin(t)
	var asking sync.WaitGroup
	turns := make(chan struct{}, 50)
	for i := range 500 {
		asking.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			body := fmt.Sprintf(`{"id":%d,"username":"user %d"}`, i, i)
			if i%2 == 0 {
				body = fmt.Sprintf(`{"id":%d}`, i) // no name: none of an earlier one
			}
			_, text := r.do(t, "POST", "http://"+r.HTTP+"/process", body)
			want := fmt.Sprintf("{\"id\":%d,\"username\":\"user %d\"}\n", i, i)
			if i%2 == 0 {
				want = fmt.Sprintf("{\"id\":%d,\"username\":\"\"}\n", i)
			}
			if text != want {
				t.Errorf("%s answers %s", body, text)
			}
		})
	}
	asking.Wait()
	s := statsOf(t, "web.Processed")
	if s.Gets != 500 || s.Puts != 500 || s.Hits+s.Misses != 500 {
		t.Errorf("%d gets, %d puts, %d hits and %d misses of 500 requests", s.Gets, s.Puts, s.Hits, s.Misses)
	}
}

func TestBadInput(t *testing.T) {
	r := begin(t)
	long := `{"uid":7,"x":"` + strings.Repeat("x", 64<<10) + `"}`
	for _, tt := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/api/v1/match", `{}`, 400, `send {"uid":7}`},
		{"GET", "/api/v1/matches", ``, 400, "/api/v1/matches?uid=7"},
		{"GET", "/api/v1/matches?uid=x", ``, 400, "no number"},
		{"POST", "/api/v1/match", `{"uid":"x"}`, 400, "offset"},
		{"GET", "/api/v1/matches?uid=20001", ``, 404, "uids are 1 to 20000"},
		{"POST", "/api/v1/match", `{"uid":0}`, 404, "uids are 1 to 20000"},
		{"POST", "/api/v1/match", `{"uid":7,}`, 400, "offset 10"},
		{"POST", "/api/v1/match", ``, 400, "empty"},
		{"POST", "/api/v1/match", long, 413, "at most 65536 bytes"},
		{"POST", "/process", `{"id":`, 400, "offset 6"},
		{"POST", "/process", long, 413, "at most 65536 bytes"},
		{"PUT", "/api/v1/users/7", `{"name":""}`, 400, "name must be"},
		{"PUT", "/api/v1/users/7", `{"age":7}`, 400, "age must be"},
		{"GET", "/img/u/7.jpg", ``, 404, "/img/u/7_480p.jpg"},
		{"PUT", "/api/v1/photos/7", ``, 415, "send a JPEG"},
		{"PUT", "/api/v1/photos/7", `no image`, 415, "send a JPEG"},
		{"PUT", "/api/v1/photos/7", strings.Repeat("x", 10<<20+1), 413, "at most 10485760 bytes"},
		{"PUT", "/api/v1/photos/0", picture(t, 0), 404, "uids are 1 to 20000"},
		{"GET", "/ws?uid=x", ``, 400, "no number"},
		{"GET", "/api/v1/messages?uid=7", ``, 400, "with=8"},
	} {
		a, text := r.do(t, tt.method, "http://"+r.HTTP+tt.path, tt.body)
		var e struct{ Error string }
		if err := json.Unmarshal([]byte(text), &e); err != nil || a.StatusCode != tt.status || !strings.Contains(e.Error, tt.says) {
			t.Errorf("%s %s %.40q answers %d %s, want %d and %q", tt.method, tt.path, tt.body, a.StatusCode, text, tt.status, tt.says)
		}
	}
	r.nothingInUse(t)
}

// Clients that hang up midway leave nothing behind.
func TestHangUp(t *testing.T) {
	r := begin(t)
	for _, text := range []string{
		"PUT /api/v1/photos/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
		"PUT /api/v1/photos/7 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"POST /process HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
		"POST /api/v1/match HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"uid\":",
	} {
		c, err := net.Dial("tcp", r.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(c)
		c.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 400") {
			t.Errorf("%.30q is answered with %.60q", text, answer)
		}
	}
	r.nothingInUse(t)
}

// nothingInUse wants every pool of the service to have got back what it gave. The service stops
// for it, because an answer may arrive before the last Put.
func (r *running) nothingInUse(t *testing.T) {
	t.Helper()
	var pools []dewpond.StatsSource
	for p := range dewpond.Pools() {
		if slices.Contains([]string{"matchmaker", "matching.Context", "uploads", "web.Processed", "photo.Thumbnailer"}, p.Name()) {
			pools = append(pools, p)
		}
	}
	if len(pools) != 5 {
		t.Errorf("%d pools are the service's, want 5", len(pools))
	}
	r.stop()
	for _, p := range pools {
		if s := p.Stats(); s.InUseBytes != 0 || s.DroppedForeign != 0 || s.DroppedDouble != 0 || s.Violations != 0 {
			t.Errorf("%s has %d bytes in use, %d foreign, %d double, %d violations", s.Name, s.InUseBytes, s.DroppedForeign, s.DroppedDouble, s.Violations)
		}
	}
}
