package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// TestHostileRequests asserts that requests which are wrong on purpose are refused with a status and a
// text, and that the server answers afterwards.
func TestHostileRequests(t *testing.T) {
	input := func(text string) string { return `{"inputs":[` + text + `]}` }
	for _, c := range []struct{ name, body, want string }{
		{"nothing", ``, "ends in the middle"},
		{"half", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,`, "ends in the middle"},
		{"an array", `[]`, "'[' where '{' is expected"},
		{"more after the end", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}`) + "{}", "after the end"},
		{"no inputs", `{}`, "has no inputs"},
		{"empty inputs", input(``), `"x" is missing`},
		{"an unknown input", input(`{"name":"z","shape":[1,2],"datatype":"FP32","data":[1,2]}`), `no input "z"`},
		{"an input without name", input(`{"shape":[1,2],"datatype":"FP32","data":[1,2]}`), "has no name"},
		{"an input without shape", input(`{"name":"x","datatype":"FP32","data":[1,2]}`), "has no shape"},
		{"the same input twice", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]},{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}`), "occurs twice"},
		{"the same key twice", input(`{"name":"x","shape":[1,2],"shape":[1,2],"datatype":"FP32","data":[1,2]}`), `"shape" occurs twice`},
		{"another datatype", input(`{"name":"x","shape":[1,2],"datatype":"FP64","data":[1,2]}`), `datatype "FP64", want "FP32"`},
		{"another rank", input(`{"name":"x","shape":[2],"datatype":"FP32","data":[1,2]}`), "want 2 dimensions"},
		{"another extent", input(`{"name":"x","shape":[1,3],"datatype":"FP32","data":[1,2,3]}`), "want 2 along dimension 1"},
		{"a negative extent", input(`{"name":"x","shape":[-1,2],"datatype":"FP32","data":[1,2]}`), "a dimension is -1"},
		{"a fractional extent", input(`{"name":"x","shape":[1.5,2],"datatype":"FP32","data":[1,2]}`), "a dimension is 1.5"},
		{"an extent of many digits", input(`{"name":"x","shape":[99999999999999999999,2],"datatype":"FP32","data":[1,2]}`), "that fits"},
		{"a product of extents that overflows", input(`{"name":"x","shape":[4611686018427387904,4],"datatype":"FP32","data":[]}`), "more elements than fit|that fits"},
		{"bytes that overflow", input(`{"name":"x","shape":[2305843009213693952,2],"datatype":"FP32","data":[]}`), "more elements than fit|that fits"},
		{"an overflow hidden by a zero", input(`{"name":"x","shape":[0,4611686018427387904,4],"datatype":"FP32","data":[]}`), "more elements than fit|that fits"},
		{"a large shape without data", input(`{"name":"x","shape":[100000000000,2],"datatype":"FP32","data":[1]}`), "1 elements of data, want 200000000000|that fits"},
		{"too many dimensions", input(`{"name":"x","shape":[` + strings.Repeat("1,", 40) + `2],"datatype":"FP32","data":[1,2]}`), "more than 32 dimensions"},
		{"less data", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1]}`), "1 elements of data, want 2"},
		{"more data", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2,3]}`), "3 elements of data, want 2"},
		{"neither data nor size", input(`{"name":"x","shape":[1,2],"datatype":"FP32"}`), "either data or binary_data_size"},
		{"NaN", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[NaN,2]}`), "where a number is expected"},
		{"infinity", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[-Infinity,2]}`), "is not a number"},
		{"null", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[null,2]}`), "where a number is expected"},
		{"a number that is too large", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1e39,2]}`), "is not a number of type FP32"},
		{"a hexadecimal number", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[0x1p2,2]}`), "is expected"},
		{"a number with a leading zero", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[01,2]}`), "is not a number"},
		{"a number of many digits", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[` + strings.Repeat("1", 100000) + `,2]}`), "too long"},
		{"a text", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":["1",2]}`), "where a number is expected"},
		{"deep arrays", input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":` + strings.Repeat("[", 100000) + `}`), "nested more than"},
		{"deep arrays that nobody reads", `{"z":` + strings.Repeat("[", 100000) + `}`, "nested more than"},
		{"a long name", input(`{"name":"` + strings.Repeat("x", 5000) + `"}`), "longer than 4096 bytes"},
		{"a long key", `{"` + strings.Repeat("x", 5000) + `":1}`, "longer than 256 bytes"},
		{"many keys", `{` + manyKeys(2000) + `}`, "too many keys"},
		{"a name that is not UTF-8", input("{\"name\":\"\xff\"}"), "is not UTF-8"},
		{"half a surrogate", input(`{"name":"\ud800"}`), "surrogate"},
		{"a control character", input("{\"name\":\"a\nb\"}"), "control character"},
		{"an unknown output", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}],"outputs":[{"name":"z"}]}`, `no output "z"`},
		{"the same output twice", `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}],"outputs":[{"name":"y"},{"name":"y"}]}`, "occurs twice"},
		{"binary without header", input(`{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}`), headerLength},
		{"a binary size that does not fit the shape", input(`{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":9}}`), "binary_data_size 9, want 8"},
		{"a negative binary size", input(`{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":-8}}`), "at least 0"},
		{"shared memory", input(`{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"shared_memory_region":"a"}}`), "shared memory"},
		{"a sequence of a model without states", `{"parameters":{"sequence_id":1},` + input(`{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}`)[1:], "no states"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
			w := post(s, "/v2/models/double/infer", strings.NewReader(c.body))
			if w.Code != 400 || !says(w, c.want) {
				t.Errorf("%d %.300s, want 400 with %q", w.Code, w.Body, c.want)
			}
			if got := output(t, post(s, "/v2/models/double/infer", pair(1, 2))); got[1] != 4 {
				t.Errorf("then %v", got)
			}
		})
	}
}

