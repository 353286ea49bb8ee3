// Package fault plays what can go wrong with stand-ins and with memory, for tests and for the rig. The
// service itself does not import it: main has it on the admin port where --faults is given.
package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/proxy"
	"github.com/dewpond/dewpond/instruments/kit/amount"
)

// Faults are proxies before the stand-ins, by the backend's name. There is one for each Redis.
type Faults map[string][]*proxy.Proxy

// Before puts proxies before the stand-ins, and has the addresses be theirs. The caller calls Close,
// after an error too.
func (f Faults) Before(a *standin.Addresses) error {
	if err := f.replace("postgres", &a.Postgres); err != nil {
		return err
	}
	if err := f.replace("scorer", &a.Scorer); err != nil || a.Redis == "" {
		return err
	}
	regions := strings.Split(a.Redis, ",")
	for i, r := range regions {
		name, at, _ := strings.Cut(r, "=")
		p, err := proxy.New(at)
		if err != nil {
			return err
		}
		f["redis"] = append(f["redis"], p)
		f["redis/"+name] = []*proxy.Proxy{p}
		regions[i] = name + "=" + p.Addr()
	}
	a.Redis = strings.Join(regions, ",")
	return nil
}

// replace puts a proxy before the host of a URL. An empty one is of no stand-in.
func (f Faults) replace(name string, address *string) error {
	if *address == "" {
		return nil
	}
	u, err := url.Parse(*address)
	if err != nil {
		return err
	}
	p, err := proxy.New(u.Host)
	if err != nil {
		return err
	}
	f[name] = []*proxy.Proxy{p}
	u.Host = p.Addr()
	*address = u.String()
	return nil
}

// Close ends all proxies; one may be there under two names.
func (f Faults) Close() {
	for _, proxies := range f {
		for _, p := range proxies {
			p.Close()
		}
	}
}

// Routes has POST /admin/fault and POST /admin/ballast answered.
func (f Faults) Routes(mux *http.ServeMux) {
	mux.HandleFunc("POST /admin/fault", f.set)
	mux.HandleFunc("POST /admin/ballast", new(ballast).set)
}

// aFault is what POST /admin/fault is sent.
type aFault struct {
	Backend string `json:"backend"`
	Fault   string `json:"fault"`
	Delay   string `json:"delay,omitempty"` // of slow
}

// example is what an error shows.
const example = `send {"backend":"redis","fault":"hang"}`

// set plays a fault until another one, or none.
func (f Faults) set(w http.ResponseWriter, r *http.Request) {
	var q aFault
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&q); err != nil {
		refuse(w, fmt.Errorf("%s: %w", example, err))
		return
	}
	proxies := f[q.Backend]
	if proxies == nil {
		refuse(w, fmt.Errorf("%s: there is no stand-in %q: the stand-ins are %s", example, q.Backend, strings.Join(slices.Sorted(maps.Keys(f)), ", ")))
		return
	}
	delay, err := 100*time.Millisecond, error(nil)
	if q.Delay != "" {
		delay, err = time.ParseDuration(q.Delay)
	}
	switch {
	case err != nil || delay <= 0:
		refuse(w, fmt.Errorf("%s: a delay of %q is no time: give one such as 100ms", example, q.Delay))
		return
	case !slices.Contains([]string{"kill", "hang", "slow", "refuse", "none"}, q.Fault):
		refuse(w, fmt.Errorf("%s: there is no fault %q: give kill, hang, slow, refuse, or none to end them", example, q.Fault))
		return
	}
	killed := 0
	for _, p := range proxies {
		p.Refuse(q.Fault == "refuse")
		p.Hang(q.Fault == "hang")
		if p.Delay(0); q.Fault == "slow" {
			p.Delay(delay)
		}
		if q.Fault == "kill" || q.Fault == "refuse" {
			killed += p.Kill()
		}
	}
	answer(w, http.StatusOK, map[string]any{"backend": q.Backend, "fault": q.Fault, "connections_killed": killed})
}

// A ballast is memory that nobody needs, to have the collector and the features under pressure.
type ballast struct {
	mu   sync.Mutex // held for a change
	held []byte
}

// mostBallast is as much as a machine can be expected to have.
const mostBallast = 16 << 30

func (b *ballast) set(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("bytes")
	n, err := amount.Parse(text)
	if err == nil && n > mostBallast {
		err = fmt.Errorf("%s is above %d", text, int64(mostBallast))
	}
	if err != nil {
		refuse(w, fmt.Errorf("ask as in /admin/ballast?bytes=200MiB, or bytes=0 to let it go: %w", err))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = nil
	if n > 0 {
		b.held = make([]byte, n)
		for i := int64(0); i < n; i += 4096 {
			b.held[i] = 1 // a page that nobody has written is not there
		}
	}
	answer(w, http.StatusOK, map[string]int64{"bytes": n})
}

func refuse(w http.ResponseWriter, err error) {
	answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
