package serve

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/serve/internal/testmodels/digits"
)

// weightsNamed writes a file with one weight of this name.
func weightsNamed(t *testing.T, path, name string) {
	w := rt.NewWeights()
	rt.Add(w, name, []float32{1}, 1)
	if err := w.Save(path); err != nil {
		t.Fatal(err)
	}
}

// TestReload asserts that new weights of a file are taken, and that a file that does not fit changes
// nothing.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	weightsNamed(t, path, "abc")
	d := &doubler{}
	m := d.model("double")
	m.Weights = path
	s := newTest(t, Options{Sessions: 1}, m)
	ask := func() float64 { return output(t, post(s, "/v2/models/double/infer", pair(1, 2)))[0] }
	if got := ask(); got != 3 {
		t.Errorf("%v, want the factor of the file", got)
	}
	weightsNamed(t, path, "abcd")
	if err := s.Reload(); err != nil || ask() != 4 {
		t.Errorf("%v, %v", err, ask())
	}
	if err := os.WriteFile(path, []byte("no weights"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil || ask() != 4 {
		t.Errorf("%v, %v", err, ask())
	}
	if d.loads.Load() != 1 {
		t.Errorf("loaded %d times", d.loads.Load())
	}
}

func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	weightsNamed(t, path, "abc")
	m := (&doubler{}).model("double")
	m.Weights = path
	s := newTest(t, Options{Sessions: 1}, m)
	stop := s.watch(5 * time.Millisecond)
	defer stop()
	weightsNamed(t, path, strings.Repeat("a", 200)) // the file has another size, also after padding: its time may be the same
	until(t, "the new factor", func() bool { return output(t, post(s, "/v2/models/double/infer", pair(1, 2)))[0] == 200 })
}

func TestRepository(t *testing.T) {
	d := &doubler{}
	s := newTest(t, Options{Sessions: 1, Repository: true}, d.model("double"), summerModel())
	index := func(body string) string {
		return post(s, "/v2/repository/index", strings.NewReader(body)).Body.String()
	}
	if w := post(s, "/v2/repository/models/double/unload", strings.NewReader("{}")); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if got, want := index(""), `[{"name":"double","version":"1","state":"UNAVAILABLE","reason":"unloaded"},{"name":"sum","version":"1","state":"READY","reason":""}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := index(`{"ready":true}`), `[{"name":"sum","version":"1","state":"READY","reason":""}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if w := post(s, "/v2/models/double/infer", pair(1, 2)); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := post(s, "/v2/repository/models/other/load", strings.NewReader("")); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := post(s, "/v2/repository/models/double/load", strings.NewReader("")); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if got := output(t, post(s, "/v2/models/double/infer", pair(1, 2))); got[0] != 2 || d.loads.Load() != 2 {
		t.Errorf("%v after %d loads", got, d.loads.Load())
	}
}

// TestNoRequestIsLost asks without end while weights are swapped and the model is loaded again, 100 times.
func TestNoRequestIsLost(t *testing.T) {
	m, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	model := Package("digits", digits.Load)
	model.Weights = path
	s := newTest(t, Options{Sessions: 2, Repository: true}, model, (&doubler{}).model("double"))
	image := `{"inputs":[{"name":"image","shape":[1,1,28,28],"datatype":"FP32","data":[` + strings.Repeat("0.5,", 783) + `0.5]}]}`
	var done atomic.Bool
	var wg sync.WaitGroup
	var asked atomic.Int64
	want := post(s, "/v2/models/digits/infer", strings.NewReader(image)).Body.String()
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				if w := post(s, "/v2/models/digits/infer", strings.NewReader(image)); w.Code != 200 || w.Body.String() != want {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				if w := post(s, "/v2/models/double/infer", pair(1, 2)); w.Code != 200 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				asked.Add(2)
			}
		})
	}
	for range 100 {
		if err := s.Reload(); err != nil {
			t.Error(err)
		}
		if w := post(s, "/v2/repository/models/double/load", strings.NewReader("")); w.Code != 200 {
			t.Error(w.Body)
		}
	}
	until(t, "some requests", func() bool { return asked.Load() > 20 })
	done.Store(true)
	wg.Wait()
}