// says reports whether the error in an answer has one of the texts, which "|" separates. The second is for
// machines of 32 bits.
func says(w *httptest.ResponseRecorder, texts string) bool {
	var a struct{ Error string }
	if json.Unmarshal(w.Body.Bytes(), &a) != nil {
		return false
	}
	return slices.ContainsFunc(strings.Split(texts, "|"), func(text string) bool { return strings.Contains(a.Error, text) })
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String() + `"z":1`
}

// TestHostileBinary asserts the same of tensors in binary.
func TestHostileBinary(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, MaxBody: 1 << 20}, (&doubler{}).model("double"), echoModel())
	head := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}]}`
	large := `{"inputs":[{"name":"x","shape":[1000000000,2],"datatype":"FP32","parameters":{"binary_data_size":8000000000}}]}`
	for _, c := range []struct {
		name, body, length string
		status             int
		want               string
	}{
		{"less than announced", head + "1234567", fmt.Sprint(len(head)), 400, "ends in the middle"},
		{"more than announced", head + "123456789", fmt.Sprint(len(head)), 400, "bytes after the last input"},
		{"a header that is too short", head + "12345678", fmt.Sprint(len(head) - 1), 400, "ends in the middle"},
		{"a header that is too long", head + "12345678", fmt.Sprint(len(head) + 1), 400, "after the end"},
		{"a header longer than the body", head, "100000", 400, "want the number of bytes"},
		{"a negative header", head + "12345678", "-1", 400, "want the number of bytes"},
		{"a header that is no number", head + "12345678", "abc", 400, "want the number of bytes"},
		{"much more than there is", large + "1234", fmt.Sprint(len(large)), 400, "ends in the middle|more elements than fit|too large"},
		{"more than allowed", head + strings.Repeat("x", 2<<20), fmt.Sprint(len(head)), 413, "too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := post(s, "/v2/models/double/infer", strings.NewReader(c.body), headerLength, c.length)
			runtime.ReadMemStats(&after)
			if w.Code != c.status || !says(w, c.want) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, c.status, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
				t.Errorf("%d bytes of memory", n)
			}
		})
	}
}

// TestHostileStrings asserts that the lengths of strings in binary are checked.
func TestHostileStrings(t *testing.T) {
	p := &untyped.Port{Name: "s", DType: "string"}
	for _, data := range []string{"\x01", "\x05\x00\x00\x00abc", "\xff\xff\xff\xffabc", "\x00\x00\x00\x00", "\x01\x00\x00\x00a\x01\x00\x00\x00b\x00\x00\x00\x00"} {
		x := untyped.Tensor{Port: p, Shape: []int{2}}
		if err := setBinary(&x, []byte(data)); err == nil {
			t.Errorf("%q is accepted", data)
		}
	}
}

func TestUnknownModel(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
	for _, path := range []string{"/v2/models/other/infer", "/v2/models/double.Other/infer", "/v2/models/double./infer", "/v2/models/%2e%2e/infer", "/v2/models/doubl/infer", "/v2/models/double/versions/9/infer"} {
		if w := post(s, path, pair(1, 2)); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestCompressedBody(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
	if w := post(s, "/v2/models/double/infer", pair(1, 2), "Content-Encoding", "gzip"); w.Code != 415 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// listening returns the address of a server of HTTP with the limits of Main.
func listening(t *testing.T, s *Server) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	web := s.httpServer()
	go web.Serve(l)
	t.Cleanup(func() { web.Close() })
	return l.Addr().String()
}

// TestHugeHeader sends a header that does not end. The server closes the connection after its limit.
func TestHugeHeader(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
	c, err := net.Dial("tcp", listening(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v2/models/double/infer HTTP/1.1\r\nHost: a\r\nX: ")
	piece, sent := strings.Repeat("x", 64<<10), 0
	for sent < 1<<30 {
		n, err := io.WriteString(c, piece)
		if sent += n; err != nil {
			break
		}
	}
	if sent >= 64<<20 {
		t.Errorf("the server took %d bytes", sent)
	}
}

// TestSlowBody sends a part of a body and waits. The request ends after the server's time, and its memory
// and place are free again.
func TestSlowBody(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, Timeout: 200 * time.Millisecond}, (&doubler{}).model("double"))
	c, err := net.Dial("tcp", listening(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v2/models/double/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{\"inputs\":[")
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		r.Body.Close()
		if r.StatusCode < 400 {
			t.Errorf("status %d", r.StatusCode)
		}
	}
	until(t, "the end of the request", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.under) == 0
	})
}

// TestWrongContentLength sends fewer bytes than announced, and more.
func TestWrongContentLength(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, Timeout: time.Second}, (&doubler{}).model("double"))
	address := listening(t, s)
	body, _ := io.ReadAll(pair(1, 2))
	for _, c := range []struct {
		length string
		short  bool // the server waits for more
		want   int
	}{{fmt.Sprint(len(body) - 5), false, 400}, {fmt.Sprint(len(body) + 5), true, 400}, {"-1", false, 400}, {"abc", false, 400}, {"99999999999999", false, 413}, {fmt.Sprint(len(body)), false, 200}} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v2/models/double/infer HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %s\r\n\r\n%s", c.length, body)
		if c.short {
			conn.(*net.TCPConn).CloseWrite()
		}
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("length %s: %v", c.length, err)
		} else if r.StatusCode != c.want {
			t.Errorf("length %s: %d, want %d", c.length, r.StatusCode, c.want)
		}
		conn.Close()
	}
}

// TestTooManyFromOneClient asserts that a client may have a bounded number of requests under way.
func TestTooManyFromOneClient(t *testing.T) {
	d := &doubler{gate: make(chan struct{})}
	s := newTest(t, Options{Sessions: 1, MaxQueue: 2}, d.model("double"))
	defer close(d.gate)
	answers := make(chan *httptest.ResponseRecorder, 10)
	for range 6 {
		go func() { answers <- post(s, "/v2/models/double/infer", pair(1, 2)) }()
	}
	for range 3 {
		if w := <-answers; w.Code != 429 || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	d.gate <- struct{}{}
	d.gate <- struct{}{}
	d.gate <- struct{}{}
	for range 3 {
		if w := <-answers; w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
