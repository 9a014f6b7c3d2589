// An ordinary static Go program: goroutines, an HTTP server and client on its
// own loopback, files, a child process.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

func must(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func goroutines() {
	var wait sync.WaitGroup
	var lock sync.Mutex
	sum := 0
	for i := 0; i < 1000; i++ {
		wait.Add(1)
		go func(n int) {
			defer wait.Done()
			lock.Lock()
			sum += n
			lock.Unlock()
		}(i)
	}
	wait.Wait()
	fmt.Println(sum)
}

func server() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go http.Serve(l, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "served ", r.URL.Path)
		}))
	for i := 0; i < 10; i++ {
		r, err := http.Get("http://" + l.Addr().String() + "/x")
		must(err)
		text, err := io.ReadAll(r.Body)
		must(err)
		r.Body.Close()
		if i == 9 {
			fmt.Println(string(text))
		}
	}
}

func files(dir string) {
	must(os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "a/b/c"), []byte("text"), 0o644))
	must(os.Rename(filepath.Join(dir, "a/b/c"), filepath.Join(dir, "d")))
	must(os.RemoveAll(filepath.Join(dir, "a")))
	text, err := os.ReadFile(filepath.Join(dir, "d"))
	must(err)
	temp, err := os.CreateTemp("", "x")
	must(err)
	must(os.Remove(temp.Name()))
	fmt.Println(string(text))
}

func process() {
	out, err := exec.Command("cat", "/dev/null").CombinedOutput()
	must(err)
	fmt.Println("process", len(out))
}

func main() {
	switch os.Args[1] {
	case "goroutines":
		goroutines()
	case "server":
		server()
	case "files":
		files(os.Args[2])
	case "process":
		process()
	}
}
