package result

// An Environment describes the machine.
type Environment struct {
	Machine     string     `json:"machine"` // CPU model
	OS          string     `json:"os"`
	Arch        string     `json:"arch"`
	CPUs        int        `json:"cpus"`
	GoVersion   string     `json:"go_version"`
	GOMAXPROCS  int        `json:"gomaxprocs"`
	GOGC        string     `json:"gogc"`
	GOMEMLIMIT  string     `json:"gomemlimit"`
	LoadAverage [3]float64 `json:"load_average"` // at the start; -1 on a system that has none
	Time        string     `json:"time"`         // RFC 3339
}
