package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// shippedMark begins the line that goes before PTX that is kept beside its source.
const shippedMark = "// warpbook: "

// Hash names what a compilation reads: the source, our header and the options.
func Hash(text string, o Options) string {
	h := sha256.New()
	for _, part := range append([]string{strings.ReplaceAll(text, "\r\n", "\n"), header}, o.arguments()...) {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Shipped is the PTX as it is kept: behind a line that says what made it of what.
func (r *Result) Shipped(o Options) string {
	return fmt.Sprintf("%ssource %s, compiler %s\n%s", shippedMark, Hash(r.Source.Text, o), r.Compiler, r.PTX)
}

// ParseShipped reads what Shipped wrote.
func ParseShipped(text string) (hash, compiler, ptx string, err error) {
	first, ptx, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(first, shippedMark+"source ")
	hash, compiler, ok2 := strings.Cut(line, ", compiler ")
	if !ok || !ok2 {
		return "", "", "", fmt.Errorf("PTX that is kept beside its source begins with %q, and this begins with %.60q", shippedMark, first)
	}
	return hash, compiler, ptx, nil
}

// FromShipped makes a result of PTX that was kept.
func FromShipped(ptx, compiler string, src Source, o Options) (*Result, error) {
	r := &Result{PTX: ptx, Compiler: compiler, Arch: o.arch(), Source: src}
	var err error
	if r.Kernels, err = signatures(ptx, src.Text); err != nil {
		return nil, fmt.Errorf("the PTX that is kept for %s: %w", src.Name, err)
	}
	return r, nil
}
