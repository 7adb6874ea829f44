//go:build unix || windows

package dash

import (
	"strings"
	"testing"
)

func TestWhatIsPrintedBecomesLines(t *testing.T) {
	long := strings.Repeat("x", maxPending+1)
	for _, c := range []struct{ printed, want []string }{
		{[]string{"one\ntwo\n"}, []string{"one", "two"}},
		{[]string{"o", "n", "e\nt", "wo"}, []string{"one", "two"}},
		{[]string{"10 %\r20 %\r", "30 %\n"}, []string{"30 %"}},
		{[]string{"of windows\r\n", "\n"}, []string{"of windows", ""}},
		{[]string{long, "y\n"}, []string{long, "y"}},
		{nil, nil},
	} {
		var got []string
		p := &capture{line: func(text string) { got = append(got, text) }}
		for _, text := range c.printed {
			p.take([]byte(text))
		}
		p.flush()
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%.40q: %.40q, want %.40q", c.printed, got, c.want)
		}
	}
}
