package figures

// Flatness is what must be flat, with the figures that must be 0 in every round. The number of
// goroutines must not exceed that at the start.
var Flatness = []Flat{
	{"stranded_bytes", "stranded", []string{"stranded_bytes", "stranded_after_trim_bytes", "stranded_after_close_bytes"}, "stranded bytes"},
	{"in_use_bytes", "in use", []string{"in_use_at_rest_bytes", "budget_at_rest_bytes"}, "bytes in use after all was put back"},
	{"goroutines", "goroutines", []string{"goroutines_left"}, "goroutines"},
}

// A Flat is a thing that must be flat.
type Flat struct {
	Name    string // in bench.Soak.Flat
	Label   string
	Figures []string
	Says    string // the text if it is not flat
}
