package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/page"
	"github.com/dewpond/dewpond/internal/measure/picture"
	"github.com/dewpond/dewpond/internal/measure/report"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// outputs are the files that a benchmark writes. They are opened before it starts, so that an
// unwritable path is an error at once and not after 90 seconds.
type outputs struct {
	files []*output
	hgrm  string // directory
}

type output struct {
	file    *os.File
	format  func(io.Writer, result.Document) error
	created bool // by this command, which removes it if nothing is written
	written bool
}

func openOutputs(json, html, svg, hgrm string) (*outputs, error) {
	o := &outputs{hgrm: hgrm}
	err := errors.Join(o.open("--json", json, report.JSON), o.open("--html", html, page.Write),
		o.open("--svg", svg, picture.Write(false)), o.open("--svg", darkOf(svg), picture.Write(true)),
		probe("--hgrm", hgrm))
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// darkOf returns the name of a picture's twin for dark pages: burst-dark.svg for burst.svg.
func darkOf(svg string) string {
	if svg == "" {
		return ""
	}
	ext := filepath.Ext(svg)
	return strings.TrimSuffix(svg, ext) + "-dark" + ext
}

// open opens a file without truncating it: an old result is overwritten only by a new one.
func (o *outputs) open(flag, path string, format func(io.Writer, result.Document) error) error {
	if path == "" {
		return nil
	}
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	o.files = append(o.files, &output{file: f, format: format, created: created})
	return nil
}

// probe checks that files can be created in the directory.
func probe(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	f, err := os.CreateTemp(dir, ".dewpond-*")
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (o *outputs) write(d result.Document) error {
	var errs []error
	for _, out := range o.files {
		errs = append(errs, out.write(d))
	}
	if o.hgrm != "" {
		errs = append(errs, report.HGRM(o.hgrm, d))
	}
	return errors.Join(errs...)
}

func (out *output) write(d result.Document) error {
	out.written = true
	if err := errors.Join(out.file.Truncate(0), out.format(out.file, d)); err != nil {
		return fmt.Errorf("%s: %w", out.file.Name(), err)
	}
	return nil
}

func (o *outputs) close() {
	for _, out := range o.files {
		out.file.Close()
		if out.created && !out.written {
			os.Remove(out.file.Name())
		}
	}
}
