package dewstatsviz_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arl/statsviz"
	"github.com/gorilla/websocket"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewstatsviz"
)

// page serves the page of a program with two pools.
func page(t *testing.T, every time.Duration) (*httptest.Server, *dewpond.BytePool) {
	t.Helper()
	// A second tier would serve what the bound refuses, and nothing would miss.
	busy := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "busy", MaxIdlePerClass: 30, IdleTimeout: time.Second, NoSecondTier: true})
	quiet := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "<b>quiet</b>"})
	mux := http.NewServeMux()
	if err := dewstatsviz.Register(mux, statsviz.SendFrequency(every)); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		busy.Close()
		quiet.Close()
	})
	return server, busy
}

// What statsviz sends has the plots and, for each, a number for each line.
func TestStatsvizSends(t *testing.T) {
	server, busy := page(t, 10*time.Millisecond)
	conn, _, err := websocket.DefaultDialer.Dial(strings.Replace(server.URL, "http", "ws", 1)+"/debug/statsviz/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var message struct {
		Event string
		Data  struct{ Series json.RawMessage }
	}
	read := func(into any) {
		t.Helper()
		if err := conn.ReadJSON(&message); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(message.Data.Series, into); err != nil {
			t.Fatal(err)
		}
	}
	var config []struct {
		Name     string
		Subplots []struct{ Name string }
	}
	read(&config)
	lines := map[string][]string{}
	for _, plot := range config {
		for _, line := range plot.Subplots {
			lines[plot.Name] = append(lines[plot.Name], line.Name)
		}
	}
	want := []string{"&lt;b&gt;quiet&lt;/b&gt;", "busy", "pools made later"}
	for _, plot := range []string{"hits", "misses", "used", "idle", "waits", "trims", "violations"} {
		if got := lines["dewpond-"+plot]; !slices.Equal(got, want) {
			t.Errorf("plot %s has the lines %q", plot, got)
		}
	}
	if !slices.Equal(lines["dewpond-pressure"], []string{"level"}) || len(config) < 15 {
		t.Errorf("plots: %v", lines)
	}

	out := busy.Get(1000) // in use, until the page says so
	for {
		var data map[string]json.RawMessage
		read(&data)
		var used []float64
		if err := json.Unmarshal(data["dewpond-used"], &used); err != nil || len(used) != 3 {
			t.Fatalf("%v: %s", err, data["dewpond-used"])
		}
		if used[1] == 1024 {
			break
		}
	}
	busy.Put(out)
}

// The plots of the pools are the first on the page, also for a browser that has the page of
// statsviz itself.
func TestOurPlotsComeFirst(t *testing.T) {
	server, _ := page(t, time.Hour)
	request, err := http.NewRequest(http.MethodGet, server.URL+dewstatsviz.Root+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-Modified-Since", time.Now().UTC().Format(http.TimeFormat))
	request.Header.Set("Range", "bytes=0-9")
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("order: -1")) || !bytes.HasSuffix(bytes.TrimSpace(body), []byte("</html>")) {
		t.Errorf("status %d, %v: %s", res.StatusCode, err, body)
	}
}
