package swarm

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/target"
	"github.com/dewpond/dewpond/instruments/load"
)

// metricsTime bounds how long it takes to see that there are metrics, and scrapeEvery is how often they are
// read then.
const (
	metricsTime = 30 * time.Second
	scrapeEvery = time.Second
)

// metrics are the target's, which the coordinator reads while agents load it. A nil value reads none.
type metrics struct {
	client  *http.Client
	scraper *target.Scraper
	stop    context.CancelFunc
	reading sync.WaitGroup
}

// openMetrics looks whether there are metrics, as the plan asks its target.
func openMetrics(ctx context.Context, p *Plan, url string) (*metrics, error) {
	if url == "" {
		return nil, nil
	}
	_, o, err := p.Scenario()
	if err != nil {
		return nil, err
	}
	m := &metrics{client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: o.Insecure, RootCAs: o.RootCAs}}}}
	ctx, cancel := context.WithTimeout(ctx, metricsTime)
	defer cancel()
	if m.scraper, err = target.NewScraper(ctx, m.client, url); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// close ends the connection. It is called once they are not read any more, or never were.
func (m *metrics) close() {
	if m != nil {
		m.client.CloseIdleConnections()
	}
}

// begin reads them until end.
func (m *metrics) begin() {
	if m == nil {
		return
	}
	var ctx context.Context
	ctx, m.stop = context.WithCancel(context.Background())
	m.reading.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			scraping, cancel := context.WithTimeout(ctx, scrapeEvery)
			m.scraper.Scrape(scraping)
			cancel()
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
}

// end gives them to the result of a run whose first session was due at that time.
func (m *metrics) end(r *load.Result, start time.Time) {
	if m == nil {
		return
	}
	m.stop()
	m.reading.Wait()
	for _, s := range m.scraper.Series(start) {
		r.Metrics = append(r.Metrics, load.Metric(s))
	}
	if n, err := m.scraper.Failed(); n > 0 {
		r.Target.Notes = append(r.Target.Notes, fmt.Sprintf("metrics could not be read %d times, such as: %v", n, err))
	}
}
