package cost

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestReadWrite(t *testing.T) {
	var text bytes.Buffer
	if err := Default().Write(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(&text); err != nil || !reflect.DeepEqual(got, Default()) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":        ``,
		"no machines":    `{"machines": []}`,
		"unknown fields": `{"machines": [], "speed": 1}`,
		"missing rates":  `{"machines": [{"name": "a", "multiply_adds": 1, "rows": 14}]}`,
		"no numbers":     `{"machines": [{"multiply_adds": "fast"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "cost model: ") {
				t.Errorf("read %+v, %v", m, err)
			}
		})
	}
}
