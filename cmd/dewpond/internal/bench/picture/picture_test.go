package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

// The picture is well-formed, shows of each contender what the report says, and has the colours of
// its page.
func TestPicture(t *testing.T) {
	d := synthetic.Scenarios()["burst"]
	d.Scenario.Blocks, d.Scenario.Collections = 256, 3
	d.Contenders[0].Name = `<script>&"`
	d.Scenario.Mix = "65536:100"
	var light, dark bytes.Buffer
	for out, isDark := range map[*bytes.Buffer]bool{&light: false, &dark: true} {
		if err := Write(isDark, palette.Of)(out, d); err != nil {
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
		all := strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
		for _, want := range []string{
			"256 blocks of 64 KiB are held, returned, and held again 3 collections later",
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

// Each text ends within the 400 units where the font is as wide as DejaVu Sans, and none is smaller
// than 12 units: the name that is longest, and values that are.
func TestPictureFits(t *testing.T) {
	d := synthetic.Scenarios()["burst"]
	d.Contenders[0].Name = "dewpond-sampled"
	for i := range d.Contenders {
		d.Contenders[i].RSSPeakBytes.Median = 52.2e6
	}
	var out bytes.Buffer
	if err := Write(false, palette.Of)(&out, d); err != nil {
		t.Fatal(err)
	}
	var svg struct {
		Texts  []text `xml:"text"`
		Groups []struct {
			Transform string `xml:"transform,attr"`
			Texts     []text `xml:"text"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(out.Bytes(), &svg); err != nil {
		t.Fatal(err)
	}
	texts := svg.Texts
	for _, g := range svg.Groups {
		var x float64
		if _, err := fmt.Sscanf(g.Transform, "translate(%g 0)", &x); err != nil {
			t.Fatal(err)
		}
		for _, each := range g.Texts {
			each.X += x
			texts = append(texts, each)
		}
	}
	for _, each := range texts {
		left, right := each.X, each.X+each.width()
		if each.Anchor == "end" {
			left, right = each.X-each.width(), each.X
		}
		if left < 4 || right > 400 || each.Size != 0 && each.Size < 12 {
			t.Errorf("%q of %v units goes from %.1f to %.1f", each.Text, each.Size, left, right)
		}
	}
	if len(texts) < 15 {
		t.Errorf("%d texts were found: not all were seen", len(texts))
	}
}

type text struct {
	X      float64 `xml:"x,attr"`
	Size   float64 `xml:"font-size,attr"`
	Weight int     `xml:"font-weight,attr"`
	Anchor string  `xml:"text-anchor,attr"`
	Text   string  `xml:",chardata"`
}

// width is that of DejaVu Sans as Chromium sets it, where "dewpond-sampled" takes 7.4 units for each
// letter, and "52.2 MB" in bold 7.9. A line of many words takes less: 0.52 of its size, and in bold 0.6.
func (t text) width() float64 {
	n, size := float64(utf8.RuneCountInString(t.Text)), max(12, t.Size)
	switch bold := t.Weight == 600; {
	case n > 20 && bold:
		return n * size * 0.6
	case n > 20:
		return n * size * 0.52
	case bold:
		return n * size * 0.66
	}
	return n * size * 0.617
}
