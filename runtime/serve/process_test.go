//go:build unix

package serve

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/burngen/burngen/internal/itself"
)

// asProgram is the variable of the environment that makes the test's program the server of a doubler.
const asProgram = "BURNGEN_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main((&doubler{}).model("double"))
		return
	}
	os.Exit(m.Run())
}

// TestProcess runs Main as a process that encrypts. SIGHUP makes it take new weights, and SIGTERM ends it.
func TestProcess(t *testing.T) {
	itself.Need(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback: ", err)
	}
	l.Close()
	dir := t.TempDir()
	roots, cert, key := selfSigned(t, dir)
	weights := filepath.Join(dir, "w.safetensors")
	weightsNamed(t, weights, "abc")
	c := exec.Command(os.Args[0], "-http", "127.0.0.1:0", "-grpc", "127.0.0.1:0", "-sessions", "1", "-log", "json", "-tls-cert", cert, "-tls-key", key, "-weights", weights)
	c.Env = append(os.Environ(), asProgram+"=1")
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	lines := bufio.NewReader(log)
	var at struct{ Msg, HTTP, GRPC string }
	for at.Msg != "serving" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("it does not serve: %v %s", err, line)
		}
		if err := json.Unmarshal(line, &at); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, lines)
	}()

	client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	ask := func() float64 {
		r, err := client.Post("https://"+at.HTTP+"/v2/models/double/infer", "application/json", pair(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var a struct{ Outputs []struct{ Data []float64 } }
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || len(a.Outputs) != 1 || r.ProtoMajor != 2 {
			t.Fatalf("%v, %s, %+v", err, r.Proto, a)
		}
		return a.Outputs[0].Data[0]
	}
	if got := ask(); got != 3 {
		t.Errorf("%v, want the factor of the file", got)
	}
	if r, err := http.Get("http://" + at.HTTP + "/v2/health/live"); err == nil {
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			t.Error("a request that is not encrypted has an answer")
		}
	}
	g, err := grpc.NewClient(at.GRPC, grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(roots, "")))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := grpc_health_v1.NewHealthClient(g).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil || a.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", a, err)
	}
	g.Close()

	weightsNamed(t, weights, "abcd")
	c.Process.Signal(syscall.SIGHUP)
	until(t, "the new factor", func() bool { return ask() == 4 })
	client.CloseIdleConnections()
	c.Process.Signal(syscall.SIGTERM)
	<-ended
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// selfSigned writes a certificate for 127.0.0.1 and its key, and returns a pool with it.
func selfSigned(t *testing.T, dir string) (roots *x509.CertPool, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	roots = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(parsed)
	return roots, write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", own)
}
