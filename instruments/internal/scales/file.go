package scales

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/outputs"
)

// Measured is what calibrate leaves for dewload choose.
type Measured struct {
	Time time.Time `json:"time"`
	// Limits are the highest rates at which this machine's generator kept up, by protocol.
	Limits map[string]float64 `json:"limits"`
}

// file is where the last calibration of this machine's user is.
func file() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for what calibrate measures: %w", err)
	}
	return filepath.Join(dir, "dewload", "calibrate.json"), nil
}

// Keep writes the file, and returns its name.
func (m Measured) Keep() (string, error) {
	name, err := file()
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	return name, outputs.WriteBytes(name, append(data, '\n'))
}

// Last returns what the last calibration left, and nil if there was none.
func Last() (*Measured, error) {
	name, err := file()
	if err != nil {
		return nil, nil // nobody can have left anything
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m Measured
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w: dewload calibrate writes it anew", name, err)
	}
	return &m, nil
}
