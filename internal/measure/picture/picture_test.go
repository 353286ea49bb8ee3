package picture

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
	"github.com/dewpond/dewpond/internal/measure/palette"
)

// The picture is well-formed, shows of each contender what the report says, and has the colours of
// its page.
func TestPicture(t *testing.T) {
	d := synthetic.Scenarios()["burst"]
	d.Scenario.Blocks, d.Scenario.Collections = 256, 3
	d.Contenders[0].Name = `<script>&"`
	var light, dark bytes.Buffer
	for out, isDark := range map[*bytes.Buffer]bool{&light: false, &dark: true} {
		if err := Write(isDark)(out, d); err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(bytes.NewReader(out.Bytes()))
		var texts []string
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, out)
			}
			if text, ok := token.(xml.CharData); ok {
				texts = append(texts, string(text))
			}
		}
		all := strings.Join(texts, "\n")
		for _, want := range []string{
			"256 blocks are held, returned, and held again 3 collections later",
			"blocks allocated again", "time of the second burst", "peak RSS",
			d.Contenders[0].Name, "syncpool-class", "dewpond",
			figure.Format("second_burst_misses", d.Contenders[1].Figures["second_burst_misses"].Median),
			figure.Format("second_burst_ns", d.Contenders[2].Figures["second_burst_ns"].Median),
			figure.Format("rss_peak_bytes", d.Contenders[2].RSSPeakBytes.Median),
			"Synthetic CPU", "2026-11-21",
		} {
			if !strings.Contains(all, want) {
				t.Errorf("dark %v: no %q in\n%s", isDark, want, all)
			}
		}
		if n := strings.Count(out.String(), "<rect"); n != 9 {
			t.Errorf("%d bars, want 3 for each of 3 contenders", n)
		}
	}
	ours := palette.Of("dewpond")
	ourLight, ourDark := ours.Light, ours.Dark
	if !strings.Contains(light.String(), ourLight) || !strings.Contains(dark.String(), ourDark) || strings.Contains(dark.String(), ourLight) {
		t.Errorf("the pictures do not have the colours %s and %s of their pages", ourLight, ourDark)
	}
}
