package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// A bundle is a module's version as a proxy serves it.
type bundle struct {
	module.Version
	time time.Time
	mod  []byte
	zip  string // a file
}

// pack makes a unit's bundle from a commit or tree of a repository, as the go command makes it
// from a tag.
func (u *unit) pack(r repository, revision, version string, at time.Time, into string) (*bundle, error) {
	b := &bundle{Version: u.version(version), time: at, zip: filepath.Join(into, strings.ReplaceAll(u.tag(version), "/", "-")+".zip")}
	mod, err := os.ReadFile(filepath.Join(string(r), u.dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	b.mod = mod
	var packed bytes.Buffer
	if err := zip.CreateFromVCS(&packed, b.Version, string(r), revision, u.subdir()); err != nil {
		return nil, err
	}
	return b, os.WriteFile(b.zip, packed.Bytes(), 0o666)
}

// checksums returns the lines of go.sum for a bundle.
func (b *bundle) checksums() ([]checksum, error) {
	hash, err := dirhash.HashZip(b.zip, dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	modHash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(b.mod)), nil
	})
	ofMod := module.Version{Path: b.Path, Version: b.Version.Version + "/go.mod"}
	return []checksum{{b.Version, hash}, {ofMod, modHash}}, err
}

// addTo puts the bundle into a directory that serves as GOPROXY=file://dir, with the layout of
// "GOPROXY protocol" (https://go.dev/ref/mod#goproxy-protocol).
func (b *bundle) addTo(proxy string) error {
	escaped, err := module.EscapePath(b.Path)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{b.Version.Version, b.time})
	if err != nil {
		return err
	}
	packed, err := os.ReadFile(b.zip)
	if err != nil {
		return err
	}
	for ext, data := range map[string][]byte{".info": info, ".mod": b.mod, ".zip": packed} {
		if err := os.WriteFile(filepath.Join(dir, b.Version.Version+ext), data, 0o666); err != nil {
			return err
		}
	}
	return addLine(filepath.Join(dir, "list"), b.Version.Version)
}

// addLine adds a line to a file, unless the file has it.
func addLine(file, line string) error {
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if slices.Contains(strings.Split(string(data), "\n"), line) {
		return nil
	}
	return os.WriteFile(file, fmt.Appendln(data, line), 0o666)
}
