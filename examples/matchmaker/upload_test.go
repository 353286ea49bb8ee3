package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/web"
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
	startsProcesses(t)
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

// The memory of uploads stays in its budget while 200 of 10 MB come at once. Each is taken, or is
// told to come again.
func TestUploadsStayInTheirBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends 2 GB")
	}
	r := begin(t)
	small := len(picture(t, 0))
	body := picture(t, web.MostPhoto-small)
	var (
		uploading sync.WaitGroup
		mu        sync.Mutex
		answers   = map[int]int{}
		over      = make(chan struct{})
	)
	pool := statsOf(t, "uploads")
	watching := make(chan int64)
	go func() {
		most := int64(0)
		for {
			most = max(most, statsOf(t, "uploads").Budget.Used)
			select {
			case <-over:
				watching <- most
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	for i := range 200 {
		uploading.Go(func() {
			code, again, err := r.put(t, i+1, body)
			if err != nil || code == http.StatusServiceUnavailable && again == "" {
				t.Errorf("status %d, Retry-After %q: %v", code, again, err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[code]++
		})
	}
	uploading.Wait()
	close(over)
	if most := <-watching; most > pool.Budget.Limit || most < int64(len(body)) {
		t.Errorf("%d bytes of %d", most, pool.Budget.Limit)
	}
	t.Logf("answers %v", answers)
	if answers[200] == 0 || answers[200]+answers[503] != 200 {
		t.Errorf("the answers are %v", answers)
	}
	if s := statsOf(t, "uploads"); s.OverBudget != 0 || s.Oversize != 0 {
		t.Errorf("over the budget %d, oversize %d", s.OverBudget, s.Oversize)
	}
	r.nothingInUse(t)
}

// put uploads a photo, whose body is sent when the service asks for it.
func (r *running) put(t *testing.T, uid int, body string) (code int, again string, err error) {
	q, err := http.NewRequestWithContext(t.Context(), "PUT", fmt.Sprintf("http://%s/api/v1/photos/%d", r.HTTP, uid), strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	q.Header.Set("Expect", "100-continue")
	tr := &http.Transport{ExpectContinueTimeout: time.Hour}
	defer tr.CloseIdleConnections()
	a, err := (&http.Client{Transport: tr}).Do(q)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, a.Header.Get("Retry-After"), err
}

// Where there is no room an upload waits, and then is told when to come again. Those that have the
// room here never send what they have announced.
func TestUploadsWaitForRoom(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	var taking []net.Conn
	for s := statsOf(t, "uploads"); s.Budget.Used+10<<20 < s.Budget.Limit; s = statsOf(t, "uploads") {
		c, err := net.Dial("tcp", r.HTTP)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		taking = append(taking, c)
		fmt.Fprintf(c, "PUT /api/v1/photos/7 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", web.MostPhoto)
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v", line, err) // it has its room when the service asks for the body
		}
	}
	if code, again, err := r.put(t, 8, picture(t, 9<<20)); code != http.StatusServiceUnavailable || again == "" || err != nil {
		t.Errorf("%d, Retry-After %q, %v, want 503 where %d uploads have all the room", code, again, err, len(taking))
	}
	for _, c := range taking {
		c.Close()
	}
	for code := 0; code != http.StatusOK; { // as soon as the service knows that they have hung up
		code, _, _ = r.put(t, 8, picture(t, 9<<20))
	}
	r.nothingInUse(t)
}

// The driver is switched while 200 uploads run: each says which driver took it, and is read back
// whole when all is over.
func TestUploadsDuringSwitches(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	var (
		uploading sync.WaitGroup
		mu        sync.Mutex
		took      = map[string]int{}
		ended     atomic.Int32
	)
	for i := range 200 {
		uploading.Go(func() {
			defer ended.Add(1)
			_, text := r.ask(t, "PUT", fmt.Sprintf("/api/v1/photos/%d", i+1), shade(t, i), 200)
			var said struct{ Driver string }
			if err := json.Unmarshal([]byte(text), &said); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took[said.Driver]++
		})
	}
	drivers := []string{"disk", "postgres", "memory"}
	for i := 0; ended.Load() < 200; i++ {
		if a, text := r.do(t, "PUT", "http://"+r.Admin+"/admin/photos/driver", `{"driver":"`+drivers[i%3]+`"}`); a.StatusCode != 200 {
			t.Fatal(text)
		}
	}
	uploading.Wait()
	if took["memory"]+took["disk"]+took["postgres"] != 200 {
		t.Errorf("the drivers took %v of 200", took)
	}
	th := new(photo.Thumbnailer)
	for i := range 200 {
		var want bytes.Buffer
		if err := th.Make(t.Context(), &want, []byte(shade(t, i))); err != nil {
			t.Fatal(err)
		}
		if _, got := r.ask(t, "GET", fmt.Sprintf("/img/u/%d_480p.jpg", i+1), "", 200); got != want.String() {
			t.Errorf("photo %d is read back in %d bytes, want the %d of its thumbnail", i+1, len(got), want.Len())
		}
	}
	r.nothingInUse(t)
}

// shade is a small photo that no other number has.
func shade(t *testing.T, n int) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 32, 16))
	for i := range m.Pix {
		m.Pix[i] = byte(n)
	}
	m.Pix[0] ^= 0x80
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// 500 requests of 500 goroutines, each with a body of its own, are 500 Gets, and nothing of one
// is in the answer to another.
func TestProcess(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	var asking sync.WaitGroup
	for i := range 500 {
		asking.Go(func() {
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
	_, metrics := r.do(t, "GET", "http://"+r.Admin+"/metrics", "")
	shown := 0
	for line := range strings.Lines(metrics) {
		if name, n, _ := strings.Cut(strings.TrimSpace(line), "} "); strings.HasPrefix(name, "dewpond_gets_total{") && strings.Contains(name, `pool="web.Processed"`) {
			n, err := strconv.Atoi(n)
			if err != nil {
				t.Error(err)
			}
			shown += n
		}
	}
	if shown != 500 {
		t.Errorf("/metrics shows %d gets of 500 requests", shown)
	}
}

// vast is a small JPEG that says it has 30,000 x 30,000 pixels, which nobody could decode.
func vast(t *testing.T) string {
	t.Helper()
	b := []byte(picture(t, 0))
	at := bytes.Index(b, []byte{0xff, 0xc0}) // start of frame: length, precision, height, width
	binary.BigEndian.PutUint16(b[at+5:], 30_000)
	binary.BigEndian.PutUint16(b[at+7:], 30_000)
	return string(b)
}

// passes is a JPEG that says it has so many scans that nobody would decode them all.
func passes(t *testing.T) string {
	t.Helper()
	b := picture(t, 0)
	head := strings.Index(b, "\xff\xda")
	return b[:head] + strings.Repeat("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00", 100_000) + b[head:]
}

// logged has what is logged until the test ends.
func logged(t *testing.T) *bytes.Buffer {
	t.Helper()
	before, out, flags := slog.Default(), new(bytes.Buffer), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(out, nil)))
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr) // SetDefault does not take its hand off it
		log.SetFlags(flags)
	})
	return out
}

