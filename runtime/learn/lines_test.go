package learn

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// lineEvents are the events of two epochs, each of which takes some time.
func lineEvents(epoch time.Duration) []Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	list := []Event{Started{Time: at, Epochs: 2, Batches: 2, Valid: 1, Metrics: []Series{{Name: "loss"}, {Name: "accuracy", Unit: "%"}}}}
	for e := range 2 {
		for b := range 2 {
			at = at.Add(epoch / 2)
			list = append(list, Stepped{Time: at, Split: Train, Epoch: e, Batch: b, Items: 50, Loss: 0.5, Waited: epoch / 4, Took: epoch / 4})
		}
		list = append(list, Measured{Time: at, Split: Train, Values: []Value{{Name: "loss", Value: 0.5}, {Name: "accuracy", Value: nan}}},
			Measured{Time: at, Split: Valid, Values: []Value{{Name: "loss", Value: 0.12345678}, {Name: "accuracy", Value: 91.25}}}, EpochEnded{Time: at, Epoch: e})
	}
	return append(list, Warned{Time: at, Message: "late"}, Stopped{Time: at})
}

const (
	lineOne = "epoch 1/2  train  loss 0.5  accuracy no data  valid  loss 0.1235  accuracy 91.25 %  2.5 items/s\n"
	lineTwo = "epoch 2/2  train  loss 0.5  accuracy no data  valid  loss 0.1235  accuracy 91.25 %  2.5 items/s\n"
	quick   = "epoch 2/2  train  loss 0.5  accuracy no data  valid  loss 0.1235  accuracy 91.25 %  100 items/s\n"
)

func TestLines(t *testing.T) {
	blank := strings.Repeat(" ", len("epoch 1/2  train 1/2  loss 0.5"))
	for _, tt := range []struct {
		epoch    time.Duration
		rewrites bool
		want     string
	}{
		{40 * time.Second, false, lineOne + lineTwo + "warning: late\n"},
		{time.Second, false, "epoch 1/2  train  loss 0.5  accuracy no data  valid  loss 0.1235  accuracy 91.25 %  100 items/s\nwarning: late\n" + quick},
		{40 * time.Second, true, "\repoch 1/2  train 1/2  loss 0.5\repoch 1/2  train 2/2  loss 0.5\r" + blank + "\r" + lineOne +
			"\repoch 2/2  train 1/2  loss 0.5\repoch 2/2  train 2/2  loss 0.5\r" + blank + "\r" + lineTwo + "warning: late\n"},
	} {
		var b bytes.Buffer
		l := Lines(&b).(*lines)
		l.rewrites = tt.rewrites
		for _, e := range lineEvents(tt.epoch) {
			l.Event(e)
		}
		if b.String() != tt.want {
			t.Errorf("%+v: %q", tt, b.String())
		}
	}
}

// TestLinesWithinAnEpoch validates twice within an epoch, and at its end.
func TestLinesWithinAnEpoch(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	valid := func(loss Number) Measured {
		return Measured{Time: at, Split: Valid, Step: 2, Values: []Value{{Name: "loss", Value: loss}}}
	}
	var b bytes.Buffer
	l := Lines(&b)
	l.Event(Started{Time: at, Steps: 6, Metrics: []Series{{Name: "loss"}}})
	trained := func(loss Number, items int) Stepped {
		return Stepped{Time: at, Split: Train, Items: items, Loss: loss, Took: time.Second}
	}
	l.Event(trained(1, 30))
	l.Event(trained(0.5, 10))
	l.Event(valid(0.5))
	l.Event(trained(3, 10))
	l.Event(valid(0.375)) // too early for a line
	at = at.Add(lineEvery)
	l.Event(trained(2, 10))
	l.Event(valid(0.25))
	at = at.Add(lineEvery)
	l.Event(Measured{Time: at, Split: Train, Values: []Value{{Name: "loss", Value: 0.7}}})
	l.Event(valid(0.2))
	l.Event(EpochEnded{Time: at})
	l.Event(valid(0.1))
	l.Event(Stopped{Time: at})
	const want = "step 2/6  train  loss 0.875  valid  loss 0.5  20 items/s\n" +
		"step 2/6  train  loss 2  valid  loss 0.25  15 items/s\n" +
		"epoch 1  train  loss 0.7  valid  loss 0.2  15 items/s\n" +
		"step 2/6  valid  loss 0.1\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
}

// TestLinesOfAnyOrder asserts that events in an order that does not happen do not panic.
func TestLinesOfAnyOrder(t *testing.T) {
	all := everyEvent()
	for i := range all {
		l := Lines(&bytes.Buffer{}).(*lines)
		l.rewrites = true
		for k := range all {
			l.Event(all[(i+k)%len(all)])
		}
	}
}
