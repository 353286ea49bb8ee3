package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/capacity"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/settings"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A counted is what internal/advise/trial/settings prints.
type counted struct {
	Allocated   int64   `json:"allocated_bytes"`
	Collections float64 `json:"collections"`
	Peak        float64 `json:"peak_bytes"`
	Resident    float64 `json:"peak_resident_bytes"`
}

// program builds internal/advise/trial/settings.
func program(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "settings")
	build := exec.Command("go", "build", "-o", exe, "./internal/advise/trial/settings")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// counts runs the program with a setting, and returns what it counts and its gctrace.
func counts(exe string, s pacer.Setting, args ...string) (counted, string, error) {
	run := exec.Command(exe, args...)
	gogc := strconv.FormatInt(s.GOGC, 10)
	if s.GOGC < 0 {
		gogc = "off"
	}
	run.Env = append(os.Environ(), "GODEBUG=gctrace=1", "GOGC="+gogc, "GOMEMLIMIT=off")
	if s.Limit > 0 {
		run.Env = append(run.Env, "GOMEMLIMIT="+strconv.FormatInt(s.Limit, 10))
	}
	var out, trace bytes.Buffer
	run.Stdout, run.Stderr = &out, &trace
	var c counted
	if err := run.Run(); err != nil {
		return c, "", fmt.Errorf("%w: %.500s", err, trace.String())
	}
	return c, trace.String(), json.Unmarshal(out.Bytes(), &c)
}

// foretold returns the rows that samples, or the file of a gctrace, foretell, by their settings, and their window.
func foretold(files []string, limit int64) (map[pacer.Setting]pacer.Row, *pacer.Window, error) {
	var r settings.Reader
	w, _, err := r.Files(context.Background(), files)
	if err != nil {
		return nil, nil, err
	}
	rows := map[pacer.Setting]pacer.Row{}
	for _, row := range settings.Make(w, 0, settings.Ask{Limit: limit}).Rows {
		rows[pacer.Setting{GOGC: row.GOGC, Limit: row.Limit}] = row
	}
	return rows, w, nil
}

// What is foretold of one load is not far from what is counted: a factor of two is between the settings.
func TestSettingsOfOneProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	exe, dir := program(t), t.TempDir()
	args := []string{"-load", "window", "-allocate", "150", "-rate", "100"}
	if _, _, err := counts(exe, pacer.Setting{GOGC: 100}, append(args, "-samples", dir)...); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "settings-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	const limit = 60 << 20
	rows, w, err := foretold(files, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []pacer.Setting{{GOGC: 50}, {GOGC: 400}, {GOGC: pacer.Off, Limit: limit}} {
		c, _, err := counts(exe, s, args...)
		if err != nil {
			t.Fatal(err)
		}
		n := rows[s].Collections.Mid * w.Seconds
		if !(n > c.Collections/1.9-1 && n < c.Collections*1.9+1) || !(rows[s].Peak.Mid > c.Peak/1.9 && rows[s].Peak.Mid < c.Peak*1.9) {
			t.Errorf("%v: %.1f collections and a peak of %.3g foretold, %.0f and %.3g counted", s, n, rows[s].Peak.Mid, c.Collections, c.Peak)
		}
	}
}

