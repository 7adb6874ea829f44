package progress

import (
	"math"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

func TestLinesOfTheLog(t *testing.T) {
	r := New()
	r.Event(started())
	continued := started()
	continued.Epoch, continued.Batch, continued.Step = 1, 4, 14
	for _, c := range []struct {
		event learn.Event
		kind  Kind
		want  string // "": there is no line
	}{
		{started(), Info, "14:02:11 mnist starts, 33k parameters"},
		{continued, Info, "14:02:11 mnist continues at epoch 2, batch 5, 33k parameters"},
		{batch(learn.Train, 0, 0, 1, 1), Info, ""},
		{measured(learn.Valid, 2, 30, 0.25, 92.6), Info, "14:02:11 epoch 3: valid loss 0.2500, accuracy 92.6 %"},
		{learn.Measured{Time: at, Split: learn.System, Values: []learn.Value{{Name: "memory", Value: 1}}}, Info, ""},
		{learn.EpochEnded{Time: at}, Info, ""},
		{learn.Improved{Time: at, Epoch: 2, Key: "valid accuracy", Value: 92.6, Before: 91}, Good, "14:02:11 epoch 3: best valid accuracy, 92.6 %, before 91.0 %"},
		{learn.Improved{Time: at, Epoch: 2, Key: "valid loss", Value: 0.25, Before: learn.Number(math.NaN())}, Good, "14:02:11 epoch 3: best valid loss, 0.2500"},
		{learn.Saved{Time: at, File: "checkpoint/a", Bytes: 4100, Took: 4 * time.Millisecond}, Info, "14:02:11 saved checkpoint/a, 4.1 kB in 4ms"},
		{learn.Deleted{Time: at, File: "checkpoint/a"}, Info, "14:02:11 deleted checkpoint/a"},
		{learn.Warned{Time: at, Message: "two\nlines"}, Warning, "14:02:11 warning: two lines"},
		{learn.Stopped{Time: at, Reason: "3 epochs are done"}, Info, "14:02:11 stopped: 3 epochs are done"},
	} {
		before := len(r.log.lines)
		r.Event(c.event)
		got, kind := "", Info
		if len(r.log.lines) > before {
			l := r.log.tail(1)[0]
			got, kind = l.String(), l.Kind
		}
		if got != c.want || kind != c.kind {
			t.Errorf("%T: %d %q, want %d %q", c.event, kind, got, c.kind, c.want)
		}
	}
}
