package dewstatsviz_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Chromium draws the pools' plots, with lines that move while a pool is under load, and asks no
// other machine for anything. DEWPOND_PAGE names a directory for a screenshot.
func TestPageInChromium(t *testing.T) {
	binary, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium (apt-get install chromium)")
	}
	if testing.Short() {
		t.Skip("starts Chromium")
	}
	server, busy := page(t, 500*time.Millisecond)
	var stop atomic.Bool
	done := make(chan struct{})
	defer func() {
		stop.Store(true)
		<-done
	}()
	go func() { // waves, of which each is larger than the bounds allow to keep
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			var out [][]byte
			for range 10 + i%70 {
				out = append(out, busy.Get(4000))
			}
			time.Sleep(5 * time.Millisecond)
			for _, b := range out {
				busy.Put(b)
			}
		}
	}()

	b := newBrowser(t, binary)
	b.call("Network.enable", nil)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1600, "height": 1500, "deviceScaleFactor": 1, "mobile": false})
	b.call("Page.navigate", map[string]any{"url": server.URL + "/debug/statsviz/"})
	// Statsviz draws only what is in view. The test waits as long as it takes until each plot has many points, and those of the busy pool
	// are not all the same.
	const look = `(() => {
		const all = {};
		for (const p of document.querySelectorAll('.js-plotly-plot')) {
			const title = typeof p.layout.title === 'string' ? p.layout.title : p.layout.title.text;
			if (title === 'dewpond: Hit rate') p.scrollIntoView();
			const line = p.data.find(d => d.name === 'busy') || p.data[0];
			const y = Array.from(line.y || []).filter(v => v !== null);
			all[title] = [y.length, new Set(y).size, p.querySelectorAll('path').length];
		}
		return JSON.stringify(all);
	})()`
	for {
		var plots map[string][3]int
		if err := json.Unmarshal([]byte(b.evaluate(look)), &plots); err != nil {
			t.Fatal(err)
		}
		drawn := true
		for _, title := range []string{"Hit rate", "Misses", "Bytes in use", "Idle bytes", "Callers that wait", "Trimmed", "Violations", "Memory pressure"} {
			p := plots["dewpond: "+title]
			moves := title == "Hit rate" || title == "Misses" || title == "Bytes in use"
			drawn = drawn && p[0] >= 10 && p[2] > 0 && (!moves || p[1] >= 5)
		}
		if drawn {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	const above = `(() => {
		const top = name => document.getElementById(name).getBoundingClientRect().top;
		return JSON.stringify(top('dewpond-hits') <= Math.min(...Array.from(document.querySelectorAll('.plot-card'), p => p.getBoundingClientRect().top)));
	})()`
	if got := b.evaluate(above); got != "true" {
		t.Errorf("the plots of the pools come first: %s", got)
	}
	b.onlyAsks(server)
	if dir := os.Getenv("DEWPOND_PAGE"); dir != "" {
		b.screenshot(dir + "/statsviz.png")
	}
}

// A browser is a tab of a Chromium without a window, to which one speaks by the "Chrome
// DevTools Protocol" (https://chromedevtools.github.io/devtools-protocol).
type browser struct {
	t       *testing.T
	conn    *websocket.Conn
	session string
	id      int
	asked   []string // addresses
}

func newBrowser(t *testing.T, binary string) *browser {
	t.Helper()
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) // not TempDir, which fails if a last process still writes there
	c := exec.Command(binary, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
		"--disable-background-networking", "--disable-component-update", "--no-first-run", "--user-data-dir="+dir, "about:blank")
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	t.Cleanup(func() {
		if b.conn != nil {
			b.conn.WriteJSON(map[string]any{"id": 0, "method": "Browser.close"}) // with all its processes
		} else {
			c.Process.Kill()
		}
		c.Wait()
	})
	b.conn, _, err = websocket.DefaultDialer.Dial(devTools(t, log), nil)
	if err != nil {
		t.Fatal(err)
	}
	var target struct{ TargetID, SessionID string }
	b.into(&target, b.call("Target.createTarget", map[string]any{"url": "about:blank"}))
	b.into(&target, b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}))
	b.session = target.SessionID
	return b
}

// devTools returns the address that Chromium logs, and reads the rest of its log.
func devTools(t *testing.T, log io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(log)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if m := regexp.MustCompile(`DevTools listening on (ws://\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, log)
			return m[1]
		}
	}
	t.Fatalf("Chromium has ended:\n%s", strings.Join(said, "\n"))
	return ""
}

// call calls a method, and notes what the page asks for meanwhile.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.id++
	if params == nil {
		params = struct{}{}
	}
	message := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	if err := b.conn.WriteJSON(message); err != nil {
		b.t.Fatal(err)
	}
	for {
		var answer struct {
			ID     int
			Method string
			Error  *struct{ Message string }
			Result json.RawMessage
			Params struct {
				Request struct{ URL string }
				URL     string
			}
		}
		if err := b.conn.ReadJSON(&answer); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		switch {
		case answer.Method == "Network.requestWillBeSent":
			b.asked = append(b.asked, answer.Params.Request.URL)
		case answer.Method == "Network.webSocketCreated":
			b.asked = append(b.asked, answer.Params.URL)
		case answer.ID != b.id:
		case answer.Error != nil:
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		default:
			return answer.Result
		}
	}
}

func (b *browser) into(v any, result json.RawMessage) {
	b.t.Helper()
	if err := json.Unmarshal(result, v); err != nil {
		b.t.Fatal(err)
	}
}

// evaluate returns the string that an expression gives on the page.
func (b *browser) evaluate(expression string) string {
	b.t.Helper()
	var got struct {
		Result           struct{ Value string }
		ExceptionDetails any
	}
	b.into(&got, b.call("Runtime.evaluate", map[string]any{"expression": expression}))
	if got.ExceptionDetails != nil {
		b.t.Fatal(fmt.Sprint(got.ExceptionDetails))
	}
	return got.Result.Value
}

func (b *browser) onlyAsks(server *httptest.Server) {
	b.t.Helper()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, address := range b.asked {
		if _, after, _ := strings.Cut(address, "://"); !strings.HasPrefix(after, host+"/") && !strings.HasPrefix(address, "data:") && !strings.HasPrefix(address, "blob:") {
			b.t.Errorf("the page asks for %s", address)
		}
	}
	if len(b.asked) < 4 {
		b.t.Errorf("the page asked only for %q", b.asked)
	}
}

func (b *browser) screenshot(file string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.into(&shot, b.call("Page.captureScreenshot", nil))
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
