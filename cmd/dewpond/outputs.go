package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	outputfiles "github.com/dewpond/dewpond/internal/measure/outputs"
	"github.com/dewpond/dewpond/internal/measure/page"
	"github.com/dewpond/dewpond/internal/measure/picture"
	"github.com/dewpond/dewpond/internal/measure/report"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// outputs are the files that a benchmark writes, and the directory of its distributions.
type outputs struct {
	outputfiles.Files[result.Document]
	hgrm string
}

func openOutputs(to outputFlags) (*outputs, error) {
	o := &outputs{hgrm: to.HGRM}
	err := errors.Join(o.Open("--json", to.JSON, report.JSON), o.Open("--html", to.HTML, page.Write),
		o.Open("--svg", to.SVG, picture.Write(false)), o.Open("--svg", darkOf(to.SVG), picture.Write(true)),
		probe("--hgrm", to.HGRM))
	return o, err
}

// darkOf returns the name of a picture's twin for dark pages: burst-dark.svg for burst.svg.
func darkOf(svg string) string {
	if svg == "" {
		return ""
	}
	ext := filepath.Ext(svg)
	return strings.TrimSuffix(svg, ext) + "-dark" + ext
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
	err := o.Write(d)
	if o.hgrm != "" {
		err = errors.Join(err, report.HGRM(o.hgrm, d))
	}
	return err
}
