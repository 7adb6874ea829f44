package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/serve/internal/testmodels/digits"
)

// TestExchanges answers requests of every kind. An answer is compared as text.
func TestExchanges(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"), summerModel())
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v2", "", 200, `{"name":"burngen","version":"devel","extensions":["binary_tensor_data","model_repository","sequence"]}`},
		{"GET", "/v2/health/live", "", 200, `{"live":true}`},
		{"GET", "/v2/health/ready", "", 200, `{"ready":true}`},
		{"GET", "/v2/models/double", "", 200, `{"name":"double","versions":["1"],"platform":"burngen","inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]}`},
		{"GET", "/v2/models/double/versions/1", "", 200, `{"name":"double","versions":["1"],"platform":"burngen","inputs":[{"name":"x","datatype":"FP32","shape":[-1,2]}],"outputs":[{"name":"y","datatype":"FP32","shape":[-1,2]}]}`},
		{"GET", "/v2/models/double/versions/2", "", 404, `{"error":"model \"double\" has version 1, and no version \"2\""}`},
		{"GET", "/v2/models/double/ready", "", 200, `{"name":"double","ready":true}`},
		{"GET", "/v2/models/other/ready", "", 404, `{"error":"there is no model \"other\""}`},
		{"POST", "/v2/models/double/infer", `{"id":"a\"1","inputs":[{"name":"x","shape":[2,2],"datatype":"FP32","data":[[1,2.5],[-3,1e3]]}]}`, 200,
			`{"model_name":"double","model_version":"1","id":"a\"1","outputs":[{"name":"y","datatype":"FP32","shape":[2,2],"data":[2,5,-6,2000]}]}`},
		{"POST", "/v2/models/double/versions/1/infer", ` { "inputs" : [ { "data" : [ 1 , 2 ] , "datatype" : "FP32" , "shape" : [ 1 , 2 ] , "name" : "x" } ] , "outputs" : [ { "name" : "y" } ] } `, 200,
			`{"model_name":"double","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[1,2],"data":[2,4]}]}`},
		{"POST", "/v2/models/double/infer", `{"inputs":[{"name":"x","shape":[0,2],"datatype":"FP32","data":[]}]}`, 200,
			`{"model_name":"double","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[0,2],"data":[]}]}`},
		{"POST", "/v2/models/sum/infer", `{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[3]}]}`, 200,
			`{"model_name":"sum","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[1],"data":[3]}]}`},
		{"POST", "/v2/repository/index", "", 200, `[{"name":"double","version":"1","state":"READY","reason":""},{"name":"sum","version":"1","state":"READY","reason":""}]`},
		{"POST", "/v2/repository/models/double/unload", "", 403, `{"error":"the server does not let clients load and unload models"}`},
		{"GET", "/v2/models/double/infer", "", 405, "Method Not Allowed\n"},
		{"GET", "/v3", "", 404, "404 page not found\n"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.status || w.Body.String() != c.want {
			t.Errorf("%s %s: %d %s\nwant %d %s", c.method, c.path, w.Code, w.Body, c.status, c.want)
		}
	}
}

// samples has, for each datatype, the elements of a 2x2 tensor as JSON.
var samples = map[string]string{
	"BOOL":  "[true,false,false,true]",
	"UINT8": "[0,1,254,255]", "UINT16": "[0,1,2,65535]", "UINT32": "[0,1,2,4294967295]", "UINT64": "[0,1,2,18446744073709551615]",
	"INT8": "[-128,0,1,127]", "INT16": "[-32768,0,1,32767]", "INT32": "[-2147483648,0,1,2147483647]", "INT64": "[-9223372036854775808,0,1,9223372036854775807]",
	"FP16": "[0.5,-2,65504,6e-08]", "BF16": "[0.5,-2,3.3895314e+38,0]", "FP32": "[0.1,-2,3.4028235e+38,1e-45]", "FP64": "[0.1,-2,1.7976931348623157e+308,5e-324]",
	"BYTES": `["","a","ünï\"\\","😀"]`,
}

