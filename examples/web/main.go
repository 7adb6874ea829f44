// Web serves pages whose models compute in the browser.
//
//	go generate ./examples/web
//	go run ./examples/web [-address localhost:8080]
//
// The program has the pages inside, with what go generate made for them. Any other server of static files can serve
// this folder, too.
package main

import (
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
)

//go:generate go run ../../cmd/burngen ../digits/digits.onnx -o draw/model -web
//go:generate go run ./train/build -o train/model

//go:embed *.html *.css *.js draw photo train
var pages embed.FS

func main() {
	log.SetFlags(0)
	log.SetPrefix("web: ")
	address := flag.String("address", "localhost:8080", "serves at `HOST:PORT`")
	flag.Parse()
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("serving http://%s\n", l.Addr())
	log.Fatal(http.Serve(l, handler(pages)))
}

// policy keeps pages and workers from other hosts. It is also in the pages, for other servers; there it does not hold
// for workers.
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:"

// handler serves files with the policy.
func handler(files fs.FS) http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		server.ServeHTTP(w, r)
	})
}
