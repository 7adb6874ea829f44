package progress

import (
	"math"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0.28412, "", "0.2841"}, {1e-4, "", "1.0e-4"}, {1.92, "", "1.920"}, {0, "", "0"}, {-0.5, "", "-0.5000"}, {12345.6, "", "12346"},
		{999.96, "", "1000.0"}, {1e6, "", "1.0e6"}, {math.NaN(), "", "-"}, {math.Inf(1), "", "+Inf"}, {91.26, "%", "91.3 %"}, {1e9, "%", "1.0e9 %"},
		{212, "MB", "212.0 MB"}, {math.NaN(), "%", "-"}, {-1e-300, "", "-1.0e-300"},
	} {
		if got := Value(c.v, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	for v, want := range map[float64]string{0: "0", 506: "506", 2100: "2.1k", 3800: "3.8k", 999: "999", 999.6: "1k", 33e6: "33M", 9949: "9.9k", 9951: "10k", 1e30: "1.0e18T", -2100: "-2.1k"} {
		if got := Count(v); got != want {
			t.Errorf("Count(%v) = %q, want %q", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{192 * time.Second: "00:03:12", 99 * time.Hour: "99:00:00", 240 * time.Hour: "10 days", -1: "00:00:00", math.MaxInt64: "106751 days"} {
		if got := Clock(d); got != want {
			t.Errorf("Clock(%d) = %q, want %q", d, got, want)
		}
	}
	if got := Bytes(4_100_000) + ", " + Bytes(12); got != "4.1 MB, 12 B" {
		t.Error(got)
	}
}
