package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgetable/testdata/lambda/front"
	"edgetable/testdata/must"
	"edgetable/testdata/needs"
	"edgetable/testdata/proc"
)

// Maximum sizes of a deployment in bytes. A cold start downloads and unpacks the deployment.
const (
	maxBinary = 11_000_000
	maxZip    = 4_500_000
)

// maxResident is the maximum resident memory of the process during point operations.
const maxResident = 64 // MiB

func TestSize(t *testing.T) {
	t.Parallel()
	if program, zipped := weigh(t); program > maxBinary || zipped > maxZip {
		t.Errorf("the program has %d bytes, %d zipped; %d and %d are allowed", program, zipped, maxBinary, maxZip)
	}
}

// BenchmarkSize reports the size of a deployment in bytes.
func BenchmarkSize(b *testing.B) {
	program, zipped := weigh(b)
	b.ReportMetric(float64(program), "bytes")
	b.ReportMetric(float64(zipped), "zipped-bytes")
	b.ReportMetric(0, "ns/op") // removes the default metric, which would only show how long the compiler takes
}

// weigh builds the program for the processor of a deployment. It returns the sizes of the program and of its zip
// file in bytes.
func weigh(t testing.TB) (program, zipped int64) {
	needs.These(t, needs.AWS)
	dir := t.TempDir()
	file, err := build(dir, "arm64")
	must.OK(t, err)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	archive, err := os.Create(filepath.Join(dir, "function.zip"))
	must.OK(t, err)
	defer archive.Close()
	z := zip.NewWriter(archive)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := z.Create("bootstrap")
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	info, statErr := archive.Stat()
	if err != nil || statErr != nil {
		t.Fatal(err, statErr)
	}
	return int64(len(text)), info.Size()
}

// runtimeAPI is a fake of Lambda's Runtime API. When the function polls for work, it sends an event. It also
// receives the function's answers.
type runtimeAPI struct {
	polled  chan struct{}
	events  chan []byte
	answers chan []byte
}

func (a *runtimeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/invocation/next") {
		a.polled <- struct{}{}
		select {
		case event := <-a.events:
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
			w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(30*time.Second).UnixMilli()))
			_, _ = w.Write(event)
		case <-r.Context().Done():
		}
		return
	}
	answer, _ := io.ReadAll(r.Body) // fails if the function was killed while it sent its response
	w.WriteHeader(http.StatusAccepted)
	a.answers <- answer
}

// launch starts the program and waits until the program polls for its first event.
func launch(b testing.TB, env []string) (*runtimeAPI, *exec.Cmd) {
	b.Helper()
	a := &runtimeAPI{make(chan struct{}, 8), make(chan []byte), make(chan []byte, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(b, err)
	server := &http.Server{Handler: a}
	go func() { _ = server.Serve(l) }()
	cmd := exec.Command(mustMake(b, bootstrap))
	cmd.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+l.Addr().String())
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	must.OK(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // the error is ignored, because the process was killed
		server.Close()
	})
	select {
	case <-a.polled:
	case <-time.After(20 * time.Second):
		b.Fatal("the function does not ask for events")
	}
	return a, cmd
}

// BenchmarkInit measures the time between the start of the process and its first poll. Lambda calls this time the
// init phase.
func BenchmarkInit(b *testing.B) {
	env := []string{"AWS_REGION=us-east-1", "EDGETABLE_DYNAMODB_TABLE=edgetable", "EDGETABLE_ACCOUNTS=acme:" + key1, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512"}
	mustMake(b, bootstrap)
	least := time.Hour
	for b.Loop() {
		begin := time.Now()
		launch(b, env)
		least = min(least, time.Since(begin))
	}
	b.ReportMetric(float64(least.Microseconds())/1000, "min-ms")
}

// BenchmarkPoint inserts and reads entities with the program, and reports the memory that the program uses.
func BenchmarkPoint(b *testing.B) {
	a, cmd := launch(b, environment(b, "EDGETABLE_ACCOUNTS=acme:"+key1))
	c := newClient(b, function{invoke: func(_ context.Context, event []byte) ([]byte, error) {
		a.events <- event
		answer := <-a.answers
		<-a.polled
		return answer, nil
	}}, key1)
	quiet := front.Field{Name: "Prefer", Value: "return-no-content"}
	first := time.Now()
	c.do(b, "POST", "/Tables", `{"TableName":"people"}`, 204, quiet)
	cold := time.Since(first)
	n := 0
	for b.Loop() {
		n++
		c.do(b, "POST", "/people", fmt.Sprintf(`{"PartitionKey":"p","RowKey":"%09d","Name":"Ada","Age":36}`, n), 204, quiet)
		c.do(b, "GET", fmt.Sprintf("/people(PartitionKey='p',RowKey='%09d')", n), "", 200)
	}
	b.ReportMetric(float64(cold.Microseconds())/1000, "first-ms")
	mib := proc.Memory(b, cmd, "VmHWM") / 1024
	b.ReportMetric(mib, "MiB")
	if mib > maxResident {
		b.Errorf("%.0f MiB are resident", mib)
	}
}
