package rt

import (
	"fmt"
	"math"
	"time"
)

// Timeit runs f many times and prints the time of one call: the mean and the
// standard deviation of seven runs, each long enough to be measured.
func Timeit(f func()) {
	const runs, least = 7, 100 * time.Millisecond
	n := 1
	for {
		d := timeLoop(f, n)
		if d >= least || n >= 1_000_000_000 {
			break
		}
		n = nextCount(n, d, least)
	}
	var each [runs]float64
	for i := range each {
		each[i] = float64(timeLoop(f, n)) / float64(n)
	}
	mean, dev := meanDev(each[:])
	fmt.Fprintf(Stdout(), "%s ns/op ± %s (mean ± std. dev. of %d runs, %d loops each)\n", number(mean), number(dev), runs, n)
}

func timeLoop(f func(), n int) time.Duration {
	start := time.Now()
	for range n {
		Check()
		f()
	}
	return time.Since(start)
}

// nextCount aims a little past the least duration, at most a hundredfold.
func nextCount(n int, took, least time.Duration) int {
	if took <= 0 {
		return n * 100
	}
	want := int(1.2 * float64(n) * float64(least) / float64(took))
	return min(max(want, n+1), n*100)
}

func meanDev(xs []float64) (mean, dev float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		dev += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(dev / float64(len(xs)))
}

// number writes three significant digits, and all those before the point.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
