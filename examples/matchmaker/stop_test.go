package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/dewpond/dewpond/instruments/kit/interrupt"
)

// A service that is told to stop while requests are in flight says that it is not ready, closes
// sockets, answers what is in flight, and ends without an error.
func TestStopAnswersWhatIsInFlight(t *testing.T) {
	startsProcesses(t)
	r := beginWith(t, withFaults)
	socket := r.dial(t, "7")
	r.fault(t, "scorer", "hang")
	const asking = 20
	codes := make(chan int, asking)
	for uid := 1; uid <= asking; uid++ {
		go func() {
			a, err := http.Get(fmt.Sprintf("http://%s/api/v1/matches?uid=%d", r.HTTP, 100*uid+1))
			if err != nil {
				t.Error(err)
				codes <- 0
				return
			}
			defer a.Body.Close()
			if text, err := io.ReadAll(a.Body); err != nil || !strings.HasSuffix(string(text), "]}\n") {
				t.Errorf("an answer is cut: %s, %v", text, err)
			}
			codes <- a.StatusCode
		}()
	}
	inFlight := fmt.Sprintf("matchmaker_requests_in_flight %d\n", asking+1) // the socket is one
	for metrics := ""; !strings.Contains(metrics, inFlight); {
		_, metrics = r.do(t, "GET", "http://"+r.Admin+"/metrics", "")
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("%v, want 1001", err)
	}
	if a, text := r.do(t, "GET", "http://"+r.Admin+"/readyz", ""); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/readyz says %d %s", a.StatusCode, text)
	}
	select {
	case <-stopped:
		t.Error("it ends while requests are in flight")
	case code := <-codes:
		t.Errorf("a request that hangs is answered with %d", code)
	default:
	}
	r.fault(t, "scorer", "none")
	for range asking {
		if code := <-codes; code != 200 {
			t.Errorf("a request that was in flight is answered with %d", code)
		}
	}
	<-stopped
}

// Under load, a service that gets SIGTERM has answered every request that it has accepted, by its
// own log, and exits with 0.
func TestTerminateUnderLoad(t *testing.T) {
	startsProcesses(t)
	file := filepath.Join(t.TempDir(), "sessions.jsonl")
	service, text := beginProcess(t, "--session-log="+file)
	at := regexp.MustCompile(`(?m)^http +http://(\S+)`).FindStringSubmatch(text)[1]
	var (
		asking   sync.WaitGroup
		answered sync.Map
		count    atomic.Int64
	)
	for i := range 8 {
		asking.Go(func() {
			tr := new(http.Transport)
			defer tr.CloseIdleConnections()
			for n := 0; ; n++ {
				path := fmt.Sprintf("/api/v1/matches?uid=%d&n=%d", 1+i, n)
				a, err := (&http.Client{Transport: tr}).Get("http://" + at + path)
				if err != nil {
					return // the service is gone, or was before it took this
				}
				_, err = io.Copy(io.Discard, a.Body)
				a.Body.Close()
				if err != nil || a.StatusCode != 200 {
					t.Errorf("%s: %d, %v", path, a.StatusCode, err)
				}
				answered.Store(path, true)
				count.Add(1)
			}
		})
	}
	for count.Load() < 500 {
		runtime.Gosched()
	}
	if err := service.Process.Signal(interrupt.Signals[1]); err != nil {
		t.Fatal(err)
	}
	if err := service.Wait(); err != nil { // an exit code but 0 is one
		t.Error(err)
	}
	asking.Wait()
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for line := range strings.Lines(string(log)) {
		var q struct {
			Path   string
			Status int
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Status != 200 {
			t.Errorf("%s: %v", line, err)
		}
		if _, ok := answered.Load(q.Path); !ok {
			t.Errorf("%s was accepted, and its answer has not come", q.Path)
		}
		accepted++
	}
	if int64(accepted) != count.Load() {
		t.Errorf("%d requests were accepted, and %d answered", accepted, count.Load())
	}
}

// The stand-ins end with a service that is killed.
func TestStandInsEndWithTheService(t *testing.T) {
	startsProcesses(t)
	c, text := beginProcess(t)
	standIns := regexp.MustCompile(`127\.0\.0\.1:[0-9]+`).FindAllString(regexp.MustCompile(`(?s)scorer.*`).ReplaceAllString(text, ""), -1)
	if len(standIns) != 3 { // PostgreSQL and two Redis
		t.Errorf("it stands on %v:\n%s", standIns, text)
	}
	for _, at := range standIns {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Error(err)
			continue
		}
		conn.Close()
	}
	c.Process.Kill()
	c.Wait()
	for _, at := range standIns {
		for {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				break // nobody listens any more
			}
			conn.Close()
			runtime.Gosched()
		}
	}
}

// beginProcess starts this program as the service, on free ports, and returns what it has printed when
// it is ready. The caller ends it.
func beginProcess(t *testing.T, args ...string) (c *exec.Cmd, text string) {
	t.Helper()
	c = exec.Command(os.Args[0], append([]string{"--http=127.0.0.1:0", "--https=127.0.0.1:0", "--grpc=127.0.0.1:0", "--admin=127.0.0.1:0"}, args...)...)
	c.Env = append(os.Environ(), asService+"=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		text += lines.Text() + "\n"
	}
	return c, text
}