// The three loads of internal/advise/trial/settings at the five settings, three times each: what samples and a
// gctrace of GOGC=100 foretell, beside what is counted. The medians of collections are within 15 %, or one
// collection, those of the peak within 10 %, and those of the resident memory at GOGC=100. With -update it writes the table into docs/advise.md.
func TestSettingsForetold(t *testing.T) {
	if os.Getenv("DEWPOND_SETTINGS") == "" {
		t.Skip("takes minutes: .ci/nightly settings does it")
	}
	exe := program(t)
	limits := map[string]int64{"index": 60 << 20, "window": 60 << 20, "sessions": 70 << 20}
	rows := [][]string{{"load", "setting", "collections counted", "foretold by samples", "by gctrace", "peak counted", "foretold by samples", "by gctrace"}}
	memory := [][]string{{"load, GOGC=100", "most resident memory", "foretold by samples"}}
	for _, load := range []string{"index", "window", "sessions"} {
		limit := limits[load]
		sets := []pacer.Setting{{GOGC: 50}, {GOGC: 100}, {GOGC: 200}, {GOGC: 400}, {GOGC: pacer.Off, Limit: limit}}
		figures := map[pacer.Setting]*[6][]float64{}
		for _, s := range sets {
			figures[s] = new([6][]float64)
		}
		var resident [2][]float64
		for round := range 3 {
			var all sync.WaitGroup
			var mu sync.Mutex
			args := []string{"-load", load, "-seed", strconv.Itoa(round + 1)}
			all.Go(func() {
				dir := t.TempDir()
				base, text, err := counts(exe, pacer.Setting{GOGC: 100}, append(args, "-samples", dir)...)
				if err != nil {
					t.Error(err)
					return
				}
				_, text, _ = strings.Cut(text, "(forced)\n") // with that the load begins
				trace := filepath.Join(dir, "gctrace")
				if err := os.WriteFile(trace, []byte(text), 0o644); err != nil {
					t.Error(err)
				}
				samples, err := filepath.Glob(filepath.Join(dir, "settings-*.json"))
				if err != nil {
					t.Error(err)
				}
				for i, files := range [][]string{samples, {trace}} {
					rows, w, err := foretold(files, limit)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if i == 0 && base.Resident > 0 {
						d := capacity.Make(w, capacity.Ask{Rate: 1, Now: 1, Latency: time.Millisecond})
						resident[0] = append(resident[0], base.Resident)
						resident[1] = append(resident[1], d.RSS.Mid)
					}
					for _, s := range sets {
						if row := rows[s]; row.Peak.Known() {
							figures[s][1+i] = append(figures[s][1+i], row.Collections.Mid*w.Seconds)
							figures[s][4+i] = append(figures[s][4+i], row.Peak.Mid)
						}
					}
					mu.Unlock()
				}
			})
			for _, s := range sets {
				all.Go(func() {
					c, _, err := counts(exe, s, args...)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					figures[s][0] = append(figures[s][0], c.Collections)
					figures[s][3] = append(figures[s][3], c.Peak)
				})
			}
			all.Wait()
		}
		if t.Failed() {
			return
		}
		if is, said := median(resident[0]), median(resident[1]); math.Abs(said-is) > 0.1*is {
			t.Errorf("%s: %s resident foretold, and %s at most", load, figure.ByteSize(said), figure.ByteSize(is))
		} else {
			memory = append(memory, []string{load, figure.ByteSize(is), figure.ByteSize(said)})
		}
		for _, s := range sets {
			var mid [6]float64
			for i, values := range figures[s] {
				mid[i] = median(values)
			}
			row := []string{load, settings.Name(pacer.Row{GOGC: s.GOGC, Limit: s.Limit})}
			for i, v := range mid {
				text, of, by := "cannot tell", mid[i/3*3], []float64{0.15, 0.10}[i/3]
				switch {
				case math.IsNaN(v):
				case i < 3:
					text = figure.Significant(v)
				default:
					text = figure.ByteSize(v)
				}
				row = append(row, text)
				if off := math.Abs(v - of); !math.IsNaN(v) && off > by*of && (i >= 3 || off > 1) {
					t.Errorf("%s, %v: %v, and %v is counted", load, s, v, of)
				}
			}
			rows = append(rows, row)
		}
	}
	var table strings.Builder
	if err := columns.Markdown(&table, rows); err != nil {
		t.Fatal(err)
	}
	var resident strings.Builder
	if err := columns.Markdown(&resident, memory); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String() + "\n" + resident.String())
	if *update {
		writeTable(t, "../../docs/advise.md", "settings foretold", table.String())
		writeTable(t, "../../docs/advise.md", "capacity foretold", resident.String())
	}
}

// median returns the middle value, or NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// writeTable writes a table into a document, between <!-- name --> and <!-- end of name -->.
func writeTable(t *testing.T, path, name, table string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "<!-- "+name+" -->\n")
	_, after, found := strings.Cut(rest, "<!-- end of "+name+" -->\n")
	if !ok || !found {
		t.Fatalf("%s has no <!-- %s --> with its end", path, name)
	}
	text = []byte(before + "<!-- " + name + " -->\n\n" + table + "\n<!-- end of " + name + " -->\n" + after)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