// What clients do wrong is answered with what would do, leaves nothing behind, and is not logged
// as a fault of ours.
func TestBadInput(t *testing.T) {
	startsProcesses(t)
	said := logged(t)
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
		{"PUT", "/api/v1/photos/7", vast(t), 413, "30000 x 30000"},
		{"PUT", "/api/v1/photos/7", passes(t), 413, "100001 scans of 600 x 30 pixels"},
		{"GET", "/nowhere", ``, 404, "there is no such path"},
		{"DELETE", "/process", ``, 405, "this path takes POST"},
	} {
		a, text := r.do(t, tt.method, "http://"+r.HTTP+tt.path, tt.body)
		var e struct{ Error string }
		if err := json.Unmarshal([]byte(text), &e); err != nil || a.StatusCode != tt.status || !strings.Contains(e.Error, tt.says) {
			t.Errorf("%s %s %.40q answers %d %s, want %d and %q", tt.method, tt.path, tt.body, a.StatusCode, text, tt.status, tt.says)
		}
	}
	r.nothingInUse(t)
	if said.Len() > 0 { // the service has ended
		t.Errorf("logged: %s", said)
	}
}

// Clients that hang up midway leave nothing behind.
func TestHangUp(t *testing.T) {
	startsProcesses(t)
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
		if slices.Contains([]string{"matchmaker", "matching.Context", "uploads", "web.Processed", "photo.Thumbnailer", "photo.memory", "photo.blocks"}, p.Name()) {
			pools = append(pools, p)
		}
	}
	if len(pools) != 7 {
		t.Errorf("%d pools are the service's, want 7", len(pools))
	}
	r.stop()
	for _, p := range pools {
		if s := p.Stats(); s.InUseBytes != 0 || s.Dropped.Foreign != 0 || s.Dropped.Double != 0 || s.Violations != 0 {
			t.Errorf("%s has %d bytes in use, %d foreign, %d double, %d violations", s.Name, s.InUseBytes, s.Dropped.Foreign, s.Dropped.Double, s.Violations)
		}
	}
}
