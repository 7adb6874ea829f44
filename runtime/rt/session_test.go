package rt

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// doubler is a session as generated ones are: it multiplies what it is given by its weight.
type doubler struct {
	Session[float32]
	during func(call *Frame[float32]) // what happens while it runs
}

var doubles = Method{Name: "net: Double", Symbols: []string{"N"}, Fixed: 64, Each: []int64{4}}

func (s *doubler) Double(dst, x [][1]float32) (err error) {
	call, err := Enter(s, &doubles, Out("dst", dst), In("x", x))
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	if s.during != nil {
		s.during(call)
	}
	room := View[float32](call.Arena, 64, call.Extent(0))
	for i := range x {
		room[i] = *call.Weights * x[i][0]
		dst[i][0] = room[i]
	}
	return Done(call.Ctx)
}

// doublerOf opens a session.
func doublerOf(t *testing.T, limits Max) *doubler {
	t.Helper()
	two := float32(2)
	weights := &atomic.Pointer[Prepared[float32]]{}
	weights.Store(NewReady(&two))
	s := &doubler{}
	if err := OpenSession(&s.Session, weights, limits, &doubles); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSession(t *testing.T) {
	s := doublerOf(t, Max{"N": 3})
	dst, x := make([][1]float32, 3), [][1]float32{{1}, {2}, {3}}
	if err := s.Double(dst, x); err != nil || dst[2][0] != 6 {
		t.Fatalf("got %v, error %v", dst, err)
	}
	if s.frame.Weights != nil {
		t.Error("the session holds weights between two calls")
	}
	if n := testing.AllocsPerRun(10, func() { s.Double(dst, x) }); n != 0 {
		t.Errorf("a call allocates %g times", n)
	}
	wantError(t, s.Double(dst[:1], x), "net: Double: dst has room for 1: batch of 3")
	wantError(t, s.Double(make([][1]float32, 4), make([][1]float32, 4)), "net: Double: batch of 4: session holds 3 at most")
	wantError(t, s.Double(x, x), "net: Double: dst overlaps an input")
}

func TestSessionThatIsNotOpen(t *testing.T) {
	for _, s := range []*doubler{nil, {}} {
		if err := s.Double(nil, nil); err != ErrNoSession {
			t.Errorf("error %v", err)
		}
	}
}

func TestSessionLetsOneCallIn(t *testing.T) {
	s := doublerOf(t, nil)
	x := make([][1]float32, 1)
	s.during = func(*Frame[float32]) {
		if err := s.Double(make([][1]float32, 1), x); err != ErrBusy {
			t.Errorf("a second call: %v", err)
		}
	}
	for range 2 {
		wantError(t, s.Double(make([][1]float32, 1), x), "")
	}
}

// TestSessionIsOpenAfterPanics asserts that a call that panics returns an error, and that another
// call may follow.
func TestSessionIsOpenAfterPanics(t *testing.T) {
	s := doublerOf(t, nil)
	dst, x := make([][1]float32, 1), make([][1]float32, 1)
	s.during = func(*Frame[float32]) { panic("no") }
	wantError(t, s.Double(dst, x), "net: Double: panic: no")
	cause := errors.New("cause")
	s.during = func(*Frame[float32]) { panic(ended{cause}) }
	if err := s.Double(dst, x); err != cause {
		t.Errorf("the end of a context: %v", err)
	}
	s.during = nil
	wantError(t, s.Double(dst, x), "")
}

// TestSessionIsOpenAfterPreparing asserts the same where weights cannot be prepared.
func TestSessionIsOpenAfterPreparing(t *testing.T) {
	s := doublerOf(t, nil)
	dst, x := make([][1]float32, 1), make([][1]float32, 1)
	three := float32(3)
	s.source.Store(NewPrepared(NewWeights(), func(*Weights) (*float32, error) { panic("no") }))
	wantError(t, s.Double(dst, x), "weights: panic: no")
	s.source.Store(NewReady(&three))
	wantError(t, s.Double(dst, [][1]float32{{5}}), "")
	if dst[0][0] != 15 {
		t.Errorf("got %v with other weights", dst)
	}
}

func TestSessionEndsWithItsContext(t *testing.T) {
	s := doublerOf(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.SetContext(ctx)
	x := make([][1]float32, 1)
	if err := s.Double(make([][1]float32, 1), x); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.SetContext(nil) //lint:ignore SA1012 nil stands for no context
	wantError(t, s.Double(make([][1]float32, 1), x), "")
}

func TestOpenSessionMakesRoom(t *testing.T) {
	old := ArenaLimit(1 << 10)
	defer ArenaLimit(old)
	weights := &atomic.Pointer[Prepared[float32]]{}
	weights.Store(NewReady(new(float32)))
	var s Session[float32]
	err := OpenSession(&s, weights, nil, &doubles, &Method{Name: "net: Whole", Fixed: 1 << 20})
	wantError(t, err, "arena: 1048576 bytes: limit is 1024 (rt.ArenaLimit)")
	if _, err := s.enter(&doubles, nil); err != ErrNoSession {
		t.Errorf("the session is open: %v", err)
	}
}
