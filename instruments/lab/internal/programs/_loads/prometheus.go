package load

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
)

var dewpondLoads = map[string]dewpondLoad{
	"scrapes of 10 targets of 2000 series": dewpondScrapes,
}

// dewpondScrapes has 10 targets scraped at a time. A scrape appends a sample to each of the target's series and commits.
// Others run when a part of its samples is appended, as they do while a scrape waits for the next part of a body.
func dewpondScrapes(t *testing.T, scrapes int) []time.Duration {
	const targets, series, part = 10, 2000, 100
	db := newTestDB(t)
	var running, made sync.WaitGroup
	made.Add(targets)
	begun := make(chan bool)
	for target := range targets {
		running.Go(func() {
			refs, all := make([]storage.SeriesRef, series), make([]labels.Labels, series)
			for i := range all {
				all[i] = labels.FromStrings("__name__", "metric_"+strconv.Itoa(i), "instance", strconv.Itoa(target))
			}
			for at := range 1 + scrapes/targets {
				if at == 1 { // the first has made the series
					made.Done()
					<-begun
				}
				a := db.Appender(context.Background())
				for i := range refs {
					if i%part == 0 {
						runtime.Gosched()
					}
					var err error
					if refs[i], err = a.Append(refs[i], all[i], int64(at)*15_000, float64(at*i)); err != nil {
						panic(err)
					}
				}
				if err := a.Commit(); err != nil {
					panic(err)
				}
			}
		})
	}
	made.Wait()
	dewpondBegin()
	close(begun)
	running.Wait()
	return nil
}
