package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkCells measures one cell from source to its end, through each engine.
func BenchmarkCells(b *testing.B) {
	for _, c := range []struct{ name, code string }{
		{"statement", "counter = counter + 1"},
		{"print", `fmt.Println("hello", counter)`},
		{"compiled", "for i := range 3 { counter += i }"},
		{"declaration", "func f%d(n int) int { return n + 1 }"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := open(b)
			if text, err := run(b, s, 1, "counter := 0\nfor range 1 {}"); err != nil {
				b.Fatal(text)
			}
			var took []time.Duration
			n := 1
			for b.Loop() {
				n++
				code := c.code
				if strings.Contains(code, "%d") {
					code = fmt.Sprintf(code, n)
				}
				start := time.Now()
				if text, err := run(b, s, n, code); err != nil {
					b.Fatal(text)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// numeric are functions that a learner would declare in a cell; work() is timed.
var numeric = map[string]string{
	"fib35": `func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func work() int { return fib(35) }`,
	"matmul300": `func work() int {
	const n = 300
	a, b, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range a { a[i], b[i] = float64(i%7), float64(i%5) }
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			sum := 0.0
			for k := 0; k < n; k++ { sum += a[i*n+k] * b[k*n+j] }
			c[i*n+j] = sum
		}
	}
	return int(c[n+1])
}`,
	"sieve5M": `func work() int {
	const n = 5_000_000
	composite := make([]bool, n+1)
	count := 0
	for i := 2; i <= n; i++ {
		if composite[i] { continue }
		count++
		for j := i * i; j <= n; j += i { composite[j] = true }
	}
	return count
}`,
	"sort1M": `func work() int {
	xs := make([]int, 1_000_000)
	x := uint32(1)
	for i := range xs { x = x*1664525 + 1013904223; xs[i] = int(x >> 8) }
	sort.Ints(xs)
	return xs[500_000]
}`,
	"map1M": `func work() int {
	m := map[int]int{}
	for i := 0; i < 1_000_000; i++ { m[i*7919] += i }
	sum := 0
	for i := 0; i < 1_000_000; i++ { sum += m[i*7919] }
	return sum
}`,
}

// BenchmarkNumeric compares functions declared in a cell with the same program
// under go run, in turns; the metric is the ratio of the medians.
func BenchmarkNumeric(b *testing.B) {
	for _, name := range []string{"fib35", "matmul300", "sieve5M", "sort1M", "map1M"} {
		b.Run(name, func(b *testing.B) {
			const timed = "start := time.Now(); result := work(); fmt.Println(time.Since(start).Nanoseconds(), result)"
			program := buildProgram(b, numeric[name], timed)
			s := open(b)
			if text, err := run(b, s, 1, numeric[name]); err != nil {
				b.Fatal(text)
			}
			var cell, alone []int64
			for range 7 {
				text, err := run(b, s, 2, timed)
				if err != nil {
					b.Fatal(text)
				}
				cell = append(cell, nanoseconds(b, text))
				out, runErr := exec.Command(program).Output()
				if runErr != nil {
					b.Fatal(runErr)
				}
				alone = append(alone, nanoseconds(b, string(out)))
			}
			slices.Sort(cell)
			slices.Sort(alone)
			b.ReportMetric(float64(cell[3])/1e6, "cell-ms")
			b.ReportMetric(float64(alone[3])/1e6, "go-ms")
			b.ReportMetric(float64(cell[3])/float64(alone[3]), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func buildProgram(b *testing.B, decls, body string) string {
	dir := b.TempDir()
	src := "package main\nimport (\"fmt\"; \"time\"; \"sort\")\nvar _ = sort.Ints\n" + decls + "\nfunc main() {\n" + body + "\n}\n"
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
		b.Fatal(err)
	}
	exe := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", exe, file).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func nanoseconds(b *testing.B, text string) int64 {
	first, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}
