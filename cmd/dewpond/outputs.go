package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/picture"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/report"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/webpage"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit/outputs"
)

func (to outputFlags) open() (*outputs.Files[bench.Document], error) {
	var files outputs.Files[bench.Document]
	err := errors.Join(files.Open("--json", to.JSON, report.JSON), files.Open("--html", to.HTML, webpage.Write(contender.HueOf)),
		files.Open("--svg", to.SVG, picture.Write(false, contender.HueOf)), files.Open("--svg", darkOf(to.SVG), picture.Write(true, contender.HueOf)),
		files.OpenDir("--hgrm", to.HGRM, report.HGRM))
	return &files, err
}

// darkOf returns the name of a picture's twin for dark pages: burst-dark.svg for burst.svg.
func darkOf(svg string) string {
	if svg == "" {
		return ""
	}
	ext := filepath.Ext(svg)
	return strings.TrimSuffix(svg, ext) + "-dark" + ext
}
