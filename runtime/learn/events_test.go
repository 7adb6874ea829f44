package learn

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// everyEvent has one event of each type.
func everyEvent() []Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return []Event{
		Started{Time: at, Run: "mnist", Epochs: 2, Batches: 10, Items: 95, Valid: 3, Parameters: 33,
			Metrics: []Series{{Name: "loss", Better: -1, Curve: true}, {Name: "accuracy", Unit: "%", Better: 1, Curve: true}},
			System:  []Series{{Name: "memory", Unit: "MB"}}},
		Stepped{Time: at, Split: Train, Epoch: 1, Batch: 2, Step: 13, Items: 10, Loss: 0.25, Rate: 1e-4, GradNorm: Number(math.Inf(1)),
			Waited: time.Microsecond, Took: time.Millisecond, Values: []Value{{Name: "accuracy", Value: 91.5}}},
		Measured{Time: at, Split: Valid, Epoch: 1, Step: 20, Items: 30,
			Values: []Value{{Name: "accuracy", Value: 92, Text: "92 %\nof 30", Picture: "pictures/a.png"}}},
		EpochEnded{at, 1, 20, time.Second},
		Saved{at, 1, 20, "checkpoint/epoch-1.safetensors", 4096, time.Millisecond},
		Deleted{at, "checkpoint/epoch-0.safetensors"},
		Improved{at, 1, 20, Valid.Key("accuracy"), 92, Number(math.Inf(-1))},
		Warned{at, "an \"item\" was skipped"},
		Stopped{at, 1, 20, "2 epochs are done", true, time.Minute},
	}
}

func TestEventsAreReadAsWritten(t *testing.T) {
	if len(everyEvent()) != len(readers) {
		t.Errorf("%d events, %d readers", len(everyEvent()), len(readers))
	}
	var file []byte
	for _, e := range everyEvent() {
		var err error
		if file, err = AppendEvent(file, e); err != nil {
			t.Fatal(err)
		}
	}
	file = append(file, `{"event":"stepped","time":"20`...) // the process was killed here
	var got []Event
	for e, err := range Events(bytes.NewReader(file)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if !reflect.DeepEqual(got, everyEvent()) {
		t.Errorf("got %v", got)
	}
}

func TestEventsAreLinesOfJSON(t *testing.T) {
	line, err := AppendEvent(nil, everyEvent()[1])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"stepped","time":"2026-01-02T03:04:05.000000006Z","split":"train","epoch":1,"batch":2,"step":13,"items":10,` +
		`"loss":0.25,"rate":0.0001,"gradNorm":"+Inf","waited":1000,"took":1000000,"values":[{"name":"accuracy","value":91.5}]}` + "\n"
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

func TestNumbersThatAreNotFinite(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1.5e-300} {
		text, err := Number(x).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got Number
		if err := got.UnmarshalJSON(text); err != nil || math.Float64bits(float64(got)) != math.Float64bits(x) {
			t.Errorf("%v became %s and %v, %v", x, text, got, err)
		}
	}
	var n Number
	if err := n.UnmarshalJSON([]byte(`"one"`)); err == nil {
		t.Error("a word became a number")
	}
}

func TestLinesThatAreNoEvents(t *testing.T) {
	file := `{"event":"warned","message":"a"}` + "\n" + `{"event":"else"}` + "\nrubbish\n" +
		`{"event":"warned","message":"` + strings.Repeat("x", maxLine) + "\"}\n" + `{"event":"warned","message":"b"}` + "\n"
	var got []string
	for e, err := range Events(strings.NewReader(file)) {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, fmt.Sprint(e.(Warned).Message))
		}
	}
	want := []string{"a", `line 2: event "else" is not known`, `line 3: the line does not begin with {"event":"`,
		"line 4: the line is longer than 1 MiB", "b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if _, err := AppendEvent(nil, Warned{Message: strings.Repeat("x", maxLine)}); err == nil {
		t.Error("an event that cannot be read was written")
	}
}

func FuzzEvents(f *testing.F) {
	for _, e := range everyEvent() {
		line, _ := AppendEvent(nil, e)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > maxLine/8 {
			return // escapes make a line longer
		}
		for e, err := range Events(bytes.NewReader(file)) {
			if err != nil {
				continue
			}
			if _, err := AppendEvent(nil, e); err != nil {
				t.Errorf("%v: %v", e, err)
			}
		}
	})
}
