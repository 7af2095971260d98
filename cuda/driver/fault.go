//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/warpbook/warpbook/cuda/device"
)

// outOfMemory is CUDA_ERROR_OUT_OF_MEMORY.
const outOfMemory = 2

// lost maps the driver's errors after which the context is gone to what a kernel
// did.
var lost = map[int]string{ // never changed
	214: "the memory had an error that could not be corrected",
	700: "a thread accessed an address that is no memory of its own: out of bounds, or released",
	702: "the kernel ran longer than the display's driver allows",
	710: "an assert did not hold",
	714: "a thread came to an instruction that does not exist",
	715: "a thread came to an instruction that does not exist",
	716: "a thread accessed an address that is not aligned to the size of what it accessed",
	717: "a thread accessed an address of the wrong memory space",
	718: "a thread jumped to an address that is no instruction",
	719: "the kernel was ended: a trap, an access out of bounds in shared or local memory, or a barrier that cannot be",
}

// code is the number of a driver's error, of ours or of gorgonia's; 0 for others.
func code(err error) int {
	var ours *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ours):
		return ours.Code
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if v := reflect.ValueOf(e); v.Kind() == reflect.Int {
			return int(v.Int()) // gorgonia does not export the type
		}
	}
	return 0
}

// failed makes an error of the driver's into one for the user: a Fault that is
// Fatal when the context is lost.
func (d *driver) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	n := code(err)
	what, gone := lost[n]
	if !gone {
		return wrap(doing, err)
	}
	words := []string{fmt.Sprintf("%s (CUDA error %d)", what, n)}
	if findings := d.reports.Take(d); len(findings) > 0 {
		words = append(words, findings...)
	} else if d.reports == nil {
		words[0] += "; --sanitize or the simulator names the thread, the address and the line"
	}
	return &device.Fault{Code: "device", Message: strings.Join(words, "\n\n"), Fatal: true}
}

func wrap(doing string, err error) error {
	if err == nil || doing == "" {
		return err
	}
	return fmt.Errorf("%s: %w", doing, err)
}
