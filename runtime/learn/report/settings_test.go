package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestSettingsAreBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20)
	got, err := settings([]byte(deep))
	if want := "[{a.a.a.a.a.a.a.a " + strings.Repeat(`{"a":`, 12) + "1" + strings.Repeat("}", 12) + "}]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v", got, err)
	}
	long := "[" + strings.Repeat("0,", 2*maxSettings) + "0]"
	if got, err := settings([]byte(long)); err != nil || len(got) != maxSettings {
		t.Errorf("got %d settings, %v", len(got), err)
	}
	if _, err := settings([]byte("{")); err == nil {
		t.Error("half a value was read")
	}
}

func TestDifferences(t *testing.T) {
	got := differences([][]Setting{{{"rate", "1"}, {"size", "8"}}, {{"rate", "2"}, {"size", "8"}, {"new", "x"}}})
	if fmt.Sprint(got) != "[{new [– x]} {rate [1 2]}]" {
		t.Errorf("got %v", got)
	}
}