// TestDatatypes sends tensors of every type as JSON and asks for them in binary, and sends this binary and
// asks for JSON.
func TestDatatypes(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, echoModel())
	var inputs []string
	for _, d := range datatypes {
		inputs = append(inputs, fmt.Sprintf(`{"name":%q,"shape":[2,2],"datatype":%q,"data":%s}`, strings.ToLower(d.name), d.name, samples[d.name]))
	}
	w := post(s, "/v2/models/echo/infer", strings.NewReader(`{"inputs":[`+strings.Join(inputs, ",")+`],"parameters":{"binary_data_output":true}}`))
	if w.Code != 200 {
		t.Fatal(w.Body)
	}
	var length int
	if _, err := fmt.Sscan(w.Header().Get(headerLength), &length); err != nil {
		t.Fatal(err)
	}
	head, rest := w.Body.Bytes()[:length], w.Body.Bytes()[length:]
	again := bytes.Replace(head, []byte(`"outputs":`), []byte(`"inputs":`), 1)
	back := post(s, "/v2/models/echo/infer", io.MultiReader(bytes.NewReader(again), bytes.NewReader(rest)), headerLength, fmt.Sprint(len(again)))
	if back.Code != 200 {
		t.Fatal(back.Body)
	}
	var a struct {
		Outputs []struct {
			Name, Datatype string
			Shape          []int
			Data           json.RawMessage
		}
	}
	if err := json.Unmarshal(back.Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Outputs) != len(datatypes) {
		t.Fatalf("%d outputs", len(a.Outputs))
	}
	for _, o := range a.Outputs {
		if want := samples[o.Datatype]; string(o.Data) != want && o.Datatype != "FP16" || fmt.Sprint(o.Shape) != "[2 2]" {
			t.Errorf("%s: %s, want %s", o.Datatype, o.Data, want)
		}
		if o.Datatype == "FP16" && string(o.Data) != "[0.5,-2,65504,5.9604645e-08]" {
			t.Errorf("FP16: %s", o.Data)
		}
	}
}

// TestOutputsJSONDoesNotHave asserts that NaN and infinities are refused as JSON and given in binary.
func TestOutputsJSONDoesNotHave(t *testing.T) {
	s := newTest(t, Options{Sessions: 1}, (&doubler{}).model("double"))
	in := make([]byte, 8)
	binary.LittleEndian.PutUint32(in, math.Float32bits(float32(math.NaN())))
	binary.LittleEndian.PutUint32(in[4:], math.Float32bits(float32(math.Inf(1))))
	ask := func(parameters string) *httptest.ResponseRecorder {
		head := `{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}],"outputs":[{"name":"y"` + parameters + `}]}`
		return post(s, "/v2/models/double/infer", io.MultiReader(strings.NewReader(head), bytes.NewReader(in)), headerLength, fmt.Sprint(len(head)))
	}
	if w := ask(""); w.Code != 422 || !strings.Contains(w.Body.String(), "ask for binary_data") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := ask(`,"parameters":{"binary_data":true}`)
	if w.Code != 200 || !bytes.HasSuffix(w.Body.Bytes(), in[4:]) || w.Header().Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// TestGeneratedPackage serves a package that burngen wrote, alone and in batches, and compares with its
// method Forward.
func TestGeneratedPackage(t *testing.T) {
	m, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	images := make([]digits.Image, 3)
	for i := range images {
		for y := range 28 {
			for x := range 28 {
				images[i][0][y][x] = float32((i*131+y*29+x*7)%17) / 16
			}
		}
	}
	want, err := m.Forward(images)
	if err != nil {
		t.Fatal(err)
	}
	s := newTest(t, Options{Sessions: 2, MaxBatch: 4}, Package("digits", digits.Load))
	body, _ := json.Marshal(map[string]any{"inputs": []any{map[string]any{"name": "image", "shape": []int{3, 1, 28, 28}, "datatype": "FP32", "data": images}}})
	got := output(t, post(s, "/v2/models/digits/infer", bytes.NewReader(body)))
	for i, v := range got {
		if float32(v) != want[i/10][i%10] {
			t.Fatalf("element %d is %v, want %v", i, v, want[i/10][i%10])
		}
	}
}

func TestAuthorization(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, Token: "secret"}, (&doubler{}).model("double"))
	for header, want := range map[string]int{"": 401, "Bearer": 401, "Bearer secre": 401, "Bearer secret ": 401, "Basic secret": 401, "Bearer secret": 200, "bearer secret": 200} {
		if w := post(s, "/v2/models/double/infer", pair(1, 2), "Authorization", header); w.Code != want {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
	}
	for path, want := range map[string]int{"/v2/health/live": 200, "/v2/health/ready": 200, "/v2": 401, "/metrics": 401, "/v2/models/double": 401} {
		w := httptest.NewRecorder()
		if s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

func TestOrigins(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, Token: "secret", Origins: []string{"https://a.example"}}, (&doubler{}).model("double"))
	ask := func(origin string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodOptions, "/v2/models/double/infer", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "POST")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	if w := ask("https://a.example"); w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "https://a.example" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := ask("https://b.example"); w.Code == 204 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
